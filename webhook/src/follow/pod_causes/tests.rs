//! Tests the looks at the pods of dependencies, in front of a fake API server with a few objects by path.

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

/// The knowledge of a replica in front of a fake API server, with the requests that the server got and its answers by path.
struct Desk {
    known: Arc<Known>,
    asked: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Desk {
    /// A fake API server with these objects by path (null: 404), in front of which the task looks at pods. Every other path is forbidden.
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

    /// The cause that a view is told for the pods labelled `app=db`, so many seconds after it first asked; empty if none is known.
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

/// A pod of the StatefulSet `db` of UID `u1`, as the watch of gated pods shows it.
fn gated(name: &str, gate: &Value) -> Value {
    json!({
        "metadata": {
            "namespace": "shop", "name": name, "uid": name, "labels": {"app": "db", "sluice.dev/gated": "true"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u1", "controller": true}],
        },
        "spec": {"nodeName": "one"},
        "status": {"phase": "Pending", "initContainerStatuses": [{"name": "sluice-gate", "state": gate}]},
    })
}

fn of_workload(uid: &str) -> Behind {
    Behind {
        owner: Some(uid.to_owned()),
        ..db()
    }
}

const AT_ITS_GATE: &str = "its pod db-0 waits at its gate";
const CRASH: &str = "its pod db-1 crashes: container \"db\" ended with exit code 1";

/// A pod whose container crashes again and again.
fn crashing(mut pod: Value) -> Value {
    let ended = json!({"exitCode": 1, "reason": "Error"});
    pod["status"]["containerStatuses"] = json!([{
        "name": "db", "restartCount": 4, "lastState": {"terminated": ended},
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
    }]);
    pod
}

/// The watch of gated pods shows that the pod waits; anything else can hold the pod up only once its gate has opened.
#[tokio::test(start_paused = true)]
async fn a_workload_whose_pod_waits_at_its_gate_costs_no_request() {
    let desk = Desk::new(&[(PODS, list(&[]))]);
    let behind = of_workload("u1");
    let known = desk.known.gated();
    let waits = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    known.replace(&[gated("db-0", &waits)]);
    let asked = || desk.asked.lock().unwrap().len();
    assert_eq!(
        desk.told_of(&behind, 30).await,
        "its pod db-0 waits at its gate"
    );
    assert_eq!(asked(), 0);
    // The watch is believed for half a minute after its last sign; else a list is read.
    known.heard();
    desk.told_of(&of_workload("u2"), 6).await;
    assert_eq!(asked(), 1, "of another workload");
    desk.told_of(&behind, 16).await;
    assert_eq!(asked(), 1, "its gate is closed");
    known.heard();
    known.apply(&gated("db-0", &json!({"terminated": {"exitCode": 0}})));
    assert_eq!(desk.told_of(&behind, 16).await, "");
    assert_eq!(asked(), 2, "its gate has opened");
}

/// The watch of gated pods keeps no container of a pod behind its gate, so a list has to show whether the pod crashes.
#[tokio::test(start_paused = true)]
async fn a_pod_at_its_gate_does_not_hide_the_crash_of_one_behind_its_gate() {
    let (waits, open) = (
        json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}),
        json!({"terminated": {"exitCode": 0}}),
    );
    let passed = |phase: &str| {
        let mut pod = gated("db-1", &open);
        pod["status"]["phase"] = json!(phase);
        pod
    };
    let crashes = crashing(passed("Running"));
    let mut leaves = passed("Running");
    leaves["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:59:00Z");
    for (sibling, answer, told, requests) in [
        (passed("Running"), vec![crashes], CRASH, 1),
        // The list has the first pods alone, and none of them is in trouble.
        (passed("Running"), Vec::new(), AT_ITS_GATE, 1),
        (passed("Succeeded"), Vec::new(), AT_ITS_GATE, 0),
        (leaves, Vec::new(), AT_ITS_GATE, 0),
    ] {
        let desk = Desk::new(&[(PODS, list(&answer))]);
        let known = desk.known.gated();
        known.replace(&[gated("db-0", &waits), sibling]);
        let behind = of_workload("u1");
        let found = desk.told_of(&behind, 6).await;
        assert!(found.starts_with(told), "{found}");
        assert_eq!(desk.asked.lock().unwrap().len(), requests, "{told}");
    }
}

/// A pod without a gate was made before sluice came, or skips its gate. No watch shows it, so the status of the workload tells whether
/// there is one that is not ready.
#[tokio::test(start_paused = true)]
async fn a_pod_at_its_gate_does_not_hide_the_crash_of_one_without_a_gate() {
    let waits = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let mut without = crashing(gated("db-1", &waits));
    let status = without["status"].as_object_mut().unwrap();
    status.remove("initContainerStatuses");
    without["metadata"]["labels"] = json!({"app": "db"});
    let mut passed = gated("db-1", &json!({"terminated": {"exitCode": 0}}));
    passed["status"]["phase"] = json!("Running");
    let at_its_gate = gated("db-0", &waits);
    for (gated, status, told, requests) in [
        (vec![&at_its_gate], json!({"replicas": 2}), CRASH, 1),
        (
            vec![&at_its_gate],
            json!({"replicas": 2, "readyReplicas": 1}),
            AT_ITS_GATE,
            0,
        ),
        (vec![&at_its_gate], json!({"replicas": 1}), AT_ITS_GATE, 0),
        (
            vec![&at_its_gate, &passed],
            json!({"replicas": 2, "readyReplicas": 1}),
            AT_ITS_GATE,
            0,
        ),
        (
            vec![&at_its_gate, &passed],
            json!({"replicas": 3, "readyReplicas": 1}),
            CRASH,
            1,
        ),
    ] {
        let desk = Desk::new(&[(PODS, list(std::slice::from_ref(&without)))]);
        desk.known.gated().replace(gated);
        let set = json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"namespace": "shop", "name": "db", "uid": "u1"}, "status": status,
        });
        let kind = kinds::builtin("apps", "StatefulSet").map(Kind::Builtin);
        desk.known.want(&kind.unwrap()).replace(&[set]);
        let found = desk.told_of(&of_workload("u1"), 20).await;
        assert!(found.starts_with(told), "{status}: {found}");
        let asked = desk.asked.lock().unwrap().len();
        assert_eq!(asked.min(1), requests, "{status}");
    }
}

/// A Job does not count a failed pod as active, and no watch shows one without a gate.
#[tokio::test(start_paused = true)]
async fn a_pod_at_its_gate_does_not_hide_the_failure_of_one_without_a_gate() {
    let waits = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let of_job = |name: &str| {
        let mut pod = gated(name, &waits);
        let owner = &mut pod["metadata"]["ownerReferences"][0];
        owner["apiVersion"] = json!("batch/v1");
        owner["kind"] = json!("Job");
        pod
    };
    let mut failed = of_job("db-1");
    failed["metadata"]["labels"] = json!({"app": "db"});
    failed["status"] = json!({"phase": "Failed", "reason": "Evicted"});
    for (count, told) in [(0, AT_ITS_GATE), (1, "its pod db-1 has failed: Evicted")] {
        let desk = Desk::new(&[(PODS, list(std::slice::from_ref(&failed)))]);
        desk.known.gated().replace(&[of_job("db-0")]);
        let job = json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"namespace": "shop", "name": "db", "uid": "u1"},
            "status": {"active": 1, "ready": 0, "failed": count},
        });
        let kind = kinds::builtin("batch", "Job").map(Kind::Builtin);
        desk.known.want(&kind.unwrap()).replace(&[job]);
        let found = desk.told_of(&of_workload("u1"), 20).await;
        assert!(found.starts_with(told), "{count}: {found}");
    }
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
