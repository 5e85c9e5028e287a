//! Tests objects that have only just become satisfied.

use super::*;

/// A custom resource that is ready, in a release with group and weight, and a Service that is there.
fn objects() -> Vec<Value> {
    let labels = json!({"app": "db"});
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"namespace": "shop", "name": "db", "labels": labels, "annotations": {
            "sluice.dev/group": "data", "sluice.dev/scope": "r", "sluice.dev/weight": "0",
        }},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    });
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": "db"}, "spec": {}});
    vec![widget, service]
}

/// The reason of the first entry at `now`, where every satisfied object has been so since `recovered`, after it was seen unsatisfied;
/// and the time of the next look. Times are in milliseconds.
fn told(list: &str, recovered: Option<i64>, now: i64) -> (Reason, Option<i64>) {
    told_to(&pod(list), recovered, now)
}

fn told_to(pod: &Value, recovered: Option<i64>, now: i64) -> (Reason, Option<i64>) {
    let at = |at| Timestamp::from_millisecond(at).expect("in range");
    let widgets = Kind::Custom {
        group: "example.com".to_owned(),
        word: "Widget".to_owned(),
    };
    let cluster = Cluster {
        recovered: recovered.map(at),
        custom: vec![(widgets, true)],
        ..Cluster::of(objects())
    };
    let Lookup::Found(dependent) = Dependent::resolve(pod, &[], &cluster) else {
        panic!("resolved")
    };
    let edges = dependent.edges(true, &cluster).unwrap();
    let judgement = judge(
        &dependent,
        edges,
        &Policy::of_the_chart(),
        &cluster,
        at(now),
    );
    let again = judgement.again.map(Timestamp::as_millisecond);
    (judgement.edges[0].judged.reason, again)
}

#[test]
fn of_a_custom_kind_it_counts_after_a_second_however_it_is_meant() {
    for list in [
        "Widget.example.com/db",
        "- {kind: Widget.example.com, selector: app=db}",
        "group/data",
        "- any: [Widget.example.com/db, configmap/none]",
        "- {kind: Widget.example.com, name: db, state: started}",
        "- {kind: Widget.example.com, name: db, health: /status/conditions/any/type == Ready}",
    ] {
        for now in [10_100, 11_099] {
            let told = told(list, Some(10_100), now);
            assert_eq!(told, (Reason::NotStable, Some(11_100)), "{list}");
        }
        assert_eq!(
            told(list, Some(10_100), 11_100),
            (Reason::Satisfied, None),
            "{list}"
        );
        assert_eq!(
            told(list, None, 10_100),
            (Reason::Satisfied, None),
            "{list}"
        );
    }
}

#[test]
fn an_entry_may_say_that_nothing_has_to_last() {
    let list = "- {kind: Widget.example.com, name: db, stable: 0s}";
    assert_eq!(told(list, Some(10_000), 10_000), (Reason::Satisfied, None));
}

#[test]
fn a_built_in_kind_counts_at_once() {
    assert_eq!(
        told("svc/db", Some(10_000), 10_000),
        (Reason::Satisfied, None)
    );
}

#[test]
fn a_wave_waits_for_that_second_too() {
    let mut pod = owned(
        "Pod",
        "p",
        None,
        json!({"sluice.dev/scope": "r", "sluice.dev/weight": "1"}),
    );
    pod["metadata"]["creationTimestamp"] = json!("1969-12-31T23:00:00Z");
    let held = (Reason::NotStable, Some(11_000));
    assert_eq!(told_to(&pod, Some(10_000), 10_999), held);
    assert_eq!(
        told_to(&pod, Some(10_000), 11_000),
        (Reason::Satisfied, None)
    );
    assert_eq!(told_to(&pod, None, 10_000), (Reason::Satisfied, None));
}
