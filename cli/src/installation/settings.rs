//! The controller's settings: its arguments, as the chart writes them.

use super::NAME;
use rules::annotation;
use rules::shards;
use rules::verdict::{ClusterScoped, CrossNamespace, Policy};
use serde_json::Value;

/// The settings of the installed controller that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The namespace of the installation; `None` where that is unknown.
    pub(crate) namespace: Option<String>,
    /// The service account of the controller's pods.
    pub(super) account: String,
    pub(crate) policy: Policy,
    /// The custom kinds that own pods, as `(group, kind)`.
    pub(crate) workloads: Vec<(String, String)>,
    /// The ClusterRole that names the custom kinds that the controller watches.
    pub(crate) watch_role: Option<String>,
    /// Whether the controller reads the labels of Helm's release Secrets.
    pub(crate) follows_releases: bool,
    /// Whether the library of health rules counts.
    pub(crate) builtin_rules: bool,
    /// The name of the ConfigMaps of the controller's memory, without their numbers.
    memory: String,
    /// The name of the ConfigMaps of the slots, without their numbers.
    slots: String,
    /// The name of the ConfigMap of the administrator's health rules.
    health_rules: Option<String>,
}

impl Settings {
    /// Reads the arguments of a Deployment; an argument that is left out has the controller's own default.
    pub(crate) fn of(deployment: &Value) -> Self {
        let text = |flag: &str| argument(deployment, flag).map(ToOwned::to_owned);
        let is = |flag: &str, default: bool| match argument(deployment, flag) {
            Some(value) => value != "false",
            None => default,
        };
        let namespace = deployment.pointer("/metadata/namespace");
        let account = deployment.pointer("/spec/template/spec/serviceAccountName");
        Self {
            account: account.and_then(Value::as_str).unwrap_or(NAME).to_owned(),
            policy: Policy {
                cross_namespace: CrossNamespace(pairs(deployment, "--allow-cross-namespace", "->")),
                cluster_scoped: ClusterScoped(
                    pairs(deployment, "--allow-cluster-scoped", "->")
                        .into_iter()
                        .filter_map(|(from, kind)| Some((from, annotation::kind(&kind).ok()?)))
                        .collect(),
                ),
                config_depends_on: is("--honor-config-depends-on", true),
                node_rules: argument(deployment, "--node-rules")
                    .and_then(|text| annotation::node_rules(text).ok())
                    .unwrap_or_default(),
                regate: argument(deployment, "--regate-default")
                    .and_then(|it| it.parse().ok())
                    .unwrap_or_default(),
            },
            workloads: pairs(deployment, "--workloads", "/"),
            watch_role: text("--watch-cluster-role"),
            follows_releases: is("--follow-helm-releases", false),
            builtin_rules: is("--builtin-health-rules", true),
            memory: text("--memory-config-map").unwrap_or_else(|| "sluice-memory".to_owned()),
            slots: text("--slots-config-map").unwrap_or_else(|| "sluice-slots".to_owned()),
            health_rules: text("--health-rules-configmap").filter(|name| !name.is_empty()),
            namespace: namespace.and_then(Value::as_str).map(ToOwned::to_owned),
        }
    }

    /// The chart's defaults, for a caller that may not see the settings.
    pub(crate) fn of_the_chart(namespace: Option<&str>) -> Self {
        Self {
            namespace: namespace.map(ToOwned::to_owned),
            policy: Policy::of_the_chart(),
            workloads: vec![("argoproj.io".to_owned(), "Rollout".to_owned())],
            ..Self::of(&Value::Null)
        }
    }

    /// Namespace and name of the ConfigMap of the administrator's health rules; `None` where none is named, or the namespace of sluice is unknown.
    pub(crate) fn health_rules(&self) -> Option<(&str, &str)> {
        Some((self.namespace.as_deref()?, self.health_rules.as_deref()?))
    }

    /// The names of the ConfigMaps of the controller's memory.
    pub(crate) fn memory(&self) -> [String; shards::COUNT] {
        shards::names(&self.memory)
    }

    /// The name of the ConfigMap with the slots of a namespace.
    pub(crate) fn slots_of(&self, namespace: &str) -> String {
        shards::names(&self.slots)[shards::of(namespace)].clone()
    }
}

/// The value of one of the controller's arguments, `--flag=value` or `--flag value`; empty for one without a value, `None` where it is not
/// given. The last of several counts, so the chart's `extraArgs` count before an argument that the chart itself writes.
pub(crate) fn argument<'a>(deployment: &'a Value, flag: &str) -> Option<&'a str> {
    let args = deployment.pointer("/spec/template/spec/containers/0/args")?;
    let args: Vec<&str> = args.as_array()?.iter().filter_map(Value::as_str).collect();
    let after = |at: usize| args.get(at + 1).filter(|it| !it.starts_with("--"));
    let value = |at: usize| match args[at].strip_prefix(flag)? {
        "" => Some(after(at).copied().unwrap_or_default()),
        value => value.strip_prefix('='),
    };
    (0..args.len()).rev().find_map(value)
}

/// The pairs in the value of a flag of the controller, such as `a->b,c->d`. An item without the separator is left out; a flag that is not
/// given has no pairs.
fn pairs(deployment: &Value, flag: &str, separator: &str) -> Vec<(String, String)> {
    let list = argument(deployment, flag).unwrap_or_default();
    let pairs = list.split(',').filter_map(|it| it.split_once(separator));
    let owned = |text: &str| text.trim().to_owned();
    pairs
        .map(|(left, right)| (owned(left), owned(right)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_argument_is_read_as_the_controller_reads_it() {
        let args = [
            "--regate-default=once",
            "--quiet",
            "--regate-default",
            "always",
            "--of=a=b",
        ];
        let container = json!({"args": args});
        let deployment = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
        let read = |flag| argument(&deployment, flag);
        assert_eq!(read("--regate-default"), Some("always"), "the last counts");
        assert_eq!(read("--quiet"), Some(""));
        assert_eq!(read("--of"), Some("a=b"));
        assert_eq!(read("--regate"), None);
    }
}
