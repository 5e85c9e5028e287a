use harness::cluster::{
    Manifest, Namespace, config_map, deployment, job, stateful_set, with_namespace,
};
use jiff::{SignedDuration, Timestamp};

/// How long after its dependency an application may start. Most of it is the kubelet's.
const SOON: SignedDuration = SignedDuration::from_secs(5);

/// What the API server's times leave out.
const RESOLUTION: SignedDuration = SignedDuration::from_secs(1);

/// c waits for b, b waits for a, each of another kind.
fn chain(tag: &str) -> [Manifest; 3] {
    let [a, b, c] = ["a", "b", "c"].map(|link| format!("{link}-{tag}"));
    [
        job(&a).runs("sleep 1; echo done"),
        stateful_set(&b)
            .ready_after(1)
            .depends_on(&format!("job/{a}")),
        deployment(&c).depends_on(&format!("statefulset/{b}")),
    ]
}

async fn went_in_order(ns: &Namespace, tag: &str) {
    let a = ns.pod_of(&format!("a-{tag}")).await;
    let b = ns.pod_of(&format!("b-{tag}")).await;
    let c = ns.pod_of(&format!("c-{tag}")).await;
    let (c_starts, b_starts) = (c.starts().await, b.starts().await);
    assert!(a.says("done").await < b_starts, "{tag}: a before b");
    assert!(b.says("ready").await < c_starts, "{tag}: b before c");
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn chains_in_one_apply_whatever_the_order_of_the_manifest() {
    with_namespace("chains", async |ns| {
        let ([a1, b1, c1], [a2, b2, c2], [a3, b3, c3]) = (chain("1"), chain("2"), chain("3"));
        ns.apply([c1, b1, a1, a2, b2, c2, b3, c3, a3]).await.ok();
        for tag in ["1", "2", "3"] {
            went_in_order(ns, tag).await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_chain_that_is_stuck_holds_up_no_other() {
    with_namespace("stuck", async |ns| {
        let ([a1, b1, c1], [a2, b2, c2]) = (chain("stuck"), chain("free"));
        let a1 = a1.with("/spec/suspend", true);
        ns.apply([a1, b1, c1, a2, b2, c2]).await.ok();
        went_in_order(ns, "free").await;
        ns.pod_of("b-stuck").await.is_shut().await;
        ns.pod_of("c-stuck").await.is_shut().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_diamond() {
    with_namespace("diamond", async |ns| {
        let side = |name| deployment(name).ready_after(1).depends_on("job/base");
        let top = deployment("top").depends_on("deployment/left, deployment/right");
        let base = job("base").runs("sleep 1; echo done");
        ns.apply([top, side("right"), base, side("left")])
            .await
            .ok();

        let (left, right) = (ns.pod_of("left").await, ns.pod_of("right").await);
        let top = ns.pod_of("top").await.starts().await;
        assert!(left.says("ready").await < top);
        assert!(right.says("ready").await < top);
        let done = ns.pod_of("base").await.says("done").await;
        assert!(done < left.starts().await);
        assert!(done < right.starts().await);
    })
    .await;
}

/// Not before `happened`, which is exact; not long after `recorded`, which the API server rounds down.
fn follows(starts: Timestamp, happened: Timestamp, recorded: &str) {
    assert!(starts >= happened, "{starts} is before {happened}");
    let recorded: Timestamp = recorded.parse().expect("the API server writes RFC 3339");
    let latest = recorded + RESOLUTION + SOON;
    assert!(starts <= latest, "{starts} is long after {recorded}");
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_job_and_never_before() {
    with_namespace("after-job", async |ns| {
        let migrate = job("migrate").runs("sleep 3; echo done");
        let api = deployment("api").depends_on("job/migrate");
        ns.apply([api, migrate]).await.ok();

        let starts = ns.pod_of("api").await.starts().await;
        let done = ns.pod_of("migrate").await.says("done").await;
        let job = ns.look.get("job/migrate").await;
        let completed = job["status"]["completionTime"].as_str();
        follows(starts, done, completed.expect("it has completed"));
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_server_is_ready_and_never_before() {
    with_namespace("after-server", async |ns| {
        let server = deployment("server").ready_after(3);
        let api = deployment("api").depends_on("deployment/server");
        ns.apply([api, server]).await.ok();

        let starts = ns.pod_of("api").await.starts().await;
        let ready = ns.pod_of("server").await.says("ready").await;
        let server = ns.look.get("deployment/server").await;
        let conditions = server["status"]["conditions"].as_array();
        let available = conditions
            .into_iter()
            .flatten()
            .find(|condition| condition["type"] == "Available")
            .and_then(|condition| condition["lastTransitionTime"].as_str());
        follows(starts, ready, available.expect("it is available"));
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_settings_are_there_and_never_before() {
    with_namespace("after-settings", async |ns| {
        let api = deployment("api").depends_on("configmap/settings");
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/settings", "NotFound").await;

        ns.apply([config_map("settings")]).await.ok();
        let starts = api.starts().await;
        let settings = ns.look.get("configmap/settings").await;
        let created = settings["metadata"]["creationTimestamp"].as_str();
        let created = created.expect("every object has it");
        // Rounded down, so this only says that it was not a second before.
        let happened = created.parse().expect("the API server writes RFC 3339");
        follows(starts, happened, created);
    })
    .await;
}
