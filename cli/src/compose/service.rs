//! A service of a Compose file, and the object that kompose makes of it.

use serde_json::Value;
use strum::IntoStaticStr;

const NAME: &str = "kompose.service.name_override";
const CONTROLLER: &str = "kompose.controller.type";
const SCHEDULE: &str = "kompose.cronjob.schedule";

/// A service of a Compose file: its name and its mapping.
#[derive(Debug, Clone, Copy)]
pub(super) struct Service<'f> {
    pub(super) name: &'f str,
    pub(super) says: &'f Value,
}

/// The kind of object that kompose makes of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Made {
    Deployment,
    DaemonSet,
    StatefulSet,
    /// A bare pod, for a service that is not started again, or only after a failure.
    Pod,
    CronJob,
}

/// The state of another service that a service waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    Started,
    Healthy,
    Completed,
    /// A word that Compose does not have.
    Unknown(String),
}

/// One service that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Awaited<'f> {
    pub(super) service: &'f str,
    pub(super) condition: Condition,
    /// Whether the service has to exist; false for `required: false`.
    pub(super) required: bool,
}

impl Made {
    /// The word for the kind in an entry of a list: `deployment`.
    pub(super) fn word(self) -> &'static str {
        self.into()
    }
}

impl<'f> Service<'f> {
    /// The value of a label, `None` where the service does not have it. Compose takes labels as a mapping and as a list of `KEY=VALUE`.
    pub(super) fn label(&self, key: &str) -> Option<&'f str> {
        match &self.says["labels"] {
            Value::Object(labels) => labels.get(key)?.as_str(),
            Value::Array(labels) => {
                let mut labels = labels.iter().filter_map(|it| it.as_str()?.split_once('='));
                labels.find_map(|(name, value)| (name == key).then_some(value))
            }
            _ => None,
        }
    }

    /// The name of the objects that kompose makes of the service: that of the label `kompose.service.name_override`, else the service's, in small
    /// letters and with dashes.
    pub(super) fn object(&self) -> String {
        let name = self.label(NAME).unwrap_or(self.name);
        name.to_lowercase().replace(['.', '_'], "-")
    }

    /// The restart policy of the service, such as `no` or `always`: that of `deploy` counts before `restart`; `None` where neither is set.
    pub(super) fn restart(&self) -> Option<&'f str> {
        let of_deploy = self.says["deploy"]["restart_policy"]["condition"].as_str();
        of_deploy.or_else(|| self.says["restart"].as_str())
    }

    /// The kind of object that kompose makes of the service, where no option of kompose says otherwise.
    pub(super) fn made(&self) -> Made {
        if self
            .restart()
            .is_some_and(|it| ["no", "on-failure"].contains(&it))
        {
            return match self.label(SCHEDULE) {
                Some(_) => Made::CronJob,
                None => Made::Pod,
            };
        }
        match self.label(CONTROLLER) {
            Some("daemonset") => Made::DaemonSet,
            Some("statefulset") => Made::StatefulSet,
            None if self.says["deploy"]["mode"] == "global" => Made::DaemonSet,
            _ => Made::Deployment,
        }
    }

    /// The services that the service waits for, as a list of names or as a mapping with conditions.
    pub(super) fn awaited(&self) -> Vec<Awaited<'f>> {
        let started = |service| Awaited {
            service,
            condition: Condition::Started,
            required: true,
        };
        match &self.says["depends_on"] {
            Value::Array(names) => names
                .iter()
                .filter_map(Value::as_str)
                .map(started)
                .collect(),
            Value::Object(services) => {
                let of = services.iter().map(|(service, says)| Awaited {
                    condition: condition(&says["condition"]),
                    required: says["required"] != false,
                    ..started(service.as_str())
                });
                of.collect()
            }
            _ => Vec::new(),
        }
    }
}

fn condition(says: &Value) -> Condition {
    match says.as_str() {
        None | Some("service_started") => Condition::Started,
        Some("service_healthy") => Condition::Healthy,
        Some("service_completed_successfully") => Condition::Completed,
        Some(other) => Condition::Unknown(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kompose_makes_these_objects() {
        let made = |says: Value| {
            let service = Service {
                name: "My_app.x",
                says: &says,
            };
            (service.made(), service.object())
        };
        let name = || "my-app-x".to_owned();
        for (says, expected) in [
            (json!({}), Made::Deployment),
            (json!({"restart": "unless-stopped"}), Made::Deployment),
            (json!({"restart": "no"}), Made::Pod),
            (json!({"restart": "on-failure"}), Made::Pod),
            (
                json!({"restart": "no", "deploy": {"restart_policy": {"condition": "any"}}}),
                Made::Deployment,
            ),
            (
                json!({"restart": "no", "labels": {"kompose.cronjob.schedule": "* * * * *"}}),
                Made::CronJob,
            ),
            (json!({"deploy": {"mode": "global"}}), Made::DaemonSet),
            (
                json!({"labels": ["kompose.controller.type=statefulset"]}),
                Made::StatefulSet,
            ),
        ] {
            assert_eq!(made(says.clone()), (expected, name()), "{says}");
        }
        let named = made(json!({"labels": {"kompose.service.name_override": "Other"}}));
        assert_eq!(named.1, "other");
    }
}
