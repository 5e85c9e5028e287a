//! The settings that the chart publishes: a ConfigMap in sluice's namespace that every account may read, for a caller that may not read
//! the controller's Deployment.

use super::settings::Settings;
use serde_json::{Value, json};

/// The chart's name for the ConfigMap.
pub(super) const MAP: &str = "sluice-installation";

/// The published settings of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Published {
    /// The settings without the values that are withheld.
    pub(crate) settings: Settings,
    /// The version of the chart.
    pub(crate) version: String,
    /// The chart's values that are set and not published, with commas between them; empty where all is published.
    pub(super) withheld: String,
}

impl Published {
    /// Reads the published settings out of their ConfigMap; `None` for one without `arguments`, which this chart does not make.
    pub(crate) fn of(map: &Value) -> Option<Self> {
        let text = |key: &str| map["data"][key].as_str();
        let arguments: Vec<&str> = text("arguments")?.lines().map(str::trim).collect();
        let pod =
            json!({"serviceAccountName": text("account"), "containers": [{"args": arguments}]});
        let namespace = &map["metadata"]["namespace"];
        let deployment =
            json!({"metadata": {"namespace": namespace}, "spec": {"template": {"spec": pod}}});
        let owned = |key: &str| text(key).unwrap_or_default().to_owned();
        Some(Self {
            settings: Settings::of(&deployment),
            version: owned("version"),
            withheld: owned("withheld"),
        })
    }

    /// Whether a value of the chart is set and not published.
    pub(crate) fn withholds(&self, value: &str) -> bool {
        self.withheld.split(", ").any(|it| it == value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Installation;
    use super::*;
    use rules::lookup::{Lookup, Unavailable};

    /// A caller without rights in sluice's namespace judges by the published settings, and is told which settings are not published.
    #[test]
    fn a_caller_that_may_not_list_deployments_judges_by_the_map() {
        let forbidden = Unavailable::Forbidden;
        let seen = |published| Installation {
            deployments: Lookup::Unavailable(forbidden),
            published,
            health_rules: Lookup::NotFound,
            roles: Lookup::Unavailable(forbidden),
        };
        let map = |withheld: &str| {
            json!({"metadata": {"namespace": "own"}, "data": {
                "withheld": withheld, "arguments": "--builtin-health-rules=false",
            }})
        };
        let parts = |published| {
            let basis = seen(published).judged_by(None);
            let parts: Vec<_> = basis.unseen.iter().filter_map(|it| it.part).collect();
            (basis.settings.builtin_rules, parts)
        };
        assert_eq!(parts(None), (true, vec!["settings", "rights"]));
        assert_eq!(parts(Published::of(&map(""))), (false, vec!["rights"]));
        assert_eq!(
            parts(Published::of(&map("nodeRules"))),
            (false, vec!["withheld values", "rights"])
        );
    }

    #[test]
    fn the_map_is_read_as_the_arguments_of_the_deployment() {
        let arguments = "--memory-config-map=m\n--slots-config-map=s\n--builtin-health-rules=false\n--follow-helm-releases\n\
                         --honor-config-depends-on=false\n--workloads=example.com/Thing\n--watch-cluster-role=w\n";
        let map = json!({"metadata": {"namespace": "own"}, "data": {
            "version": "0.1.0", "account": "sa", "withheld": "nodeRules", "arguments": arguments,
        }});
        let published = Published::of(&map).expect("it has arguments");
        let settings = &published.settings;
        assert_eq!(settings.namespace.as_deref(), Some("own"));
        assert_eq!(settings.account, "sa");
        assert!(settings.follows_releases && !settings.builtin_rules);
        assert!(!settings.policy.config_depends_on);
        let thing = ("example.com".to_owned(), "Thing".to_owned());
        assert_eq!(settings.workloads, [thing]);
        assert_eq!(settings.memory()[0], "m");
        assert_eq!(
            (&*published.version, &*published.withheld),
            ("0.1.0", "nodeRules")
        );
        assert!(published.withholds("nodeRules") && !published.withholds("extraArgs"));
        assert_eq!(Published::of(&json!({"data": {}})), None);
    }
}
