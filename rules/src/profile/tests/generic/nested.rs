//! Words of the parts of a status.

use super::*;

#[test]
fn a_part_that_is_not_ready_holds_back() {
    for (status, told) in [
        (
            json!({ "plugin": { "ready": false } }),
            "InProgress InProgress: status.plugin.ready is false",
        ),
        (
            json!({ "nodeReady": true, "proxyReady": false }),
            "InProgress InProgress: status.proxyReady is false",
        ),
        (
            json!({ "components": [{ "name": "a", "phase": "Pending" }] }),
            "InProgress InProgress: status.components a.phase is Pending",
        ),
        (
            json!({ "planStatus": { "deploy": { "status": "IN_PROGRESS" } } }),
            "InProgress InProgress: status.planStatus.deploy.status is IN_PROGRESS",
        ),
        (
            json!({ "planStatus": { "deploy": { "status": "FATAL_ERROR" } } }),
            "Failed Failed: status.planStatus.deploy.status is FATAL_ERROR",
        ),
        (
            json!({ "agent": { "ready": 1, "desired": 3 } }),
            "InProgress InProgress: status.agent.ready: 1/3",
        ),
    ] {
        assert_eq!(thing(status.clone()), told, "{status}");
    }
}

#[test]
fn a_part_is_not_asked_where_the_whole_is_well() {
    let part = json!([{ "name": "a", "phase": "Pending" }]);
    for well in [
        json!({ "phase": "Fine", "components": part }),
        json!({ "ready": true, "components": part }),
        json!({ "conditions": conditions(&[("Available", "True")]), "components": part }),
    ] {
        assert!(thing(well.clone()).starts_with("Current"), "{well}");
    }
}

#[test]
fn what_has_no_name_or_is_over_is_no_part() {
    for silent in [
        json!({ "events": [{ "phase": "Pending" }] }),
        json!({ "lastRun": { "step": { "phase": "Failed" } } }),
        json!({ "nodes": [{ "name": "a", "phase": "Fine", "ready": true }] }),
        json!({ "nodes": ["a", 7, null] }),
    ] {
        assert!(thing(silent.clone()).starts_with("Current"), "{silent}");
    }
}
