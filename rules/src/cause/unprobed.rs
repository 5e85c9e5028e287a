//! Pods that no probe asks whether they are ready: such a pod is ready whenever its containers run, also between two crashes.

use super::SAYS;
use serde_json::Value;
use std::fmt;
use wire::said::clean;

/// A container that has crashed and has no readiness probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unprobed {
    /// The name of the container.
    pub container: String,
    /// How often the kubelet has started the container again.
    pub restarts: u64,
}

/// The first container of a pod that has crashed and was started again, and has no readiness probe. `None` for a pod that is not always
/// restarted, as that of a Job, for a pod with readiness gates, and where the spec does not name the container.
pub fn unprobed(pod: &Value) -> Option<Unprobed> {
    let spec = &pod["spec"];
    let ends = matches!(spec["restartPolicy"].as_str(), Some("Never" | "OnFailure"));
    let gates = spec["readinessGates"].as_array();
    if ends || gates.is_some_and(|it| !it.is_empty()) {
        return None;
    }
    let statuses = pod["status"]["containerStatuses"].as_array()?;
    statuses.iter().find_map(|status| {
        let ends = ["lastState", "state"].map(|state| &status[state]["terminated"]["exitCode"]);
        let mut codes = ends.into_iter().filter_map(Value::as_i64);
        let restarts = status["restartCount"].as_u64().filter(|it| *it > 0)?;
        let name = status["name"].as_str()?;
        (codes.any(|code| code != 0) && !is_probed(spec, name)).then(|| Unprobed {
            container: clean(name, SAYS),
            restarts,
        })
    })
}

/// Whether a container has a readiness probe. `true` for a container that the spec does not name.
fn is_probed(spec: &Value, name: &str) -> bool {
    let containers = spec["containers"].as_array();
    let mut containers = containers.into_iter().flatten();
    containers
        .find(|it| it["name"] == name)
        .is_none_or(|it| it["readinessProbe"].is_object())
}

/// Writes the words that follow the name of the pod: `has restarted 7 times after a crash: its container "db" has no readiness probe, ...`.
impl fmt::Display for Unprobed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            container,
            restarts,
        } = self;
        let times = match restarts {
            1 => "once".to_owned(),
            restarts => format!("{restarts} times"),
        };
        write!(
            out,
            "has restarted {times} after a crash: its container {container:?} has no readiness probe, so it counts as ready whenever it runs"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(spec: &Value, restarts: u64, code: i64) -> Value {
        let last = json!({"terminated": {"exitCode": code}});
        json!({"spec": spec, "status": {"containerStatuses": [
            {"name": "db", "restartCount": restarts, "state": {"running": {}}, "lastState": last},
        ]}})
    }

    #[test]
    fn a_crash_without_a_probe_is_told() {
        let bare = json!({"containers": [{"name": "db"}]});
        let told = unprobed(&pod(&bare, 7, 1)).map(|it| it.to_string());
        let expected = "has restarted 7 times after a crash: its container \"db\" has no readiness probe, so it counts as ready whenever it \
                        runs";
        assert_eq!(told.as_deref(), Some(expected));
        assert_eq!(unprobed(&pod(&bare, 0, 1)), None, "it has not restarted");
        assert_eq!(unprobed(&pod(&bare, 7, 0)), None, "it ended well");
        let probe = json!({"httpGet": {"port": 80}});
        for spec in [
            json!({"containers": [{"name": "db", "readinessProbe": probe}]}),
            json!({"containers": [{"name": "db"}], "readinessGates": [{"conditionType": "a"}]}),
            json!({"containers": [{"name": "db"}], "restartPolicy": "OnFailure"}),
            json!({}),
        ] {
            assert_eq!(unprobed(&pod(&spec, 7, 1)), None, "{spec}");
        }
    }
}
