use harness::cluster::{alone, deployment, other};
use serde_json::{Value, json};

/// An APIService of another server counts as ready when it is available. The test runs alone, because an API that does not answer slows the discovery
/// of every client.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_api_of_somebody_elses_server_counts_when_it_is_available() {
    alone("api-service", async |ns| {
        let group = format!("{}.example", ns.name);
        let name = format!("v1.{group}");
        let spec = json!({"group": group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15});
        let api_service = |service: Value| {
            let object = other(json!({
                "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name},
            }));
            object.with("/spec", spec.clone()).with("/spec/service", service)
        };
        let nobody = json!({"namespace": ns.name, "name": "nobody"});
        let reference = format!("apiservice/{name}");
        ns.takes_along(&reference);
        ns.apply([
            api_service(nobody),
            deployment("api").depends_on(&reference),
            deployment("other").depends_on("apiservice/v1.apps"),
        ])
        .await
        .ok();
        ns.pod_of("other").await.starts().await;
        let api = ns.pod_of("api").await;
        api.waits_for(&format!("APIService/{name}"), "InProgress").await;

        // Without a server of its own it is one of the API server's, and available.
        ns.apply([api_service(Value::Null)]).await.ok();
        api.starts().await;
    })
    .await;
}
