//! Reads objects: by `kind/name` as kubectl takes it, as the JSON that the API server keeps.

use super::LIMIT;
use futures::TryStreamExt;
use kube::api::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::core::Request;
use kube::{Client, Config};
use serde_json::Value;
use std::time::Instant;

/// The namespaced kinds that tests read, by the path of their group. The name of a resource is the kind's with an
/// "s".
const IN_NAMESPACES: [(&str, &[&str]); 8] = [
    ("/api/v1", &CORE),
    ("/apis/apps/v1", &APPS),
    ("/apis/batch/v1", &["job", "cronjob"]),
    ("/apis/discovery.k8s.io/v1", &["endpointslice"]),
    ("/apis/cert-manager.io/v1", &["certificate"]),
    ("/apis/argoproj.io/v1alpha1", &["rollout", "application"]),
    ("/apis/kustomize.toolkit.fluxcd.io/v1", &["kustomization"]),
    ("/apis/helm.toolkit.fluxcd.io/v2", &["helmrelease"]),
];
const CORE: [&str; 8] = [
    "pod",
    "service",
    "serviceaccount",
    "configmap",
    "secret",
    "event",
    "replicationcontroller",
    "resourcequota",
];
const APPS: [&str; 5] = [
    "deployment",
    "statefulset",
    "daemonset",
    "replicaset",
    "controllerrevision",
];
/// The cluster-wide kinds that tests read, by the path of their group.
const CLUSTER_WIDE: [(&str, &[&str]); 3] = [
    ("/api/v1", &["namespace", "node"]),
    (
        "/apis/rbac.authorization.k8s.io/v1",
        &["clusterrole", "clusterrolebinding"],
    ),
    (
        "/apis/admissionregistration.k8s.io/v1",
        &[
            "mutatingwebhookconfiguration",
            "validatingadmissionpolicybinding",
        ],
    ),
];

/// A client for the objects of one namespace, and for cluster-wide objects: reads, patches, creates and deletes them.
#[derive(Clone)]
pub struct Look {
    client: Client,
    /// A client that takes every refusal for final. The other one tries again after a code of 429, for as long as the API server tells it to.
    once: Client,
    namespace: String,
}

impl Look {
    /// Returns a reader of the objects in `namespace`, with the credentials of `KUBECONFIG`.
    pub async fn at(namespace: &str) -> Self {
        let config = Config::infer().await;
        let config = config.expect("KUBECONFIG must name a cluster");
        let mut final_config = config.clone();
        final_config.default_retry = false;
        let client = |config| Client::try_from(config).expect("KUBECONFIG must name a cluster");
        Self {
            client: client(config),
            once: client(final_config),
            namespace: namespace.to_owned(),
        }
    }

    /// Returns one object, e.g. `job/migrate`; `None` where it does not exist.
    pub async fn find(&self, reference: &str) -> Option<Value> {
        let (kind, name) = split(reference);
        let request = self.resource(kind).get(name, &GetParams::default());
        found(
            reference,
            self.client.request(request.expect("a plain request")).await,
        )
    }

    /// Returns one object that has to exist.
    pub async fn get(&self, reference: &str) -> Value {
        let found = self.find(reference).await;
        found.unwrap_or_else(|| panic!("there is no {reference} in {}", self.namespace))
    }

    /// Returns the objects of a kind in the namespace with these labels (kubectl's selector syntax; empty for all), sorted by name. Returns none
    /// where the API server does not have the kind.
    pub async fn list(&self, kind: &str, selector: &str) -> Vec<Value> {
        let parameters = ListParams::default().labels(selector);
        let request = self.resource(kind).list(&parameters);
        let answer = self.client.request(request.expect("a plain request")).await;
        let list: Value = found(kind, answer).unwrap_or_default();
        let mut objects = items(&list, "/items").to_vec();
        objects.sort_by_key(|object| text(object, "/metadata/name").to_owned());
        objects
    }

    /// Passes every object of `kind` that is created or changed after resource version `version` to `seen`, until `seen` returns true. Deletions are
    /// not passed. Fails after `LIMIT`.
    pub async fn follow(&self, kind: &str, version: &str, mut seen: impl FnMut(&Value) -> bool) {
        let parameters = WatchParams::default().timeout(290);
        let (mut version, began) = (String::from(version), Instant::now());
        // The API server also ends the watch of a client that reads too slowly.
        while began.elapsed() < LIMIT {
            let request = self.resource(kind).watch(&parameters, &version);
            let request = request.expect("a plain request");
            let events = self.client.request_events::<Value>(request).await;
            let mut events =
                std::pin::pin!(events.unwrap_or_else(|error| panic!("{kind}: {error}")));
            while let Some(event) = events.try_next().await.expect("events of a watch") {
                match event {
                    WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                        text(&object, "/metadata/resourceVersion").clone_into(&mut version);
                        if seen(&object) {
                            return;
                        }
                    }
                    WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) => {}
                    WatchEvent::Error(error) => panic!("{kind}: {error}"),
                }
            }
        }
        panic!("the {kind}s of {} have not come to that", self.namespace);
    }

    /// Applies a merge patch to an object that has to exist. On a busy node `kubectl` takes seconds to start; this request does not.
    pub async fn patch(&self, reference: &str, patch: &Value) {
        let (kind, name) = split(reference);
        let parameters = PatchParams::default();
        let request = self
            .resource(kind)
            .patch(name, &parameters, &Patch::Merge(patch));
        let answer = self.client.request(request.expect("a plain request")).await;
        let changed: Option<Value> = found(reference, answer);
        assert!(changed.is_some(), "there is no {reference} to change");
    }

    /// Tries once to create an object, as a client does that takes every refusal for final. Returns the code of the answer, and its
    /// text.
    pub async fn try_to_create(&self, object: &Value) -> (u16, String) {
        let kind = text(object, "/kind").to_lowercase();
        let parameters = PostParams::default();
        let body = object.to_string().into_bytes();
        let request = self.resource(&kind).create(&parameters, body);
        let request = request.expect("a plain request").map(Into::into);
        let answer = self.once.send(request).await.expect("it is answered");
        let status = answer.status().as_u16();
        let body = answer.into_body().collect_bytes().await;
        let body = body.expect("the answer has an end");
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    /// Returns the object that the API server would store at a creation, by a dry run. An error says why it would refuse the object, as kubectl says
    /// it: `(Forbidden): …`.
    pub async fn would_create(&self, object: &Value) -> Result<Value, String> {
        let (resource, parameters, body) = self.dry_run(object);
        let request = resource.create(&parameters, body);
        self.stored(request.expect("a plain request")).await
    }

    /// Returns the object that the API server would store at an update, by a dry run. Errors are those of [`Look::would_create`].
    pub async fn would_replace(&self, object: &Value) -> Result<Value, String> {
        let (resource, parameters, body) = self.dry_run(object);
        let name = text(object, "/metadata/name");
        let request = resource.replace(name, &parameters, body);
        self.stored(request.expect("a plain request")).await
    }

    fn dry_run(&self, object: &Value) -> (Request, PostParams, Vec<u8>) {
        let parameters = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let kind = text(object, "/kind").to_lowercase();
        (
            self.resource(&kind),
            parameters,
            object.to_string().into_bytes(),
        )
    }

    async fn stored(&self, request: axum::http::Request<Vec<u8>>) -> Result<Value, String> {
        match self.client.request(request).await {
            Ok(stored) => Ok(stored),
            Err(kube::Error::Api(status)) => {
                Err(format!("({}): {}", status.reason, status.message))
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Deletes an object, and does not wait until it is gone. An object that does not exist is no error.
    pub async fn delete(&self, reference: &str) {
        let (kind, name) = split(reference);
        let request = self.resource(kind).delete(name, &DeleteParams::default());
        let answer = self.client.request(request.expect("a plain request")).await;
        let _gone: Option<Value> = found(reference, answer);
    }

    /// Sends a body through the API server to a port of a pod, over TLS. Returns the status and the text of the
    /// answer.
    pub async fn post(&self, pod: &str, port: u16, path: &str, body: Vec<u8>) -> (u16, String) {
        let pods = format!("/api/v1/namespaces/{}/pods", self.namespace);
        let request = axum::http::Request::post(format!("{pods}/https:{pod}:{port}/proxy{path}"))
            .header("content-type", "application/json")
            .body(body.into())
            .expect("the path is one");
        let answer = self.client.send(request).await.expect("it is answered");
        let status = answer.status().as_u16();
        let text = answer.into_body().collect_bytes().await;
        let text = text.expect("the answer has an end");
        (status, String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns the log of a container, with the time in front of each line; empty where the API server returns an error, as for a container that
    /// waits.
    pub async fn log(&self, pod: &str, container: &str) -> String {
        let parameters = kube::api::LogParams {
            container: Some(container.to_owned()),
            timestamps: true,
            ..Default::default()
        };
        let request = self.resource("pod").logs(pod, &parameters);
        // A waiting container has no log, and the API server calls the request bad.
        self.client
            .request_text(request.expect("a plain request"))
            .await
            .unwrap_or_default()
    }

    fn resource(&self, kind: &str) -> Request {
        let group = |table: &'static [(&str, &[&str])]| {
            let row = table.iter().find(|(_, kinds)| kinds.contains(&kind));
            row.map(|(path, _)| *path)
        };
        if let Some(path) = group(&IN_NAMESPACES) {
            Request::new(format!("{path}/namespaces/{}/{kind}s", self.namespace))
        } else if let Some(path) = group(&CLUSTER_WIDE) {
            Request::new(format!("{path}/{kind}s"))
        } else {
            panic!("{kind:?} is not in the tables of kinds")
        }
    }
}

fn split(reference: &str) -> (&str, &str) {
    reference
        .split_once('/')
        .unwrap_or_else(|| panic!("{reference:?} is not kind/name"))
}

fn found(what: &str, answer: Result<Value, kube::Error>) -> Option<Value> {
    match answer {
        Ok(object) => Some(object),
        Err(kube::Error::Api(status)) if status.code == 404 => None,
        Err(error) => panic!("{what}: {error}"),
    }
}

/// Returns the text at a JSON pointer; empty where there is none.
pub fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the list at a JSON pointer; empty where there is none.
pub fn items<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
