//! Tests of the search for stranded pods, with an API server that is a service without a socket.

use std::sync::Mutex;

use axum::extract::{Query, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use certs::{Ca, Leaf};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::event::Writer;
use prometheus_client::metrics::counter::Counter;

const NAME: &str = "sluice.sluice-system.svc";

#[derive(Clone)]
struct Fake {
    a_page: usize,
    pods: Arc<Mutex<Vec<Value>>>,
    events: Arc<Mutex<Vec<Value>>>,
}

/// Answers a list request with a page of as many pods as are asked for, and no more than `a_page`.
async fn list(
    State(fake): State<Fake>,
    Query(query): Query<HashMap<String, String>>,
) -> Json<Value> {
    assert_eq!(query["labelSelector"], "sluice.dev/gated=true");
    assert_eq!(query["fieldSelector"], "status.phase=Pending");
    let at = query.get("continue").map_or(0, |it| it.parse().unwrap());
    let pods = fake.pods.lock().unwrap();
    let end = at + fake.a_page.min(query["limit"].parse().unwrap());
    let token = if end < pods.len() {
        end.to_string()
    } else {
        String::new()
    };
    Json(
        json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": token}, "items": pods[at.min(pods.len())..end.min(pods.len())]}),
    )
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            a_page: 1,
            pods: Arc::default(),
            events: Arc::default(),
        }
    }
}

async fn tell(State(fake): State<Fake>, Json(event): Json<Value>) -> Json<Value> {
    fake.events.lock().unwrap().push(event.clone());
    Json(event)
}

fn now() -> Timestamp {
    "2026-11-20T10:00:00Z".parse().unwrap()
}

fn ca() -> Ca {
    Ca::generate(now(), SignedDuration::from_hours(24)).unwrap()
}

fn pod(name: &str, bundle: &str, state: &Value) -> Value {
    let variables = [(env::SERVER_NAME, NAME), (env::CA_BUNDLE, bundle)]
        .map(|(name, value)| json!({"name": name, "value": value}));
    json!({
        "metadata": {"namespace": "shop", "name": name, "uid": name},
        "spec": {"containers": [], "initContainers": [
            {"name": "proxy"},
            {"name": "sluice-gate", "env": variables},
        ]},
        "status": {"phase": "Pending", "initContainerStatuses": [
            {"name": "sluice-gate", "state": state, "image": "", "imageID": "", "ready": false, "restartCount": 0},
        ]},
    })
}

fn lookout(fake: &Fake, resolver: Arc<Resolver>) -> Lookout {
    let router = Router::new()
        .route("/api/v1/pods", get(list))
        .route(
            "/apis/events.k8s.io/v1/namespaces/{namespace}/events",
            post(tell),
        )
        .with_state(fake.clone());
    let client = Client::new(router, "sluice-system");
    let events = Writer {
        client: client.clone(),
        instance: "sluice-0".to_owned(),
        clock: Clock::new(now),
    };
    let (outbox, writer) = Outbox::new(events, Counter::default());
    tokio::spawn(writer);
    Lookout {
        client,
        resolver,
        cluster_trust_bundle: Some("sluice".to_owned()),
        outbox,
        clock: Clock::new(now),
        count: Gauge::default(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_trusts_nothing_that_is_served_is_told_of() {
    let (lost, old) = (ca(), ca());
    let new = ca().after(&old).unwrap();
    let waits = json!({"running": {"startedAt": "2026-11-20T09:00:00Z"}});
    let ended = |code: u8| json!({"terminated": {"exitCode": code}});
    let fake = Fake::default();
    let handed = |name: &str, bundle: &str| {
        let mut pod = pod(name, lost.pem(), &waits);
        let source = json!({"clusterTrustBundle": {"name": bundle, "path": "ca.pem"}});
        pod["spec"]["volumes"] = json!([
            {"name": "data", "emptyDir": {}},
            {"name": "sluice-token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}, source]}},
        ]);
        pod
    };
    *fake.pods.lock().unwrap() = vec![
        handed("handed", "sluice"),
        handed("struck", "other"),
        pod("new", new.pem(), &waits),
        pod("old", old.pem(), &waits),
        pod("lost", lost.pem(), &waits),
        pod("opened", lost.pem(), &ended(0)),
        pod("refused", lost.pem(), &ended(1)),
        pod("rubbish", "rubbish", &json!({})),
        json!({"metadata": {"namespace": "shop", "name": "other"}, "spec": {"containers": []}}),
    ];
    let resolver = Resolver::new();
    let lookout = lookout(&fake, Arc::clone(&resolver));
    let mut told = HashSet::new();
    let mut look = async || lookout.look(&mut told).await.unwrap().count;
    assert_eq!(look().await, 0, "nothing is served yet");
    let names = [NAME.to_owned()];
    resolver.set(&Leaf::issue(&new, &names, now(), SignedDuration::from_hours(1)).unwrap());
    assert_eq!([look().await, look().await], [4, 4], "each is told of once");
    sleep(Duration::from_secs(1)).await;
    let events = fake.events.lock().unwrap();
    let told: Vec<_> = events.iter().map(|it| &it["regarding"]["name"]).collect();
    assert_eq!(told, ["struck", "lost", "refused", "rubbish"]);
    assert_eq!(
        (&events[0]["reason"], &events[0]["type"]),
        (&json!("Stranded"), &json!("Warning"))
    );
    assert!(
        events[0]["note"]
            .as_str()
            .unwrap()
            .contains("delete the pod")
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_bundle_has_it_look_again() {
    let (lost, new) = (ca(), ca());
    let fake = Fake::default();
    let resolver = Resolver::new();
    let names = [NAME.to_owned()];
    let serve = |ca: &Ca| {
        resolver.set(&Leaf::issue(ca, &names, now(), SignedDuration::from_hours(1)).unwrap());
    };
    serve(&lost);
    *fake.pods.lock().unwrap() = vec![pod("lost", lost.pem(), &json!({}))];
    let lookout = lookout(&fake, Arc::clone(&resolver));
    let count = lookout.count.clone();
    let (publish, bundle) = watch::channel(None);
    let keep = tokio::spawn(lookout.keep(bundle));
    for (ca, stranded) in [(&lost, 0), (&new, 1)] {
        publish.send_replace(Some(ca.pem().into()));
        serve(ca);
        sleep(AFTER_A_CHANGE * 2).await;
        assert_eq!(count.get(), stranded);
    }
    fake.pods.lock().unwrap().clear();
    sleep(LOOK_AGAIN + AFTER_A_CHANGE).await;
    assert_eq!(count.get(), 0);
    keep.abort();
}

/// A CA is lost while thousands of pods of one namespace wait, and one of another.
#[tokio::test(start_paused = true)]
async fn thousands_are_told_of_by_turns_of_their_namespaces_and_at_the_common_pace() {
    let (lost, new) = (ca(), ca());
    let fake = Fake {
        a_page: 500,
        ..Fake::default()
    };
    let resolver = Resolver::new();
    let leaf = Leaf::issue(
        &new,
        &[NAME.to_owned()],
        now(),
        SignedDuration::from_hours(1),
    );
    resolver.set(&leaf.unwrap());
    let mut pods: Vec<Value> = (0..3_000)
        .map(|number| pod(&format!("loud-{number}"), lost.pem(), &json!({})))
        .collect();
    let mut quiet = pod("quiet", lost.pem(), &json!({}));
    quiet["metadata"]["namespace"] = json!("quiet");
    pods.push(quiet);
    *fake.pods.lock().unwrap() = pods;
    let lookout = lookout(&fake, Arc::clone(&resolver));
    let count = lookout.count.clone();
    let (publish, bundle) = watch::channel(None);
    publish.send_replace(Some(new.pem().into()));
    let keep = tokio::spawn(lookout.keep(bundle));
    sleep(AFTER_A_CHANGE + Duration::from_secs(10)).await;
    assert_eq!(count.get(), 3_001);
    let names = || -> HashSet<String> {
        let events = fake.events.lock().unwrap();
        let names = events.iter().map(|it| it["regarding"]["name"].to_string());
        names.collect()
    };
    let early = names();
    assert!(early.len() <= 201, "{} Events in ten seconds", early.len());
    assert!(early.contains("\"quiet\""), "the other namespace is told");
    sleep(Duration::from_mins(8)).await;
    assert_eq!(names().len(), 3_001);
    assert_eq!(fake.events.lock().unwrap().len(), 3_001, "each once");
    keep.abort();
}
