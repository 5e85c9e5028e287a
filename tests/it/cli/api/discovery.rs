//! Which kinds are served.

use super::answers::failure;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rules::kinds;
use serde_json::json;
use std::collections::BTreeSet;

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
    let group = "example.com";
    let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
    if path == "/apis" {
        let named = |name: &str, version: &str| json!({"name": name, "versions": [{"groupVersion": format!("{name}/{version}"), "version": version}]});
        let builtin = kinds::all().iter().map(|it| (it.group, it.version));
        let builtin: BTreeSet<_> = builtin.filter(|(group, _)| !group.is_empty()).collect();
        let custom = [(group, "v1"), ("broken.example.com", "v1")];
        let all = builtin.into_iter().chain(custom);
        let groups: Vec<_> = all.map(|(name, version)| named(name, version)).collect();
        return Some(axum::Json(json!({"kind": "APIGroupList", "groups": groups})).into_response());
    }
    if path == format!("/apis/{group}") {
        return Some(axum::Json(json!({"name": group, "versions": [version]})).into_response());
    }
    if path != format!("/apis/{group}/v1") {
        return builtin(path);
    }
    Some({
        let resource = |kind: &str, plural: &str| json!({"name": plural, "singularName": kind.to_lowercase(), "namespaced": true, "kind": kind, "verbs": ["list"]});
        let resources = [resource("Widget", "widgets"), resource("Gauge", "gauges")];
        let list = json!({"kind": "APIResourceList", "groupVersion": format!("{group}/v1"), "resources": resources});
        axum::Json(list).into_response()
    })
}
