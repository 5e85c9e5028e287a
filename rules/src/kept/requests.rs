//! The resource requests of a pod that has not passed its gate: the only fields of its containers that are kept.

use crate::gate::{self, Gate};
use serde_json::{Map, Value, json};

/// The fields of a pod's `spec` that hold requests.
pub(super) const PLACES: [&str; 3] = ["containers", "initContainers", "resources"];

/// The resource requests of a pod that has not passed its gate, as they stand in its `spec`; empty for any other pod. A pod that has passed
/// its gate takes room from none of its dependencies any more.
fn of(pod: &Value) -> Map<String, Value> {
    if !gate::is_gated(pod) || matches!(Gate::of(pod), Gate::Passed { .. }) {
        return Map::new();
    }
    let kept = |place: &str| match &pod["spec"][place] {
        Value::Array(containers) => containers.iter().filter_map(of_container).collect(),
        resources => requested(resources).unwrap_or_default(),
    };
    let kept = PLACES.map(|place| (place.to_owned(), kept(place)));
    let some = |value: &Value| value.as_array().is_none_or(|list| !list.is_empty());
    let kept = kept.into_iter();
    kept.filter(|(_, it)| some(it) && !it.is_null()).collect()
}

/// Removes everything but the resource requests from the containers of a pod before its gate, and the containers themselves from any other
/// pod.
pub(super) fn trim_containers(pod: &mut Value) {
    let requests = of(pod);
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|field, _| !PLACES.contains(&field.as_str()));
        spec.extend(requests);
    }
}

/// The kept fields of a container: the resource requests, and the restart policy. By the policy an init container is a sidecar, whose
/// requests are added to those of the app containers. `None` without requests.
fn of_container(container: &Value) -> Option<Value> {
    let mut kept = json!({"resources": requested(&container["resources"])?});
    if let Some(policy) = container.get("restartPolicy") {
        kept["restartPolicy"] = policy.clone();
    }
    Some(kept)
}

fn requested(resources: &Value) -> Option<Value> {
    let requests = resources.get("requests")?;
    Some(json!({"requests": requests}))
}

#[cfg(test)]
mod tests {
    use super::super::trim_object;
    use super::*;
    use crate::kinds::{self, Kind};

    fn trimmed(mut pod: Value) -> Value {
        let kind = kinds::builtin("", "Pod").map(Kind::Builtin);
        trim_object(&kind.expect("built in"), &mut pod);
        pod
    }

    #[test]
    fn of_the_containers_of_a_gated_pod_their_requests_stay() {
        let of = |cpu: &str| json!({"requests": {"cpu": cpu}});
        let pod = |labels: Value| {
            json!({
                "metadata": {"labels": labels},
                "spec": {
                    "nodeName": "one",
                    "containers": [
                        {"name": "app", "image": "i", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}},
                        {"name": "none"},
                    ],
                    "initContainers": [{"name": "log", "restartPolicy": "Always", "resources": of("5m")}],
                    "resources": of("3"),
                    "volumes": [],
                },
            })
        };
        let gated = json!({"sluice.dev/gated": "true"});
        assert_eq!(
            trimmed(pod(gated.clone())),
            json!({
                "metadata": {"labels": gated},
                "spec": {
                    "nodeName": "one",
                    "containers": [{"resources": of("1")}],
                    "initContainers": [{"restartPolicy": "Always", "resources": of("5m")}],
                    "resources": of("3"),
                },
            })
        );
        let plain = trimmed(pod(json!({})));
        assert_eq!(plain["spec"], json!({"nodeName": "one"}));
        let mut passed = pod(gated);
        passed["status"]["initContainerStatuses"] =
            json!([{"name": "sluice-gate", "state": {"terminated": {"exitCode": 0}}}]);
        assert_eq!(trimmed(passed)["spec"], json!({"nodeName": "one"}));
    }
}
