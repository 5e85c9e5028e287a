//! The routes without a socket, in front of an API server that vouches for every token and keeps the Events.
//!
//! Tokio's clock stands still and leaps to the next moment that somebody waits for; the wall clock goes by it.

mod cause;
mod disclosure;
mod held;
mod holds;
mod keepers;
mod patience;
mod stages;
mod suspended;

use super::*;
use crate::client::dated;
use crate::event::Writer;
use crate::known::Settings;
use axum::body::Body;
use axum::extract::Path;
use axum::http::Request;
use axum::routing::{patch, post};
use http_body_util::BodyExt;
use jiff::SignedDuration;
use jiff::fmt::rfc2822::DateTimePrinter;
use kube::Client;
use prometheus_client::registry::Registry;
use rules::kinds::{Kind, by_word};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tower::util::MapResponseLayer;
use tower::{Layer, ServiceExt};

type Events = Arc<Mutex<Vec<Value>>>;

/// The status service, and what it wrote.
struct Desk {
    service: Arc<Service>,
    registry: Registry,
    /// The pods that are held.
    held: Arc<Questions>,
    /// The Jobs that are.
    suspended: Arc<Questions>,
    events: Events,
    began: Instant,
    /// Whether the watches give signs.
    connected: Arc<AtomicBool>,
}

impl Desk {
    /// A pod `api-1` that was made at 0 and carries these annotations, in a cluster without ConfigMaps and Jobs.
    fn new(annotations: &Value) -> Self {
        Self::beside(annotations, Events::default())
    }

    /// The same in front of an API server that another replica writes to as well.
    fn beside(annotations: &Value, events: Events) -> Self {
        Self::with(annotations, events, SignedDuration::ZERO)
    }

    /// The same on a node whose clock is ahead by so much.
    fn with(annotations: &Value, events: Events, ahead: SignedDuration) -> Self {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        for word in ["configmap", "job"] {
            let kind = by_word(word).map(Kind::Builtin).unwrap();
            known.want(&kind).replace::<&Value>([]);
        }
        (0..rules::sheets::COUNT).for_each(|sheet| known.memory().learn(sheet, [].into()));
        let began = Instant::now();
        let time = move || {
            Timestamp::UNIX_EPOCH
                .saturating_add(began.elapsed())
                .unwrap()
        };
        let clock = Clock::new(move || time() + ahead);
        let client = api_server(Arc::clone(&events), time, &clock);
        let (recorder, writer) = Recorder::new(Writer {
            client: client.clone(),
            instance: "sluice-0".to_owned(),
            clock: clock.clone(),
        });
        tokio::spawn(writer);
        let mut registry = Registry::default();
        let [questions, held, suspended] = [(); 3].map(|()| Arc::<Questions>::default());
        registry.register_collector(Box::new(Waits {
            questions: Arc::clone(&questions),
            held: Arc::clone(&held),
            suspended: Arc::clone(&suspended),
            clock: clock.clone(),
        }));
        let service = Service {
            known: Arc::clone(&known),
            rounds: Rounds::new(Arc::clone(&known)),
            authenticator: Authenticator::new(client, clock.clone(), known, None),
            questions,
            turns: Turns::new(1),
            recorder,
            conditions: None,
            metrics: Arc::new(StatusMetrics::register(&mut registry)),
            shutdown: Shutdown::default(),
            clock,
            beat: Beat::from(began),
        };
        let desk = Self {
            service: Arc::new(service),
            registry,
            held,
            suspended,
            events,
            began,
            connected: Arc::new(AtomicBool::new(true)),
        };
        tokio::spawn(give_signs(
            Arc::clone(&desk.service.known),
            Arc::clone(&desk.connected),
        ));
        desk.pod_says(annotations);
        desk
    }

    /// Writes the annotations of the pod.
    fn pod_says(&self, annotations: &Value) {
        self.service.known.gated().replace(&[pod(annotations)]);
    }

    fn put(&self, word: &str, object: &Value) {
        let kind = by_word(word).map(Kind::Builtin).unwrap();
        self.service.known.want(&kind).apply(object);
    }

    /// What the gate is told that has seen this answer, and waits.
    async fn ask(&self, seen: &str) -> wire::Answer {
        let uri = format!("{}?seen={seen}&wait=25", wire::PATH);
        let bearer = format!("Bearer {}", disclosure::its_own());
        let request = Request::get(uri).header("authorization", bearer);
        let request = request.body(Body::empty()).unwrap();
        let response = router(Arc::clone(&self.service)).oneshot(request).await;
        let body = response.unwrap().into_body().collect().await.unwrap();
        serde_json::from_slice(&body.to_bytes()).unwrap()
    }

    /// Asks as a gate does until the answer is not to wait, or so many seconds have passed. Whole seconds that it took,
    /// and the last answer.
    async fn gate(&self, seconds: u64) -> (u64, wire::Answer) {
        let mut answer = self.ask("").await;
        while answer.verdict == wire::Decision::Wait && self.began.elapsed().as_secs() < seconds {
            answer = self.ask(&answer.digest).await;
        }
        (self.began.elapsed().as_secs(), answer)
    }

    /// Type, reason and text of each Event so far.
    async fn told(&self) -> Vec<(String, String, String)> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let events = self.events.lock().unwrap();
        let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let told = |event: &Value| {
            let [severity, reason, note] = ["type", "reason", "note"].map(|key| text(event, key));
            (severity, reason, note)
        };
        events.iter().map(told).collect()
    }

    /// The text of the last Event, which is a Warning for this reason.
    async fn warned(&self, reason: &str) -> String {
        let last = self.told().await.pop().unwrap();
        assert_eq!((last.0.as_str(), last.1.as_str()), ("Warning", reason));
        last.2
    }

    fn metrics(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).unwrap();
        text
    }
}

/// As the watches of these stores do while the API server is there.
async fn give_signs(known: Arc<Known>, connected: Arc<AtomicBool>) {
    loop {
        if connected.load(Ordering::Relaxed) {
            known.gated().heard();
            known.stores().iter().for_each(|(_, store)| store.heard());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// It says what time it is.
fn api_server(
    events: Events,
    time: impl Fn() -> Timestamp + Copy + Send + Sync + 'static,
    clock: &Clock,
) -> Client {
    let review = |Json(review): Json<Value>| async move {
        Json(json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": {},
            "status": disclosure::reviewed(&review),
        }))
    };
    let written = Arc::clone(&events);
    let record = move |Json(event): Json<Value>| async move {
        let mut written = written.lock().unwrap();
        let name = |event: &Value| event["metadata"]["name"].clone();
        if written.iter().any(|other| name(other) == name(&event)) {
            let exists = json!({"kind": "Status", "status": "Failure", "code": 409, "message": "", "reason": "AlreadyExists"});
            return (StatusCode::CONFLICT, Json(exists));
        }
        written.push(event.clone());
        (StatusCode::CREATED, Json(event))
    };
    let go_on = move |Path(name): Path<String>, Json(change): Json<Value>| async move {
        let mut events = events.lock().unwrap();
        let event = events
            .iter_mut()
            .find(|event| event["metadata"]["name"] == name.as_str());
        let event = event.expect("only what is there goes on");
        event["series"] = change["series"].clone();
        Json(event.clone())
    };
    let events = "/apis/events.k8s.io/v1/namespaces/shop/events";
    let router = Router::new()
        .route("/apis/authentication.k8s.io/v1/tokenreviews", post(review))
        .route(events, post(record))
        .route(&format!("{events}/{{name}}"), patch(go_on));
    let date = MapResponseLayer::new(move |mut answer: Response| {
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&time());
        let date = date.unwrap().parse().unwrap();
        answer.headers_mut().insert(header::DATE, date);
        answer
    });
    let service = dated(clock.clone()).layer(date.layer(router));
    Client::new(service, "sluice-system")
}

/// Made at 0.
fn pod(annotations: &Value) -> Value {
    json!({"metadata": {
        "namespace": "shop", "name": "api-1", "uid": "u1", "annotations": annotations,
        "creationTimestamp": "1970-01-01T00:00:00Z",
    }})
}

fn waits(on_timeout: &str) -> Value {
    json!({
        "sluice.dev/depends-on": "configmap/go", "sluice.dev/timeout": "40s",
        "sluice.dev/on-timeout": on_timeout,
    })
}

fn config_map() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop", "name": "go"}})
}

fn failed_job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "shop", "name": "seed"},
        "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]},
    })
}

const PASSED: &str = "the timeout of 40s (sluice.dev/timeout) has passed";

#[tokio::test(start_paused = true)]
async fn a_held_request_is_refused_at_the_moment_of_the_timeout() {
    let desk = Desk::new(&waits("fail"));
    let (after, answer) = desk.gate(100).await;
    assert_eq!((after, answer.verdict), (40, wire::Decision::Refuse));
    let note = answer.note.unwrap_or_default();
    assert!(note.starts_with(PASSED), "{note}");
    assert_eq!(answer.dependencies[0].reason, "NotFound");
    let text = desk.warned("TimedOut").await;
    assert!(
        text.starts_with("refused while waiting for ConfigMap/go (NotFound"),
        "{text}"
    );
    assert!(text.contains(PASSED), "{text}");
    let metrics = desk.metrics();
    let cut = r#"waits_cut_short_total{by="timeout",result="refuse"} 1"#;
    assert!(metrics.contains(cut), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_was_refused_and_asks_again_is_told_at_once_and_writes_no_second_event() {
    let desk = Desk::new(&waits("fail"));
    desk.gate(100).await;
    let events = desk.told().await.len();
    let again = desk.ask("").await;
    assert_eq!(again.verdict, wire::Decision::Refuse);
    assert_eq!(desk.told().await.len(), events);
    desk.put("configmap", &config_map());
    assert_eq!(desk.ask("").await.verdict, wire::Decision::Open);
}

#[tokio::test(start_paused = true)]
async fn proceed_opens_at_the_moment_of_the_timeout_and_says_without_what() {
    let desk = Desk::new(&waits("proceed"));
    let (after, answer) = desk.gate(100).await;
    assert_eq!((after, answer.verdict), (40, wire::Decision::Open));
    assert!(!answer.dependencies[0].satisfied);
    let text = desk.warned("TimedOut").await;
    assert!(
        text.starts_with("opened without ConfigMap/go (NotFound"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn wait_says_so_once_and_waits_on() {
    let desk = Desk::new(&waits("wait"));
    let (_, answer) = desk.gate(90).await;
    assert_eq!(answer.verdict, wire::Decision::Wait);
    assert!(answer.note.unwrap_or_default().starts_with(PASSED));
    let told = desk.told().await;
    let late: Vec<_> = told
        .iter()
        .filter(|(_, reason, _)| reason == "TimedOut")
        .collect();
    assert_eq!(late.len(), 1, "{told:?}");
    assert_eq!(late[0].0, "Warning");
    assert!(
        late[0].2.starts_with("waiting for ConfigMap/go (NotFound"),
        "{late:?}"
    );
    desk.put("configmap", &config_map());
    assert_eq!(desk.ask("").await.verdict, wire::Decision::Open);
}

#[tokio::test(start_paused = true)]
async fn the_news_of_the_timeout_is_not_held_back() {
    let desk = Desk::new(&waits("wait"));
    let first = desk.ask("").await;
    tokio::time::sleep(Duration::from_secs(35)).await;
    let late = desk.ask(&first.digest).await;
    assert_eq!(desk.began.elapsed().as_secs(), 40);
    assert_ne!(late.digest, first.digest);
}

#[tokio::test(start_paused = true)]
async fn a_failure_refuses_a_held_request_where_that_is_asked_for() {
    let says = |on_failure: &str| json!({"sluice.dev/depends-on": "job/seed", "sluice.dev/on-failure": on_failure});
    let desk = Desk::new(&says("fail"));
    let first = desk.ask("").await;
    let fail = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        desk.put("job", &failed_job());
    };
    let (refused, ()) = tokio::join!(desk.ask(&first.digest), fail);
    assert_eq!(refused.verdict, wire::Decision::Refuse);
    assert_eq!(desk.began.elapsed().as_secs(), 5);
    let text = desk.warned("DependencyFailed").await;
    assert!(text.contains("Job/seed has failed for good"), "{text}");

    desk.pod_says(&says("wait"));
    assert_eq!(desk.ask("").await.verdict, wire::Decision::Wait);
}

#[tokio::test(start_paused = true)]
async fn skip_wakes_a_held_request() {
    let desk = Desk::new(&waits("wait"));
    let first = desk.ask("").await;
    let skip = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        desk.pod_says(&json!({"sluice.dev/depends-on": "configmap/go", "sluice.dev/skip": "true"}));
    };
    let (open, ()) = tokio::join!(desk.ask(&first.digest), skip);
    assert_eq!(open.verdict, wire::Decision::Open);
    assert_eq!(desk.began.elapsed().as_secs(), 5);
    let text = desk.warned("Released").await;
    assert_eq!(
        text,
        "opened without asking: sluice.dev/skip is \"true\" on the pod"
    );
}

#[tokio::test(start_paused = true)]
async fn a_gate_is_told_when_the_api_server_has_been_silent_and_goes_on_when_it_is_back() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "configmap/go, configmap/late"}));
    desk.put(
        "configmap",
        &json!({"metadata": {"namespace": "shop", "name": "go"}}),
    );
    desk.connected.store(false, Ordering::Relaxed);
    let mut stale = desk.ask("").await;
    while stale.note.is_none() && desk.began.elapsed() < Duration::from_secs(60) {
        stale = desk.ask(&stale.digest).await;
    }
    let note = stale.note.unwrap_or_default();
    assert!(note.contains("to reach the API server again"), "{note}");
    assert_eq!(desk.began.elapsed().as_secs(), 30);
    // What is still told by a watch that lags behind opens nothing.
    desk.put(
        "configmap",
        &json!({"metadata": {"namespace": "shop", "name": "late"}}),
    );
    let asked = desk.ask(&stale.digest).await;
    assert_eq!(asked.verdict, wire::Decision::Wait);
    desk.connected.store(true, Ordering::Relaxed);
    let back = desk.began.elapsed().as_secs();
    let (at, answer) = desk.gate(back + 60).await;
    assert_eq!(answer.verdict, wire::Decision::Open);
    assert!(at - back <= 1, "after {} s", at - back);
}

#[tokio::test(start_paused = true)]
async fn no_gate_opens_while_what_is_remembered_or_the_health_rules_are_stale() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "configmap/go"}));
    let memory = desk.service.known.memory();
    assert!(!(0..rules::sheets::COUNT).any(|sheet| memory.heard(sheet)));
    tokio::time::sleep(Duration::from_secs(31)).await;
    desk.put(
        "configmap",
        &json!({"metadata": {"namespace": "shop", "name": "go"}}),
    );
    let answer = desk.ask("").await;
    let note = answer.note.unwrap_or_default();
    assert!(note.ends_with("to read what it remembers"), "{note}");
    // Who is held meanwhile hears of it at once, not when its time is over.
    let back = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!((0..rules::sheets::COUNT).all(|sheet| memory.heard(sheet)));
        desk.service.known.wake_all();
    };
    let held = Instant::now();
    let (answer, ()) = tokio::join!(desk.ask(&answer.digest), back);
    assert_eq!(answer.verdict, wire::Decision::Open);
    assert_eq!(held.elapsed().as_secs(), 5);
}

fn missing() -> Value {
    json!({"sluice.dev/depends-on": "configmap/go"})
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_told_once_after_six_seconds_and_then_that_it_came() {
    let desk = Desk::new(&missing());
    let watch = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert_eq!(desk.told().await, [], "it is no news yet");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(desk.warned("NotFound").await.contains("ConfigMap/go"));
    };
    let ((), (_, answer)) = tokio::join!(watch, desk.gate(500));
    assert_eq!(answer.verdict, wire::Decision::Wait);
    assert_eq!(desk.told().await.len(), 1);

    desk.put("configmap", &config_map());
    desk.ask(&answer.digest).await;
    let last = desk.told().await.pop().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("Normal", "Released"));
}

#[tokio::test(start_paused = true)]
async fn two_replicas_write_one_event_and_let_it_go_on() {
    let one = Desk::new(&missing());
    let other = Desk::beside(&missing(), Arc::clone(&one.events));
    let mut seen = String::new();
    let count = |of: u64| {
        let events = one.events.lock().unwrap();
        assert_eq!(events.len(), 1, "at {of} s: {events:?}");
        events[0]["series"]["count"].clone()
    };
    for turn in 0..40_u64 {
        let desk = if turn.is_multiple_of(2) { &one } else { &other };
        seen = desk.ask(&seen).await.digest;
        let now = one.began.elapsed().as_secs();
        if (40..600).contains(&now) {
            assert_eq!(count(now), Value::Null, "at {now} s");
        }
    }
    assert_eq!(count(1_000), 2);
    one.put("configmap", &config_map());
    other.put("configmap", &config_map());
    other.ask(&seen).await;
    let last = one.told().await.pop().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("Normal", "Released"));
}

#[tokio::test(start_paused = true)]
async fn the_workload_above_is_told_as_well() {
    let desk = Desk::new(&missing());
    let mut owned = pod(&json!({"sluice.dev/gated": "true"}));
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "seed", "uid": "u2", "controller": true}]);
    desk.service.known.gated().replace(&[owned]);
    desk.put(
        "job",
        &json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {
                "namespace": "shop", "name": "seed", "uid": "u2", "annotations": missing(),
                "creationTimestamp": "1970-01-01T00:00:00Z",
            },
        }),
    );
    let (_, answer) = desk.gate(30).await;
    desk.put("configmap", &config_map());
    desk.ask(&answer.digest).await;
    desk.told().await;
    let events = desk.events.lock().unwrap();
    let about = |event: &Value| {
        let object = &event["regarding"];
        let [version, kind, uid] = ["apiVersion", "kind", "uid"].map(|key| object[key].clone());
        json!([event["reason"], version, kind, uid])
    };
    assert_eq!(
        events.iter().map(about).collect::<Vec<_>>(),
        [
            json!(["NotFound", "v1", "Pod", "u1"]),
            json!(["NotFound", "batch/v1", "Job", "u2"]),
            json!(["Released", "v1", "Pod", "u1"]),
            json!(["Released", "batch/v1", "Job", "u2"]),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_passes_by_the_clock_of_the_api_server() {
    for seconds in [10, 3_600, 2 * 86_400] {
        for ahead in [seconds, -seconds].map(SignedDuration::from_secs) {
            let desk = Desk::with(&waits("proceed"), Events::default(), ahead);
            let (at, answer) = desk.gate(60).await;
            assert_eq!(answer.verdict, wire::Decision::Open, "{ahead}");
            assert!((39..=40).contains(&at), "{ahead}: after {at} s");
        }
    }
}
