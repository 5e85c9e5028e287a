//! Flags, errors and counts.

use super::*;

#[test]
fn flags_errors_and_counts_hold_back() {
    assert_eq!(
        thing(json!({ "ready": false })),
        "InProgress InProgress: status.ready is false"
    );
    assert_eq!(
        thing(json!({ "ready": "NotReady" })),
        "InProgress InProgress: status.ready is NotReady"
    );
    assert!(thing(json!({ "ready": "Ready" })).starts_with("Current"));
    assert_eq!(
        thing(json!({ "succeeded": false })),
        "InProgress InProgress: status.succeeded is false"
    );
    for (available, told) in [
        (
            "Unknown",
            "InProgress InProgress: status.available is Unknown",
        ),
        ("False", "InProgress InProgress: status.available is False"),
        ("True", "Current Satisfied: Resource is current"),
    ] {
        assert_eq!(thing(json!({ "available": available })), told);
    }
    assert_eq!(
        thing(json!({ "error": { "message": "no disk" } })),
        "Failed Failed: status.error: no disk"
    );
    assert_eq!(
        thing(json!({ "error": "", "failureReason": null, "x": 1 })),
        "Current Satisfied: Resource is current"
    );
    assert_eq!(
        thing(json!({ "error": { "message": "", "code": null }, "x": 1 })),
        "Current Satisfied: Resource is current"
    );
    assert_eq!(
        thing(json!({ "readyReplicas": 2 })),
        "InProgress InProgress: status.readyReplicas: 2/3"
    );
    assert_eq!(
        thing(json!({ "readyReplicas": 3 })),
        "Current Satisfied: Resource is current"
    );
    assert_eq!(
        thing(json!({ "readyNodes": 1, "nodes": 2 })),
        "InProgress InProgress: status.readyNodes: 1/2"
    );
    assert_eq!(
        thing(json!({ "readyNodes": 1 })),
        "Current Satisfied: Resource is current"
    );
    assert_eq!(
        thing(json!({ "numberReady": 0, "desiredNumberScheduled": 1 })),
        "InProgress InProgress: status.numberReady: 0/1"
    );
    assert_eq!(
        thing(json!({ "updatedReplicas": 1 })),
        "InProgress InProgress: status.updatedReplicas: 1/3"
    );
    let told_of = |spec: Value| {
        told(&object(
            "example.com/v1",
            "Thing",
            spec,
            json!({ "updatedReplicas": 1 }),
        ))
    };
    assert_eq!(
        told_of(json!({ "replicas": 3, "updateStrategy": { "partition": 2 } })),
        "Current Satisfied: Resource is current"
    );
    assert_eq!(
        told_of(json!({ "replicas": 3, "paused": true })),
        "InProgress InProgress: status.updatedReplicas: 1/3"
    );
}

#[test]
fn a_count_that_is_written_out_is_read() {
    assert_eq!(
        thing(json!({ "scale": { "statusReplicas": "1/3" } })),
        "InProgress InProgress: status.statusReplicas: 1/3"
    );
    for fine in ["3/3", "0/0", "a/b", "3"] {
        assert_eq!(
            thing(json!({ "ready": fine })),
            "Current Satisfied: Resource is current"
        );
    }
}

#[test]
fn an_error_that_is_always_written_tells_something_only_where_it_is_filled_in() {
    let told = |error: Value| thing(json!({ "error": error }));
    assert!(told(json!({ "count": 0, "message": "", "fatal": false })).starts_with("Current"));
    assert!(told(json!({ "count": 2, "message": "" })).starts_with("Failed"));
}

#[test]
fn a_handler_of_kopf_that_has_not_ended_holds_back() {
    let kopf = |record: Value| thing(json!({ "kopf": { "progress": { "create": record } } }));
    assert_eq!(
        kopf(json!({ "retries": 2, "success": false, "failure": false })),
        "InProgress InProgress: status.kopf.progress.create has not ended"
    );
    for ended in [json!({ "success": true }), json!({ "failure": true })] {
        assert_eq!(kopf(ended), "Current Satisfied: Resource is current");
    }
}

#[test]
fn a_count_need_not_say_of_what() {
    for (status, told) in [
        (json!({ "ready": 1 }), "status.ready: 1/3"),
        (json!({ "available": 2 }), "status.available: 2/3"),
        (json!({ "running": 0 }), "status.running: 0/3"),
    ] {
        assert_eq!(thing(status), format!("InProgress InProgress: {told}"));
    }
    for wanted in ["replicas", "desired", "target", "total"] {
        let of = |ready: i64| {
            let status = json!({ "ready": ready, wanted: 2 });
            told(&object("example.com/v1", "Thing", json!({}), status))
        };
        assert_eq!(of(1), "InProgress InProgress: status.ready: 1/2");
        assert!(of(2).starts_with("Current"), "{wanted}");
    }
    for over in [
        json!({ "ready": 3 }),
        json!({ "running": 0, "succeeded": 3 }),
    ] {
        assert!(thing(over.clone()).starts_with("Current"), "{over}");
    }
}

/// An empty list of conditions holds no object back whose flag is set or whose count is met: its controller makes the list and does not use it.
#[test]
fn a_flag_that_is_set_and_a_count_that_is_met_are_reports() {
    for report in [
        json!({ "conditions": [], "ready": true }),
        json!({ "conditions": [], "readyReplicas": 3 }),
        json!({ "conditions": [], "ready": 3 }),
    ] {
        assert!(thing(report.clone()).starts_with("Current"), "{report}");
    }
    for none in [
        json!({ "conditions": [], "id": 7 }),
        json!({ "conditions": [], "replicas": 3 }),
    ] {
        assert_eq!(
            thing(none),
            "InProgress InProgress: status.conditions is empty"
        );
    }
}
