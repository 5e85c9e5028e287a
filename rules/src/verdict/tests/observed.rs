//! Tests objects that were written since the dependent's revision appeared: their status may be older than the write.

use super::cluster::Cluster;
use super::settle::{judged_in, new_pod};
use super::wave::of_release;
use super::*;
use proptest::prelude::*;

fn second(second: i64) -> String {
    let at = Timestamp::from_second(second).expect("in range");
    at.to_string()
}

/// An object that is ready, with the seconds at which the object was made, its spec written last, and its status written last.
fn ready(kind: &str, made: i64, written: i64, status: Option<i64>) -> Value {
    let mut object = match kind {
        "Widget" => json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "shop", "annotations": {}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }),
        "Service" => json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "annotations": {}}, "spec": {},
        }),
        _ => config_map("shop", "db"),
    };
    let metadata = &mut object["metadata"];
    metadata["name"] = json!("db");
    metadata["labels"] = json!({"app": "db"});
    metadata["annotations"]["sluice.dev/group"] = json!("data");
    let mut writers = vec![
        json!({"manager": "kubectl", "time": second(made)}),
        json!({"manager": "kubectl", "time": second(written)}),
    ];
    writers.extend(
        status.map(|at| json!({"manager": "c", "subresource": "status", "time": second(at)})),
    );
    metadata["managedFields"] = json!(writers);
    of_release(object, None, made)
}

/// The reason of the first edge of a pod made at second 0 with this list, and the second at which the pod is judged again.
fn told(list: &str, object: Value, now: i64) -> (Reason, Option<i64>) {
    told_by(&Cluster::of(vec![object]), list, now)
}

fn told_by(cluster: &Cluster, list: &str, now: i64) -> (Reason, Option<i64>) {
    let judgement = judged_in(cluster, now, &new_pod(list));
    let again = judgement.again.map(Timestamp::as_second);
    (judgement.edges[0].judged.reason, again)
}

/// An object that is older than the pod's revision and was written since counts four seconds after the write: a Service whose selector changes has
/// its former endpoints for a moment.
#[test]
fn what_is_older_and_written_since_counts_once_that_was_a_moment_ago() {
    for (list, kind) in [
        ("svc/db", "Service"),
        ("configmap/db", "ConfigMap"),
        ("Widget.example.com/db", "Widget"),
        ("- {kind: Service, selector: app=db}", "Service"),
        (
            "- {kind: Widget.example.com, name: db, revision: any}",
            "Widget",
        ),
        ("- any: [svc/db, svc/other]", "Service"),
    ] {
        let told = |now| told(list, ready(kind, -600, 10, Some(11)), now);
        for now in [10, 13] {
            assert_eq!(told(now), (Reason::Settling, Some(14)), "{list} {now}");
        }
        assert_eq!(told(14), (Reason::Satisfied, None), "{list}");
    }
}

#[test]
fn a_write_counts_however_long_after_the_revision_it_is() {
    let late = ready("Widget", -600, 100, Some(101));
    assert_eq!(
        told("Widget.example.com/db", late.clone(), 101),
        (Reason::Settling, Some(104))
    );
    assert_eq!(
        told("Widget.example.com/db", late, 104).0,
        Reason::Satisfied
    );
}

/// An object that was written a moment ago is held back although its `sluice.dev/revision` is the pod's: that tells the version of its spec, and not
/// the version that its status is about.
#[test]
fn lockstep_says_nothing_of_the_status() {
    let mut pod = new_pod("svc/db");
    let mut service = ready("Service", -600, 10, None);
    for it in [&mut pod, &mut service] {
        it["metadata"]["annotations"]["sluice.dev/revision"] = json!("2");
    }
    let reason = |now| {
        judged_in(&Cluster::of(vec![service.clone()]), now, &pod).edges[0]
            .judged
            .reason
    };
    assert_eq!(
        [reason(10), reason(14)],
        [Reason::Settling, Reason::Satisfied]
    );
}

#[test]
fn of_another_release_a_write_says_as_much() {
    let mut other = ready("Service", -600, 10, None);
    other["metadata"]["annotations"]["meta.helm.sh/release-name"] = json!("other");
    assert_eq!(
        told("svc/db", other.clone(), 11),
        (Reason::Settling, Some(14))
    );
    other["metadata"]["managedFields"] = json!([{"time": second(-60)}]);
    assert_eq!(told("svc/db", other, 1).0, Reason::Satisfied);
}

#[test]
fn a_first_installation_waits_for_nothing() {
    for (made, written) in [(-5, 3), (0, 0), (2, 2), (2, 3)] {
        let object = ready("Widget", made, written, Some(2));
        let told = told("Widget.example.com/db", object, 3);
        assert_eq!(told, (Reason::Satisfied, None), "{made} {written}");
    }
}

#[test]
fn a_kind_without_a_generation_counts_once_its_status_is_as_new_as_its_spec() {
    let told = |status: Option<i64>, now| {
        told(
            "Widget.example.com/db",
            ready("Widget", -600, 10, status),
            now,
        )
    };
    for now in [10, 20, 39] {
        assert_eq!(told(Some(9), now), (Reason::NotObserved, Some(40)), "{now}");
    }
    assert_eq!(
        told(Some(9), 40),
        (Reason::Satisfied, None),
        "half a minute is enough"
    );
    assert_eq!(told(Some(10), 14).0, Reason::Satisfied);
    assert_eq!(told(None, 14).0, Reason::Satisfied, "nobody can say");
}

#[test]
fn a_kind_that_says_a_generation_anywhere_needs_no_times() {
    let generation = [
        ("/status/observedGeneration", json!(2)),
        ("/status/conditions/0/observedGeneration", json!(2)),
        ("/status/lastSyncedGeneration", json!("2")),
    ];
    for (path, value) in generation {
        let mut object = ready("Widget", -600, 10, Some(9));
        object["metadata"]["generation"] = json!(2);
        let (parent, field) = path.rsplit_once('/').expect("a path");
        object.pointer_mut(parent).expect("there")[field] = value;
        assert_eq!(
            told("Widget.example.com/db", object, 14).0,
            Reason::Satisfied,
            "{path}"
        );
    }
    let rule = Cluster {
        rule_reads_a_generation: true,
        ..Cluster::of(vec![ready("Widget", -600, 10, Some(9))])
    };
    assert_eq!(
        told_by(&rule, "Widget.example.com/db", 14).0,
        Reason::Satisfied
    );
    let service = ready("Service", -600, 10, Some(9));
    assert_eq!(told("svc/db", service, 14).0, Reason::Satisfied, "built in");
}

/// Writes that never end hold a dependent back for 30 seconds in all: some controllers write their object again and again.
#[test]
fn writes_that_never_end_hold_nobody_back_for_ever() {
    let world = |now: i64| Cluster {
        seen: Timestamp::from_second(10).ok(),
        ..Cluster::of(vec![ready("Service", -600, now, None)])
    };
    for now in [10, 39] {
        assert_eq!(
            told_by(&world(now), "svc/db", now).0,
            Reason::Settling,
            "{now}"
        );
    }
    assert_eq!(told_by(&world(40), "svc/db", 40).0, Reason::Satisfied);
}

/// Without a dependent, as for the command line and its files, an object is held back only while its status is known to be older than its last write,
/// and for 30 seconds at most.
#[test]
fn without_a_dependent_only_what_is_known_to_be_older_counts() {
    let kind = Kind::Custom {
        group: "example.com".to_owned(),
        word: "Widget".to_owned(),
    };
    let world = Cluster::of(Vec::new());
    let told = |object: &Value, now| {
        let now = Timestamp::from_second(now).expect("in range");
        let judged =
            crate::profile::judge(&kind, object, crate::dependency::State::Ready, &world, now);
        unobserved(judged, (&kind, object), &world, now).reason
    };
    let stale = ready("Widget", -600, 10, Some(9));
    assert_eq!(
        [told(&stale, 10), told(&stale, 39)],
        [Reason::NotObserved; 2]
    );
    assert_eq!(told(&stale, 40), Reason::Satisfied);
    assert_eq!(
        told(&ready("Widget", -600, 10, Some(10)), 10),
        Reason::Satisfied
    );
    assert_eq!(told(&ready("Widget", 10, 10, None), 10), Reason::Satisfied);
}

/// The reason of the wave of a pod of weight 1, for an object of weight 0, long after the pod's revision appeared; and the second at
/// which the pod is judged again.
fn told_of_wave(mut object: Value, written: i64, now: i64) -> (Reason, Option<i64>) {
    object["metadata"]["annotations"]["sluice.dev/weight"] = json!("0");
    let widgets = Kind::Custom {
        group: "example.com".to_owned(),
        word: "Widget".to_owned(),
    };
    let cluster = Cluster {
        custom: vec![(widgets, true)],
        active: Ok(Timestamp::from_second(written).ok()),
        ..Cluster::of(vec![object])
    };
    let pod = of_release(owned("Pod", "p", None, json!({})), Some("1"), 0);
    let judgement = judged_in(&cluster, now, &pod);
    let again = judgement.again.map(Timestamp::as_second);
    (judgement.edges[0].judged.reason, again)
}

#[test]
fn a_wave_is_judged_as_a_list_is() {
    let old = |kind: &str, status| ready(kind, -600, 100, status);
    let settling = (Reason::Settling, Some(104));
    for (object, held) in [
        (old("Service", None), settling),
        (old("Widget", Some(101)), settling),
        (old("Widget", Some(99)), (Reason::NotObserved, Some(130))),
    ] {
        let end = held.1.expect("it ends");
        assert_eq!(told_of_wave(object.clone(), 100, 100), held);
        assert_eq!(told_of_wave(object.clone(), 100, end - 1), held);
        assert_eq!(told_of_wave(object, 100, end), (Reason::Satisfied, None));
    }
    let new = ready("Widget", 90, 100, Some(95));
    assert_eq!(told_of_wave(new, 100, 101), (Reason::Satisfied, None));
}

proptest! {
    /// An older object counts at the last second that was announced for another look: at least three seconds after its last write,
    /// and at most half a minute after it. That holds for all times of the writes, and for all references to the object.
    #[test]
    fn the_wait_is_exact(
        list in prop::sample::select(vec![
            "Widget.example.com/db",
            "- {kind: Widget.example.com, selector: app=db}",
            "group/data",
            "release/r",
            "- any: [Widget.example.com/db, Widget.example.com/none]",
        ]),
        made in -40..10i64,
        written in prop::option::of(-10..60i64),
        status in prop::option::of(-10..60i64),
    ) {
        let written = written.unwrap_or(made).max(made);
        let widgets = Kind::Custom { group: "example.com".to_owned(), word: "Widget".to_owned() };
        let cluster = Cluster {
            custom: vec![(widgets, true)],
            ..Cluster::of(vec![ready("Widget", made, written, status)])
        };
        let told = |now| told_by(&cluster, list, now);
        let older = made < -5;
        let mut earliest = None;
        for now in made.max(written).max(0)..100 {
            let (reason, again) = told(now);
            let satisfied = reason == Reason::Satisfied;
            if let Some(at) = earliest {
                prop_assert_eq!(satisfied, now >= at, "{} at {}", reason, now);
            }
            if !older {
                prop_assert!(satisfied, "{reason} at {now}");
            }
            if older && written >= 0 && now < written + 3 {
                prop_assert!(!satisfied, "at {now}");
            }
            if now >= written.max(0) + 30 {
                prop_assert!(satisfied, "{reason} at {now}");
            }
            prop_assert!(satisfied || again.is_some());
            if let Some(again) = again.filter(|_| !satisfied) {
                prop_assert!(again > now);
                // One reason may follow the other.
                if told(again).0 == Reason::Satisfied {
                    earliest = Some(again);
                }
            }
        }
    }
}
