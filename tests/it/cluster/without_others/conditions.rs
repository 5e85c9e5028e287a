//! Tests of the pod condition `sluice.dev/Released`, which the chart's value `podConditions.enabled` turns on.

use harness::cluster::{
    LIMIT, Namespace, Pod, Program, TIMEOUT, alone, await_until, config_map, deployment, sluice,
    text,
};
use harness::process::Process;
use serde_json::{Value, json};
use std::process::Command;

const TYPE: &str = "sluice.dev/Released";

async fn condition(pod: &Pod) -> Value {
    let now = pod.now().await;
    let conditions = now["status"]["conditions"].as_array().cloned();
    let ours = |condition: &Value| condition["type"] == TYPE;
    conditions
        .into_iter()
        .flatten()
        .find(ours)
        .unwrap_or_default()
}

async fn until_it_says(pod: &Pod, status: &str, reason: &str, message: &str) {
    await_until("the pod carries the condition", LIMIT, async || {
        let found = condition(pod).await;
        let said = [text(&found, "/status"), text(&found, "/reason")] == [status, reason]
            && text(&found, "/message").contains(message);
        if said { Ok(()) } else { Err(found.to_string()) }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_says_by_a_condition_what_it_waits_for() {
    alone("conditions", async |ns| {
        sluice::with_values(&["--set", "podConditions.enabled=true"], async || {
            ns.apply([
                deployment("api").depends_on("configmap/go"),
                deployment("web").depends_on("deployment/api"),
            ])
            .await
            .ok();
            let (api, web) = (ns.pod_of("api").await, ns.pod_of("web").await);
            until_it_says(&api, "False", "NotFound", "ConfigMap/go").await;
            until_it_says(&web, "False", "InProgress", "Deployment/api").await;
            the_account_may_write_nothing_else(ns, &api).await;

            ns.apply([config_map("go")]).await.ok();
            let wait = ["wait", "--for=condition=sluice.dev/Released", TIMEOUT];
            for pod in [&api, &web] {
                let kubectl = ns.program("kubectl").args(wait);
                kubectl.args([format!("pod/{}", pod.name)]).run().await.ok();
                pod.starts().await;
                until_it_says(pod, "True", "Satisfied", "").await;
            }
        })
        .await;
    })
    .await;
}

/// Checks that the controller's account may change nothing else of a pod's status: tries changes that a thief of its token would try, as dry runs.
/// `kubectl patch` would have to read the status first.
async fn the_account_may_write_nothing_else(ns: &Namespace, pod: &Pod) {
    let mut proxy = Process::start(Command::new("kubectl").args(["proxy", "--port=0"]));
    let line = proxy.line("127.0.0.1:");
    let api_server = line.rsplit(' ').next().expect("an address").trim();
    let (namespace, name) = (&ns.name, &pod.name);
    let status = format!("api/v1/namespaces/{namespace}/pods/{name}/status?dryRun=All");
    let url = format!("http://{api_server}/{status}");
    let patch = async |patch: &Value| {
        let account = "Impersonate-User: system:serviceaccount:sluice-system:sluice";
        let kind = "Content-Type: application/strategic-merge-patch+json";
        let curl = Program::new("curl").args(["-s", "-X", "PATCH", "-H", account]);
        let curl = curl.args(["-H", kind, "-d", &patch.to_string(), &url]);
        serde_json::from_str::<Value>(&curl.run().await.stdout).expect("JSON")
    };
    let ours = json!({"type": TYPE, "status": "True", "reason": "Skipped"});
    let allowed = patch(&json!({"status": {"conditions": [ours]}})).await;
    assert_eq!(allowed["kind"], "Pod", "{allowed}");
    for change in [
        json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        json!({"status": {"conditions": [{"type": "sluice.dev/Other", "status": "True"}]}}),
        json!({"status": {"conditions": [{"type": "PodScheduled", "$patch": "delete"}]}}),
        json!({"status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}}),
        json!({"status": {"phase": "Failed"}}),
        json!({"status": {"phase": "Succeeded"}}),
        json!({"status": {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}, {"$patch": "replace"}]}}),
        json!({"status": {"hostIP": "10.9.9.9", "hostIPs": [{"ip": "10.9.9.9"}, {"$patch": "replace"}]}}),
        json!({"status": {"message": "x"}}),
        json!({"status": {"reason": "Evicted"}}),
        json!({"status": {"startTime": "2020-01-01T00:00:00Z"}}),
        json!({"status": {"containerStatuses": [{"$patch": "replace"}]}}),
        json!({"status": {"initContainerStatuses": [{"$patch": "replace"}]}}),
        json!({"metadata": {"labels": {"app": "other"}}}),
        json!({"metadata": {"annotations": {"sluice.dev/skip": "true"}}}),
        json!({"metadata": {"finalizers": ["example.com/keep"]}}),
    ] {
        let refusal = patch(&change).await;
        let said = text(&refusal, "/message").contains("nothing else of its status");
        assert!(said, "{change}: {refusal}");
    }
}
