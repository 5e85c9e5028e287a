use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::get,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::*;

const SECRETS: &str = "/api/v1/namespaces/sluice-system/secrets";
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// An API server that knows one Secret and one webhook configuration, as a service without a socket.
#[derive(Clone, Default)]
struct Fake {
    objects: Arc<Mutex<Objects>>,
    /// Where reads of a missing Secret meet, so that two replicas see the same nothing.
    rendezvous: Option<Arc<Barrier>>,
}

#[derive(Default)]
struct Objects {
    version: u64,
    secret: Option<Value>,
    configuration: Option<Value>,
    /// Writes that went through, by what they did.
    writes: Vec<&'static str>,
    /// Reads fail.
    down: bool,
    /// Applies are refused.
    forbidden: bool,
}

impl Objects {
    /// Stores `object` under a new version.
    fn versioned(&mut self, mut object: Value, what: &'static str) -> Value {
        self.version += 1;
        self.writes.push(what);
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        object
    }

    fn bundles(&self) -> Vec<String> {
        let webhooks = self.configuration.as_ref().unwrap()["webhooks"]
            .as_array()
            .unwrap();
        let bundle = |webhook: &Value| decode(&webhook["clientConfig"]["caBundle"]);
        webhooks.iter().map(bundle).collect()
    }

    fn certificate(&self) -> String {
        decode(&self.secret.as_ref().unwrap()["data"]["ca.crt"])
    }
}

fn decode(value: &Value) -> String {
    String::from_utf8(
        BASE64_STANDARD
            .decode(value.as_str().unwrap_or_default())
            .unwrap(),
    )
    .unwrap()
}

fn refuse(code: StatusCode, reason: &str) -> Response {
    let status = json!({"kind": "Status", "status": "Failure", "message": reason, "reason": reason, "code": code.as_u16()});
    (code, Json(status)).into_response()
}

impl Fake {
    /// With a configuration of two webhooks, as the chart creates it.
    fn with_configuration() -> Self {
        let fake = Self::default();
        fake.install();
        fake
    }

    fn install(&self) {
        let webhook = |name: &str| {
            json!({
                "name": name,
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "failurePolicy": "Fail",
                "clientConfig": {"service": {"name": "sluice", "namespace": "sluice-system"}},
            })
        };
        let mut objects = self.objects();
        let made = objects.versioned(
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "MutatingWebhookConfiguration",
                "metadata": {"name": "sluice", "uid": "u-1"},
                "webhooks": [webhook("pods.sluice.dev"), webhook("workloads.sluice.dev")],
            }),
            "install",
        );
        objects.configuration = Some(made);
        objects.writes.clear();
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap()
    }

    fn client(&self) -> Client {
        let router = Router::new()
            .route(SECRETS, axum::routing::post(create_secret))
            .route(
                &format!("{SECRETS}/{{name}}"),
                get(read_secret).put(update_secret),
            )
            .route(
                &format!("{CONFIGURATIONS}/{{name}}"),
                get(read_configuration).patch(apply_configuration),
            )
            .with_state(self.clone());
        Client::new(router, "sluice-system")
    }

    fn replica(&self) -> Replica {
        let readiness = Readiness::default();
        let config = Config {
            namespace: "sluice-system".to_owned(),
            secret: "sluice-ca".to_owned(),
            webhook_configuration: "sluice".to_owned(),
            names: vec!["sluice.sluice-system.svc".to_owned()],
            policy: Policy {
                ca_lifetime: DAY * 365,
                leaf_lifetime: DAY * 7,
            },
        };
        let (authority, bundle) = Authority::new(
            self.client(),
            config,
            Resolver::new(),
            &readiness,
            Metrics::default(),
        );
        Replica {
            authority,
            bundle,
            readiness,
        }
    }
}

async fn read_secret(State(fake): State<Fake>) -> Response {
    let found = fake.objects().secret.clone();
    if found.is_none()
        && let Some(rendezvous) = &fake.rendezvous
    {
        rendezvous.wait().await;
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
    Json(created).into_response()
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
    Json(updated).into_response()
}

async fn read_configuration(State(fake): State<Fake>) -> Response {
    let objects = fake.objects();
    if objects.down {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "etcd is away");
    }
    let found = objects.configuration.clone();
    found.map_or_else(
        || refuse(StatusCode::NOT_FOUND, "NotFound"),
        |found| Json(found).into_response(),
    )
}

/// Server-side apply as the real one answers to this patch: the uid and the version guard it, webhooks merge by name,
/// and one that is not there would be incomplete.
async fn apply_configuration(
    State(fake): State<Fake>,
    Path(_): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: axum::http::HeaderMap,
    body: String,
) -> Response {
    assert_eq!(headers[CONTENT_TYPE], "application/apply-patch+yaml");
    assert_eq!(
        (query["fieldManager"].as_str(), query["force"].as_str()),
        ("sluice", "true")
    );
    let patch: Value = serde_json::from_str(&body).unwrap();
    let mut objects = fake.objects();
    if objects.forbidden {
        return refuse(StatusCode::FORBIDDEN, "not yours");
    }
    let Some(mut merged) = objects.configuration.clone() else {
        return refuse(StatusCode::CONFLICT, "Conflict");
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
    let applied = objects.versioned(merged, "apply");
    objects.configuration = Some(applied.clone());
    Json(applied).into_response()
}

struct Replica {
    authority: Authority,
    bundle: watch::Receiver<Bundle>,
    readiness: Readiness,
}

impl Replica {
    async fn round(&mut self, now: Timestamp) -> Result<(), AuthorityError> {
        self.authority.round(now).await
    }

    fn bundle(&self) -> String {
        self.bundle
            .borrow()
            .as_deref()
            .unwrap_or_default()
            .to_owned()
    }

    fn missing(&self) -> Vec<String> {
        self.readiness
            .missing()
            .into_iter()
            .map(|missing| missing.condition)
            .collect()
    }
}

fn day(number: i32) -> Timestamp {
    "2026-11-20T10:00:00Z".parse::<Timestamp>().unwrap() + DAY * number
}

#[tokio::test]
async fn the_first_round_makes_everything() {
    let fake = Fake::with_configuration();
    let mut replica = fake.replica();
    assert_eq!(replica.missing(), ["caBundle", "certificate"]);
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
    let objects = fake.objects();
    assert_eq!(objects.writes, ["create", "apply"]);
    assert_eq!(objects.bundles(), [replica.bundle(), replica.bundle()]);
    assert_eq!(objects.certificate(), replica.bundle());
    let owner = &objects.secret.as_ref().unwrap()["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["name"], &owner["uid"]),
        (&json!("sluice"), &json!("u-1"))
    );
    assert_eq!(
        objects.configuration.as_ref().unwrap()["webhooks"][0]["failurePolicy"],
        "Fail"
    );
}

#[tokio::test]
async fn a_round_without_need_writes_nothing() {
    let fake = Fake::with_configuration();
    let mut replica = fake.replica();
    replica.round(day(0)).await.unwrap();
    let version = fake.objects().version;
    replica.bundle.mark_unchanged();
    replica.round(day(1)).await.unwrap();
    assert_eq!(fake.objects().version, version);
    assert!(!replica.bundle.has_changed().unwrap());
}

#[tokio::test]
async fn replicas_that_start_together_end_with_one_ca() {
    let fake = Fake {
        rendezvous: Some(Arc::new(Barrier::new(2))),
        ..Fake::with_configuration()
    };
    let (mut a, mut b) = (fake.replica(), fake.replica());
    let (first, second) = tokio::join!(a.round(day(0)), b.round(day(0)));
    // The slower one of the two may lose the race for the caBundle as well; its next round finds it done.
    for (replica, result) in [(&mut a, first), (&mut b, second)] {
        if result.is_err() {
            replica.round(day(0)).await.unwrap();
        }
        assert_eq!(replica.missing(), Vec::<String>::new());
    }
    assert_eq!(a.bundle(), b.bundle());
    assert_eq!(fake.objects().writes, ["create", "apply"]);
    assert_eq!(fake.objects().bundles(), [a.bundle(), a.bundle()]);
}

#[tokio::test]
async fn a_damaged_secret_is_mended_with_the_same_ca() {
    let fake = Fake::with_configuration();
    let mut replica = fake.replica();
    replica.round(day(0)).await.unwrap();
    let (bundle, good) = (replica.bundle(), fake.objects().secret.clone().unwrap());
    let mut corrupt = good.clone();
    corrupt["data"]["ca.key"] = json!("cnViYmlzaA==");
    let mut emptied = good;
    emptied["data"] = Value::Null;
    for (damage, write) in [
        (None, "create"),
        (Some(corrupt), "update"),
        (Some(emptied), "update"),
    ] {
        {
            let mut objects = fake.objects();
            objects.secret = damage.map(|damaged| objects.versioned(damaged, "damage"));
            objects.writes.clear();
        }
        replica.round(day(1)).await.unwrap();
        assert_eq!(fake.objects().writes, [write]);
        assert_eq!(fake.objects().certificate(), bundle);
        assert_eq!(
            (replica.bundle(), replica.missing()),
            (bundle.clone(), vec![])
        );
    }
}

#[tokio::test]
async fn a_corrupt_secret_that_nobody_remembers_is_replaced() {
    let fake = Fake::with_configuration();
    let mut old = fake.replica();
    old.round(day(0)).await.unwrap();
    fake.objects().secret.as_mut().unwrap()["data"]["ca.crt"] = json!("cnViYmlzaA==");
    let mut new = fake.replica();
    new.round(day(1)).await.unwrap();
    assert_ne!(new.bundle(), old.bundle());
    assert_eq!(fake.objects().bundles(), [new.bundle(), new.bundle()]);

    old.round(day(1)).await.unwrap();
    assert_eq!(
        old.bundle(),
        new.bundle(),
        "what is stored and works is what counts"
    );
    assert_eq!(
        old.missing(),
        Vec::<String>::new(),
        "it serves a leaf of the new CA"
    );
}

#[tokio::test]
async fn an_overwritten_bundle_is_restored_and_nothing_else() {
    let fake = Fake::with_configuration();
    let mut replica = fake.replica();
    replica.round(day(0)).await.unwrap();
    let right = fake.objects().configuration.clone().unwrap();
    {
        let mut objects = fake.objects();
        let mut wrong = right.clone();
        wrong["webhooks"][1]["clientConfig"]["caBundle"] = json!("cnViYmlzaA==");
        wrong["webhooks"][1]["timeoutSeconds"] = json!(7);
        let wrong = objects.versioned(wrong, "edit");
        objects.configuration = Some(wrong);
    }
    replica.round(day(0)).await.unwrap();
    let mut mended = fake.objects().configuration.clone().unwrap();
    assert_eq!(mended["webhooks"][1]["timeoutSeconds"].take(), 7);
    mended["webhooks"][1]
        .as_object_mut()
        .unwrap()
        .remove("timeoutSeconds");
    assert_eq!(mended["webhooks"], right["webhooks"]);
}

#[tokio::test]
async fn without_a_configuration_nothing_is_written() {
    let fake = Fake::default();
    let mut replica = fake.replica();
    let error = replica.round(day(0)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"there is no MutatingWebhookConfiguration "sluice"; the chart creates it"#
    );
    assert_eq!(replica.missing(), ["caBundle", "certificate"]);
    assert_eq!(fake.objects().version, 0);
    fake.install();
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
}

#[tokio::test]
async fn an_uninstalled_sluice_brings_nothing_back() {
    let fake = Fake::with_configuration();
    let mut replica = fake.replica();
    replica.round(day(0)).await.unwrap();
    {
        let mut objects = fake.objects();
        (objects.secret, objects.configuration) = (None, None);
        objects.writes.clear();
    }
    replica.round(day(0)).await.unwrap_err();
    assert!(fake.objects().writes.is_empty());
    assert_eq!(
        replica.missing(),
        Vec::<String>::new(),
        "gates that wait are still answered"
    );
}

#[tokio::test]
async fn an_api_server_that_is_away_stops_no_renewal() {
    let fake = Fake::with_configuration();
    let mut replica = fake.replica();
    replica.round(day(0)).await.unwrap();
    fake.objects().down = true;
    let error = replica.round(day(8)).await.unwrap_err();
    let text = r#"failed to read the MutatingWebhookConfiguration "sluice": etcd is away (500)"#;
    assert_eq!(error.to_string(), text);
    assert_eq!(replica.authority.leaf.as_ref().unwrap().issued(), day(8));
    assert_eq!(replica.missing(), Vec::<String>::new());
}

#[tokio::test]
async fn a_ca_near_its_end_is_replaced_with_an_overlap() {
    let fake = Fake::with_configuration();
    let (mut a, mut b) = (fake.replica(), fake.replica());
    a.round(day(0)).await.unwrap();
    b.round(day(357)).await.unwrap();
    let old = a.bundle();
    a.round(day(359)).await.unwrap();
    assert!(
        a.bundle().ends_with(&old) && a.bundle() != old,
        "the new one first, the old one after it"
    );
    b.round(day(359)).await.unwrap();
    assert_eq!(b.bundle(), a.bundle());
    assert_eq!(fake.objects().bundles(), [a.bundle(), a.bundle()]);
    assert_eq!([a.missing(), b.missing()], [Vec::<String>::new(), vec![]]);
}

#[tokio::test]
async fn a_leaf_that_nobody_trusts_is_not_ready() {
    let fake = Fake::with_configuration();
    fake.objects().forbidden = true;
    let mut replica = fake.replica();
    let error = replica.round(day(0)).await.unwrap_err().to_string();
    assert_eq!(
        error,
        r#"failed to apply the caBundle of the MutatingWebhookConfiguration "sluice": not yours (403)"#
    );
    assert_eq!(replica.missing(), ["caBundle"]);
    fake.objects().forbidden = false;
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn it_looks_again_every_ten_seconds_until_the_process_leaves() {
    let fake = Fake::with_configuration();
    let Replica {
        authority,
        mut bundle,
        ..
    } = fake.replica();
    let shutdown = Shutdown::default();
    let running = tokio::spawn(authority.run(|| day(0), shutdown.clone()));
    bundle.changed().await.unwrap();
    while fake.objects().writes.len() < 2 {
        tokio::task::yield_now().await;
    }
    fake.objects().secret = None;
    sleep(Duration::from_secs(11)).await;
    assert_eq!(fake.objects().writes, ["create", "apply", "create"]);
    shutdown.leave();
    running.await.unwrap();
    fake.objects().secret = None;
    sleep(Duration::from_secs(60)).await;
    assert!(fake.objects().secret.is_none());
}
