use harness::cluster::{Pod, UNTIL_ENOUGH, alone, config_map, deployment, job};
use jiff::{SignedDuration, Timestamp};

/// The most time from a change to the opening of a gate that is told of it. A gate that is not told asks again only after minutes.
const TOLD: SignedDuration = SignedDuration::from_secs(50);

/// Checks that the application started no earlier than `happened`, and that its gate opened within [`TOLD`] of the time that the API server
/// `recorded`: it was told of the change.
async fn api_follows(api: &Pod, happened: Timestamp, recorded: Option<&str>) {
    let starts = api.starts().await;
    assert!(starts >= happened, "{starts} is before {happened}");

    let recorded: Timestamp = recorded.and_then(|time| time.parse().ok()).expect("a time");
    let opens = api.opens().await;
    assert!(opens <= recorded + TOLD, "{opens}, and it was {recorded}");
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_job_and_never_before() {
    alone("after-job", async |ns| {
        let migrate = job("migrate").runs(&format!("{UNTIL_ENOUGH}; echo done"));
        let api = deployment("api").depends_on("job/migrate");
        ns.apply([api, migrate]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Job/migrate", "JobNotComplete").await;

        let migrate = ns.pod_of("migrate").await;
        migrate.says("started").await;
        ns.tell_enough("job/migrate").await;
        let done = migrate.says("done").await;
        api.starts().await;
        let job = ns.look.get("job/migrate").await;
        api_follows(&api, done, job["status"]["completionTime"].as_str()).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_starts_right_after_its_server_is_ready_and_never_before() {
    alone("after-server", async |ns| {
        let server = deployment("server").ready_when_told();
        let api = deployment("api").depends_on("deployment/server");
        ns.apply([api, server]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Deployment/server", "InProgress").await;

        let server = ns.pod_of("server").await;
        server.says("started").await;
        let told = Timestamp::now();
        ns.tell_ready("deployment/server").await;
        api.starts().await;
        let server = ns.look.get("deployment/server").await;
        let conditions = server["status"]["conditions"].as_array().unwrap();
        let available = conditions.iter().find(|it| it["type"] == "Available");
        let recorded = available.and_then(|it| it["lastTransitionTime"].as_str());
        api_follows(&api, told, recorded).await;
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
        api_follows(&api, last.at, created).await;
    })
    .await;
}
