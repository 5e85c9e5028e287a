use super::*;

#[test]
fn what_is_being_deleted_is_not_ready() {
    let gone = json!({ "deletionTimestamp": "2024-01-01T00:00:00Z" });
    for (version, kind, status) in [
        (
            "batch/v1",
            "Job",
            json!({ "conditions": conditions(&[("Complete", "True")]) }),
        ),
        ("v1", "ConfigMap", json!(null)),
        ("v1", "Namespace", json!({ "phase": "Active" })),
        ("example.com/v1", "Thing", json!({})),
    ] {
        let object = with_metadata(object(version, kind, json!({}), status), gone.clone());
        for state in [
            State::Started,
            State::Ready,
            State::Available,
            State::Complete,
            State::Addressed,
        ] {
            let told = told_as(&object, state, &Cluster::empty());
            assert_eq!(
                told,
                "Terminating Terminating: Resource scheduled for deletion"
            );
        }
        assert!(ask(&object, State::Present, &Cluster::empty()).satisfied);
    }
}

#[test]
fn the_observed_generation_may_be_numeric_text() {
    let rollout = |observed: Value| {
        let status = json!({ "observedGeneration": observed, "conditions": conditions(&[("Ready", "True")]) });
        told(&object(
            "argoproj.io/v1alpha1",
            "Rollout",
            json!({}),
            status,
        ))
    };
    for fine in [
        json!(2),
        json!("2"),
        json!(2.0),
        json!("86947585"),
        json!("7d7f8c9f"),
        json!(null),
        json!(true),
    ] {
        assert_eq!(rollout(fine), "Current Satisfied: Resource is Ready");
    }
    for behind in [json!(1), json!("1"), json!(" 1 "), json!(1.0)] {
        assert_eq!(
            rollout(behind),
            "InProgress NotObserved: Rollout generation is 2, but latest observed generation is 1"
        );
    }
}

#[test]
fn odd_conditions_are_read_as_far_as_they_go() {
    let thing = |conditions: Value| {
        told(&object(
            "example.com/v1",
            "Thing",
            json!({}),
            json!({ "conditions": conditions }),
        ))
    };
    assert_eq!(
        thing(json!([{ "type": "Ready", "status": true }])),
        "Current Satisfied: Resource is Ready"
    );
    assert_eq!(
        thing(json!(["odd", { "type": "Ready", "status": false, "reason": 7, "message": "soon" }])),
        "InProgress InProgress: soon"
    );
    assert_eq!(
        thing(json!("odd")),
        "Current Satisfied: Resource is current"
    );
}

#[test]
fn an_entry_of_a_list_is_known_by_the_kind_that_was_asked_for() {
    static DEPLOYMENT: Builtin = Builtin {
        group: "apps",
        version: "v1",
        kind: "Deployment",
        plural: "deployments",
        short: &["deploy"],
        namespaced: true,
    };
    let entry = json!({ "metadata": { "name": "x", "generation": 1 } });
    let judged = judge(
        &Kind::Builtin(&DEPLOYMENT),
        &entry,
        State::Ready,
        &Cluster::empty().world(),
        noon(),
    );
    assert_eq!(judged.message, "Replicas: 0/1");
}

#[test]
fn what_cannot_be_judged_waits() {
    let pod = object("v1", "Pod", json!({}), json!({ "phase": "Odd" }));
    assert_eq!(told(&pod), "Unknown Unjudgeable: unknown phase Odd");
    let odd = judge(
        &kind_of(&pod),
        &json!("odd"),
        State::Ready,
        &Cluster::empty().world(),
        noon(),
    );
    assert_eq!(odd.reason, Reason::Unjudgeable);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn judge_takes_any_manifest(
        object in manifest(),
        world in prop::collection::vec(any_json(), 0..2),
        state in prop::sample::select(State::ALL),
    ) {
        let world = Cluster {
            object: world.first().cloned().map_or(Lookup::NotFound, Lookup::Found),
            list: Lookup::Found(world),
            declared: Lookup::NotFound,
            health: None,
        };
        let judged = judge(&kind_of(&object), &object, state, &world.world(), noon());
        prop_assert_eq!(judged.satisfied, judged.reason == Reason::Satisfied);
        prop_assert!(!judged.message.is_empty());
        if state != State::Present {
            prop_assert_eq!(judged.satisfied, judged.status == Status::Current);
        }
    }

    #[test]
    fn judge_takes_any_json(object in any_json()) {
        let judged = judge(&kind_of(&object), &object, State::Ready, &Cluster::empty().world(), noon());
        prop_assert!(object.is_object() || !judged.satisfied);
    }
}
