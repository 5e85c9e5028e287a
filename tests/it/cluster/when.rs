use harness::cluster::{Namespace, alone, config_map, deployment, job};
use jiff::{SignedDuration, Timestamp};

/// How long after its dependency a gate opens.
const AT_ONCE: SignedDuration = SignedDuration::from_secs(2);

/// How long after its dependency an application starts. Most of it is the kubelet's, which is why these tests run alone.
const SOON: SignedDuration = SignedDuration::from_secs(5);

/// What the API server's times leave out.
const RESOLUTION: SignedDuration = SignedDuration::from_secs(1);

/// The application did not start before `happened`, which is exact, and soon after `recorded`, which the API server
/// rounds down.
async fn api_follows(ns: &Namespace, happened: Timestamp, recorded: Option<&str>) {
    let api = ns.pod_of("api").await;
    let starts = api.starts().await;
    assert!(starts >= happened, "{starts} is before {happened}");

    let recorded: Timestamp = recorded.and_then(|time| time.parse().ok()).expect("a time");
    let opens = api.gate_log().await.pop().expect("it has opened");
    let latest = recorded + RESOLUTION;
    assert!(
        opens.at <= latest + AT_ONCE,
        "{opens:?}, and it was {recorded}"
    );
    assert!(starts <= latest + SOON, "{starts}, and it was {recorded}");
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_job_and_never_before() {
    alone("after-job", async |ns| {
        let migrate = job("migrate").runs("sleep 3; echo done");
        let api = deployment("api").depends_on("job/migrate");
        ns.apply([api, migrate]).await.ok();

        let done = ns.pod_of("migrate").await.says("done").await;
        ns.pod_of("api").await.starts().await;
        let job = ns.look.get("job/migrate").await;
        api_follows(ns, done, job["status"]["completionTime"].as_str()).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_server_is_ready_and_never_before() {
    alone("after-server", async |ns| {
        let server = deployment("server").ready_after(3);
        let api = deployment("api").depends_on("deployment/server");
        ns.apply([api, server]).await.ok();

        let ready = ns.pod_of("server").await.says("ready").await;
        ns.pod_of("api").await.starts().await;
        let server = ns.look.get("deployment/server").await;
        let conditions = server["status"]["conditions"].as_array().unwrap();
        let available = conditions.iter().find(|it| it["type"] == "Available");
        let recorded = available.and_then(|it| it["lastTransitionTime"].as_str());
        api_follows(ns, ready, recorded).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_settings_are_there_and_never_before() {
    alone("after-settings", async |ns| {
        let api = deployment("api").depends_on("configmap/settings");
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/settings", "NotFound").await;
        let last = api.gate_log().await.pop().expect("it waits");

        ns.apply([config_map("settings")]).await.ok();
        let settings = ns.look.get("configmap/settings").await;
        let created = settings["metadata"]["creationTimestamp"].as_str();
        api_follows(ns, last.at, created).await;
    })
    .await;
}
