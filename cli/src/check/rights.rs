//! Checks the kinds that the controller may read: a dependency on any other kind waits.

use super::Checked;
use crate::installation::NAME;
use rules::health::Rules;
use rules::keys::AGGREGATE_TO_WATCH;
use rules::kinds;
use rules::lookup::Lookup;
use rules::rights::Rights;
use serde_json::Value;
use std::collections::BTreeSet;

const CHECK: &str = "rights";

/// The kinds that verdicts need: the owners of pods, and the kinds of most dependencies.
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

/// Checks that the controller's ClusterRoles let it read the kinds that verdicts need (else a problem) and the groups that health rules are for (else
/// a warning), and that `watch_role`, the ClusterRole that names custom kinds, is there. `watch_role` is `None` where the controller waits for none.
pub(super) fn kinds(
    roles: &Lookup<Vec<Value>>,
    watch_role: Option<&str>,
    health: &Rules,
) -> Vec<Checked> {
    let mut findings = Vec::new();
    if let (Lookup::Found(roles), Some(name)) = (roles, watch_role)
        && !roles.iter().any(|role| role["metadata"]["name"] == name)
    {
        let told = format!(
            "there is no ClusterRole {name}, so nobody knows which custom kinds belong to a release, and pods of releases wait; upgrade the release to make it again"
        );
        findings.push(Checked::problem(CHECK, told));
    }

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
            "there is a health rule for {group}, which the controller may not read; name its kinds in a ClusterRole with the label {AGGREGATE_TO_WATCH}, or in the chart's value rbac.kinds"
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

/// The groups for which there are health rules, and of which the controller may read no kind. `*.example.com` is a whole domain.
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
            "the controller may follow the built-in kinds, and of custom ones none; the chart's values rbac.presets and rbac.kinds name them{secrets}"
        );
    }
    let custom: Vec<_> = custom.into_iter().collect();
    let custom = custom.join(", ");
    format!("the controller may follow the built-in kinds, and kinds of {custom}{secrets}")
}
