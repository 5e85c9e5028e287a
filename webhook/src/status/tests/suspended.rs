//! Jobs that were created suspended, in front of an API server that does as it is told.

use super::*;
use crate::status::keeper::Show;
use kube::client::Body as Sent;
use std::convert::Infallible;
use tower::service_fn;

const NOTE: &str = "sluice.dev/suspended";

/// What was written, and when in whole seconds.
type Writes = Arc<Mutex<Vec<(u64, Value)>>>;

/// A Job that was created suspended at 0, whose pod template has these annotations.
fn suspended(name: &str, annotations: &Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "namespace": "shop", "name": name, "uid": format!("uid of {name}"),
            "annotations": {NOTE: "true"}, "creationTimestamp": "1970-01-01T00:00:00Z",
        },
        "spec": {"suspend": true, "template": {"metadata": {"annotations": annotations}}},
    })
}

fn list() -> Value {
    json!({"sluice.dev/depends-on": "configmap/go"})
}

fn jobs_kind() -> Kind {
    by_word("job").map(Kind::Builtin).expect("built in")
}

/// Patches the Jobs in the store, as a watch would bring them back.
fn jobs(known: &Arc<Known>, writes: &Writes, began: Instant) -> Client {
    let (known, writes) = (Arc::clone(known), Arc::clone(writes));
    let answer = move |request: Request<Sent>| {
        let (known, writes) = (Arc::clone(&known), Arc::clone(&writes));
        async move {
            let path = request.uri().path().to_owned();
            let name = path.strip_prefix("/apis/batch/v1/namespaces/shop/jobs/");
            let name = name.expect("a Job of the namespace").to_owned();
            let kind = &request.headers()["content-type"];
            assert_eq!(request.method(), "PATCH");
            assert_eq!(kind, "application/json-patch+json");
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let operations: json_patch::Patch = serde_json::from_slice(&body).unwrap();
            let store = known.want(&jobs_kind());
            let mut job = store.get("shop", &name).expect("it is there");
            let (code, answer) = match json_patch::patch(&mut job, &operations) {
                Ok(()) => {
                    store.apply(&job);
                    let written = serde_json::from_slice(&body).unwrap();
                    let at = began.elapsed().as_secs();
                    writes.lock().unwrap().push((at, written));
                    (200, job)
                }
                Err(error) => (
                    422,
                    json!({"kind": "Status", "status": "Failure", "code": 422, "reason": "Invalid", "message": error.to_string()}),
                ),
            };
            let response = Response::builder().status(code);
            let response = response.body(Body::from(answer.to_string()));
            Ok::<_, Infallible>(response.unwrap())
        }
    };
    Client::new(service_fn(answer), "default")
}

/// Replicas that look after the Jobs of a desk.
struct Keepers {
    desk: Desk,
    writes: Writes,
    shown: Vec<Show>,
}

impl Keepers {
    /// So many.
    fn new(count: usize) -> Self {
        let desk = Desk::new(&json!({}));
        let writes = Writes::default();
        let known = &desk.service.known;
        let shown = (0..count).map(|_| {
            let (shown, seen) = suspended_jobs();
            let service = Arc::clone(&desk.service);
            let client = jobs(known, &writes, desk.began);
            tokio::spawn(Suspended::new(service, client, Arc::clone(&desk.suspended)).keep(seen));
            shown
        });
        let shown = shown.collect();
        Self {
            desk,
            writes,
            shown,
        }
    }

    /// A watch brings a Job.
    fn see(&self, job: &Value) {
        self.shown.iter().for_each(|show| show(job));
        self.desk.put("job", job);
    }

    /// What was written when the clock has come to this second.
    async fn written_at(&self, second: u64) -> Vec<(u64, Value)> {
        let at = self.desk.began + Duration::from_millis(second * 1000 + 900);
        tokio::time::sleep_until(at).await;
        self.writes.lock().unwrap().clone()
    }

    /// In which second it was written to each.
    async fn moments_at(&self, second: u64) -> Vec<u64> {
        let written = self.written_at(second).await;
        written.into_iter().map(|(at, _)| at).collect()
    }

    /// The Job as it is now.
    fn job(&self, name: &str) -> Value {
        let store = self.desk.service.known.want(&jobs_kind());
        store.get("shop", name).expect("it is there")
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_is_resumed_once_its_list_is_satisfied_by_a_patch_that_tests_what_it_changes() {
    let keepers = Keepers::new(2);
    keepers.see(&suspended("seed", &list()));
    assert_eq!(keepers.written_at(100).await, []);
    let metrics = keepers.desk.metrics();
    let counted = r#"suspended_jobs{namespace="shop"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
    keepers.desk.put("configmap", &config_map());
    let note = "/metadata/annotations/sluice.dev~1suspended";
    let expected = json!([
        {"op": "test", "path": "/metadata/uid", "value": "uid of seed"},
        {"op": "test", "path": note, "value": "true"},
        {"op": "test", "path": "/spec/suspend", "value": true},
        {"op": "remove", "path": note},
        {"op": "replace", "path": "/spec/suspend", "value": false},
    ]);
    assert_eq!(keepers.written_at(200).await, [(100, expected)]);
    let metrics = keepers.desk.metrics();
    assert!(!metrics.contains("suspended_jobs{"), "{metrics}");
    assert_eq!(
        keepers.desk.service.known.view().held_jobs("shop"),
        [json!(null); 0]
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_a_suspended_job_is_told_by_one_event_on_the_job() {
    let keepers = Keepers::new(2);
    keepers.see(&suspended("seed", &list()));
    keepers.written_at(30).await;
    let events = keepers.desk.events.lock().unwrap().clone();
    let [event] = events.as_slice() else {
        panic!("one for both replicas: {events:?}")
    };
    assert_eq!(event["regarding"]["kind"], "Job");
    assert_eq!(event["regarding"]["uid"], "uid of seed");
    let text = event["note"].as_str().unwrap_or_default();
    assert!(text.starts_with("waiting for ConfigMap/go"), "{text}");
}

/// Else its gate would begin to count anew.
#[tokio::test(start_paused = true)]
async fn a_job_whose_wait_took_too_long_is_resumed_and_that_is_noted() {
    for on_timeout in ["fail", "proceed"] {
        let keepers = Keepers::new(1);
        keepers.see(&suspended("seed", &waits(on_timeout)));
        assert_eq!(keepers.moments_at(100).await, [40], "{on_timeout}");
        let job = keepers.job("seed");
        assert_eq!(job["spec"]["suspend"], false);
        assert_eq!(job["metadata"]["annotations"][NOTE], "timed-out");
        // A pod of it that starts only now is told the same.
        let mut pod = pod(&waits(on_timeout));
        pod["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "batch/v1", "kind": "Job", "name": "seed", "uid": "uid of seed", "controller": true,
        }]);
        pod["status"]["startTime"] = json!("1970-01-01T00:01:40Z");
        keepers.desk.service.known.gated().replace(&[pod]);
        let told = keepers.desk.ask("").await.verdict;
        assert_ne!(told, wire::Decision::Wait, "{on_timeout}");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_ends_the_wait_of_a_gate_resumes_a_job() {
    let keepers = Keepers::new(1);
    let mut failing = json!({"sluice.dev/depends-on": "job/seed", "sluice.dev/on-failure": "fail"});
    keepers.see(&suspended("one", &failing));
    keepers.see(&suspended("two", &list()));
    assert_eq!(keepers.moments_at(10).await, [0; 0]);
    keepers.desk.put("job", &failed_job());
    assert_eq!(keepers.moments_at(20).await, [10]);
    assert_eq!(
        keepers.job("one")["metadata"]["annotations"][NOTE],
        json!(null)
    );
    let mut skipped = suspended("two", &list());
    skipped["metadata"]["annotations"]["sluice.dev/skip"] = json!("true");
    keepers.see(&skipped);
    assert_eq!(keepers.moments_at(30).await, [10, 20]);
    // What counts on a node alone is left to the gate.
    failing = json!({"sluice.dev/depends-on": "- {kind: DaemonSet, name: csi, sameNode: true}"});
    keepers.see(&suspended("three", &failing));
    assert_eq!(keepers.moments_at(40).await, [10, 20, 30]);
}

/// It is his from then on, so that nobody undoes it when he suspends it himself.
#[tokio::test(start_paused = true)]
async fn a_job_that_somebody_else_resumed_is_let_be() {
    let keepers = Keepers::new(2);
    let mut job = suspended("seed", &list());
    keepers.see(&job);
    keepers.written_at(5).await;
    job["spec"]["suspend"] = json!(false);
    keepers.see(&job);
    assert_eq!(keepers.moments_at(10).await, [5]);
    let mut now = keepers.job("seed");
    assert_eq!(now["metadata"]["annotations"][NOTE], json!(null));
    now["spec"]["suspend"] = json!(true);
    keepers.see(&now);
    keepers.desk.put("configmap", &config_map());
    assert_eq!(keepers.moments_at(100).await, [5]);
    assert_eq!(keepers.job("seed")["spec"]["suspend"], true);
}

/// A Job of that name that comes later is another one.
#[tokio::test(start_paused = true)]
async fn a_job_that_is_made_anew_is_looked_after_anew() {
    let keepers = Keepers::new(1);
    let first = suspended("seed", &list());
    keepers.see(&first);
    keepers.written_at(10).await;
    let mut second = first.clone();
    second["metadata"]["uid"] = json!("another");
    // A list that begins anew shows it before the store has it.
    keepers.shown.iter().for_each(|show| show(&second));
    keepers.written_at(11).await;
    keepers.desk.put("job", &second);
    keepers.desk.put("configmap", &config_map());
    assert_eq!(keepers.moments_at(20).await, [11]);
    assert_eq!(keepers.job("seed")["spec"]["suspend"], false);
}
