//! The amounts of resources that pods request, for the messages about pods without a node.

use crate::quantity;
use serde_json::Value;
use std::fmt;

/// An amount of a resource, in its base unit (cores, bytes, pieces), shown as `1.5 of cpu` or `640Mi of memory`.
pub(super) struct Amount<'a> {
    pub(super) resource: &'a str,
    pub(super) sum: f64,
}

impl fmt::Display for Amount<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, sum } = self;
        let bytes = ["memory", "ephemeral-storage"].contains(resource);
        if bytes || resource.starts_with("hugepages-") {
            return write!(out, "{:.0}Mi of {resource}", sum / 1_048_576.0);
        }
        // The scheduler counts CPU in thousandths of a core.
        let number = (sum * 1e3).round() / 1e3;
        write!(out, "{number} of {resource}")
    }
}

/// The amount of a resource that the scheduler sets aside for a pod, in the resource's base unit; `None` where the amount is zero.
///
/// The pod's own request counts where there is one, else that of its containers ([`quantity::at_a_time`]).
pub(super) fn requested(pod: &Value, resource: &str) -> Option<f64> {
    if resource == "pods" {
        return Some(1.0);
    }
    let spec = &pod["spec"];
    let says = |it: &Value| quantity::read(&it["resources"]["requests"][resource]);
    let of = |list: &str| spec[list].as_array().map_or(&[][..], Vec::as_slice);
    let amount = |it: &Value| says(it).unwrap_or_default();
    let whole = || {
        let inits = of("initContainers").iter();
        let inits = inits.map(|it| (amount(it), it["restartPolicy"] == "Always"));
        let others = of("containers").iter().map(|it| (amount(it), true));
        quantity::at_a_time(inits.chain(others))
    };
    Some(says(spec).unwrap_or_else(whole)).filter(|amount| *amount > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn amounts_are_told_in_the_unit_of_the_resource() {
        let told = |resource, sum| Amount { resource, sum }.to_string();
        assert_eq!(told("cpu", 0.1 + 0.2), "0.3 of cpu");
        assert_eq!(told("example.com/room", 2.0), "2 of example.com/room");
        assert_eq!(told("memory", 671_088_640.0), "640Mi of memory");
    }

    #[test]
    fn a_pod_requests_what_the_scheduler_sets_aside() {
        let container = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = container("250m");
        sidecar["restartPolicy"] = json!("Always");
        let mut pod = json!({"spec": {
            "containers": [container("500m"), container("1"), {}],
            "initContainers": [sidecar, container("5m")],
        }});
        assert_eq!(requested(&pod, "cpu"), Some(1.75));
        assert_eq!(requested(&pod, "memory"), None);
        assert_eq!(requested(&pod, "pods"), Some(1.0));
        pod["spec"]["initContainers"][1] = container("3");
        assert_eq!(requested(&pod, "cpu"), Some(3.25));
        let inits = pod["spec"]["initContainers"].as_array_mut().unwrap();
        inits.reverse();
        assert_eq!(
            requested(&pod, "cpu"),
            Some(3.0),
            "it has ended when the other begins"
        );
        pod["spec"]["resources"] = json!({"requests": {"cpu": "2"}});
        assert_eq!(requested(&pod, "cpu"), Some(2.0));
    }
}
