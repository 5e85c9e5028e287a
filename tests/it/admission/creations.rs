//! Tests of held creations at admission. No status service judges here, so each list counts as not read yet.

use super::{UID, post, response, review, send};
use axum::http::Request;
use harness::gate::policy;
use jiff::Timestamp;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use std::sync::Arc;
use webhook::{
    Admission, AdmissionLimits, AdmissionMetrics, Certified, Clock, CreationHolds, Known,
    MemoryAlarm, Options, Settings,
};

const PATH: &str = "/admit/creations";

/// Returns an admission service that holds creations and takes clients of these addresses for API servers.
fn admission(api_servers: &[&str]) -> Arc<Admission> {
    let metrics = AdmissionMetrics::register(&mut Registry::default());
    let (admission, sender) = Admission::new(
        Options::default(),
        AdmissionLimits::default(),
        MemoryAlarm::default(),
        metrics,
    );
    sender.send_replace(Some(Arc::new(policy().into())));
    let blocks = api_servers.iter().map(|it| it.parse().unwrap());
    Arc::new(admission.holding(CreationHolds {
        api_servers: blocks.collect(),
        known: Known::new(Settings::of_the_chart()).0,
        clock: Clock::new(Timestamp::now),
    }))
}

fn issuer(annotations: &Value) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Issuer",
        "metadata": {"name": "ca", "namespace": "shop", "annotations": annotations},
    })
}

fn held(list: &str) -> Value {
    issuer(&json!({"sluice.dev/hold": "create", "sluice.dev/depends-on": list}))
}

async fn answer(admission: &Arc<Admission>, review: &Value) -> Value {
    let (status, body) = post(admission, PATH, review.to_string()).await;
    response(review, status, &body)
}

fn create(object: &Value) -> Value {
    review("CREATE", object, &Value::Null)
}

/// A range that takes every client for an API server: a client of a test has no address, which counts as 0.0.0.0.
const ANY: [&str; 1] = ["0.0.0.0/0"];

#[tokio::test]
async fn a_creation_is_answered_with_the_pause_before_the_next_try() {
    let admission = admission(&ANY);
    for (tries, pause) in [(1, 1), (2, 2), (3, 4)] {
        let response = answer(&admission, &create(&held("deploy/cert-manager"))).await;
        assert_eq!(response["allowed"], false);
        let status = &response["status"];
        assert_eq!(status["code"], 429);
        assert_eq!(status["reason"], "TooManyRequests");
        assert_eq!(status["details"], json!({"retryAfterSeconds": pause}));
        let message = status["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("this was try {tries} of 11")),
            "{message}"
        );
        assert!(response.get("patch").is_none(), "it changes no object");
    }
}

#[tokio::test]
async fn what_does_not_ask_or_creates_nothing_passes() {
    let admission = admission(&ANY);
    let object = held("deploy/cert-manager");
    let mut dry = create(&object);
    dry["request"]["dryRun"] = json!(true);
    let update = review("UPDATE", &object, &object);
    let inert = create(&issuer(
        &json!({"sluice.dev/depends-on": "deploy/cert-manager"}),
    ));
    for passes in [dry, update, inert] {
        let response = answer(&admission, &passes).await;
        assert_eq!(response["allowed"], true, "{response}");
        assert!(response.get("warnings").is_none(), "{response}");
    }
    let idle = create(&issuer(&json!({"sluice.dev/hold": "create"})));
    let response = answer(&admission, &idle).await;
    let warning = response["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("has no effect without a list"),
        "{warning}"
    );
}

#[tokio::test]
async fn a_list_that_would_hold_for_ever_is_refused() {
    let admission = admission(&ANY);
    for list in [
        "Deploymnt/x",
        "tcp://db.example.com:5432",
        "tcp://$(DB):5432",
    ] {
        let response = answer(&admission, &create(&held(list))).await;
        assert_eq!(response["status"]["code"], 403, "{list}: {response}");
    }
}

/// A review of a creation is refused with code 403 where neither address nor certificate show that an API server sends it: any client that reaches
/// the port could claim any namespace, and so learn the state of its objects.
#[tokio::test]
async fn only_an_api_server_is_told_how_objects_stand() {
    let admission = admission(&["10.0.0.0/8"]);
    let review = create(&held("deploy/cert-manager"));
    let response = answer(&admission, &review).await;
    assert_eq!(response["status"]["code"], 403);
    let message = response["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("0.0.0.0 shows no certificate"),
        "{message}"
    );
    let request = Request::post(PATH).extension(Certified);
    let request = request.body(review.to_string().into()).unwrap();
    let (status, body) = send(&admission, request).await;
    let response: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (status.as_u16(), &response["response"]["uid"]),
        (200, &json!(UID))
    );
    assert_eq!(response["response"]["status"]["code"], 429);
}

/// `sluice.dev/hold: create` is allowed on a workload whose list is on its pod template, and is refused on a pod template.
#[tokio::test]
async fn a_workload_may_be_held_by_its_own_annotations_alone() {
    let admission = admission(&ANY);
    let mut deployment = super::workload("apps/v1", "Deployment");
    deployment["spec"]["template"]["metadata"]["annotations"] =
        json!({"sluice.dev/depends-on": "svc/db"});
    deployment["metadata"]["annotations"] = json!({"sluice.dev/hold": "create"});
    let review = create(&deployment);
    let marked = super::answer(&admission, &review).await;
    assert_eq!(marked["allowed"], true, "{marked}");
    assert_eq!(answer(&admission, &review).await["status"]["code"], 429);
    deployment["spec"]["template"]["metadata"]["annotations"]["sluice.dev/hold"] = json!("create");
    let refused = super::answer(&admission, &create(&deployment)).await;
    let message = refused["status"]["message"].as_str().unwrap();
    assert!(message.contains("held by its own annotations"), "{message}");
}
