//! What the controller may read: a dependency on anything else waits.

use super::Checked;
use crate::installation::{NAME, Rights};
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

pub(super) fn kinds(roles: &Lookup<Vec<Value>>, health: &Rules) -> Vec<Checked> {
    let rights = match roles {
        Lookup::Found(roles) => &Rights::of(roles),
        Lookup::NotFound => {
            let told = format!(
                "there is no ClusterRole {NAME}, so the controller may read nothing; upgrade the release to make it again"
            );
            return vec![Checked::problem(CHECK, told)];
        }
        Lookup::Unavailable(why) => return vec![Checked::unseen(CHECK, "its ClusterRole", *why)],
    };
    let mut findings = Vec::new();
    let missing = missing(rights);
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let told = format!(
            "ClusterRole {NAME} does not let the controller follow {missing}: gates wait with the reason KindForbidden; upgrade the release to mend it"
        );
        findings.push(Checked::problem(CHECK, told));
    }
    for group in unread_groups(rights, health) {
        let told = format!(
            "there is a health rule for {group}, which ClusterRole {NAME} does not let the controller read; add its resources to the chart's value rbac.kinds"
        );
        findings.push(Checked::warning(CHECK, told));
    }
    if findings.is_empty() {
        findings.push(Checked::ok(CHECK, summary(rights)));
    }
    findings
}

fn missing(rights: &Rights) -> Vec<&'static str> {
    let needed = kinds::all()
        .iter()
        .filter(|builtin| NEEDED.contains(&builtin.kind));
    needed
        .filter(|it| !rights.may_follow(it.group, it.plural))
        .map(|it| it.kind)
        .collect()
}

/// The groups that rules are for and that nothing may be read of. `*.example.com` is a whole domain.
fn unread_groups<'a>(rights: &Rights, rules: &'a Rules) -> BTreeSet<&'a str> {
    let may = |group: &str| match group.strip_prefix('*') {
        Some(domain) => rights.groups().any(|it| it.ends_with(domain) || it == "*"),
        None => rights.groups().any(|it| it == group || it == "*"),
    };
    rules.groups().filter(|group| !may(group)).collect()
}

fn summary(rights: &Rights) -> String {
    let custom: BTreeSet<&str> = rights
        .groups()
        .filter(|group| !kinds::knows_group(group))
        .collect();
    let secrets = if rights.may_follow("", "secrets") {
        "; also Secrets"
    } else {
        ""
    };
    if custom.is_empty() {
        return format!(
            "the controller may follow the built-in kinds, and of custom ones none; the chart's value rbac.kinds names them{secrets}"
        );
    }
    let custom: Vec<_> = custom.into_iter().collect();
    let custom = custom.join(", ");
    format!("the controller may follow the built-in kinds, and kinds of {custom}{secrets}")
}
