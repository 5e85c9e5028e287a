//! What pods request, in Kubernetes' quantities (`500m`, `1.5Gi`, `2e3`).

use serde_json::Value;
use std::fmt;

/// What a number is followed by, and what that multiplies it with.
const SUFFIXES: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// So much of a resource: `1.5 of cpu`, `640Mi of memory`.
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
        // In thousandths at most, as the scheduler counts.
        let number = (sum * 1e3).round() / 1e3;
        write!(out, "{number} of {resource}")
    }
}

/// What the scheduler sets aside of a resource for a pod; `None` where that is nothing. The containers count together with
/// the init containers that go on running, and each other init container alone; what the pod itself says counts instead.
pub(super) fn requested(pod: &Value, resource: &str) -> Option<f64> {
    if resource == "pods" {
        return Some(1.0);
    }
    let spec = &pod["spec"];
    let says = |it: &Value| quantity(it["resources"]["requests"][resource].as_str()?);
    let of = |list: &str| spec[list].as_array().map_or(&[][..], Vec::as_slice);
    let runs_on = |it: &&Value| it["restartPolicy"] == "Always";
    let whole = || {
        let sidecars = of("initContainers").iter().filter(runs_on);
        let together: f64 = of("containers")
            .iter()
            .chain(sidecars)
            .filter_map(says)
            .sum();
        let alone = of("initContainers").iter().filter_map(says);
        alone.fold(together, f64::max)
    };
    Some(says(spec).unwrap_or_else(whole)).filter(|amount| *amount > 0.0)
}

/// A number with one of Kubernetes' suffixes, or with an exponent.
fn quantity(text: &str) -> Option<f64> {
    let suffixed = SUFFIXES.iter().find_map(|(suffix, times)| {
        let number: f64 = text.strip_suffix(suffix)?.parse().ok()?;
        Some(number * times)
    });
    suffixed.or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantities_are_read_as_kubernetes_writes_them() {
        for (text, number) in [
            ("500m", 0.5),
            ("2", 2.0),
            ("1.5Gi", 1_610_612_736.0),
            ("2e3", 2000.0),
            ("2E3", 2000.0),
            ("1E", 1e18),
            ("3k", 3000.0),
        ] {
            assert_eq!(quantity(text), Some(number), "{text}");
        }
        assert_eq!(quantity("much"), None);
    }

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
        assert_eq!(requested(&pod, "cpu"), Some(3.0));
        pod["spec"]["resources"] = json!({"requests": {"cpu": "2"}});
        assert_eq!(requested(&pod, "cpu"), Some(2.0));
    }
}
