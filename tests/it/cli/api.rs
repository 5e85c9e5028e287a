//! An API server in memory, enough of one for a controller, its gates and the command: objects by their paths, lists,
//! watches that tell the command of changes and the controller nothing, reviews of tokens, and the rights of the controller's
//! ClusterRole.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use harness::token;
use http_body_util::BodyExt;
use rules::annotation;
use rules::dependency::Reference;
use rules::keys;
use rules::kinds;
use rules::selector::Selector;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Who asks with this token is the controller.
const CONTROLLER: &str = "the-controller";

/// Runs for as long as it is kept.
pub(super) struct Api {
    address: std::net::SocketAddr,
    state: Arc<Mutex<State>>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Default)]
struct State {
    /// By path.
    objects: BTreeMap<String, Value>,
    /// What the gates of pods have written, by the path of the pod.
    logs: BTreeMap<String, String>,
    /// The paths that nobody but the controller may read.
    hidden: BTreeSet<String>,
    /// The paths that nobody may write.
    sealed: BTreeSet<String>,
    /// What somebody else makes of an object before the first change of it arrives, by its path.
    faster: BTreeMap<String, Value>,
    version: u64,
    /// How many watches the command has opened.
    watches: usize,
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

    /// A kubeconfig for the controller, or for somebody else.
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

    /// What the gate of a pod has written.
    pub(super) fn log(&self, pod: &Value, log: &str) {
        let mut state = self.state.lock().unwrap();
        state.logs.insert(path(pod), log.to_owned());
    }

    /// Forbids a path, and all below it, to everybody but the controller.
    pub(super) fn hide(&self, path: &str) {
        self.state.lock().unwrap().hidden.insert(path.to_owned());
    }

    /// Forbids everybody to write a path, and all below it.
    pub(super) fn seal(&self, path: &str) {
        self.state.lock().unwrap().sealed.insert(path.to_owned());
    }

    /// Makes this of an object just before the first change of it arrives.
    pub(super) fn be_faster(&self, object: &Value) {
        let mut state = self.state.lock().unwrap();
        state.faster.insert(path(object), object.clone());
    }

    /// What an object is now.
    pub(super) fn now(&self, object: &Value) -> Value {
        let state = self.state.lock().unwrap();
        state.objects.get(&path(object)).cloned().unwrap()
    }

    /// Changes objects, once the command follows what it has read.
    pub(super) fn change(&self, objects: &[Value]) {
        let follows = || self.state.lock().unwrap().watches > 2;
        assert!((0..2400).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            follows()
        }));
        let mut state = self.state.lock().unwrap();
        for object in objects {
            state.put(&path(object), object.clone());
        }
    }

    /// What stands at a path, as soon as somebody has put it there.
    pub(super) fn wait(&self, path: &str) -> Value {
        let found = (0..2400).find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            self.state.lock().unwrap().objects.get(path).cloned()
        });
        assert!(found.is_some(), "nobody has written {path}");
        found.unwrap()
    }
}

/// Group, version and plural of an object, and whether it has a namespace.
fn path(object: &Value) -> String {
    let (group, version) = match object["apiVersion"].as_str().unwrap().split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", object["apiVersion"].as_str().unwrap()),
    };
    let word = object["kind"].as_str().unwrap();
    let plural = kinds::builtin(group, word).map_or_else(
        || format!("{}s", word.to_lowercase()),
        |builtin| builtin.plural.to_owned(),
    );
    let root = if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    };
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str();
    let namespace = namespace.map_or_else(String::new, |it| format!("/namespaces/{it}"));
    format!(
        "{root}{namespace}/{plural}/{}",
        metadata["name"].as_str().unwrap()
    )
}

/// What a path names: `/apis/apps/v1/namespaces/shop/deployments/api`.
struct Asked<'a> {
    root: String,
    group: &'a str,
    namespace: Option<&'a str>,
    plural: &'a str,
    name: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(path: &'a str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (root, group, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => (format!("/api/{version}"), "", rest),
            ["apis", group, version, rest @ ..] => {
                (format!("/apis/{group}/{version}"), *group, rest)
            }
            _ => return None,
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            rest => (None, rest),
        };
        Some(Self {
            root,
            group,
            namespace,
            plural: rest.first()?,
            name: rest.get(1).copied(),
        })
    }

    /// Whether it is a list, and the object of this path is in it.
    fn holds(&self, path: &str) -> bool {
        let Some(of) = Asked::of(path) else {
            return false;
        };
        let same = of.root == self.root && of.plural == self.plural;
        same && (self.namespace.is_none() || of.namespace == self.namespace)
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
    if let Some(told) = State::discovery(path) {
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
        Method::GET if asked.name.is_some() => match state.objects.get(path) {
            Some(object) => axum::Json(shown(object, metadata)).into_response(),
            None => failure(StatusCode::NOT_FOUND),
        },
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

/// An event at once, as a watch begins with what is there, and whenever anything has changed, wherever it is.
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

impl State {
    fn put(&mut self, path: &str, mut object: Value) -> Response {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(path.to_owned(), object.clone());
        (StatusCode::CREATED, axum::Json(object)).into_response()
    }

    /// Makes a change, as JSON operations or as a merge.
    fn patch(&mut self, path: &str, change: &Value, operations: bool, dry_run: bool) -> Response {
        if self.sealed.iter().any(|it| path.starts_with(it.as_str())) {
            let status = json!({"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403,
                "message": "it is forbidden: User \"somebody\" cannot patch resource \"things\""});
            return (StatusCode::FORBIDDEN, axum::Json(status)).into_response();
        }
        if let Some(object) = self.faster.remove(path) {
            self.put(path, object);
        }
        let Some(mut object) = self.objects.get(path).cloned() else {
            return failure(StatusCode::NOT_FOUND);
        };
        if operations {
            let change: json_patch::Patch = serde_json::from_value(change.clone()).unwrap();
            if json_patch::patch(&mut object, &change).is_err() {
                return failure(StatusCode::UNPROCESSABLE_ENTITY);
            }
        } else {
            json_patch::merge(&mut object, change);
        }
        if dry_run {
            return axum::Json(object).into_response();
        }
        self.put(path, object)
    }

    fn list(&self, asked: &Asked<'_>, query: &BTreeMap<String, String>, metadata: bool) -> Value {
        let selector = query.get("labelSelector").map(|it| selector(it));
        let selector = selector.unwrap_or_default();
        let objects = self.objects.iter().filter(|(path, _)| asked.holds(path));
        let objects = objects.map(|(_, object)| object);
        let homeless = query
            .get("fieldSelector")
            .is_some_and(|it| it.starts_with("spec.nodeName="));
        let objects = objects
            .filter(|it| selector.selects(it) && (!homeless || it["spec"]["nodeName"].is_null()));
        let number = |key: &str| query.get(key).and_then(|it| it.parse::<usize>().ok());
        let (from, most) = (number("continue"), number("limit").unwrap_or(usize::MAX));
        let from = from.unwrap_or_default();
        let mut items: Vec<Value> = objects
            .skip(from)
            .map(|object| shown(object, metadata))
            .collect();
        let next = (items.len() > most).then(|| (from + most).to_string());
        items.truncate(most);
        json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1", "continue": next}, "items": items})
    }

    /// Whether somebody may do that. The controller has its ClusterRole, and everything in its own namespace.
    fn may(&self, asked: &Asked<'_>, path: &str, controller: bool) -> bool {
        if !controller {
            return !self
                .hidden
                .iter()
                .any(|hidden| path.starts_with(hidden.as_str()));
        }
        if asked.namespace == Some("sluice-system") || asked.name == Some("sluice") {
            return true;
        }
        let own = ["sluice", "sluice-watch"].into_iter();
        let mut rules = own.flat_map(|name| {
            let role = format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}");
            self.objects[&role]["rules"].as_array().unwrap()
        });
        let names = |list: &Value, word: &str| list.as_array().unwrap().iter().any(|it| it == word);
        rules.any(|rule| {
            names(&rule["apiGroups"], asked.group) && names(&rule["resources"], asked.plural)
        })
    }

    /// What a built-in group serves.
    fn builtin(path: &str) -> Option<Response> {
        let group = path.strip_prefix("/apis/")?;
        let (group, version) = match group.split_once('/') {
            Some((group, version)) => (group, Some(version)),
            None => (group, None),
        };
        let kinds = || kinds::all().iter().filter(|it| it.group == group);
        let first = kinds().next()?;
        let told = match version {
            None => {
                let version =
                    json!({"groupVersion": first.api_version(), "version": first.version});
                json!({"name": group, "versions": [version]})
            }
            Some(version) if version == first.version => {
                let resource = |it: &kinds::Builtin| json!({"name": it.plural, "kind": it.kind, "namespaced": it.namespaced, "verbs": ["list"]});
                let resources: Vec<_> = kinds().map(resource).collect();
                json!({"kind": "APIResourceList", "groupVersion": first.api_version(), "resources": resources})
            }
            Some(_) => return None,
        };
        Some(axum::Json(told).into_response())
    }

    /// The groups of the definitions; one of them is an API whose server does not answer.
    fn discovery(path: &str) -> Option<Response> {
        if path.starts_with("/apis/broken.example.com") {
            return Some(failure(StatusCode::SERVICE_UNAVAILABLE));
        }
        let group = "example.com";
        let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
        if path == "/apis" {
            let named = |name: &str, version: &str| json!({"name": name, "versions": [{"groupVersion": format!("{name}/{version}"), "version": version}]});
            let builtin = kinds::all().iter().map(|it| (it.group, it.version));
            let builtin: BTreeSet<_> = builtin.filter(|(group, _)| !group.is_empty()).collect();
            let custom = [(group, "v1"), ("broken.example.com", "v1")];
            let all = builtin.into_iter().chain(custom);
            let groups: Vec<_> = all.map(|(name, version)| named(name, version)).collect();
            return Some(
                axum::Json(json!({"kind": "APIGroupList", "groups": groups})).into_response(),
            );
        }
        if path == format!("/apis/{group}") {
            return Some(axum::Json(json!({"name": group, "versions": [version]})).into_response());
        }
        if path != format!("/apis/{group}/v1") {
            return Self::builtin(path);
        }
        Some({
            let resource = |kind: &str, plural: &str| json!({"name": plural, "singularName": kind.to_lowercase(), "namespaced": true, "kind": kind, "verbs": ["list"]});
            let resources = [resource("Widget", "widgets"), resource("Gauge", "gauges")];
            let list = json!({"kind": "APIResourceList", "groupVersion": format!("{group}/v1"), "resources": resources});
            axum::Json(list).into_response()
        })
    }
}

/// All of an object, or its metadata.
fn shown(object: &Value, metadata: bool) -> Value {
    if !metadata {
        return object.clone();
    }
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
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

fn failure(code: StatusCode) -> Response {
    let reason = code.canonical_reason().unwrap_or_default().replace(' ', "");
    let status =
        json!({"kind": "Status", "status": "Failure", "reason": reason, "code": code.as_u16()});
    (code, axum::Json(status)).into_response()
}

/// A label selector, by the grammar of our own lists, which is that of the API server.
fn selector(text: &str) -> Selector {
    let list = json!([{"kind": "Pod", "selector": text}]).to_string();
    let annotations = Map::from_iter([(keys::DEPENDS_ON.to_owned(), json!(list))]);
    let mut declared = annotation::declared(&annotations).unwrap();
    match declared.remove(0).reference {
        Reference::Selected(selection) => selection.selector,
        _ => Selector::default(),
    }
}

/// The pairs of a query, without their escapes.
fn pairs(query: &str) -> BTreeMap<String, String> {
    let plain = |text: &str| {
        let mut bytes = text.bytes();
        let mut plain = Vec::new();
        while let Some(byte) = bytes.next() {
            plain.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let code = [bytes.next().unwrap(), bytes.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&code).unwrap(), 16).unwrap()
                }
                byte => byte,
            });
        }
        String::from_utf8(plain).unwrap()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| (plain(key), plain(value)))
        .collect()
}
