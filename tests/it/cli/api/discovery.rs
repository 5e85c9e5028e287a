//! The kinds that the API server serves.

use super::answers::failure;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rules::kinds;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A group with twenty custom kinds, for tests that need many.
pub(in crate::cli) const MANY: &str = "many.example.com";

/// The kinds of [`MANY`], each with its plural.
const OF_MANY: [(&str, &str); 20] = [
    ("Ka", "kas"),
    ("Kb", "kbs"),
    ("Kc", "kcs"),
    ("Kd", "kds"),
    ("Ke", "kes"),
    ("Kf", "kfs"),
    ("Kg", "kgs"),
    ("Kh", "khs"),
    ("Ki", "kis"),
    ("Kj", "kjs"),
    ("Kk", "kks"),
    ("Kl", "kls"),
    ("Km", "kms"),
    ("Kn", "kns"),
    ("Ko", "kos"),
    ("Kp", "kps"),
    ("Kq", "kqs"),
    ("Kr", "krs"),
    ("Ks", "kss"),
    ("Kt", "kts"),
];

/// The groups of the definitions, each in version v1: kinds and their plurals.
const CUSTOM: [(&str, &[(&str, &str)]); 3] = [
    ("example.com", &[("Widget", "widgets"), ("Gauge", "gauges")]),
    ("jobset.x-k8s.io", &[("JobSet", "jobsets")]),
    (MANY, &OF_MANY),
];

/// Returns aggregated discovery: all groups with their kinds in one answer, and the group `broken.example.com` as stale.
pub(super) fn aggregated() -> Response {
    let resource = |plural: &str, kind: &str, namespaced: bool| {
        let scope = if namespaced { "Namespaced" } else { "Cluster" };
        json!({"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "verbs": ["list"]})
    };
    let group = |name: &str, version: &str, resources: Vec<Value>| {
        let version = json!({"version": version, "freshness": "Current", "resources": resources});
        json!({"metadata": {"name": name}, "versions": [version]})
    };
    let builtin = kinds::all().iter().map(|it| (it.group, it.version));
    let builtin: BTreeSet<_> = builtin.filter(|(group, _)| !group.is_empty()).collect();
    let builtin = builtin.into_iter().map(|(name, version)| {
        let kinds = kinds::all().iter().filter(|it| it.group == name);
        let kinds = kinds.map(|it| resource(it.plural, it.kind, it.namespaced));
        group(name, version, kinds.collect())
    });
    let custom = CUSTOM.iter().map(|(name, kinds)| {
        let kinds = kinds
            .iter()
            .map(|(kind, plural)| resource(plural, kind, true));
        group(name, "v1", kinds.collect())
    });
    let stale = json!({"version": "v1", "freshness": "Stale", "resources": []});
    let broken = json!({"metadata": {"name": "broken.example.com"}, "versions": [stale]});
    let groups: Vec<Value> = builtin.chain(custom).chain([broken]).collect();
    let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": groups});
    axum::Json(list).into_response()
}

/// Answers discovery of a built-in group, or of a version of it; `None` for any other path.
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

/// Answers discovery at `/apis` and below; `None` for a path that is no discovery. The server of the API `broken.example.com` does not answer.
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
