//! Looks at an API server that knows a few objects by their paths.

use super::*;
use crate::known::Settings;
use axum::body::Body as Answer;
use axum::http::{Request as HttpRequest, Response};
use jiff::Timestamp;
use kube::client::Body;
use rules::selector::Selector;
use rules::world::Hints;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Mutex;
use tower::service_fn;

const PODS: &str = "/api/v1/namespaces/shop/pods";
const CLAIMS_AT: &str = "/api/v1/namespaces/shop/persistentvolumeclaims";

/// A replica's knowledge in front of a fake API server, with the requests that the server got and its answers by path.
struct Desk {
    known: Arc<Known>,
    asked: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Desk {
    /// An API server with these objects; everything else is refused.
    fn new(objects: &[(&str, Value)]) -> Self {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        let known_to_it = objects
            .iter()
            .map(|(path, object)| ((*path).to_owned(), object.clone()));
        let answers = Arc::new(Mutex::new(known_to_it.collect::<BTreeMap<_, _>>()));
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let desk = Self {
            known,
            asked,
            answers,
        };
        let (asked, answers) = (Arc::clone(&desk.asked), Arc::clone(&desk.answers));
        let api_server = service_fn(move |request: HttpRequest<Body>| {
            asked.lock().unwrap().push(request.uri().to_string());
            let object = answers.lock().unwrap().get(request.uri().path()).cloned();
            let refusal = |code: u16| json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": code});
            let code = match &object {
                Some(Value::Null) => 404,
                Some(_) => 200,
                None => 403,
            };
            let body = object
                .filter(|it| !it.is_null())
                .unwrap_or_else(|| refusal(code));
            let answer = Response::builder()
                .status(code)
                .body(Answer::from(body.to_string()));
            async move { Ok::<_, Infallible>(answer.unwrap()) }
        });
        let clock = Clock::new(|| "2026-01-01T01:00:00Z".parse().unwrap());
        let client = Client::new(api_server, "default");
        tokio::spawn(follow(client, Arc::clone(&desk.known), clock));
        desk
    }

    /// The message after so many seconds of waiting.
    async fn told(&self, seconds: u64) -> String {
        self.told_of(&db(), seconds).await
    }

    async fn told_of(&self, behind: &Behind, seconds: u64) -> String {
        let view = self.known.view();
        view.stuck(behind, Timestamp::UNIX_EPOCH);
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let found = view.stuck(behind, Timestamp::UNIX_EPOCH);
        found.map_or_else(String::new, |it| it.to_string())
    }
}

fn db() -> Behind {
    Behind {
        namespace: "shop".to_owned(),
        selector: Selector::label("app", "db"),
        owner: None,
        by: rules::cause::By::Labels,
    }
}

fn list(pods: &[Value]) -> Value {
    json!({"metadata": {"resourceVersion": "1", "continue": "more"}, "items": pods})
}

fn without_image(name: &str) -> Value {
    let waiting = json!({"reason": "ErrImagePull", "message": "\"r/db:1\": r/db:1: not found"});
    json!({
        "metadata": {"name": name, "managedFields": [{"fieldsV1": {"f:spec": {}}}]},
        "spec": {"nodeName": "one"},
        "status": {"phase": "Pending", "containerStatuses": [{"name": "db", "image": "r/db:1", "state": {"waiting": waiting}}]},
    })
}

fn homeless() -> Value {
    json!({
        "metadata": {"name": "db-0"},
        "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]},
        "status": {"phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available.",
        }]},
    })
}

#[tokio::test(start_paused = true)]
async fn a_look_asks_for_a_few_pods_by_their_labels_and_no_more() {
    let desk = Desk::new(&[(PODS, list(&[without_image("db-0"), without_image("db-1")]))]);
    let told = desk.told(8).await;
    assert_eq!(
        told,
        "its pod db-0 cannot pull image r/db:1: not found (2 of 2 pods)"
    );
    let list = format!("{PODS}?&labelSelector=app%3Ddb&limit=20");
    assert_eq!(*desk.asked.lock().unwrap(), [list.clone(), list]);
}

#[tokio::test(start_paused = true)]
async fn the_claim_of_a_pod_without_a_node_is_read_by_its_name() {
    let claim = json!({"metadata": {"name": "data-db-0"}, "spec": {"storageClassName": ""}, "status": {"phase": "Pending"}});
    let of = format!("{CLAIMS_AT}/data-db-0");
    for (found, says) in [
        (
            Some(claim),
            "its pod db-0 waits for its claim data-db-0: PVC is not Bound. phase: Pending, its storageClassName is \"\", and no PersistentVolume that \
             somebody made fits it",
        ),
        (
            Some(Value::Null),
            "its pod db-0 waits for its claim data-db-0: it does not exist",
        ),
        (None, "its pod db-0 finds no node (0/1 nodes are available)"),
    ] {
        let claim = found.map(|claim| (of.as_str(), claim));
        let pods = (PODS, list(&[homeless()]));
        let objects: Vec<_> = [pods].into_iter().chain(claim).collect();
        assert_eq!(Desk::new(&objects).told(6).await, says);
    }
}

/// The watch of gated pods shows that the pod waits; only once its gate has opened another thing may hold it up.
#[tokio::test(start_paused = true)]
async fn a_workload_whose_pod_waits_at_its_gate_costs_no_request() {
    let desk = Desk::new(&[(PODS, list(&[]))]);
    let behind = Behind {
        owner: Some("u1".to_owned()),
        ..db()
    };
    let gate = |state: Value| {
        json!({
            "metadata": {
                "namespace": "shop", "name": "db-0", "uid": "p1", "labels": {"app": "db", "sluice.dev/gated": "true"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u1", "controller": true}],
            },
            "spec": {"nodeName": "one"},
            "status": {"phase": "Pending", "initContainerStatuses": [{"name": "sluice-gate", "state": state}]},
        })
    };
    let known = desk.known.gated();
    known.replace(&[gate(
        json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}),
    )]);
    assert_eq!(
        desk.told_of(&behind, 30).await,
        "its pod db-0 waits at its gate"
    );
    assert_eq!(desk.asked.lock().unwrap().len(), 0);
    let another = Behind {
        owner: Some("u2".to_owned()),
        ..behind.clone()
    };
    desk.told_of(&another, 6).await;
    assert_eq!(desk.asked.lock().unwrap().len(), 1, "of another workload");
    known.apply(&gate(json!({"terminated": {"exitCode": 0}})));
    desk.told_of(&behind, 16).await;
    assert_ne!(desk.asked.lock().unwrap().len(), 1, "its gate has opened");
}

/// The search reads one list where the object has pods, and further lists only where it has none. Finished pods and pods of
/// other objects do not count.
#[tokio::test(start_paused = true)]
async fn what_has_no_selector_is_looked_for_by_owners_in_bounded_lists() {
    const JOBS: &str = "/apis/batch/v1/namespaces/shop/jobs";
    let owned = |mut thing: Value, uid: &str| {
        let owner = json!({"apiVersion": "example.com/v1", "kind": "Widget", "name": "one", "uid": uid, "controller": true});
        thing["metadata"]["ownerReferences"] = json!([owner]);
        thing
    };
    let behind = Behind {
        namespace: "shop".to_owned(),
        selector: Selector::default(),
        owner: Some("u1".to_owned()),
        by: rules::cause::By::Owners,
    };
    let pods = list(&[
        owned(without_image("a"), "another"),
        owned(without_image("b"), "u1"),
    ]);
    let desk = Desk::new(&[(PODS, pods)]);
    let first = format!("{PODS}?&fieldSelector=status.phase%21%3DSucceeded&limit=200");
    assert_eq!(
        desk.told_of(&behind, 6).await,
        "its pod b cannot pull image r/db:1: not found"
    );
    assert_eq!(desk.asked.lock().unwrap().join(" "), first);

    // A workload without pods is looked at after the longest pauses.
    let claims = (CLAIMS_AT, list(&[]));
    let desk = Desk::new(&[(PODS, list(&[])), (JOBS, list(&[])), claims]);
    for (seconds, looks) in [(6, 1), (14, 1), (2, 2)] {
        assert_eq!(desk.told_of(&behind, seconds).await, "");
        assert_eq!(desk.asked.lock().unwrap().len(), 3 * looks, "{seconds}");
    }

    let job =
        json!({"metadata": {"name": "seed", "uid": "u2"}, "spec": {"suspend": true}, "status": {}});
    let desk = Desk::new(&[(PODS, list(&[])), (JOBS, list(&[owned(job, "u1")]))]);
    assert_eq!(
        desk.told_of(&behind, 6).await,
        "its Job seed is not ready: job is suspended; set spec.suspend to false"
    );
    assert_eq!(
        *desk.asked.lock().unwrap(),
        [first, format!("{JOBS}?&limit=200")]
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_looked_at_again_stands_and_what_can_be_is_told_as_it_is_now() {
    let desk = Desk::new(&[]);
    assert_eq!(desk.told(6).await, "");
    let set = |answer: Option<Value>| {
        let mut answers = desk.answers.lock().unwrap();
        answers.clear();
        answers.extend(answer.map(|it| (PODS.to_owned(), it)));
    };
    set(Some(list(&[without_image("db-0")])));
    assert_ne!(desk.told(20).await, "");
    set(None);
    assert_ne!(desk.told(40).await, "");
    set(Some(list(&[])));
    assert_eq!(
        desk.told(40).await,
        "no pod has the labels that it selects (app=db)"
    );
}
