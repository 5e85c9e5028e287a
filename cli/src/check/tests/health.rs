//! Tests the lines of `check` about the administrator's health rules.

use super::*;

#[test]
fn broken_rules_are_named() {
    let rules = |text: &str| {
        wrong(|seen| {
            seen.installation.health_rules = Lookup::Found(json!({"data": {"a.yaml": text}}));
        })
    };
    let broken = rules("- {apiVersion: example.com/v1, kind: Widget}");
    assert_line(
        &broken,
        "problem  health rules: ConfigMap sluice-system/health, a.yaml: rule 1: lacks current",
        "waits until it is mended",
    );
    let absent = wrong(|seen| seen.installation.health_rules = Lookup::NotFound);
    assert_line(
        &absent,
        "problem  health rules: ConfigMap sluice-system/health does not exist",
        "healthRules.configMap",
    );
    let unread = rules(
        "- {apiVersion: other.example.org/v1, current: status.ok}\n- {apiVersion: '*.com/v1', current: status.ok}",
    );
    assert_line(
        &unread,
        "warning  rights: there is a health rule for other.example.org, ",
        "rbac.kinds",
    );
}
