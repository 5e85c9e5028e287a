//! Chooses the gate's resources: those of one container of its pod, or the administrator's.

use super::position::containers;
use super::qos::{Class, class};
use rules::quantity;
use serde_json::{Map, Value, json};
use std::fmt;
use std::str::FromStr;

/// The resources that the gate copies from a container. The gate has no use for others, such as a GPU or huge pages,
/// and those do not decide a pod's class.
const COPIED: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// The two halves of a container's resources.
const HALVES: [&str; 2] = ["requests", "limits"];

/// The administrator's resources for every gate, as Kubernetes quantities. No amount is zero, and no request is above
/// its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resources {
    requests: Amounts,
    limits: Amounts,
}

/// One amount of each resource that decides a pod's `qosClass`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amounts {
    /// The amount of CPU: `5m`.
    pub cpu: String,
    /// The amount of memory: `8Mi`.
    pub memory: String,
}

/// The reason why a gate cannot have the administrator's resources.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResourcesError {
    /// Only the requests or only the limits of the gate's resources are given.
    #[error(
        "gate.resources has {there} and no {missing}; write both, or neither, and gates ask for what their pods ask for"
    )]
    Half {
        /// The half of the gate's resources that is given: `requests` or `limits`.
        there: &'static str,
        /// The half of the gate's resources that is missing: `requests` or `limits`.
        missing: &'static str,
    },
    /// The text for an amount is no quantity of Kubernetes.
    #[error(
        "gate.resources.{half}.{key} is {text:?}, which is no quantity; write one such as 5m or 8Mi"
    )]
    NoQuantity {
        /// The half of the gate's resources with the text: `requests` or `limits`.
        half: &'static str,
        /// The resource that the text gives an amount of: `cpu` or `memory`.
        key: &'static str,
        /// The text that is no quantity.
        text: String,
    },
    /// The amount is zero, which Kubernetes treats as absent: a Guaranteed pod would become Burstable.
    #[error("gate.resources.{half}.{key} is {text:?}; write an amount above zero")]
    Zero {
        /// The half of the gate's resources with the text: `requests` or `limits`.
        half: &'static str,
        /// The resource that the text gives an amount of: `cpu` or `memory`.
        key: &'static str,
        /// The text that was given as an amount.
        text: String,
    },
    /// The request is above the limit, which the API server refuses in every pod.
    #[error(
        "gate.resources.requests.{key} ({request}) is above gate.resources.limits.{key} ({limit}); lower the one or raise the other"
    )]
    AboveLimit {
        /// The resource whose request is above its limit: `cpu` or `memory`.
        key: &'static str,
        /// The requested amount of the resource.
        request: String,
        /// The limit of the resource.
        limit: String,
    },
}

impl Resources {
    /// Makes the gate's resources of both halves; `None` where neither is given.
    ///
    /// # Errors
    ///
    /// Only one half is given, the API server would refuse the two together, or they would change a pod's class.
    pub fn new(
        requests: Option<Amounts>,
        limits: Option<Amounts>,
    ) -> Result<Option<Self>, ResourcesError> {
        let [there, other] = HALVES;
        let (requests, limits) = match (requests, limits) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(half(there, other)),
            (None, Some(_)) => return Err(half(other, there)),
            (Some(requests), Some(limits)) => (requests, limits),
        };
        for ((key, request), (_, limit)) in requests.each().into_iter().zip(limits.each()) {
            let requested = amount(there, key, request)?;
            if requested > amount(other, key, limit)? {
                return Err(ResourcesError::AboveLimit {
                    key,
                    request: request.to_owned(),
                    limit: limit.to_owned(),
                });
            }
        }
        Ok(Some(Self { requests, limits }))
    }

    /// Returns the resources that keep a pod in its class and satisfy a quota that demands limits. `None` where any
    /// amount would change the class, or could exceed the resources of the pod as a whole.
    fn of_class(&self, class: Class) -> Option<Value> {
        let (requests, limits) = match class {
            Class::Guaranteed => (&self.limits, &self.limits),
            Class::Burstable => (&self.requests, &self.limits),
            Class::BestEffort | Class::PodLevel => return None,
        };
        Some(json!({
            "requests": {"cpu": requests.cpu, "memory": requests.memory},
            "limits": {"cpu": limits.cpu, "memory": limits.memory},
        }))
    }
}

fn half(there: &'static str, missing: &'static str) -> ResourcesError {
    ResourcesError::Half { there, missing }
}

fn amount(half: &'static str, key: &'static str, text: &str) -> Result<f64, ResourcesError> {
    let amount = quantity::read(&text.into()).ok_or_else(|| ResourcesError::NoQuantity {
        half,
        key,
        text: text.to_owned(),
    })?;
    if amount > 0.0 {
        return Ok(amount);
    }
    Err(ResourcesError::Zero {
        half,
        key,
        text: text.to_owned(),
    })
}

impl Amounts {
    fn each(&self) -> [(&'static str, &str); 2] {
        [("cpu", &self.cpu), ("memory", &self.memory)]
    }
}

/// Writes the amounts as the command line takes them: `cpu=5m,memory=8Mi`.
impl fmt::Display for Amounts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cpu={},memory={}", self.cpu, self.memory)
    }
}

impl FromStr for Amounts {
    type Err = String;

    /// Reads `cpu=5m,memory=8Mi`, both and no other key. [`Resources::new`] checks the quantities.
    fn from_str(text: &str) -> Result<Self, String> {
        let find = |key: &str| {
            let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
            let found = pairs.filter(|(name, _)| name.trim() == key);
            found.map(|(_, amount)| amount.trim().to_owned()).next()
        };
        match (find("cpu"), find("memory"), text.split(',').count()) {
            (Some(cpu), Some(memory), 2) => Ok(Self { cpu, memory }),
            _ => Err(format!("{text:?} is not like cpu=5m,memory=8Mi")),
        }
    }
}

/// Returns the resources of the gate in `pod`; `None` where the gate requests nothing. `own` are the administrator's.
///
/// Without `own`, the gate copies the pod's smallest container. Checks that look at containers one by one (a
/// LimitRange, a ratio, a quota that demands limits, a policy) then find amounts that a container has already, and
/// the pod's class stays the same. The gate costs nothing, because Kubernetes counts an init container only where it
/// exceeds the sum of the containers. This holds for a container, not for an init container or a sidecar, so only
/// containers are looked at. And a container is copied as a whole: the smallest amounts of several could have ratios
/// that no container has.
pub(super) fn of(pod: &Value, own: Option<&Resources>) -> Option<Value> {
    match own {
        Some(own) => own.of_class(class(pod)),
        None => copied(smallest(pod)?),
    }
}

/// Returns the container with the smallest requests: of cpu, then of memory, then of ephemeral storage. Among equals
/// the limits decide, in the same order, and then the order in the pod. A missing amount counts as zero. For a pod
/// without containers, which no API server stores, an init container counts.
fn smallest(pod: &Value) -> Option<&Value> {
    let mut lists = ["containers", "initContainers"]
        .map(|list| containers(pod, list))
        .into_iter();
    let of = lists.find(|list| !list.is_empty())?.iter();
    of.min_by(|one, other| {
        let order = amounts(one).partial_cmp(&amounts(other));
        order.unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// Returns the requests and then the limits of a container, each in the order of [`COPIED`]. A missing amount is zero.
fn amounts(container: &Value) -> [f64; 6] {
    let [requests, limits] = HALVES.map(|half| {
        COPIED.map(|key| quantity::read(&container["resources"][half][key]).unwrap_or_default())
    });
    let [cpu, memory, storage] = requests;
    let [most_cpu, most_memory, most_storage] = limits;
    [cpu, memory, storage, most_cpu, most_memory, most_storage]
}

/// Copies the requests and limits of a container for the resources in [`COPIED`]; `None` where it has none.
fn copied(container: &Value) -> Option<Value> {
    let mut resources = Map::new();
    for half in HALVES {
        let amounts = COPIED.into_iter().filter_map(|key| {
            let amount = container["resources"][half].get(key)?;
            Some((key.to_owned(), amount.clone()))
        });
        let amounts: Map<_, _> = amounts.collect();
        if !amounts.is_empty() {
            resources.insert(half.to_owned(), amounts.into());
        }
    }
    (!resources.is_empty()).then(|| resources.into())
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the tests read like a table"
)]
mod tests {
    use super::*;

    fn amounts_of(text: &str) -> Option<Amounts> {
        Some(text.parse().unwrap())
    }

    /// Makes the administrator's resources of these two texts. Returns `fine`, or the error as text.
    fn made(requests: &str, limits: &str) -> String {
        match Resources::new(amounts_of(requests), amounts_of(limits)) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn amounts_are_two() {
        let amounts: Amounts = "memory=8Mi, cpu=5m".parse().unwrap();
        assert_eq!(amounts.to_string(), "cpu=5m,memory=8Mi");
        for bad in [
            "",
            "cpu=5m",
            "cpu=5m,cpu=6m",
            "cpu=5m,memory=8Mi,x=1",
            "5m,8Mi",
        ] {
            assert!(bad.parse::<Amounts>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_no_pod_could_have_is_refused_with_the_key_and_the_way_out() {
        for (requests, limits, told) in [
            ("cpu=5m,memory=8Mi", "cpu=5m,memory=8Mi", "fine"),
            ("cpu=1,memory=1024Ki", "cpu=1000m,memory=1Mi", "fine"),
            (
                "cpu=1,memory=8Mi",
                "cpu=10m,memory=8Mi",
                "gate.resources.requests.cpu (1) is above gate.resources.limits.cpu (10m); lower the one or raise the other",
            ),
            (
                "cpu=5m,memory=1Gi",
                "cpu=5m,memory=8Mi",
                "gate.resources.requests.memory (1Gi) is above gate.resources.limits.memory (8Mi); lower the one or raise the other",
            ),
            (
                "cpu=0,memory=8Mi",
                "cpu=5m,memory=8Mi",
                "gate.resources.requests.cpu is \"0\"; write an amount above zero",
            ),
            (
                "cpu=5m,memory=8Mi",
                "cpu=5m,memory=0Mi",
                "gate.resources.limits.memory is \"0Mi\"; write an amount above zero",
            ),
            (
                "cpu=much,memory=8Mi",
                "cpu=5m,memory=8Mi",
                "gate.resources.requests.cpu is \"much\", which is no quantity; write one such as 5m or 8Mi",
            ),
        ] {
            assert_eq!(made(requests, limits), told);
        }
        assert_eq!(Resources::new(None, None), Ok(None));
        for (requests, limits, missing) in [
            (amounts_of("cpu=1,memory=1"), None, "limits"),
            (None, amounts_of("cpu=1,memory=1"), "requests"),
        ] {
            let error = Resources::new(requests, limits).unwrap_err().to_string();
            assert!(
                error.contains(&format!("no {missing}; write both")),
                "{error}"
            );
        }
    }

    fn taken(containers: Value) -> Option<Value> {
        of(&json!({"spec": {"containers": containers}}), None)
    }

    fn container(requests: Value, limits: Value) -> Value {
        json!({"resources": {"requests": requests, "limits": limits}})
    }

    #[test]
    fn the_gate_takes_over_the_keys_that_are_there_and_no_others() {
        for (requests, limits, expected) in [
            (json!({}), json!({}), None),
            (
                json!({"cpu": "600m"}),
                json!(null),
                Some(json!({"requests": {"cpu": "600m"}})),
            ),
            (
                json!(null),
                json!({"memory": "1Gi", "nvidia.com/gpu": 1}),
                Some(json!({"limits": {"memory": "1Gi"}})),
            ),
            (
                json!({"hugepages-2Mi": "4Mi"}),
                json!({"hugepages-2Mi": "4Mi"}),
                None,
            ),
            (
                json!({"cpu": 1, "ephemeral-storage": "1Gi"}),
                json!({"cpu": "2"}),
                Some(
                    json!({"requests": {"cpu": 1, "ephemeral-storage": "1Gi"}, "limits": {"cpu": "2"}}),
                ),
            ),
        ] {
            let taken = taken(json!([container(requests, limits)]));
            assert_eq!(taken, expected);
        }
        assert_eq!(taken(json!([{"name": "app"}])), None);
        assert_eq!(taken(json!([])), None);
    }

    #[test]
    fn the_smallest_container_is_taken_over_as_a_whole() {
        let large = container(json!({"cpu": "1", "memory": "1Gi"}), json!({"cpu": "2"}));
        let small = container(json!({"cpu": "100m", "memory": "2Gi"}), json!({"cpu": "1"}));
        let smaller = container(json!({"cpu": "0.1", "memory": "64Mi"}), json!({"cpu": "1"}));
        let limited = container(
            json!({"cpu": "0.1", "memory": "64Mi"}),
            json!({"cpu": "300m"}),
        );
        let none = json!({"name": "proxy"});
        for (containers, expected) in [
            ([&large, &small], &small),
            ([&small, &large], &small),
            ([&small, &smaller], &smaller),
            ([&smaller, &limited], &limited),
            ([&large, &none], &none),
        ] {
            assert_eq!(taken(json!(containers)), copied(expected), "{containers:?}");
        }
    }

    #[test]
    fn what_is_no_container_is_not_looked_at() {
        let pod = json!({"spec": {
            "initContainers": [{"name": "migrate"}, {"name": "proxy", "restartPolicy": "Always"}],
            "containers": [container(json!({"cpu": "1"}), json!({}))],
            "resources": {"requests": {"cpu": "4", "memory": "1Gi"}},
        }});
        assert_eq!(of(&pod, None), Some(json!({"requests": {"cpu": "1"}})));
    }
}
