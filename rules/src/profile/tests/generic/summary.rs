//! A status that is begun, and does not tell yet whether the object is ready.

use super::*;
use crate::definition::{Column, Shown};
use crate::lookup::Unavailable;

fn condition_column(name: &str, kind: &str) -> Column {
    Column {
        name: name.to_owned(),
        shown: Shown::Condition(kind.to_owned()),
    }
}

fn field_column(name: &str, path: &[&str]) -> Column {
    Column {
        name: name.to_owned(),
        shown: Shown::Field(path.iter().map(|it| (*it).to_owned()).collect()),
    }
}

fn shows(columns: Vec<Column>, fields: &[&str]) -> Declared {
    let fields = fields.iter().map(|it| (*it).to_owned()).collect();
    Declared {
        status: true,
        summary: Some(Summary { columns, fields }),
    }
}

/// The message for a thing with three replicas.
fn said(declared: &Declared, status: Value) -> String {
    let thing = object("example.com/v1", "Thing", json!({ "replicas": 3 }), status);
    told_as(&thing, State::Ready, &Cluster::declared(declared.clone()))
}

const CURRENT: &str = "Current Satisfied: Resource is current";

#[test]
fn a_condition_that_a_column_shows_has_to_be_there() {
    let available = shows(vec![condition_column("Up", "Available")], &["phase"]);
    let waits = "InProgress NoStatusYet: no condition Available has been written yet";
    for begun in [
        json!({ "observedGeneration": 2 }),
        json!({ "conditions": conditions(&[("Synced", "True")]) }),
        json!({ "conditions": conditions(&[("Progressing", "False")]), "phase": "Fine" }),
    ] {
        assert_eq!(said(&available, begun.clone()), waits, "{begun}");
    }
    let there = json!({ "conditions": conditions(&[("Available", "True")]) });
    assert_eq!(said(&available, there), CURRENT);
}

#[test]
fn ready_is_the_summary_of_other_conditions_that_are_shown() {
    let columns = vec![
        condition_column("Synced", "Synced"),
        condition_column("Ready", "Ready"),
    ];
    let both = shows(columns, &[]);
    let synced = json!({ "conditions": conditions(&[("Synced", "True")]) });
    assert_eq!(
        said(&both, synced.clone()),
        "InProgress NoStatusYet: no condition Ready has been written yet"
    );
    let alone = shows(vec![condition_column("Synced", "Synced")], &[]);
    assert_eq!(said(&alone, synced), CURRENT);
    let ready = json!({ "conditions": conditions(&[("Ready", "True")]) });
    assert_eq!(said(&both, ready), "Current Satisfied: Resource is Ready");
}

#[test]
fn a_heading_may_promise_what_the_type_does_not() {
    let wired = shows(vec![condition_column("Ready", "Wired")], &[]);
    assert_eq!(
        said(&wired, json!({ "id": 7 })),
        "InProgress NoStatusYet: no condition Wired has been written yet"
    );
    let trouble = shows(vec![condition_column("Reason", "Paused")], &[]);
    assert_eq!(said(&trouble, json!({ "id": 7 })), CURRENT);
    let first = Column {
        name: "Ready".to_owned(),
        shown: Shown::Conditions,
    };
    assert_eq!(
        said(&shows(vec![first], &[]), json!({ "id": 7 })),
        "InProgress NoStatusYet: no condition has been written yet"
    );
}

#[test]
fn a_word_or_a_flag_that_a_column_shows_has_to_be_there() {
    for (path, name) in [
        (&["phase"] as &[&str], "status.phase"),
        (&["app", "state"], "status.app.state"),
        (&["ready"], "status.ready"),
    ] {
        let shown = shows(vec![field_column("A", path)], &[]);
        assert_eq!(
            said(&shown, json!({ "id": "x" })),
            format!("InProgress NoStatusYet: {name} has not been written yet")
        );
    }
    let phase = shows(vec![field_column("Phase", &["phase"])], &["state"]);
    for other in [
        json!({ "phase": "Fine" }),
        json!({ "conditions": conditions(&[("Available", "True")]) }),
        json!({ "ready": true }),
    ] {
        assert_eq!(said(&phase, other.clone()), CURRENT, "{other}");
    }
    for silent in [
        field_column("Last", &["lastBackup", "phase"]),
        field_column("Node", &["node"]),
    ] {
        assert_eq!(
            said(&shows(vec![silent], &[]), json!({ "id": "x" })),
            CURRENT
        );
    }
}

#[test]
fn the_schema_counts_where_no_column_does() {
    let schema = shows(Vec::new(), &["id", "phase"]);
    assert_eq!(
        said(&schema, json!({ "id": "x" })),
        "InProgress NoStatusYet: status.phase has not been written yet"
    );
    assert_eq!(said(&schema, json!({ "health": "Green" })), CURRENT);
    assert_eq!(
        said(&shows(Vec::new(), &["id"]), json!({ "id": "x" })),
        CURRENT
    );
}

#[test]
fn a_step_is_not_the_end() {
    let step = |kind: &str| json!({ "conditions": conditions(&[(kind, "True")]) });
    let open = shows(Vec::new(), &["conditions"]);
    for kind in ["Initialized", "Validated", "Built", "InputReady"] {
        let mut status = step(kind);
        status["conditions"][0]["reason"] = json!("Succeeded");
        assert_eq!(
            said(&open, status),
            format!(
                "InProgress NoStatusYet: nothing but steps is told yet, such as condition {kind}"
            )
        );
    }
    let mut with_word = step("Validated");
    with_word["phase"] = json!("Fine");
    assert_eq!(said(&open, with_word), CURRENT);
    let shown = shows(vec![condition_column("Valid", "Validated")], &[]);
    assert_eq!(said(&open, step("Wired")), CURRENT, "nobody knows");
    assert_eq!(
        said(&shown, step("Validated")),
        CURRENT,
        "it is all that there is"
    );
}

#[test]
fn replicas_of_which_none_is_counted_are_not_ready() {
    let counts = shows(Vec::new(), &["readyReplicas", "replicas"]);
    assert_eq!(
        said(&counts, json!({ "replicas": 3, "selector": "x" })),
        "InProgress InProgress: status.readyReplicas: 0/3"
    );
    assert_eq!(
        said(&counts, json!({ "replicas": 3, "readyReplicas": 3 })),
        CURRENT
    );
    let none = object(
        "example.com/v1",
        "Thing",
        json!({ "replicas": 0 }),
        json!({ "selector": "x" }),
    );
    let column = shows(vec![field_column("Ready", &["readyReplicas"])], &[]);
    let told = told_as(&none, State::Ready, &Cluster::declared(column));
    assert_eq!(told, CURRENT, "Go leaves out a zero");
}

#[test]
fn without_a_definition_at_hand_the_status_has_to_say_something() {
    let begun = json!({ "node": "a", "observedGeneration": 2 });
    let waits = "InProgress NoStatusYet: nothing in its status says yet how it is";
    assert_eq!(said(&Declared::unseen(), begun.clone()), waits);
    for tells in [
        json!({ "phase": "Fine" }),
        json!({ "ready": true }),
        json!({ "conditions": conditions(&[("Wired", "True")]) }),
        json!({ "members": [{ "name": "a", "state": "Fine" }] }),
    ] {
        assert_eq!(said(&Declared::unseen(), tells.clone()), CURRENT, "{tells}");
    }
    let thing = object("example.com/v1", "Thing", json!({}), begun.clone());
    let unread = Cluster {
        declared: Lookup::Unavailable(Unavailable::Syncing),
        ..Cluster::empty()
    };
    assert_eq!(told_as(&thing, State::Ready, &unread), waits);
    assert_eq!(told(&thing), CURRENT, "an aggregated API has no definition");
    let template = |status: Value| object("example.com/v1", "ThingTemplate", json!({}), status);
    let unseen = Cluster::declared(Declared::unseen());
    let shown = Cluster::declared(shows(vec![field_column("Status", &["status"])], &[]));
    for status in [begun, json!({})] {
        let template = template(status);
        assert_eq!(told_as(&template, State::Ready, &unseen), CURRENT);
        let told = told_as(&template, State::Ready, &shown);
        assert!(told.starts_with("InProgress NoStatusYet"), "{told}");
    }
}
