//! A fake API server for one Secret, two webhook configurations and one ClusterTrustBundle, with the rules for writing them.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CONTENT_TYPE, DATE},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use futures::stream;
use kube::Client;
use serde_json::{Value, json};
use tokio::{sync::Barrier, time::sleep};
use tower::{Layer, util::MapResponseLayer};

use super::trust_bundle;
use crate::{client::dated, clock::Clock};

const SECRETS: &str = "/api/v1/namespaces/sluice-system/secrets";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/sluice-system/events";
const SERVICE: &str = "/api/v1/namespaces/sluice-system/services/sluice";
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// The name of the webhook configuration of held creations.
pub(super) const CREATIONS: &str = "0-sluice-creations";

/// A fake API server for the CA's Secret, the webhook configurations and a ClusterTrustBundle, as a service without a socket. Clones share
/// the objects.
#[derive(Clone, Default)]
pub(super) struct Fake {
    objects: Arc<Mutex<Objects>>,
    /// Holds back the first two reads of the Secret until both are there, so that two replicas see the same state.
    pub(super) rendezvous: Option<Arc<Barrier>>,
}

#[derive(Default)]
pub(super) struct Objects {
    pub(super) version: u64,
    reads: usize,
    pub(super) secret: Option<Value>,
    pub(super) configuration: Option<Value>,
    /// The webhook configuration of held creations; `None` where it is not installed.
    pub(super) creations: Option<Value>,
    pub(super) trust_bundle: Option<Value>,
    /// The version of the API group that has ClusterTrustBundles, such as `v1beta1`; `None` where no version has.
    pub(super) serves: Option<&'static str>,
    /// The successful writes in their order, each as a word such as `update` or `patch`.
    pub(super) writes: Vec<&'static str>,
    /// The Events that were written.
    pub(super) events: Vec<Value>,
    /// Whether reads fail, and the answers to writes are lost.
    pub(super) down: bool,
    /// Whether patches of the webhook configurations are refused.
    pub(super) forbidden: bool,
    /// The number of writes that are still stored before the server is down: the writer gets no further answer, not even to the last
    /// write. `None` for no limit.
    pub(super) fatal: Option<u32>,
}

impl Objects {
    /// Returns `object` with a new `resourceVersion`, and counts a write, which `what` names. The caller stores the object.
    pub(super) fn versioned(&mut self, mut object: Value, what: &'static str) -> Value {
        self.version += 1;
        self.writes.push(what);
        self.fatal = self.fatal.map(|left| left.saturating_sub(1));
        self.down |= self.fatal == Some(0);
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        object
    }

    pub(super) fn answer(&self, written: Value) -> Response {
        if self.down {
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, "the answer is lost");
        }
        Json(written).into_response()
    }

    pub(super) fn bundles(&self) -> Vec<String> {
        bundles_of(self.configuration.as_ref().unwrap())
    }

    /// The webhook configuration of this name: that of held creations, else the first one.
    fn named(&mut self, name: &str) -> &mut Option<Value> {
        match name {
            CREATIONS => &mut self.creations,
            _ => &mut self.configuration,
        }
    }

    pub(super) fn certificate(&self) -> String {
        decode(&self.secret.as_ref().unwrap()["data"]["ca.crt"])
    }
}

/// The `caBundle` of each webhook in a configuration, decoded; empty where it is missing.
pub(super) fn bundles_of(configuration: &Value) -> Vec<String> {
    let webhooks = configuration["webhooks"].as_array().unwrap();
    let bundle = |webhook: &Value| decode(&webhook["clientConfig"]["caBundle"]);
    webhooks.iter().map(bundle).collect()
}

fn decode(value: &Value) -> String {
    String::from_utf8(
        BASE64_STANDARD
            .decode(value.as_str().unwrap_or_default())
            .unwrap(),
    )
    .unwrap()
}

pub(super) fn encode(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

pub(super) fn refuse(code: StatusCode, reason: &str) -> Response {
    let status = json!({"kind": "Status", "status": "Failure", "message": reason, "reason": reason, "code": code.as_u16()});
    (code, Json(status)).into_response()
}

fn configuration(name: &str, webhooks: &[&str]) -> Value {
    let webhook = |name: &&str| {
        json!({
            "name": name,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail",
            "clientConfig": {"service": {"name": "sluice", "namespace": "sluice-system"}},
        })
    };
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name, "uid": "u-1"},
        "webhooks": webhooks.iter().map(webhook).collect::<Vec<_>>(),
    })
}

impl Fake {
    /// Makes a server that holds a configuration of two webhooks, as the chart creates it.
    pub(super) fn with_configuration() -> Self {
        let fake = Self::default();
        fake.install();
        fake
    }

    pub(super) fn install(&self) {
        let webhooks = ["pods.sluice.dev", "workloads.sluice.dev"];
        let mut objects = self.objects();
        let made = objects.versioned(configuration("sluice", &webhooks), "install");
        objects.configuration = Some(made);
        objects.writes.clear();
    }

    /// Adds the webhook configuration of held creations, as the chart creates it.
    pub(super) fn install_creations(&self) {
        let mut objects = self.objects();
        let made = configuration(CREATIONS, &["creations.sluice.dev"]);
        let made = objects.versioned(made, "install");
        objects.creations = Some(made);
        objects.writes.clear();
    }

    pub(super) fn objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap()
    }

    pub(super) fn client(&self) -> Client {
        Client::new(self.router(), "sluice-system")
    }

    /// Returns a client whose answers carry `date`.
    pub(super) fn dated_client(&self, date: &'static str, clock: &Clock) -> Client {
        let date = MapResponseLayer::new(move |mut answer: Response| {
            answer
                .headers_mut()
                .insert(DATE, HeaderValue::from_static(date));
            answer
        });
        let service = dated(clock.clone()).layer(date.layer(self.router()));
        Client::new(service, "sluice-system")
    }

    fn router(&self) -> Router {
        Router::new()
            .route(
                SERVICE,
                get(async || Json(json!({"metadata": {"name": "sluice", "uid": "s-1"}}))),
            )
            .route(SECRETS, post(create_secret))
            .route(
                &format!("{SECRETS}/{{name}}"),
                get(read_secret).put(update_secret),
            )
            .route(EVENTS, post(create_event))
            .route(CONFIGURATIONS, get(watch_configuration))
            .route(
                &format!("{CONFIGURATIONS}/{{name}}"),
                get(read_configuration).patch(patch_configuration),
            )
            .merge(trust_bundle::routes())
            .with_state(self.clone())
    }
}

async fn read_secret(State(fake): State<Fake>) -> Response {
    let found = fake.objects().secret.clone();
    if let Some(rendezvous) = &fake.rendezvous {
        fake.objects().reads += 1;
        if fake.objects().reads <= 2 {
            rendezvous.wait().await;
        }
    }
    if fake.objects().down {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "etcd is away");
    }
    found.map_or_else(
        || refuse(StatusCode::NOT_FOUND, "NotFound"),
        |found| Json(found).into_response(),
    )
}

async fn create_secret(State(fake): State<Fake>, Json(mut secret): Json<Value>) -> Response {
    let mut objects = fake.objects();
    if objects.secret.is_some() {
        return refuse(StatusCode::CONFLICT, "AlreadyExists");
    }
    secret["metadata"]["namespace"] = json!("sluice-system");
    let created = objects.versioned(secret, "create");
    objects.secret = Some(created.clone());
    objects.answer(created)
}

async fn update_secret(State(fake): State<Fake>, Json(secret): Json<Value>) -> Response {
    let mut objects = fake.objects();
    let Some(current) = &objects.secret else {
        return refuse(StatusCode::NOT_FOUND, "NotFound");
    };
    if current["metadata"]["resourceVersion"] != secret["metadata"]["resourceVersion"] {
        return refuse(StatusCode::CONFLICT, "Conflict");
    }
    let updated = objects.versioned(secret, "update");
    objects.secret = Some(updated.clone());
    objects.answer(updated)
}

async fn read_configuration(State(fake): State<Fake>, Path(name): Path<String>) -> Response {
    let mut objects = fake.objects();
    if objects.down {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "etcd is away");
    }
    let found = objects.named(&name).clone();
    found.map_or_else(
        || refuse(StatusCode::NOT_FOUND, "NotFound"),
        |found| Json(found).into_response(),
    )
}

async fn create_event(State(fake): State<Fake>, Json(event): Json<Value>) -> Json<Value> {
    fake.objects().events.push(event.clone());
    Json(event)
}

/// Streams the webhook configuration as it is, and then after each of its changes. A watch from a version other than "0" is refused: the
/// real API server forgets versions, at the latest when it restarts.
async fn watch_configuration(
    State(fake): State<Fake>,
    Query(query): Query<HashMap<String, String>>,
) -> Body {
    assert_eq!(query["fieldSelector"], "metadata.name=sluice");
    if query["resourceVersion"] != "0" {
        let gone = json!({"kind": "Status", "code": 410, "reason": "Expired", "status": "Failure", "message": "too old"});
        return Body::from(format!("{}\n", json!({"type": "ERROR", "object": gone})));
    }
    let seen = Value::Null;
    Body::from_stream(stream::unfold((fake, seen), async |(fake, seen)| {
        loop {
            sleep(Duration::from_millis(10)).await;
            let now = fake.objects().configuration.clone();
            let version = |it: &Value| it["metadata"]["resourceVersion"].clone();
            if let Some(now) = now.filter(|now| version(now) != seen) {
                let event = format!("{}\n", json!({"type": "MODIFIED", "object": now}));
                let version = version(&now);
                return Some((Ok::<_, Infallible>(event), (fake, version)));
            }
        }
    }))
}

/// Answers a patch of a webhook configuration as the real API server does: another UID or version is a conflict, webhooks merge by name,
/// and an unknown webhook is refused as incomplete.
async fn patch_configuration(
    State(fake): State<Fake>,
    Path(name): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: String,
) -> Response {
    assert_eq!(
        headers[CONTENT_TYPE],
        "application/strategic-merge-patch+json"
    );
    assert_eq!(query["fieldManager"], "sluice");
    let patch: Value = serde_json::from_str(&body).unwrap();
    let mut objects = fake.objects();
    if objects.forbidden {
        return refuse(StatusCode::FORBIDDEN, "not yours");
    }
    let Some(mut merged) = objects.named(&name).clone() else {
        return refuse(StatusCode::NOT_FOUND, "NotFound");
    };
    for guard in ["uid", "resourceVersion"] {
        if merged["metadata"][guard] != patch["metadata"][guard] {
            return refuse(StatusCode::CONFLICT, "Conflict");
        }
    }
    for webhook in patch["webhooks"].as_array().unwrap() {
        assert_eq!(
            webhook.as_object().unwrap().len(),
            2,
            "name and clientConfig: {webhook}"
        );
        let live = merged["webhooks"].as_array_mut().unwrap();
        let Some(live) = live.iter_mut().find(|live| live["name"] == webhook["name"]) else {
            return refuse(StatusCode::UNPROCESSABLE_ENTITY, "Invalid");
        };
        live["clientConfig"]["caBundle"] = webhook["clientConfig"]["caBundle"].clone();
    }
    let patched = objects.versioned(merged, "patch");
    *objects.named(&name) = Some(patched.clone());
    objects.answer(patched)
}
