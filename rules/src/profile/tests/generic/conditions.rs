//! Conditions whose type tells their meaning.

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
    for kind in ["Running", "Upgradeable", "Paused", "Fallback", "Whatever"] {
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
    let begun = [("Initialized", "True"), ("Executing", "True")];
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

/// Each of many conditions is looked at once: steps that grew with the square of the number would take minutes.
#[test]
fn many_conditions_are_looked_at_once_each() {
    let progressing = ("Progressing", "True");
    let mut many = vec![progressing; 50_000];
    many.push(("Available", "True"));
    assert_eq!(
        thing(json!({ "conditions": conditions(&many) })),
        "Current Satisfied: Resource is current"
    );
    many.push(("Degraded", "False"));
    assert_eq!(
        thing(json!({ "conditions": conditions(&many) })),
        "InProgress InProgress: condition Progressing is True"
    );
    let told = conditions(&vec![("Available", "False"); 25_000]);
    let hindered = hindered(&json!({ "status": { "conditions": told } }));
    assert_eq!(hindered, None);
}

/// An operator at work sets `Progressing`, and has written nothing else yet; a Deployment that is done keeps it.
#[test]
fn what_progresses_and_is_nothing_else_yet_holds_back() {
    let of = |list: &[(&str, &str)]| thing(json!({ "conditions": conditions(list) }));
    let waits = "InProgress InProgress: condition Progressing is True";
    assert_eq!(of(&[("Progressing", "True")]), waits);
    assert_eq!(of(&[("Degraded", "False"), ("Progressing", "True")]), waits);
    assert_eq!(
        of(&[("Initialized", "True"), ("Progressing", "True")]),
        waits
    );
    assert_eq!(
        of(&[("ThingProgressing", "True")]),
        "InProgress InProgress: condition ThingProgressing is True"
    );
    for well in ["Available", "Serving", "ThingAvailable"] {
        let told = of(&[("Progressing", "True"), (well, "True")]);
        assert!(told.starts_with("Current"), "{well}: {told}");
    }
    for done in [
        "Succeeded",
        "NewReplicaSetAvailable",
        "ReconcileComplete",
        "AsExpected",
    ] {
        let told = condition("Progressing", "True", done);
        assert!(told.starts_with("Current"), "{done}: {told}");
    }
    for undone in ["ReplicaSetUpdated", "NotReady", "Retrying", ""] {
        let told = condition("Progressing", "True", undone);
        assert!(told.starts_with("InProgress"), "{undone}: {told}");
    }
}

/// An object with the conditions `Progressing` and `Degraded` waits until `Available` is there: a controller that reports the two reports it, too.
#[test]
fn a_triple_without_its_first_is_not_told_to_its_end() {
    let of = |list: &[(&str, &str)]| thing(json!({ "conditions": conditions(list) }));
    let two = [("Progressing", "False"), ("Degraded", "False")];
    assert_eq!(
        of(&two),
        "InProgress NoStatusYet: condition Available has not been written yet"
    );
    assert!(of(&[two[0], two[1], ("Available", "True")]).starts_with("Current"));
    assert!(of(&two[1..]).starts_with("Current"));
}

#[test]
fn what_is_false_because_of_what_is_to_come_holds_back() {
    for reason in [
        "AwaitingData",
        "WaitingForPeer",
        "Pending",
        "CreatingVolume",
    ] {
        assert_eq!(
            condition("DataObtained", "False", reason),
            format!("InProgress InProgress: condition DataObtained is False: {reason}")
        );
    }
    for (kind, reason) in [
        ("DataObtained", "Unneeded"),
        ("DataObtained", "NotWaiting"),
        ("DataObtained", "NothingToDo"),
        ("Upgradeable", "Pending"),
        ("Reconciling", "WaitingForChanges"),
        ("Degraded", "Pending"),
    ] {
        let told = condition(kind, "False", reason);
        assert!(told.starts_with("Current"), "{kind} {reason}: {told}");
    }
}

#[test]
fn what_has_drifted_is_in_trouble() {
    assert_eq!(
        condition("SchedulerTopologyDrift", "True", ""),
        "Failed Failed: condition SchedulerTopologyDrift is True"
    );
    assert_eq!(
        condition("SchedulerTopologyDrift", "Unknown", ""),
        "InProgress InProgress: condition SchedulerTopologyDrift is Unknown"
    );
    assert!(condition("SchedulerTopologyDrift", "False", "").starts_with("Current"));
    let known =
        json!({ "conditions": conditions(&[("Degraded", "Unknown"), ("Available", "True")]) });
    assert!(thing(known).starts_with("Current"));
}

/// A condition type that is there twice, once True and once False, holds the object back: Karmada gathers the conditions of several objects in one.
#[test]
fn a_type_that_is_there_twice_has_to_be_true_twice() {
    let twice = |kind: &str, one: &str, other: &str| json!({ "conditions": conditions(&[(kind, one), (kind, other)]) });
    assert_eq!(
        thing(twice("Ready", "True", "False")),
        "InProgress InProgress: condition Ready is False"
    );
    assert!(thing(twice("Ready", "True", "True")).starts_with("Current"));
    let empty = Cluster::empty();
    let world = Only {
        health: Box::new(crate::health::builtin),
        ..Only::of(&empty)
    };
    let reason = |status: Value| {
        let object = object(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            json!({}),
            status,
        );
        judge(&kind_of(&object), &object, State::Ready, &world, noon()).reason
    };
    assert_eq!(reason(twice("Ready", "True", "False")), Reason::InProgress);
    assert_eq!(reason(twice("Ready", "True", "True")), Reason::Satisfied);
}
