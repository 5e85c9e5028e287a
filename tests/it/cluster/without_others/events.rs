use harness::cluster::{
    LIMIT, Namespace, alone, await_until, config_map, deployment, sluice, text,
};
use serde_json::Value;

/// The wait of three pods of a workload is one Event on each pod and one on the workload, also after all replicas were replaced.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn one_wait_is_one_event_on_the_pod_and_one_on_the_workload() {
    alone("one-event", async |ns| {
        let api = deployment("api").depends_on("configmap/go");
        ns.apply([api.with("/spec/replicas", 3)]).await.ok();
        let pods = ns.pods_of("api", 3).await;
        for pod in &pods {
            pod.has_event("NotFound", "ConfigMap/go").await;
        }
        sluice::roll().await;
        await_until("the new replicas have told it, too", LIMIT, async || {
            let requests = sluice::requests().await;
            let events = requests.get("create events").copied().unwrap_or_default();
            // Of each pod, and of the Deployment above them.
            if events > 3 {
                Ok(())
            } else {
                Err(format!("{events} Events"))
            }
        })
        .await;
        assert_eq!(told(ns, "Pod").await, ["NotFound"; 3]);
        assert_eq!(told(ns, "Deployment").await, ["NotFound"]);

        ns.apply([config_map("go")]).await.ok();
        for pod in &pods {
            pod.starts().await;
            pod.has_event("Released", "").await;
        }
        await_until("the Deployment is told once more", LIMIT, async || {
            let told = told(ns, "Deployment").await;
            if told == ["NotFound", "Released"] {
                Ok(())
            } else {
                Err(format!("{told:?}"))
            }
        })
        .await;
    })
    .await;
}

/// Returns the sorted reasons of sluice's Events about objects of a kind.
async fn told(ns: &Namespace, kind: &str) -> Vec<String> {
    let events = ns.look.list("event", "").await;
    let ours = |event: &&Value| {
        text(event, "/reportingComponent") == "sluice.dev/sluice"
            && text(event, "/involvedObject/kind") == kind
    };
    let reasons = events.iter().filter(ours);
    let mut reasons: Vec<_> = reasons
        .map(|event| text(event, "/reason").to_owned())
        .collect();
    reasons.sort();
    reasons
}
