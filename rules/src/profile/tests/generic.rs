use super::*;

fn thing(status: Value) -> String {
    told(&object(
        "example.com/v1",
        "Thing",
        json!({ "replicas": 3 }),
        status,
    ))
}

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
fn words_are_read_by_their_sense() {
    for (word, sense) in [
        ("Provisioning", "InProgress"),
        ("Setting up primary", "InProgress"),
        ("ImportInProgress", "InProgress"),
        ("DEPLOYED_NOT_READY", "InProgress"),
        ("NotFound", "InProgress"),
        ("Paused", "InProgress"),
        ("pending", "InProgress"),
        ("HEALTH_ERR", "Failed"),
        ("ConfigError", "Failed"),
        ("failed", "Failed"),
        ("Faulted", "Failed"),
        ("Forbidden", "Failed"),
        ("Outdated", "InProgress"),
        ("Running", "Current"),
        ("Serving", "Current"),
        ("ACTIVE", "Current"),
        ("Cluster in healthy state", "Current"),
        ("NoErrors", "Current"),
        ("Whatever", "Current"),
        (
            "The last attempt was failing, which is now of no interest to anybody at all",
            "Current",
        ),
    ] {
        for status in [
            json!({ "phase": word }),
            json!({ "overallStatus": word }),
            json!({ "app": { "state": word } }),
        ] {
            let told = thing(status);
            assert_eq!(told.split(' ').next(), Some(sense), "{word}: {told}");
        }
        for elsewhere in [
            json!({ "lastBackup": { "state": word } }),
            json!({ "name": word }),
        ] {
            assert!(thing(elsewhere).starts_with("Current"), "{word}");
        }
    }
}

#[test]
fn the_worst_word_is_told() {
    let told = thing(json!({ "phase": "Creating", "state": "error" }));
    assert_eq!(told, "Failed Failed: status.state is error");
}

#[test]
fn what_completes_is_not_ready_while_it_runs() {
    let running = |kind: &str| {
        told(&object(
            "example.com/v1",
            kind,
            json!({}),
            json!({ "phase": "Running" }),
        ))
    };
    assert_eq!(
        running("AnalysisRun"),
        "InProgress InProgress: status.phase is Running, and AnalysisRun has to complete"
    );
    for kind in ["Thing", "CronJob", "ScheduledBackup", "Runner"] {
        assert_eq!(
            running(kind),
            "Current Satisfied: Resource is current",
            "{kind}"
        );
    }
}

#[test]
fn flags_errors_and_counts_hold_back() {
    assert_eq!(
        thing(json!({ "ready": false })),
        "InProgress InProgress: status.ready is false"
    );
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
    let spec = json!({ "replicas": 3, "updateStrategy": { "partition": 2 } });
    let partitioned = object(
        "example.com/v1",
        "Thing",
        spec,
        json!({ "updatedReplicas": 1 }),
    );
    assert_eq!(told(&partitioned), "Current Satisfied: Resource is current");
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
fn a_status_of_empty_values_is_none() {
    let reason = |status: Value| {
        let thing = object("example.com/v1", "Thing", json!({}), status);
        ask(&thing, State::Ready, &Cluster::declaring(true)).reason
    };
    for empty in [
        json!({ "conditions": [] }),
        json!({ "phase": "", "nodes": { "a": [] }, "at": null }),
    ] {
        assert_eq!(reason(empty), Reason::NoStatusYet);
    }
    assert_eq!(reason(json!({ "replicas": 0 })), Reason::Satisfied);
    assert_eq!(
        reason(json!({ "conditions": [], "id": 0 })),
        Reason::InProgress
    );
    assert_eq!(
        reason(json!({ "conditions": [], "phase": "Fine" })),
        Reason::Satisfied
    );
}

#[test]
fn each_part_that_reports_counts() {
    let route = |spec: Value, parents: Value| {
        let status = json!({ "parents": parents });
        told(&object("example.com/v1", "Route", spec, status))
    };
    let part = |name: &str, kind: &str, status: &str, generation: i64| {
        let condition = json!({ "type": kind, "status": status, "observedGeneration": generation });
        json!({ "parentRef": { "name": name }, "conditions": [condition] })
    };
    let fine = || part("a", "Accepted", "True", 2);
    let anywhere = || json!({});
    let at = |names: &[&str]| {
        let refs: Value = names.iter().map(|name| json!({ "name": name })).collect();
        json!({ "parentRefs": refs })
    };
    let current = "Current Satisfied: Resource is current";
    assert_eq!(route(anywhere(), json!([fine()])), current);
    for (other, told) in [
        (
            part("b", "ResolvedRefs", "False", 2),
            "Failed Failed: status.parents b: condition ResolvedRefs is False",
        ),
        (
            part("b", "Programmed", "Unknown", 2),
            "InProgress InProgress: status.parents b: condition Programmed is Unknown",
        ),
        (
            part("b", "Accepted", "True", 1),
            "InProgress NotObserved: status.parents b: condition Accepted is of generation 1, the object of 2",
        ),
        (
            json!({ "parentRef": { "name": "b" } }),
            "InProgress InProgress: status.parents b: has no conditions yet",
        ),
    ] {
        assert_eq!(route(anywhere(), json!([fine(), other])), told);
        // The spec names it no more, so nobody will ever write it again.
        assert_eq!(route(at(&["a"]), json!([fine(), other])), current);
    }
    let replaced = json!([part("a", "Accepted", "False", 1), fine()]);
    assert_eq!(route(at(&["a"]), replaced), current);
    assert_eq!(
        route(at(&["a", "b"]), json!([fine()])),
        "InProgress InProgress: parent b has not reported yet"
    );
    // Lists of these names that report nothing are of other kinds.
    let listeners = json!({ "listeners": [{ "name": "plain" }], "parents": ["x"] });
    assert_eq!(thing(listeners), current);
}

#[test]
fn each_controller_that_reports_counts() {
    let filter = |conditions: Value| {
        let controllers =
            json!([{ "controllerName": "example.com/gateway", "conditions": conditions }]);
        thing(json!({ "controllers": controllers }))
    };
    assert_eq!(
        filter(conditions(&[("Accepted", "True")])),
        "Current Satisfied: Resource is current"
    );
    assert_eq!(
        filter(conditions(&[("Accepted", "False")])),
        "Failed Failed: status.controllers example.com/gateway: condition Accepted is False"
    );
    assert_eq!(
        thing(json!({ "controllers": [{ "name": "a", "replicas": 1 }] })),
        "Current Satisfied: Resource is current"
    );
}

#[test]
fn generic_rules_are_for_custom_resources_alone() {
    let config = object("v1", "ConfigMap", json!({}), json!({ "phase": "Failed" }));
    assert_eq!(
        ask(&config, State::Ready, &Cluster::empty()).reason,
        Reason::Satisfied
    );
    let thing = object(
        "example.com/v1",
        "Thing",
        json!({}),
        json!({ "phase": "Failed" }),
    );
    assert!(ask(&thing, State::Started, &Cluster::empty()).satisfied);
}

#[test]
fn a_health_rule_takes_the_place_of_every_other() {
    let ruled = Cluster {
        health: Some(failed(Reason::Failed, "by a\nrule")),
        ..Cluster::empty()
    };
    let ready = json!({ "conditions": conditions(&[("Ready", "True")]) });
    for object in [
        object("example.com/v1", "Thing", json!({}), ready.clone()),
        object("v1", "ConfigMap", json!({}), json!({})),
    ] {
        assert_eq!(
            told_as(&object, State::Ready, &ruled),
            "Failed Failed: by a rule"
        );
        assert!(ask(&object, State::Started, &ruled).satisfied);
    }
    let behind = object(
        "example.com/v1",
        "Thing",
        json!({}),
        json!({ "observedGeneration": 1 }),
    );
    assert_eq!(
        ask(&behind, State::Ready, &ruled).reason,
        Reason::NotObserved
    );
    let own = json!({ "annotations": { "sluice.dev/health": "/spec/x == 1" } });
    let own = with_metadata(
        object("example.com/v1", "Thing", json!({ "x": 1 }), ready),
        own,
    );
    assert!(ask(&own, State::Ready, &ruled).satisfied);
}
