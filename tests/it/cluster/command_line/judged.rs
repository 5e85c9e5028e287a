//! `kubectl sluice status` and the gate of a pod give the same answer, with the settings of the installed sluice.

use crate::cluster::readiness::memory::seeded;
use harness::cluster::{
    LIMIT, Namespace, Outcome, Pod, Program, await_until, config_map, deployment, other,
    with_namespace,
};
use harness::process::binary;
use serde_json::{Value, json};

/// Runs `kubectl sluice status` for a pod, with further arguments.
pub(crate) async fn status(ns: &Namespace, pod: &Pod, args: &[&str]) -> Outcome {
    let program = Program::new(binary("kubectl-sluice"))
        .args(["status", &pod.name, "--namespace", &ns.name])
        .args(args);
    program.run().await
}

/// Waits until `status` gives this reason for the first dependency of a pod, agrees with the gate and ends with this code: command and gate learn of
/// a change at different times.
pub(crate) async fn assert_told(ns: &Namespace, pod: &Pod, reason: &str, code: i32) {
    await_until(&format!("{reason} is told"), LIMIT, async || {
        let told = status(ns, pod, &["-o", "json"]).await;
        let answer: Value = serde_json::from_str(&told.stdout).expect("JSON");
        let agrees = answer["differs"] == false && answer["unseen"].is_null();
        let found = answer["dependencies"][0]["reason"] == reason && told.code == Some(code);
        (agrees && found).then_some(()).ok_or(told.to_string())
    })
    .await;
}

/// Waits until the status of the pod says that its gate runs: the gate may write its log earlier.
async fn has_a_gate_that_runs(pod: &Pod) {
    await_until("the gate is said to run", LIMIT, async || {
        let gate = pod.gate().await;
        let runs = gate["state"]["running"].is_object();
        runs.then_some(()).ok_or(gate.to_string())
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_secret_that_sluice_may_not_read_is_not_said_to_be_there() {
    with_namespace("judged-secret", async |ns| {
        let secret =
            other(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}}));
        ns.apply([secret, deployment("api").depends_on("secret/db")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Secret/db", "KindForbidden").await;
        assert_told(ns, &api, "KindForbidden", 3).await;
        has_a_gate_that_runs(&api).await;
        // The last word of the gate comes first.
        let text = status(ns, &api, &[]).await;
        let lines: Vec<&str> = text.stdout.lines().collect();
        assert!(lines[1].starts_with("  gate  waiting "), "{text}");
        assert!(lines[1].contains("(KindForbidden: "), "{text}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_that_sluice_remembers_is_not_said_to_be_missing() {
    with_namespace("judged-job", async |ns| {
        seeded(ns).await;
        let list = "job/seed, configmap/go";
        ns.apply([deployment("api").depends_on(list)]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        assert_told(ns, &api, "Remembered", 3).await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
        assert_told(ns, &api, "Remembered", 0).await;
    })
    .await;
}

/// `status` of a caller that may read only pods, ConfigMaps and the workloads above pods tells what the caller may not see.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_the_caller_may_not_see_is_said() {
    with_namespace("judged-reader", async |ns| {
        ns.apply([deployment("api").depends_on("configmap/go")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        let resources = "--resource=pods,configmaps,replicasets.apps,deployments.apps";
        ns.kubectl(["create", "role", "reader", "--verb=get,list", resources])
            .await
            .ok();
        let account = format!("--serviceaccount={}:default", ns.name);
        ns.kubectl(["create", "rolebinding", "reader", "--role=reader", &account])
            .await
            .ok();
        may_read_deployments(ns).await;
        has_a_gate_that_runs(&api).await;
        let token = ns.kubectl(["create", "token", "default"]).await.ok();
        let told = as_somebody(ns, &api, token.trim()).await;
        let missing = "warning: you may not read sluice's rights, memory, so defaults stand in ";
        assert!(told.stderr.contains(missing), "{told}");
        let unheard = "  gate  its log cannot be read: that takes the right to get pods/log";
        assert!(told.stdout.contains(unheard), "{told}");
        assert!(told.stdout.contains("  wait  ConfigMap/go"), "{told}");
        assert_eq!(told.code, Some(3), "{told}");
    })
    .await;
}

/// Waits until the API server lets the account of the test list Deployments: it reads a new role with a delay.
async fn may_read_deployments(ns: &Namespace) {
    let account = format!("system:serviceaccount:{}:default", ns.name);
    let question = [
        "auth",
        "can-i",
        "list",
        "deployments.apps",
        "--as",
        &account,
    ];
    await_until("the role counts", LIMIT, async || {
        let answer = ns.kubectl(question).await;
        (answer.code == Some(0))
            .then_some(())
            .ok_or_else(|| answer.to_string())
    })
    .await;
}

/// Runs `kubectl sluice status` for a pod with the rights of a token instead of those of an administrator.
async fn as_somebody(ns: &Namespace, pod: &Pod, token: &str) -> Outcome {
    let view = [
        "config",
        "view",
        "--raw",
        "--flatten",
        "--minify",
        "-o",
        "json",
    ];
    let config = ns.kubectl(view).await.ok();
    let mut config: Value = serde_json::from_str(&config).expect("JSON");
    config["users"][0]["user"] = json!({"token": token});
    let file = tempfile::NamedTempFile::new().expect("a folder for files");
    std::fs::write(file.path(), config.to_string()).expect("a file can be written");
    let path = file.path().to_str().expect("a plain path");
    status(ns, pod, &["--kubeconfig", path]).await
}
