//! What is kept of an object: what the rules read, and nothing that is large or secret.

mod requests;

use rules::installer;
use rules::kept::{METADATA_ONLY, POD_SPEC, POD_STATUS};
use rules::keys::{self, ORDER};
use rules::kinds::Kind;
use rules::object::written;
use rules::profile;
use rules::scope;
use serde_json::{Map, Value, json};

/// How much of a kind's objects is asked of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The metadata: the kinds of which only the existence counts. Their contents never reach this process.
    Metadata,
    /// Everything, trimmed on arrival.
    Object,
}

/// A copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Annotations of others that a rule reads.
const FOREIGN_ANNOTATIONS: [&str; 17] = [
    scope::ANNOTATIONS[0],
    scope::ANNOTATIONS[1],
    scope::ANNOTATIONS[2],
    scope::ANNOTATIONS[3],
    keys::ROLLOUT_HISTORY,
    keys::CONFIG_DEPENDS_ON,
    keys::READINESS_SUCCESS,
    keys::READINESS_FAILURE,
    keys::ROLLOUT_NUMBERS[0],
    keys::ROLLOUT_NUMBERS[1],
    keys::HELM_HOOK,
    installer::HOOK_WEIGHT,
    installer::HOOK_DELETE_POLICY,
    installer::SYNC_WAVE,
    installer::SYNC_HOOK,
    "storageclass.kubernetes.io/is-default-class",
    "volume.kubernetes.io/selected-node",
];

/// What a pod template may say of its object.
const TEMPLATE_ANNOTATIONS: [&str; 8] = [
    keys::REVISION,
    keys::SCOPE,
    keys::GROUP,
    keys::RESOURCE_GROUP,
    keys::WEIGHT,
    keys::PARALLELISM,
    keys::DEPENDS_ON,
    keys::CONFIG_DEPENDS_ON,
];

/// How much of a kind is asked for.
pub fn detail(kind: &Kind) -> Detail {
    match kind {
        Kind::Builtin(builtin) if METADATA_ONLY.contains(&(builtin.group, builtin.kind)) => {
            Detail::Metadata
        }
        _ => Detail::Object,
    }
}

/// Takes away what no rule reads.
///
/// Of a custom resource everything stays but the bookkeeping: only its author knows which field tells its health. So
/// it is with any object whose annotations say which fields do.
pub fn trim(kind: &Kind, object: &mut Value) {
    if profile::is_custom(object) {
        trim_bookkeeping(object);
        return;
    }
    trim_metadata(kind, object);
    let Kind::Builtin(builtin) = kind else { return };
    match (builtin.group, builtin.kind) {
        ("", "Pod") => {
            let requests = requests::of(object);
            keep(object, "spec", &POD_SPEC);
            requests::put(object, requests);
            keep(object, "status", &POD_STATUS);
        }
        ("discovery.k8s.io", "EndpointSlice") => trim_endpoints(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => trim_definition(object),
        ("apps" | "batch", _) | ("", "ReplicationController") => {
            trim_template(object);
            remove(object, "spec", "jobTemplate");
            remove(object, "spec", "volumeClaimTemplates");
            remove(object, "status", "uncountedTerminatedPods");
        }
        // Only plans come with their data.
        ("", "ConfigMap") => keep(object, "data", &[ORDER]),
        ("", "Node") => remove(object, "status", "images"),
        _ => {}
    }
}

fn trim_bookkeeping(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let last = written(object);
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    if metadata.remove("managedFields").is_some()
        && let Some(last) = last
    {
        // Of who wrote what, only when is read.
        metadata.insert(
            "managedFields".to_owned(),
            json!([{"time": last.to_string()}]),
        );
    }
    metadata.remove("resourceVersion");
    metadata.remove("selfLink");
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
    Some(metadata)
}

fn trim_metadata(kind: &Kind, object: &mut Value) {
    let Some(metadata) = trim_bookkeeping(object) else {
        return;
    };
    if let Some(annotations) = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut)
    {
        // A health rule may read any annotation of a custom resource.
        let custom = matches!(kind, Kind::Custom { .. });
        annotations.retain(|key, _| {
            custom || key.starts_with(keys::PREFIX) || FOREIGN_ANNOTATIONS.contains(&key.as_str())
        });
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// Of a pod template only its annotations that say something of the object are read.
fn trim_template(object: &mut Value) {
    let annotations = object
        .pointer_mut("/spec/template/metadata/annotations")
        .and_then(Value::as_object_mut)
        .map(std::mem::take);
    remove(object, "spec", "template");
    let mut kept = annotations.unwrap_or_default();
    kept.retain(|key, _| TEMPLATE_ANNOTATIONS.contains(&key.as_str()));
    if let (false, Some(spec)) = (kept.is_empty(), part_of(object, "spec")) {
        let template = json!({"metadata": {"annotations": kept}});
        spec.insert("template".to_owned(), template);
    }
}

/// An endpoint's conditions say whether it serves; its addresses say nothing more.
fn trim_endpoints(object: &mut Value) {
    let Some(endpoints) = object.get_mut("endpoints").and_then(Value::as_array_mut) else {
        return;
    };
    for endpoint in endpoints {
        if let Some(fields) = endpoint.as_object_mut() {
            fields.retain(|key, _| key == "conditions" || key == "nodeName");
        }
    }
}

/// The schemas are the bulk of a definition.
fn trim_definition(object: &mut Value) {
    keep(object, "spec", &["group", "names", "scope", "versions"]);
    let Some(versions) = object
        .pointer_mut("/spec/versions")
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    for version in versions {
        if let Some(fields) = version.as_object_mut() {
            fields.retain(|key, _| {
                matches!(key.as_str(), "name" | "served" | "storage" | "subresources")
            });
        }
    }
}

fn keep(object: &mut Value, part: &str, fields: &[&str]) {
    if let Some(map) = part_of(object, part) {
        map.retain(|key, _| fields.contains(&key.as_str()));
    }
}

fn remove(object: &mut Value, part: &str, field: &str) {
    if let Some(map) = part_of(object, part) {
        map.remove(field);
    }
}

fn part_of<'a>(object: &'a mut Value, part: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(part).and_then(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(kind: &str, mut object: Value) -> Value {
        let kind = rules::kinds::by_word(kind).map(Kind::Builtin);
        trim(&kind.expect("built in"), &mut object);
        object
    }

    #[test]
    fn of_a_pod_template_only_what_it_says_of_the_object_stays() {
        let with = |annotations: Value| {
            json!({"spec": {"replicas": 1, "template": {
                "metadata": {"annotations": annotations}, "spec": {"containers": []},
            }}})
        };
        assert_eq!(
            trimmed(
                "deployment",
                with(json!({"a": "b", "sluice.dev/revision": "2"}))
            ),
            json!({"spec": {"replicas": 1, "template": {"metadata": {"annotations": {"sluice.dev/revision": "2"}}}}})
        );
        assert_eq!(
            trimmed("deployment", with(json!({"a": "b"}))),
            json!({"spec": {"replicas": 1}})
        );
    }

    #[test]
    fn a_pod_keeps_what_tells_its_node_its_owner_and_its_revision() {
        let pod = json!({
            "metadata": {
                "labels": {"controller-revision-hash": "77c9"},
                "ownerReferences": [{"kind": "DaemonSet", "name": "csi", "uid": "u"}],
                "creationTimestamp": "2024-01-01T00:00:00Z",
            },
            "spec": {"nodeName": "one"},
        });
        assert_eq!(trimmed("pod", pod.clone()), pod);
    }

    /// Whether what a path of an expression names is there after trimming.
    fn survives(kind: &Kind, path: &str) -> bool {
        let steps: Vec<&str> = path.split('/').skip(1).collect();
        let mut object = json!("leaf");
        for step in steps.iter().rev() {
            object = match *step {
                "each" => json!([object]),
                step => json!({step.replace("_s", "/"): object}),
            };
        }
        if detail(kind) == Detail::Metadata && steps[0] != "metadata" {
            return false;
        }
        trim(kind, &mut object);
        let found = steps.iter().try_fold(&object, |value, step| match *step {
            "each" => value.get(0),
            step => value.get(step.replace("_s", "/")),
        });
        found.is_some()
    }

    #[test]
    fn an_expression_that_a_list_may_have_finds_what_it_names() {
        let paths = [
            "/metadata/labels/app",
            "/metadata/annotations/a",
            "/metadata/annotations/sluice.dev_srevision",
            "/metadata/managedFields/each/manager",
            "/metadata/resourceVersion",
            "/spec/template/spec/hostNetwork",
            "/spec/jobTemplate/spec",
            "/spec/volumeClaimTemplates/each/spec",
            "/spec/replicas",
            "/spec/nodeName",
            "/spec/hostNetwork",
            "/spec/group",
            "/spec/conversion/strategy",
            "/spec/versions/each/schema",
            "/status/phase",
            "/status/podIP",
            "/status/images/each/names",
            "/status/conditions/each/status",
            "/status/uncountedTerminatedPods/failed",
            "/endpoints/each/conditions/ready",
            "/endpoints/each/addresses",
            "/data/a",
        ];
        let kept = |kind: &Kind, path: &str| {
            let expression = rules::expression::Expression::parse(&format!("{path} == 1"));
            rules::kept::missing(kind, &expression.expect("legal")).is_none()
        };
        for kind in rules::kinds::all().iter().map(Kind::Builtin) {
            for path in paths {
                assert_eq!(kept(&kind, path), survives(&kind, path), "{kind} {path}");
            }
        }
    }

    #[test]
    fn a_replica_set_keeps_the_number_of_its_rollout() {
        let annotations = json!({"deployment.kubernetes.io/revision": "3", "a": "b"});
        let set = json!({"metadata": {"annotations": annotations}});
        assert_eq!(
            trimmed("replicaset", set),
            json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "3"}}})
        );
    }

    #[test]
    fn an_object_that_names_its_fields_keeps_them() {
        let kept = |health: &str| {
            let kind = Kind::Builtin(rules::kinds::builtin("apps", "Deployment").unwrap());
            let mut object = json!({
                "metadata": {
                    "managedFields": [],
                    "annotations": {
                        health: "/spec/template/spec/hostNetwork != true",
                        "example.com/phase": "Serving",
                        "kubectl.kubernetes.io/last-applied-configuration": "{}",
                    },
                },
                "spec": { "template": { "spec": { "hostNetwork": false } } },
            });
            trim(&kind, &mut object);
            object
        };
        assert_eq!(
            kept("sluice.dev/health"),
            json!({
                "metadata": { "annotations": {
                    "sluice.dev/health": "/spec/template/spec/hostNetwork != true",
                    "example.com/phase": "Serving",
                } },
                "spec": { "template": { "spec": { "hostNetwork": false } } },
            })
        );
        assert_eq!(
            kept("example.com/health"),
            json!({ "metadata": {}, "spec": {} })
        );
    }
}
