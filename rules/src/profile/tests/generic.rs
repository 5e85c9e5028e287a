//! Messages for kinds without a rule of their own.

mod conditions;
mod counts;
mod nested;
mod parts;
mod summary;
mod words;

use super::*;

fn thing(status: Value) -> String {
    told(&object(
        "example.com/v1",
        "Thing",
        json!({ "replicas": 3 }),
        status,
    ))
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
