use harness::cluster::{Look, config_map, pod, sluice, with_namespace};
use serde_json::{Value, json};

const PORT: u16 = 10250;
const PATHS: [&str; 3] = ["/admit/pods", "/admit/workloads", "/admit/every-pod"];

/// Each replica refuses requests that are no review, and no replica is restarted by them.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_no_review_is_refused_and_leaves_every_replica_as_it_was() {
    with_namespace("port", async |ns| {
        let look = Look::at(sluice::NAMESPACE).await;
        let before = sluice::replicas().await;
        for (replica, _) in &before {
            for path in PATHS {
                for (what, body) in no_reviews() {
                    let (status, text) = look.post(replica, PORT, path, body).await;
                    assert_eq!(status, 400, "{path}, {what}: {text}");
                }
                let (status, _) = look.post(replica, PORT, path, vec![b' '; 8 << 20]).await;
                assert_eq!(status, 413, "{path}");
            }
            let (status, text) = look.post(replica, PORT, PATHS[0], no_operation()).await;
            let answer: Value = serde_json::from_str(&text).expect("it is a review");
            let response = answer["response"].as_object().expect("it has an answer");
            assert_eq!(
                (status, &response["allowed"]),
                (200, &json!(true)),
                "{text}"
            );
            let keys = ["patch", "patchType"].map(|key| response.contains_key(key));
            assert_eq!(keys, [false, false], "{text}");
        }
        ns.apply([config_map("go"), pod("api").depends_on("configmap/go")])
            .await
            .ok();
        ns.pod_of("api").await.starts().await;
        assert_eq!(sluice::replicas().await, before);
    })
    .await;
}

fn no_reviews() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |open: &str, close: &str| (open.repeat(10_000) + &close.repeat(10_000)).into();
    let other_version = json!({
        "apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview", "request": {"uid": "7"},
    });
    let no_request = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
    vec![
        ("an empty body", vec![]),
        ("no JSON", b"<review/>".to_vec()),
        ("half a review", b"{\"request\": {".to_vec()),
        ("10 000 lists", deep("[", "]")),
        ("10 000 mappings", deep("{\"a\":", "}")),
        ("another version", other_version.to_string().into()),
        ("no request", no_request.to_string().into()),
    ]
}

/// Returns a review of a plain pod, whose answer has neither a patch nor its type.
fn no_operation() -> Vec<u8> {
    let pod = json!({"metadata": {"name": "plain"}, "spec": {"containers": [{"name": "app"}]}});
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "7", "operation": "CREATE", "namespace": "default", "object": pod,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
        },
    });
    review.to_string().into()
}
