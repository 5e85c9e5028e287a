//! A fake API server with ConfigMaps, as far as the tasks that keep memory and slots need it. Its watches send nothing, so a task reads
//! its ConfigMaps anew each half a minute.

use axum::body::{Body as Answer, Bytes};
use axum::http::{Method, Request, Response, StatusCode};
use futures::stream;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// An API server of a test, with its stored objects.
#[derive(Default)]
pub(crate) struct ApiServer(Mutex<Contents>);

#[derive(Default)]
pub(crate) struct Contents {
    /// The stored objects by their path, `ConfigMap`s among them.
    pub(crate) objects: BTreeMap<String, Value>,
    /// A text: a request with it in its body is refused with 422.
    pub(crate) refused: Option<&'static str>,
    /// The time that each answer of the fake API server takes.
    pub(crate) delay: Duration,
    /// How many writes the fake API server has refused.
    pub(crate) refusals: usize,
    version: u64,
}

impl ApiServer {
    pub(crate) fn client(self: &Arc<Self>) -> Client {
        let server = Arc::clone(self);
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = Arc::clone(&server);
            async move { Ok::<_, Infallible>(server.answer(request).await) }
        });
        Client::new(service, "sluice-system")
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap()
    }

    async fn answer(&self, request: Request<Body>) -> Response<Answer> {
        let (head, body) = request.into_parts();
        if head.uri.query().is_some_and(|it| it.contains("watch=true")) {
            let silence = stream::pending::<Result<Bytes, Infallible>>();
            return Response::new(Answer::from_stream(silence));
        }
        let body = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let delay = self.lock().delay;
        tokio::time::sleep(delay).await;
        let (code, answer) = self.lock().handle(&head.method, head.uri.path(), &body);
        let mut response = Response::new(Answer::from(answer.to_string()));
        *response.status_mut() = code;
        response
    }
}

impl Contents {
    /// Stores an object under this path with a new `resourceVersion`, as the write of any client does. Nothing is refused.
    pub(crate) fn put(&mut self, path: &str, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(path.to_owned(), object);
    }

    fn handle(&mut self, method: &Method, path: &str, body: &Value) -> (StatusCode, Value) {
        let refused = |it: &&str| body.to_string().contains(*it);
        if self.refused.as_ref().is_some_and(refused) {
            self.refusals += 1;
            return status(StatusCode::UNPROCESSABLE_ENTITY);
        }
        if *method == Method::POST {
            let name = body["metadata"]["name"].as_str().unwrap();
            let path = format!("{path}/{name}");
            self.put(&path, body.clone());
            return (StatusCode::CREATED, self.objects[&path].clone());
        }
        let Some(mut object) = self.objects.get(path).cloned() else {
            return status(StatusCode::NOT_FOUND);
        };
        if *method == Method::PATCH {
            let wanted = &body["metadata"]["resourceVersion"];
            if !wanted.is_null() && *wanted != object["metadata"]["resourceVersion"] {
                return status(StatusCode::CONFLICT);
            }
            for (key, value) in body["data"].as_object().unwrap() {
                object["data"][key] = value.clone();
            }
            let data = object["data"].as_object_mut().unwrap();
            data.retain(|_, value| !value.is_null());
            self.put(path, object);
        }
        (StatusCode::OK, self.objects[path].clone())
    }
}

fn status(code: StatusCode) -> (StatusCode, Value) {
    let reason = code.canonical_reason().unwrap().replace(' ', "");
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": reason, "reason": reason, "code": code.as_u16()});
    (code, status)
}
