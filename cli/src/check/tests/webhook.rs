//! Tests the lines of `check` about sluice's webhook configuration.

use super::*;
use crate::check::webhook::ENTRIES;

#[test]
fn the_entries_are_those_of_the_chart() {
    let chart = include_str!("../../../../charts/sluice/templates/webhook.yaml");
    let names = chart.lines().filter_map(|it| it.strip_prefix("  - name: "));
    // The chart renders the entry for held pods only where holds are on. A pod that misses this entry waits at its gate, so `check` does
    // not ask for it.
    let names = names.filter(|name| *name != "held-pods.sluice.dev");
    assert_eq!(names.collect::<Vec<_>>(), ENTRIES);
}

#[test]
fn a_webhook_that_is_not_asked_or_not_trusted_is_told() {
    let none = wrong(|seen| seen.configuration = Lookup::NotFound);
    assert_line(
        &none,
        "problem  webhook: there is no Mutating",
        "make it again",
    );
    let changed = |pointer: &str, value: Value| {
        wrong(|seen| {
            if let Lookup::Found(configuration) = &mut seen.configuration {
                *configuration.pointer_mut(pointer).unwrap() = value;
            }
        })
    };
    let untrusted = changed("/webhooks/2/clientConfig/caBundle", Value::Null);
    assert_line(
        &untrusted,
        "problem  webhook: pods.sluice.dev has no caBundle",
        "look at its log",
    );
    let missing = changed("/webhooks/1/name", json!("x"));
    assert_line(
        &missing,
        "problem  webhook: the entry cronjobs.sluice.dev is missing",
        "make it again",
    );
    let ignored = changed("/webhooks/0/failurePolicy", json!("Ignore"));
    assert_line(
        &ignored,
        "warning  webhook: workloads.sluice.dev has failurePolicy Ignore",
        "says so",
    );
}

/// Where the API server's own policy injects gates, the first three entries have failurePolicy Ignore, and that is no finding.
#[test]
fn where_a_policy_injects_the_webhook_may_be_passed_over() {
    let lines = wrong(|seen| {
        if let Lookup::Found(configuration) = &mut seen.configuration {
            for entry in 0..3 {
                configuration["webhooks"][entry]["failurePolicy"] = json!("Ignore");
            }
        }
    });
    assert_eq!(lines, Vec::<String>::new());
}
