//! An API server that knows a few objects by their path, for the commands that ask a cluster.

use super::{Ran, run};
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

type Written = Arc<Mutex<Vec<(String, Value)>>>;

/// A server on loopback. It ends when this is dropped.
pub(super) struct Server {
    kubeconfig: tempfile::NamedTempFile,
    /// The changes that were written so far, each with the path of its object.
    pub(super) written: Written,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    pub(super) fn start(objects: &[(&str, Value)]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let objects: BTreeMap<String, Value> = objects
            .iter()
            .map(|(path, object)| ((*path).to_owned(), object.clone()))
            .collect();
        let (objects, written) = (Arc::new(objects), Written::default());
        let router = {
            let written = Arc::clone(&written);
            Router::new().fallback(move |request: Request| {
                answer(Arc::clone(&objects), Arc::clone(&written), request)
            })
        };
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { axum::serve(listener, router).await });
        let mut kubeconfig = tempfile::NamedTempFile::new().unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}")}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a", "namespace": "shop"}}],
            "users": [{"name": "a", "user": {}}],
        });
        write!(kubeconfig, "{config}").unwrap();
        Self {
            kubeconfig,
            written,
            _runtime: runtime,
        }
    }

    pub(super) fn run(&self, args: &[&str]) -> Ran {
        run(&[args, &["--kubeconfig", self.kubeconfig()]].concat(), "")
    }

    /// Returns the path of a kubeconfig that names this server.
    pub(super) fn kubeconfig(&self) -> &str {
        self.kubeconfig.path().to_str().unwrap()
    }
}

async fn answer(
    objects: Arc<BTreeMap<String, Value>>,
    written: Written,
    request: Request,
) -> Response {
    let path = request.uri().path().to_owned();
    // A list has the objects right below its path.
    let listed = path.rsplit('/').nth(2) == Some("namespaces");
    let is_below = |it: &str| {
        let name = it.strip_prefix(&path).and_then(|it| it.strip_prefix('/'));
        name.is_some_and(|it| !it.contains('/'))
    };
    let items = objects.iter().filter(|(it, _)| is_below(it));
    let items: Vec<Value> = items.map(|(_, object)| object.clone()).collect();
    let items = listed.then(|| list(&items));
    let Some(object) = objects.get(&path).cloned().or(items) else {
        let status =
            json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404});
        return (StatusCode::NOT_FOUND, axum::Json(status)).into_response();
    };
    if request.method() == Method::PATCH {
        let body: Bytes = request.into_body().collect().await.unwrap().to_bytes();
        let change = serde_json::from_slice(&body).unwrap();
        written.lock().unwrap().push((path, change));
    }
    let code = object["code"]
        .as_u64()
        .and_then(|it| u16::try_from(it).ok());
    let code = code.and_then(|it| StatusCode::from_u16(it).ok());
    (code.unwrap_or_default(), axum::Json(object)).into_response()
}

pub(super) fn list(items: &[Value]) -> Value {
    json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items})
}
