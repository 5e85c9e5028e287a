//! What the controller may read: a dependency on anything else waits.

use super::{Finding, NAME};
use rules::health::Rules;
use rules::kinds;
use rules::lookup::Lookup;
use serde_json::Value;
use std::collections::BTreeSet;

const CHECK: &str = "rights";

/// What verdicts cannot do without: who owns a pod, and the kinds that most dependencies are of.
const NEEDED: [&str; 13] = [
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "EndpointSlice",
    "Job",
    "Namespace",
    "PersistentVolumeClaim",
    "Pod",
    "ReplicaSet",
    "Service",
    "StatefulSet",
    "StorageClass",
];

pub(super) fn kinds(role: &Lookup<Value>, rules: &Rules) -> Vec<Finding> {
    let role = match role {
        Lookup::Found(role) => role,
        Lookup::NotFound => {
            let told = format!(
                "there is no ClusterRole {NAME}, so the controller may read nothing; upgrade the release to make it again"
            );
            return vec![Finding::problem(CHECK, told)];
        }
        Lookup::Unavailable(why) => return vec![Finding::unseen(CHECK, "its ClusterRole", *why)],
    };
    let read: Vec<&Value> = role["rules"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|rule| {
            ["get", "list", "watch"]
                .iter()
                .all(|verb| has(rule, "verbs", verb))
        })
        // A right to some names is none to follow a kind.
        .filter(|rule| rule["resourceNames"].is_null())
        .collect();
    let mut findings = Vec::new();
    let missing = missing(&read);
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let told = format!(
            "ClusterRole {NAME} does not let the controller follow {missing}: gates wait with the reason KindForbidden; upgrade the release to mend it"
        );
        findings.push(Finding::problem(CHECK, told));
    }
    for group in unread_groups(&read, rules) {
        let told = format!(
            "there is a health rule for {group}, which ClusterRole {NAME} does not let the controller read; add its resources to the chart's value rbac.kinds"
        );
        findings.push(Finding::warning(CHECK, told));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, summary(&read)));
    }
    findings
}

fn missing(read: &[&Value]) -> Vec<&'static str> {
    let may = |builtin: &kinds::Builtin| {
        read.iter().any(|rule| {
            has(rule, "apiGroups", builtin.group) && has(rule, "resources", builtin.plural)
        })
    };
    let needed = kinds::all()
        .iter()
        .filter(|builtin| NEEDED.contains(&builtin.kind));
    needed.filter(|it| !may(it)).map(|it| it.kind).collect()
}

/// The groups that rules are for and that nothing may be read of. `*.example.com` is a whole domain.
fn unread_groups<'a>(read: &[&Value], rules: &'a Rules) -> BTreeSet<&'a str> {
    let may = |group: &str| match group.strip_prefix('*') {
        Some(domain) => groups(read).any(|it| it.ends_with(domain) || it == "*"),
        None => read.iter().any(|rule| has(rule, "apiGroups", group)),
    };
    rules.groups().filter(|group| !may(group)).collect()
}

fn summary(read: &[&Value]) -> String {
    let custom: BTreeSet<&str> = groups(read)
        .filter(|group| !kinds::knows_group(group))
        .collect();
    let secrets = read.iter().any(|rule| has(rule, "resources", "secrets"));
    let secrets = if secrets { "; also Secrets" } else { "" };
    if custom.is_empty() {
        return format!(
            "the controller may follow the built-in kinds, and of custom ones none; the chart's value rbac.kinds names them{secrets}"
        );
    }
    let custom: Vec<_> = custom.into_iter().collect();
    let custom = custom.join(", ");
    format!("the controller may follow the built-in kinds, and kinds of {custom}{secrets}")
}

fn groups<'a>(read: &[&'a Value]) -> impl Iterator<Item = &'a str> {
    let groups = read.iter().filter_map(|rule| rule["apiGroups"].as_array());
    groups.flatten().filter_map(Value::as_str)
}

/// Whether a list of a rule names the word, or all.
fn has(rule: &Value, list: &str, word: &str) -> bool {
    let words = rule[list].as_array();
    words
        .into_iter()
        .flatten()
        .any(|it| it == word || it == "*")
}
