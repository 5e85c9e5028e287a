//! Conditions whose meaning their type tells.

use super::*;

fn condition(kind: &str, status: &str, reason: &str) -> String {
    thing(json!({ "conditions": [{ "type": kind, "status": status, "reason": reason }] }))
}

#[test]
fn a_condition_of_known_polarity_holds_back() {
    for kind in [
        "Available",
        "Established",
        "Programmed",
        "DaemonServiceHealthy",
        "ResourcesUpToDate",
        "ResolvedRefs",
        "RemoteSynced",
    ] {
        assert_eq!(
            condition(kind, "False", ""),
            format!("InProgress InProgress: condition {kind} is False")
        );
        assert_eq!(
            condition(kind, "Unknown", ""),
            format!("InProgress InProgress: condition {kind} is Unknown")
        );
        assert_eq!(
            condition(kind, "True", ""),
            "Current Satisfied: Resource is current"
        );
    }
    for kind in [
        "Degraded",
        "FailedCreatePod",
        "ErrorOccurred",
        "NotReady",
        "NonCompliant",
        "ReplicaFailure",
        "Irreconcilable",
    ] {
        assert_eq!(
            condition(kind, "True", ""),
            format!("Failed Failed: condition {kind} is True")
        );
        assert_eq!(
            condition(kind, "False", ""),
            "Current Satisfied: Resource is current"
        );
    }
    for kind in ["In-progress", "Installing", "PartiallyReady"] {
        assert_eq!(
            condition(kind, "True", ""),
            format!("InProgress InProgress: condition {kind} is True")
        );
    }
}

#[test]
fn a_condition_of_no_known_sense_has_no_opinion() {
    for kind in [
        "Progressing",
        "Running",
        "Upgradeable",
        "Paused",
        "Fallback",
        "Whatever",
    ] {
        for status in ["True", "False", "Unknown", "Odd"] {
            assert_eq!(
                condition(kind, status, ""),
                "Current Satisfied: Resource is current",
                "{kind}"
            );
        }
    }
}

#[test]
fn a_reason_that_names_a_failure_is_one() {
    assert_eq!(
        condition("Advertised", "False", "AdvertiseError"),
        "Failed Failed: condition Advertised is False: AdvertiseError"
    );
    assert_eq!(
        condition("Complete", "True", "JobFailed"),
        "Failed Failed: condition Complete is True: JobFailed"
    );
    for (kind, status, reason) in [
        ("Degraded", "False", "NoError"),
        ("Upgradeable", "False", "PrecheckFailed"),
        ("Odd", "False", "NoErrors"),
    ] {
        assert_eq!(
            condition(kind, status, reason),
            "Current Satisfied: Resource is current"
        );
    }
}

#[test]
fn two_families_of_operators_tell_when_they_are_busy() {
    assert_eq!(
        condition("Running", "True", "Running"),
        "InProgress InProgress: condition Running is True: Running"
    );
    assert_eq!(
        condition("Running", "True", "Successful"),
        "Current Satisfied: Resource is current"
    );
    let triple = |progressing| {
        thing(
            json!({ "conditions": conditions(&[("Available", "True"), ("Progressing", progressing), ("Degraded", "False")]) }),
        )
    };
    assert_eq!(
        triple("True"),
        "InProgress InProgress: condition Progressing is True"
    );
    assert_eq!(triple("False"), "Current Satisfied: Resource is current");
}

#[test]
fn what_is_ready_is_only_held_back_by_its_spec() {
    let with = |kind: &str, status: &str| {
        thing(
            json!({ "phase": "Creating", "conditions": conditions(&[(kind, status), ("Ready", "True")]) }),
        )
    };
    assert_eq!(
        with("Degraded", "True"),
        "Current Satisfied: Resource is Ready"
    );
    assert_eq!(
        with("Synced", "False"),
        "InProgress InProgress: condition Synced is False"
    );
}

#[test]
fn a_condition_may_be_of_an_older_generation() {
    let observed = |kind: &str, observed: i64| {
        let condition = json!({ "type": kind, "status": "True", "observedGeneration": observed });
        thing(json!({ "conditions": [condition] }))
    };
    for kind in ["Ready", "Accepted"] {
        let stale =
            format!("InProgress NotObserved: condition {kind} is of generation 1, the object of 2");
        assert_eq!(observed(kind, 1), stale);
        assert!(observed(kind, 2).starts_with("Current"));
    }
    assert!(observed("Whatever", 1).starts_with("Current"));
}

#[test]
fn what_completes_has_not_while_it_has_only_begun() {
    let told = |kind: &str, pairs: &[(&str, &str)]| {
        let status = json!({ "conditions": conditions(pairs) });
        told(&object("example.com/v1", kind, json!({}), status))
    };
    let begun = [("Initialized", "True"), ("Progressing", "True")];
    assert!(told("StagedUpdateRun", &begun).contains("StagedUpdateRun has to complete"));
    assert!(told("Cluster", &begun).starts_with("Current"));
    let over = [begun.as_slice(), &[("Succeeded", "True")]].concat();
    assert!(told("StagedUpdateRun", &over).starts_with("Current"));
}

#[test]
fn who_sums_up_the_latest_spec_has_looked_at_all_of_it() {
    let told = |ready: i64| {
        let condition = |kind: &str, generation: i64| json!({"type": kind, "status": "True", "observedGeneration": generation});
        let status =
            json!({ "conditions": [condition("Ready", ready), condition("EndpointsResolved", 1)] });
        let mut thing = object("example.com/v1", "Thing", json!({}), status);
        thing["metadata"]["generation"] = json!(2);
        told(&thing)
    };
    assert!(told(2).starts_with("Current"), "{}", told(2));
    assert!(told(1).contains("NotObserved"), "{}", told(1));
}

/// Steps that grew with the square of their number would take minutes.
#[test]
fn many_conditions_are_looked_at_once_each() {
    let progressing = ("Progressing", "True");
    let mut many = vec![progressing; 200_000];
    assert_eq!(
        thing(json!({ "conditions": conditions(&many) })),
        "Current Satisfied: Resource is current"
    );
    many.extend([("Available", "True"), ("Degraded", "False")]);
    assert_eq!(
        thing(json!({ "conditions": conditions(&many) })),
        "InProgress InProgress: condition Progressing is True"
    );
}
