//! Conditions that a status keeps for each of its parts.

use super::*;

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
        // The spec names this parent no more, so no controller will write its entry again.
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

/// Each of many parts is looked at once: steps that grew with the square of the number would take minutes.
#[test]
fn many_parts_are_looked_at_once_each() {
    const MANY: usize = 12_500;
    let part = |list: &str, at: usize, generation: usize| {
        let condition =
            json!({ "type": "Accepted", "status": "True", "observedGeneration": generation });
        json!({ list: { "name": at.to_string() }, "conditions": [condition] })
    };
    let stale = (0..MANY).map(|at| part("ancestorRef", at, 1));
    let fresh = (0..MANY).map(|at| part("ancestorRef", at, 2));
    let ancestors: Vec<Value> = stale.chain(fresh).collect();
    let policy = json!({ "ancestors": ancestors });
    let current = "Current Satisfied: Resource is current";
    assert_eq!(
        told(&object("example.com/v1", "Policy", json!({}), policy)),
        current
    );
    let parents: Vec<Value> = (0..MANY).map(|at| part("parentRef", at, 2)).collect();
    let refs = |many: usize| -> Value {
        (0..many)
            .map(|at| json!({ "name": at.to_string() }))
            .collect()
    };
    let route = |many: usize| {
        let (spec, status) = (
            json!({ "parentRefs": refs(many) }),
            json!({ "parents": parents }),
        );
        told(&object("example.com/v1", "Route", spec, status))
    };
    assert_eq!(route(MANY), current);
    assert_eq!(
        route(MANY + 1),
        format!("InProgress InProgress: parent {MANY} has not reported yet")
    );
}
