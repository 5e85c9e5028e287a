//! The status service of one replica, with the Events that it wrote.

use super::api_server::{Events, api_server};
use super::pod;
use super::tokens::its_own;
use crate::clock::Clock;
use crate::event::{Outbox, Writer};
use crate::known::{Known, Settings};
use crate::metrics::StatusMetrics;
use crate::shutdown::Shutdown;
use crate::status::{
    Authenticator, Beat, HeldPlaces, Recorder, Rounds, Service, Teller, Turns, WaitMetrics,
    WaitRegistry, router,
};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use rules::kinds::{Kind, by_word};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;

/// The number of places for waiting gates in these tests.
pub(super) const PLACES: usize = 8;

/// The status service of one replica, with its metrics and the Events that it wrote.
pub(super) struct Desk {
    pub(super) service: Arc<Service>,
    pub(super) registry: Registry,
    /// The pods that are held.
    pub(super) held: Arc<HeldPlaces>,
    /// The Jobs that are suspended.
    pub(super) suspended: Arc<HeldPlaces>,
    /// The objects whose creation is held.
    pub(super) creations: Arc<WaitRegistry>,
    pub(super) events: Events,
    pub(super) began: Instant,
    /// Whether the watches give signs of life of the API server.
    pub(super) connected: Arc<AtomicBool>,
}

impl Desk {
    /// A service that knows a pod `api-1`, made at second 0 with these annotations, in a cluster without ConfigMaps and Jobs.
    pub(super) fn new(annotations: &Value) -> Self {
        Self::beside(annotations, Events::default())
    }

    /// A service as [`Desk::new`] makes it, whose API server keeps these Events, so that another replica may write to it as well.
    pub(super) fn beside(annotations: &Value, events: Events) -> Self {
        Self::with(annotations, events, SignedDuration::ZERO)
    }

    /// A service as [`Desk::beside`] makes it, on a node whose clock is ahead by this much.
    pub(super) fn with(annotations: &Value, events: Events, ahead: SignedDuration) -> Self {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        known.plans().replace::<&Value>([]);
        for word in ["configmap", "job"] {
            let kind = by_word(word).map(Kind::Builtin).unwrap();
            known.want(&kind).replace::<&Value>([]);
        }
        for shard in 0..rules::shards::COUNT {
            known.memory().learn(shard, [].into());
        }
        let began = Instant::now();
        let time = move || {
            Timestamp::UNIX_EPOCH
                .saturating_add(began.elapsed())
                .unwrap()
        };
        let clock = Clock::new(move || time() + ahead);
        let client = api_server(Arc::clone(&events), time, &clock);
        let writer = Writer {
            client: client.clone(),
            instance: "sluice-0".to_owned(),
            clock: clock.clone(),
        };
        let (outbox, writer) = Outbox::new(writer, Counter::default());
        let (recorder, forget) = Recorder::new(outbox);
        tokio::spawn(writer);
        tokio::spawn(forget);
        let mut registry = Registry::default();
        let requests = Arc::new(WaitRegistry::within(PLACES));
        let [held, suspended] =
            [(); 2].map(|()| HeldPlaces::within(Arc::clone(&known.budgets().holds)));
        let creations = Arc::<WaitRegistry>::default();
        registry.register_collector(Box::new(WaitMetrics {
            gates: Arc::clone(&requests),
            held_pods: Arc::clone(&held),
            suspended_jobs: Arc::clone(&suspended),
            creations: Arc::clone(&creations),
            clock: clock.clone(),
        }));
        let service = Service {
            known: Arc::clone(&known),
            rounds: Rounds::new(Arc::clone(&known)),
            tell: Teller {
                recorder,
                conditions: None,
                metrics: Arc::new(StatusMetrics::register(&mut registry)),
                memory: Arc::clone(known.memory()),
                clock: clock.clone(),
            },
            authenticator: Authenticator::new(client, clock.clone(), known, None),
            requests,
            turns: Turns::new(1),
            shutdown: Shutdown::default(),
            clock,
            beat: Beat::from(began),
        };
        let desk = Self {
            service: Arc::new(service),
            registry,
            held,
            suspended,
            creations,
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

    /// Replaces the gated pods by the pod `api-1` with these annotations.
    pub(super) fn pod_says(&self, annotations: &Value) {
        self.service.known.gated().replace(&[pod(annotations)]);
    }

    pub(super) fn put(&self, word: &str, object: &Value) {
        let kind = by_word(word).map(Kind::Builtin).unwrap();
        self.service.known.want(&kind).apply(object);
    }

    /// The answer to the gate of `api-1`, whose last answer has the digest `seen`. The request may stay open for 25 s.
    pub(super) async fn ask(&self, seen: &str) -> wire::Answer {
        let uri = format!("{}?seen={seen}&wait=25", wire::PATH);
        let bearer = format!("Bearer {}", its_own());
        let request = Request::get(uri).header("authorization", bearer);
        let request = request.body(Body::empty()).unwrap();
        let response = router(Arc::clone(&self.service)).oneshot(request).await;
        let body = response.unwrap().into_body().collect().await.unwrap();
        serde_json::from_slice(&body.to_bytes()).unwrap()
    }

    /// The status code of the response to a question with this query and token, and every byte of its headers and its body.
    pub(super) async fn bytes(&self, query: &str, token: &str) -> (StatusCode, String) {
        let request = Request::get(format!("{}?{query}", wire::PATH));
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.body(Body::empty()).unwrap();
        let response = router(Arc::clone(&self.service)).oneshot(request).await;
        let (head, body) = response.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let head_and_body = format!("{:?}\n{}", head.headers, String::from_utf8_lossy(&body));
        (head.status, head_and_body)
    }

    /// Asks as a gate does until the answer is no longer to wait, or until this many seconds have passed. Returns the whole seconds that
    /// it took, and the last answer.
    pub(super) async fn gate(&self, seconds: u64) -> (u64, wire::Answer) {
        let mut answer = self.ask("").await;
        while answer.verdict == wire::Decision::Wait && self.began.elapsed().as_secs() < seconds {
            answer = self.ask(&answer.digest).await;
        }
        (self.began.elapsed().as_secs(), answer)
    }

    /// The type, the reason and the text of each Event that is written within the next second, and of all before.
    pub(super) async fn told(&self) -> Vec<(String, String, String)> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let events = self.events.lock().unwrap();
        let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let told = |event: &Value| {
            let [severity, reason, note] = ["type", "reason", "note"].map(|key| text(event, key));
            (severity, reason, note)
        };
        events.iter().map(told).collect()
    }

    /// Returns the text of the last Event, after the check that it is a Warning with this reason.
    pub(super) async fn warned(&self, reason: &str) -> String {
        let last = self.told().await.pop().unwrap();
        assert_eq!((last.0.as_str(), last.1.as_str()), ("Warning", reason));
        last.2
    }

    pub(super) fn metrics(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).unwrap();
        text
    }
}

/// Marks all stores as heard of, once a second while `connected` is true, as their watches do while the API server is there.
async fn give_signs(known: Arc<Known>, connected: Arc<AtomicBool>) {
    loop {
        if connected.load(Ordering::Relaxed) {
            known.gated().heard();
            known.plans().heard();
            known.stores().iter().for_each(|(_, store)| store.heard());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
