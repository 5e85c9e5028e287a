//! Tests entries with the key `health`.

use super::selection::{failed_job, job, told};
use super::*;

#[expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]
fn cluster_of(status: Value) -> Value {
    json!({
        "apiVersion": "x.io/v1", "kind": "Cluster",
        "metadata": {"namespace": "shop", "name": "orders", "labels": {"app": "x"}},
        "spec": {"instances": 3}, "status": status,
    })
}

const TWO: &str = "- {kind: Cluster.x.io, name: orders, health: [/status/readyInstances >= 2, /spec/instances <= 3]}";

#[test]
fn the_word_of_the_edge_takes_the_place_of_every_rule() {
    let ask = |object: Value| told(&pod(TWO), &Cluster::of(vec![object]));
    let unready = json!([{"type": "Ready", "status": "False"}]);
    assert_eq!(
        ask(cluster_of(
            json!({"readyInstances": 2, "conditions": unready})
        )),
        "open Current Satisfied: its health expressions hold"
    );
    assert_eq!(
        ask(cluster_of(json!({"readyInstances": 1}))),
        "wait InProgress HealthNotMet: health: \"/status/readyInstances >= 2\" does not hold: /status/readyInstances is 1"
    );
    let mut own = cluster_of(json!({"readyInstances": 2}));
    own["metadata"]["annotations"] = json!({"sluice.dev/health": "/status/never == true"});
    assert_eq!(
        ask(own),
        "open Current Satisfied: its health expressions hold"
    );
}

#[test]
fn deletion_and_generation_are_looked_at_first() {
    let reason = |pointer: &str, value: Value| {
        let mut object = cluster_of(json!({"readyInstances": 2, "observedGeneration": 1}));
        object["metadata"][pointer] = value;
        reasons(&pod(TWO), &Cluster::of(vec![object]))
    };
    assert_eq!(reason("generation", json!(1)), [Reason::Satisfied]);
    assert_eq!(reason("generation", json!(2)), [Reason::NotObserved]);
    let gone = json!("2024-01-01T00:00:00Z");
    assert_eq!(reason("deletionTimestamp", gone), [Reason::Terminating]);
    assert_eq!(reasons(&pod(TWO), &Cluster::of(vec![])), [Reason::NotFound]);
}

#[test]
fn each_selected_object_is_held_to_it() {
    let list = "- {kind: Job, selector: app=x, health: /status/active >= 1}";
    let running = || job("shop", "a", "x", false);
    let ask = |objects: Vec<Value>| reasons(&pod(list), &Cluster::of(objects));
    assert_eq!(ask(vec![running()]), [Reason::Satisfied]);
    let failed = failed_job("b", "x");
    assert_eq!(
        ask(vec![running(), failed]),
        [Reason::Satisfied],
        "it has an active pod"
    );
    assert_eq!(
        ask(vec![running(), job("shop", "c", "x", true)]),
        [Reason::HealthNotMet]
    );
}

#[test]
fn a_job_that_is_gone_can_show_nothing() {
    let list = "- {kind: Job, name: gone, health: /status/succeeded >= 1}";
    assert_eq!(
        reasons(&pod(list), &Cluster::of(vec![])),
        [Reason::NotFound]
    );
}

#[test]
fn outside_of_its_namespace_a_dependent_may_look_at_the_status_alone() {
    let service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "one"}, "status": {"a": 1}, "spec": {"b": 1}});
    let ask = |path: &str| {
        let list = format!("- {{kind: APIService, name: one, health: {path} == 1}}");
        told(&pod(&list), &Cluster::of(vec![service.clone()]))
    };
    assert_eq!(
        ask("/status/a"),
        "open Current Satisfied: its health expressions hold"
    );
    assert_eq!(
        ask("/spec/b"),
        "wait Unknown Unjudgeable: health: \"/spec/b == 1\" looks beyond /status, which is all that may be asked of an \
         object outside the dependent's namespace"
    );
}
