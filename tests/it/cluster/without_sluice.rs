pub(crate) mod backend; // the injector changes: the webhook, the API server, the webhook
mod emergency; // the webhook configuration deleted by hand
mod fifty; // installed and removed while annotated workloads run
mod remembered; // what no replica has seen since it started
mod removed; // helm uninstall, and installed again
mod rolled; // one replica after another is replaced
mod stopped; // no replica answers
mod uncalled; // what no webhook is called for
mod upgraded; // another version of the gate

use harness::cluster::{
    Manifest, Namespace, Pod, cron_job, daemon_set, deployment, job, stateful_set,
};

/// Returns the workloads `web`, `db`, `agent`, `seed` and `nightly`, each of another kind, with this list.
fn one_of_each(list: &str) -> [Manifest; 5] {
    [
        deployment("web"),
        stateful_set("db"),
        daemon_set("agent"),
        job("seed"),
        cron_job("nightly"),
    ]
    .map(|manifest| manifest.depends_on(list))
}

/// Makes ten pods whose gates wait for `configmap/go`, and returns them.
async fn waiting_pods(ns: &Namespace) -> Vec<Pod> {
    let names: [String; 10] = std::array::from_fn(|index| format!("wait-{}", index + 1));
    let waits = |name: &String| deployment(name).depends_on("configmap/go");
    ns.apply(names.each_ref().map(waits)).await.ok();
    let mut pods = vec![];
    for name in names {
        let pod = ns.pod_of(&name).await;
        pod.waits_for("ConfigMap/go", "NotFound").await;
        pods.push(pod);
    }
    pods
}
