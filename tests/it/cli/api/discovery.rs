//! The kinds that the API server serves.

use super::answers::failure;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rules::kinds;
use serde_json::json;
use std::collections::BTreeSet;

/// The groups of the definitions, each in version v1: kinds and their plurals.
const CUSTOM: [(&str, &[(&str, &str)]); 2] = [
    ("example.com", &[("Widget", "widgets"), ("Gauge", "gauges")]),
    ("jobset.x-k8s.io", &[("JobSet", "jobsets")]),
];

/// The resources of a built-in group.
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
            let version = json!({"groupVersion": first.api_version(), "version": first.version});
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
pub(super) fn discovery(path: &str) -> Option<Response> {
    if path.starts_with("/apis/broken.example.com") {
        return Some(failure(StatusCode::SERVICE_UNAVAILABLE));
    }
    if path == "/apis" {
        let named = |name: &str, version: &str| json!({"name": name, "versions": [{"groupVersion": format!("{name}/{version}"), "version": version}]});
        let builtin = kinds::all().iter().map(|it| (it.group, it.version));
        let builtin: BTreeSet<_> = builtin.filter(|(group, _)| !group.is_empty()).collect();
        let custom = CUSTOM.map(|(group, _)| (group, "v1"));
        let custom = custom.into_iter().chain([("broken.example.com", "v1")]);
        let all = builtin.into_iter().chain(custom);
        let groups: Vec<_> = all.map(|(name, version)| named(name, version)).collect();
        return Some(axum::Json(json!({"kind": "APIGroupList", "groups": groups})).into_response());
    }
    let Some((group, kinds)) = CUSTOM.iter().find(|(group, _)| {
        let rest = path
            .strip_prefix("/apis/")
            .and_then(|it| it.strip_prefix(group));
        matches!(rest, Some("" | "/v1"))
    }) else {
        return builtin(path);
    };
    let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
    if !path.ends_with("/v1") {
        return Some(axum::Json(json!({"name": group, "versions": [version]})).into_response());
    }
    let resource = |(kind, plural): &(&str, &str)| json!({"name": plural, "singularName": kind.to_lowercase(), "namespaced": true, "kind": kind, "verbs": ["list"]});
    let resources: Vec<_> = kinds.iter().map(resource).collect();
    let list = json!({"kind": "APIResourceList", "groupVersion": format!("{group}/v1"), "resources": resources});
    Some(axum::Json(list).into_response())
}
