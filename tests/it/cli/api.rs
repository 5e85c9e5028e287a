//! An API server in memory, which is enough for a controller, its gates and the command: objects by their paths, lists, reviews of tokens, and the
//! rights of the controller's ClusterRole. Its watches report changes to the command alone.

mod answers;
mod asked;
mod discovery;
mod state;

use answers::{failure, shown};
use asked::{Asked, pairs, path};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
pub(super) use discovery::MANY;
use discovery::{aggregated, discovery};
use futures::{StreamExt, stream};
use harness::token;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use state::State;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The controller's token.
const CONTROLLER: &str = "the-controller";

/// The API server in memory. Dropping this ends it.
pub(super) struct Api {
    address: std::net::SocketAddr,
    state: Arc<Mutex<State>>,
    _runtime: tokio::runtime::Runtime,
}

impl Api {
    pub(super) fn start(objects: &[Value]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mut state = State::default();
        for object in objects {
            state.objects.insert(path(object), object.clone());
        }
        let state = Arc::new(Mutex::new(state));
        let router = {
            let state = Arc::clone(&state);
            Router::new().fallback(move |request: Request| answer(Arc::clone(&state), request))
        };
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self {
            address,
            state,
            _runtime: runtime,
        }
    }

    /// Writes a kubeconfig with the token of the controller, or of another user.
    pub(super) fn kubeconfig(&self, controller: bool) -> tempfile::NamedTempFile {
        let token = if controller { CONTROLLER } else { "somebody" };
        let server = format!("http://{}", self.address);
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": server}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "users": [{"name": "a", "user": {"token": token}}],
        });
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "{config}").unwrap();
        file
    }

    /// Stores the log of a pod's gate.
    pub(super) fn log(&self, pod: &Value, log: &str) {
        let mut state = self.state.lock().unwrap();
        state.logs.insert(path(pod), log.to_owned());
    }

    /// Forbids a path, and all below it, to every account but the controller's.
    pub(super) fn hide(&self, path: &str) {
        self.state.lock().unwrap().hidden.insert(path.to_owned());
    }

    /// Forbids every account to write a path, and all below it.
    pub(super) fn seal(&self, path: &str) {
        self.state.lock().unwrap().sealed.insert(path.to_owned());
    }

    /// Puts this object in the place of the stored one just before the first change of it arrives, as a faster writer would.
    pub(super) fn be_faster(&self, object: &Value) {
        let mut state = self.state.lock().unwrap();
        state.faster.insert(path(object), object.clone());
    }

    /// Returns the number of requests from clients other than the controller.
    pub(super) fn asked(&self) -> usize {
        self.state.lock().unwrap().asked.len()
    }

    /// Returns the paths and queries of the requests from clients other than the controller, in their order.
    pub(super) fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.clone()
    }

    /// Returns the present state of a stored object.
    pub(super) fn now(&self, object: &Value) -> Value {
        let state = self.state.lock().unwrap();
        state.objects.get(&path(object)).cloned().unwrap()
    }

    /// Waits until `holds` accepts the state; fails after two minutes.
    fn until(&self, holds: impl Fn(&State) -> bool) {
        assert!((0..2400).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            holds(&self.state.lock().unwrap())
        }));
    }

    /// Once the command watches, removes the object at the path of this one, and stores this one there after a request for it has found nothing.
    pub(super) fn make_anew(&self, object: &Value) {
        let path = path(object);
        self.until(|state| state.watches > 2);
        {
            let mut state = self.state.lock().unwrap();
            state.objects.remove(&path);
            state.version += 1;
        }
        self.until(|state| state.missed.contains(&path));
        self.state.lock().unwrap().put(&path, object.clone());
    }

    /// Stores these objects, in place of those at their paths, once the command watches.
    pub(super) fn change(&self, objects: &[Value]) {
        self.until(|state| state.watches > 2);
        let mut state = self.state.lock().unwrap();
        for object in objects {
            state.put(&path(object), object.clone());
        }
    }

    /// Waits until there is an object at a path, and returns it; fails after two minutes.
    pub(super) fn wait(&self, path: &str) -> Value {
        let found = (0..2400).find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            self.state.lock().unwrap().objects.get(path).cloned()
        });
        assert!(found.is_some(), "nobody has written {path}");
        found.unwrap()
    }
}

async fn answer(state: Arc<Mutex<State>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body: Bytes = body.collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let header = |name| parts.headers.get(name).and_then(|it| it.to_str().ok());
    let bearer = header(header::AUTHORIZATION).unwrap_or_default();
    let controller = bearer == format!("Bearer {CONTROLLER}");
    let metadata = header(header::ACCEPT).is_some_and(|it| it.contains("PartialObjectMetadata"));
    let path = parts.uri.path();
    let query: BTreeMap<String, String> = pairs(parts.uri.query().unwrap_or_default());
    let whole = state;
    let mut state = whole.lock().unwrap();
    if !controller {
        let user = header(HeaderName::from_static("impersonate-user"));
        let user = user.map_or_else(String::new, |user| format!(" as {user}"));
        let mut groups = parts.headers.get_all("impersonate-group").iter();
        let group = groups.next().and_then(|it| it.to_str().ok());
        let group = group.map_or_else(String::new, |group| format!(" of {group}"));
        state.asked.push(format!("{}{user}{group}", parts.uri));
    }
    let accepts = header(header::ACCEPT).unwrap_or_default();
    if path == "/apis" && accepts.contains("APIGroupDiscoveryList") {
        return aggregated();
    }
    if let Some(told) = discovery(path) {
        return told;
    }
    let Some(asked) = Asked::of(path) else {
        return failure(StatusCode::NOT_FOUND);
    };
    if !state.may(&asked, path, controller) {
        return failure(StatusCode::FORBIDDEN);
    }
    if asked.plural == "tokenreviews" {
        return axum::Json(reviewed(&body)).into_response();
    }
    if let Some(pod) = path.strip_suffix("/log") {
        return match state.logs.get(pod) {
            Some(log) => log.clone().into_response(),
            None => failure(StatusCode::BAD_REQUEST),
        };
    }
    if query.get("watch").is_some_and(|it| it == "true") && !controller {
        state.watches += 1;
        return Body::from_stream(changes(Arc::clone(&whole))).into_response();
    }
    if query.get("watch").is_some_and(|it| it == "true") {
        // Nothing ever changes: it ends in silence, as the API server ends a watch in time.
        let seconds = query.get("timeoutSeconds").and_then(|it| it.parse().ok());
        let time = Duration::from_secs(seconds.unwrap_or(20));
        let silence = stream::once(tokio::time::sleep(time));
        let silence = silence.filter_map(async |()| None::<Result<Bytes, Infallible>>);
        return Body::from_stream(silence).into_response();
    }
    match parts.method {
        Method::GET if asked.name.is_some() => {
            if let Some(object) = state.objects.get(path) {
                return axum::Json(shown(object, metadata)).into_response();
            }
            state.missed.insert(path.to_owned());
            failure(StatusCode::NOT_FOUND)
        }
        Method::GET => axum::Json(state.list(&asked, &query, metadata)).into_response(),
        Method::POST => {
            let name = body["metadata"]["name"].as_str().unwrap_or("unnamed");
            state.put(&format!("{path}/{name}"), body.clone())
        }
        Method::PATCH => {
            let operations = header(header::CONTENT_TYPE) == Some("application/json-patch+json");
            state.patch(path, &body, operations, query.contains_key("dryRun"))
        }
        _ => state.put(path, body),
    }
}

/// Returns the events of a watch: one at once, and one whenever any object has changed, of any kind. They name no real object.
fn changes(state: Arc<Mutex<State>>) -> impl futures::Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold((state, None), |(state, seen)| async move {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let version = state.lock().unwrap().version;
            if seen != Some(version) {
                let object = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                    "metadata": {"name": "any", "resourceVersion": version.to_string()}});
                let event = json!({"type": "MODIFIED", "object": object}).to_string() + "\n";
                return Some((Ok(Bytes::from(event)), (state, Some(version))));
            }
        }
    })
}

fn reviewed(review: &Value) -> Value {
    let [namespace, pod, uid] = token::names(review["spec"]["token"].as_str().unwrap());
    json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": {},
        "status": {
            "authenticated": true, "audiences": ["sluice"],
            "user": {"username": format!("system:serviceaccount:{namespace}:default"), "extra": {
                "authentication.kubernetes.io/pod-name": [pod],
                "authentication.kubernetes.io/pod-uid": [uid],
            }},
        },
    })
}
