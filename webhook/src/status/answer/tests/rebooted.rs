//! Tests of the answer to a pod that has passed its gate before its node was booted.

use super::*;
use rules::reboot::Reboot;
use rules::terms::Regate;
use rules::verdict::Policy;

const ASKED: i64 = 1000;

/// The report of a gate that has asked since this boot of its node, after it had opened in an earlier one.
fn report(id: &str) -> GateReport {
    let at = |second| Timestamp::from_second(second).unwrap();
    GateReport {
        rebooted: Some(Reboot {
            id: id.to_owned(),
            booted: at(ASKED - 10),
            asked: at(ASKED),
        }),
        ..GateReport::default()
    }
}

/// A pod whose gate tells of a boot of its node, with these annotations on its Job. Another pod of the revision has passed its gate, and the
/// dependency `cm/a` does not exist.
fn case(job: Value) -> Case {
    let Value::Object(mut annotations) = job else {
        panic!("a mapping")
    };
    annotations
        .entry("sluice.dev/depends-on")
        .or_insert(json!("cm/a"));
    Case {
        passed: true,
        after: ASKED,
        report: report("b"),
        ..Case::new(annotations.into(), json!({}))
    }
}

#[test]
fn after_a_boot_the_dependent_says_whether_it_waits() {
    for (regate, expected) in [
        (json!({}), "passed"),
        (json!({"sluice.dev/regate": "once"}), "passed"),
        (json!({"sluice.dev/regate": "boot"}), "wait"),
        (json!({"sluice.dev/regate": "always"}), "wait"),
    ] {
        assert_eq!(word(&case(regate.clone()).asked()), expected, "{regate}");
    }
    let without_a_boot = Case {
        report: GateReport::default(),
        ..case(json!({"sluice.dev/regate": "boot"}))
    };
    assert_eq!(word(&without_a_boot.asked()), "passed", "a new pod");
    let forgotten = Case {
        passed: false,
        ..case(json!({}))
    };
    assert_eq!(word(&forgotten.asked()), "passed", "its own marker says so");
}

#[test]
fn a_boot_is_passed_once_for_each_revision() {
    let case = case(json!({"sluice.dev/regate": "boot"}));
    let known = case.known(&["daemonset", "configmap"]);
    assert_eq!(word(&case.asked_of(&known)), "wait");
    let Lookup::Found(pod) = known.view().gated_pod("shop", "p") else {
        panic!("known")
    };
    let Lookup::Found(mut dependent) = Dependent::resolve(&pod, &[], &known.view()) else {
        panic!("resolved")
    };
    case.report.tell(&mut dependent);
    known.memory().pass(&dependent, Timestamp::UNIX_EPOCH);
    assert_eq!(word(&case.asked_of(&known)), "passed");
    let next = Case {
        report: report("c"),
        ..case
    };
    assert_eq!(word(&next.asked_of(&known)), "wait", "another boot");
}

#[test]
fn an_edge_of_the_node_is_asked_after_a_boot_too() {
    let list = "- configmap/a\n- {kind: DaemonSet, name: csi, sameNode: true}";
    let waits = waiting(case(json!({"sluice.dev/depends-on": list})).asked());
    let [only] = &waits.answer.dependencies[..] else {
        panic!("the rest has passed")
    };
    assert_eq!(only.dependency, "DaemonSet/csi");
}

#[test]
fn the_chart_says_what_holds_for_a_dependent_without_a_word() {
    let told = |default: Regate, job: Value| {
        let case = case(job);
        let policy = Policy {
            regate: default,
            ..Policy::of_the_chart()
        };
        let settings = Settings {
            policy,
            ..Settings::of_the_chart()
        };
        let known = case.known_by(settings, &["daemonset", "configmap"]);
        word(&case.asked_of(&known))
    };
    assert_eq!(told(Regate::Once, json!({})), "passed");
    assert_eq!(told(Regate::Boot, json!({})), "wait");
    assert_eq!(told(Regate::Always, json!({})), "wait");
    assert_eq!(
        told(Regate::Always, json!({"sluice.dev/regate": "once"})),
        "passed"
    );
}

/// The pod is days old, and a timeout that passed in an earlier boot must not end the wait of this one.
#[test]
fn a_timeout_counts_from_the_moment_at_which_the_gate_asks_again() {
    let proceed = json!({
        "sluice.dev/regate": "always", "sluice.dev/timeout": "1m", "sluice.dev/on-timeout": "proceed",
    });
    let after = |after: i64, report: GateReport| {
        let case = Case {
            after: ASKED + after,
            report,
            ..case(proceed.clone())
        };
        word(&case.asked())
    };
    assert_eq!(after(59, report("b")), "wait");
    assert_eq!(after(60, report("b")), "timeout: open");
    assert_eq!(after(59, GateReport::default()), "timeout: open");
}

#[test]
fn so_does_the_timeout_of_a_pod_whose_owner_cannot_be_read() {
    let says = json!({"sluice.dev/timeout": "10s", "sluice.dev/on-timeout": "proceed"});
    let told = |after: i64| {
        let case = Case {
            after: ASKED + after,
            report: report("b"),
            ..Case::new(json!({}), says.clone())
        };
        let known = case.known(&["configmap"]);
        known.want(&kind("job")).clear(Freshness::Forbidden);
        word(&case.asked_of(&known))
    };
    assert_eq!(told(9), "wait");
    assert_eq!(told(10), "timeout: open");
}
