//! Computes the `qosClass` of a pod as Kubernetes does (`pkg/apis/core/v1/helper/qos`), so that the gate keeps the
//! class.

use super::position::containers;
use rules::quantity;
use serde_json::Value;

const RESOURCES: [&str; 2] = ["cpu", "memory"];

/// The quality-of-service class of a pod, which decides the gate's resources. Init containers count as containers, and an amount of zero as none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The class of a pod of which every container has limits of cpu and memory, and all requests equal them.
    Guaranteed,
    /// The class of a pod of which a container has a request or a limit of cpu or memory, and that is not Guaranteed.
    Burstable,
    /// The class of a pod of which no container has a request or a limit of cpu or memory.
    BestEffort,
    /// The pod has resources of its own (KEP-2837): its containers then decide neither its class nor its quota.
    PodLevel,
}

/// Returns the quality-of-service class of a pod.
pub(super) fn class(pod: &Value) -> Class {
    if says(&pod["spec"]["resources"]) {
        return Class::PodLevel;
    }
    let all = || {
        containers(pod, "containers")
            .iter()
            .chain(containers(pod, "initContainers"))
    };
    let [requests_cpu, requests_memory, limits_cpu, limits_memory] =
        sum(all().map(|container| &container["resources"]));
    let limited = |container: &Value| {
        RESOURCES
            .iter()
            .all(|resource| quantity(&container["resources"]["limits"][resource]) > 0.0)
    };
    if [requests_cpu, requests_memory, limits_cpu, limits_memory]
        .iter()
        .all(|amount| *amount <= 0.0)
    {
        Class::BestEffort
    } else if all().all(limited)
        && same(requests_cpu, limits_cpu)
        && same(requests_memory, limits_memory)
    {
        Class::Guaranteed
    } else {
        Class::Burstable
    }
}

/// Returns whether the pod has resources of its own. A key is enough, even with amount zero; Kubernetes ignores
/// all other keys.
fn says(resources: &Value) -> bool {
    let halves = ["requests", "limits"].map(|half| resources[half].as_object());
    let mut keys = halves.into_iter().flatten().flat_map(|half| half.keys());
    keys.any(|key| RESOURCES.contains(&key.as_str()) || key.starts_with("hugepages-"))
}

/// Returns the sums of requests for cpu and memory, then of limits for cpu and memory. A limit stands for a missing
/// request. The API server writes that request before it calls, but a review written by hand lacks it.
fn sum<'a>(resources: impl Iterator<Item = &'a Value>) -> [f64; 4] {
    let mut sum = [0.0; 4];
    for resource in resources {
        for (place, name) in RESOURCES.into_iter().enumerate() {
            let limit = &resource["limits"][name];
            let request = resource["requests"].get(name).unwrap_or(limit);
            sum[place] += quantity(request);
            sum[2 + place] += quantity(limit);
        }
    }
    sum
}

/// Whether two amounts are equal up to rounding: `1Gi` and `1073741824` are one amount in two spellings, and the API server keeps both.
fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.max(other)
}

/// Reads a quantity. An unreadable one counts as zero; the API server refuses it anyhow.
fn quantity(value: &Value) -> f64 {
    quantity::read(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resources(requests: &Value, limits: &Value) -> Value {
        json!({"resources": {"requests": requests, "limits": limits}})
    }

    fn pod(init: &[Value], app: &[Value]) -> Value {
        json!({"spec": {"initContainers": init, "containers": app}})
    }

    #[test]
    fn classes() {
        let full = resources(
            &json!({"cpu": "1", "memory": "1Gi"}),
            &json!({"cpu": "1000m", "memory": "1073741824"}),
        );
        let less = resources(
            &json!({"cpu": "1", "memory": "1Mi"}),
            &json!({"cpu": "1", "memory": "1Gi"}),
        );
        let limits = json!({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}});
        let none = json!({});
        let zero = resources(&json!({"cpu": "0"}), &json!({}));
        let one = std::slice::from_ref;
        assert_eq!(class(&pod(&[], one(&full))), Class::Guaranteed);
        assert_eq!(class(&pod(one(&full), one(&full))), Class::Guaranteed);
        assert_eq!(class(&pod(&[], one(&limits))), Class::Guaranteed);
        assert_eq!(
            class(&pod(one(&none), one(&full))),
            Class::Burstable,
            "init containers count"
        );
        assert_eq!(
            class(&pod(&[], &[full.clone(), none.clone()])),
            Class::Burstable
        );
        assert_eq!(class(&pod(&[], one(&less))), Class::Burstable);
        assert_eq!(class(&pod(one(&none), one(&none))), Class::BestEffort);
        assert_eq!(class(&pod(&[], one(&zero))), Class::BestEffort);
        let mut level = pod(&[], one(&none));
        for (resources, expected) in [
            (json!({"limits": {"memory": "1Gi"}}), Class::PodLevel),
            (json!({"requests": {"cpu": "0"}}), Class::PodLevel),
            (json!({"limits": {"hugepages-2Mi": "4Mi"}}), Class::PodLevel),
            (json!({"requests": {}, "claims": []}), Class::BestEffort),
            (json!({"requests": {"example.com/x": 1}}), Class::BestEffort),
        ] {
            level["spec"]["resources"] = resources;
            assert_eq!(class(&level), expected, "{level}");
        }
    }
}
