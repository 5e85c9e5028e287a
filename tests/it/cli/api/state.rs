//! The stored objects, and the answers about them.

use super::answers::{failure, shown};
use super::asked::Asked;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rules::annotation;
use rules::dependency::Reference;
use rules::keys;
use rules::selector::Selector;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct State {
    /// The stored objects by path.
    pub(super) objects: BTreeMap<String, Value>,
    /// The logs of gates, by the path of the pod.
    pub(super) logs: BTreeMap<String, String>,
    /// The paths that only the controller may read.
    pub(super) hidden: BTreeSet<String>,
    /// The paths that no account may write.
    pub(super) sealed: BTreeSet<String>,
    /// The state that another writer gives an object before the first change of it arrives, by its path.
    pub(super) faster: BTreeMap<String, Value>,
    pub(super) version: u64,
    /// The paths at which a reader has found nothing.
    pub(super) missed: BTreeSet<String>,
    /// The number of watches that the command has opened.
    pub(super) watches: usize,
    /// The paths and queries of the requests from clients other than the controller, each with the user that it impersonates.
    pub(super) asked: Vec<String>,
}

impl State {
    pub(super) fn put(&mut self, path: &str, mut object: Value) -> Response {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(path.to_owned(), object.clone());
        (StatusCode::CREATED, axum::Json(object)).into_response()
    }

    /// Patches the object at a path, by JSON operations or a merge patch, and answers with the result. A sealed path is forbidden, a missing one is
    /// not found. An object in `faster` is stored first, as another writer's; a dry run stores nothing.
    pub(super) fn patch(
        &mut self,
        path: &str,
        change: &Value,
        operations: bool,
        dry_run: bool,
    ) -> Response {
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

    pub(super) fn list(
        &self,
        asked: &Asked<'_>,
        query: &BTreeMap<String, String>,
        metadata: bool,
    ) -> Value {
        let selector = query.get("labelSelector").map(|it| selector(it));
        let selector = selector.unwrap_or_default();
        let objects = self.objects.iter().filter(|(path, _)| asked.holds(path));
        let objects = objects.map(|(_, object)| object);
        let about = query.get("fieldSelector").map(|it| it.split(','));
        let about: Vec<(&str, &str)> = about
            .into_iter()
            .flatten()
            .filter_map(|it| it.strip_prefix("involvedObject.")?.split_once('='))
            .collect();
        let objects = objects.filter(|it| {
            let same = |(field, value): &(&str, &str)| it["involvedObject"][field] == **value;
            about.iter().all(same)
        });
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

    /// Whether an account may make this request. The controller may do what its ClusterRoles allow, and everything in its own namespace and on
    /// objects named `sluice`; any other account all but what is hidden.
    pub(super) fn may(&self, asked: &Asked<'_>, path: &str, controller: bool) -> bool {
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
}

/// Parses a label selector, by the grammar of sluice's own lists, which is that of the API server.
fn selector(text: &str) -> Selector {
    let list = json!([{"kind": "Pod", "selector": text}]).to_string();
    let annotations = Map::from_iter([(keys::DEPENDS_ON.to_owned(), json!(list))]);
    let mut declared = annotation::declared(&annotations).unwrap();
    match declared.remove(0).reference {
        Reference::Selected(selection) => selection.selector,
        _ => Selector::default(),
    }
}
