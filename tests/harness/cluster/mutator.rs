//! Another mutating webhook, as a mesh or a secrets agent brings one: with real TLS, called by the API server.

use super::manifest::other;
use super::namespace::Namespace;
use super::node::Node;
use axum::Router;
use axum::extract::Json;
use axum::routing::post;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use certs::{Ca, Leaf, Resolver};
use jiff::{SignedDuration, Timestamp};
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;
use webhook::Shutdown;
use webhook::{MemoryAlarm, Port, Server, ServerLimits, ServerMetrics};

/// The lifetime of the webhook's certificates.
const A_TEST: SignedDuration = SignedDuration::from_hours(1);

/// A webhook for the pods of one namespace. It is served until the test ends.
pub struct Mutator {
    calls: Arc<AtomicUsize>,
}

impl Mutator {
    /// Starts the webhook. `first` decides the order of webhooks: the API server calls them by the name of their
    /// configuration, which is `first` and the namespace's name. `change` returns the operations of a JSON patch on a
    /// pod.
    #[expect(clippy::disallowed_methods, reason = "it serves until the test ends")]
    pub async fn start(
        node: &Node,
        ns: &Namespace,
        first: &str,
        change: fn(&Value) -> Vec<Value>,
    ) -> Self {
        let ca = Ca::generate(Timestamp::now(), A_TEST).expect("a key can be made");
        let machine = node.machine().to_string();
        let listener = TcpListener::bind((machine.as_str(), 0));
        let listener = listener.await.expect("the address is ours");
        let address = listener.local_addr().expect("it is bound");
        let calls = Arc::new(AtomicUsize::new(0));
        tokio::spawn(serve(
            listener,
            &ca,
            &machine,
            router(Arc::clone(&calls), change),
        ));

        let name = format!("{first}-{}", ns.name);
        let only_here = json!({"matchLabels": {"kubernetes.io/metadata.name": ns.name}});
        let webhook = json!({
            "name": format!("{first}.example.com"),
            "clientConfig": {"url": format!("https://{address}/"), "caBundle": BASE64_STANDARD.encode(ca.pem())},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
            "namespaceSelector": only_here, "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "reinvocationPolicy": "Never", "failurePolicy": "Fail",
        });
        let configuration = other(json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": name}, "webhooks": [webhook],
        }));
        ns.takes_along(&format!("mutatingwebhookconfiguration/{name}"));
        ns.apply([configuration]).await.ok();
        Self { calls }
    }

    /// Returns the number of times that the API server has called this webhook so far.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

fn router(calls: Arc<AtomicUsize>, change: fn(&Value) -> Vec<Value>) -> Router {
    let answer = move |Json(review): Json<Value>| async move {
        calls.fetch_add(1, Ordering::Relaxed);
        let request = &review["request"];
        let patch = Value::from(change(&request["object"])).to_string();
        Json(json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {
                "uid": request["uid"], "allowed": true, "patchType": "JSONPatch", "patch": BASE64_STANDARD.encode(patch),
            },
        }))
    };
    Router::new().route("/", post(answer))
}

/// Serves `router` over TLS with the server of our own webhook, which takes any router. `ca` issues the leaf, for `name`.
fn serve(
    listener: TcpListener,
    ca: &Ca,
    name: &str,
    router: Router,
) -> impl Future<Output = ()> + use<> {
    let names = [name.to_owned()];
    let leaf = Leaf::issue(ca, &names, Timestamp::now(), A_TEST).expect("an address is a name");
    let resolver = Resolver::new();
    resolver.set(&leaf);
    let server = Server {
        port: Port::Admission,
        tls: Some(
            resolver
                .config_for_api_servers(&[])
                .expect("the provider is fixed"),
        ),
        limits: ServerLimits::admission(),
        metrics: ServerMetrics::register(&mut Registry::default()),
        shutdown: Shutdown::default(),
        alarm: MemoryAlarm::default(),
    };
    server.serve(listener, router)
}
