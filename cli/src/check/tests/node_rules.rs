//! Tests the lines of `check` about the DaemonSets that node rules name.

use super::*;

fn with(found: Lookup<Value>) -> Vec<String> {
    let mut seen = healthy();
    seen.agents = vec![("storage/DaemonSet/csi".to_owned(), found)];
    let lines = judge(&seen, Timestamp::UNIX_EPOCH)
        .into_iter()
        .map(|it| it.to_string());
    lines.filter(|it| it.contains("node rules: ")).collect()
}

#[test]
fn each_rule_needs_its_daemon_set() {
    assert_line(
        &with(Lookup::Found(json!({}))),
        "ok       node rules: pods in namespaces with sluice.dev/inject: enabled wait",
        "of storage/DaemonSet/csi",
    );
    assert_line(
        &with(Lookup::NotFound),
        "problem  node rules: storage/DaemonSet/csi does not exist",
        "or correct the chart's value nodeRules",
    );
    assert_line(
        &with(Lookup::Unavailable(Unavailable::Forbidden)),
        "warning  node rules: storage/DaemonSet/csi could not be looked at",
        "ask with the rights of an administrator",
    );
}
