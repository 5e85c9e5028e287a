//! Tests entries whose objects need not exist: optional entries, and sub-charts.

use super::cluster::Cluster;
use super::settle::{judged_in, new_pod};
use super::*;
use crate::verdict::decide;

const LISTS: [&str; 7] = [
    "- {kind: StatefulSet, name: db, optional: true}",
    "- {kind: StatefulSet, selector: app=db, optional: true}",
    "- {group: data, optional: true}",
    "- {kind: Widget.example.com, name: db, optional: true}",
    "- {any: [statefulset/db, svc/db], optional: true}",
    "- any: [{kind: StatefulSet, name: db, optional: true}, svc/db]",
    "subchart/db",
];

fn cluster() -> Cluster {
    Cluster {
        unavailable: vec![("Widget", Unavailable::NotServed)],
        ..Cluster::of(Vec::new())
    }
}

/// In a scope an optional object counts as absent only once the scope has been quiet: a first installation writes one object after the other.
#[test]
fn in_a_scope_it_counts_as_absent_once_that_was_quiet() {
    for list in LISTS {
        let pod = new_pod(list);
        let told = |now, active| {
            let cluster = Cluster {
                active: Ok(active),
                ..cluster()
            };
            let judgement = judged_in(&cluster, now, &pod);
            let again = judgement.again.map(Timestamp::as_second);
            (judgement.edges[0].judged.reason, again)
        };
        for now in [0, 3] {
            assert_eq!(told(now, None), (Reason::Settling, Some(4)), "{list}");
        }
        assert_eq!(told(4, None).0, Reason::OptionalNotFound, "{list}");
        let active = Timestamp::from_second(20).ok();
        assert_eq!(told(20, active), (Reason::Settling, Some(24)), "{list}");
        let active = Timestamp::from_second(29).ok();
        assert_eq!(told(29, active), (Reason::Settling, Some(30)), "{list}");
        assert_eq!(told(30, active).0, Reason::OptionalNotFound, "{list}");
    }
}

#[test]
fn without_a_scope_it_counts_as_absent_at_once() {
    for list in LISTS.iter().take(6) {
        let mut pod = pod(list);
        pod["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
        assert_eq!(
            reasons(&pod, &cluster()),
            [Reason::OptionalNotFound],
            "{list}"
        );
    }
}

/// A gate that opens without an optional object has the reason [`Why::Absent`]. Such an opening is not remembered, so the next pod of the revision
/// asks again.
#[test]
fn a_dependent_that_starts_without_something_is_told_so_by_a_reason_of_its_own() {
    let why = |list: &str, objects: Vec<Value>| {
        let cluster = Cluster::of(objects);
        let pod = new_pod(list);
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        let now = Timestamp::from_second(60).expect("in range");
        decide(&dependent, &Policy::of_the_chart(), &cluster, now, false).why
    };
    let there = || vec![config_map("shop", "a"), config_map("shop", "b")];
    let optional = "{kind: ConfigMap, name: none, optional: true}";
    for (list, expected) in [
        ("- configmap/a".to_owned(), Why::Satisfied),
        (format!("- configmap/a\n- {optional}"), Why::Absent),
        ("- subchart/none".to_owned(), Why::Absent),
        (format!("- any: [configmap/a, {optional}]"), Why::Satisfied),
        (format!("- any: [{optional}, configmap/none]"), Why::Absent),
        (
            format!("- any: [configmap/a, {optional}]\n  min: 2"),
            Why::Absent,
        ),
        (
            format!("- any: [configmap/a, configmap/b, {optional}]\n  min: 2"),
            Why::Satisfied,
        ),
    ] {
        assert_eq!(why(&list, there()), expected, "{list}");
    }
}
