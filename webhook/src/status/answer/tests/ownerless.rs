//! Tests of the answer to a pod whose owner cannot be read.

use super::*;

/// The verdict on a pod with these annotations, so many seconds after its start, whose Job cannot be read for the reason `why`. `patient`: the gate
/// has just asked.
fn asked(says: &Value, why: Freshness, after: i64, patient: bool) -> Verdict {
    let case = Case {
        after,
        patient,
        ..Case::new(
            json!({"sluice.dev/depends-on": "configmap/a"}),
            says.clone(),
        )
    };
    let known = case.known(&["configmap"]);
    known.want(&kind("job")).clear(why);
    case.asked_of(&known)
}

#[test]
fn a_timeout_on_the_pod_ends_the_wait_for_an_owner_that_cannot_be_read() {
    let says = |then: &str| json!({"sluice.dev/timeout": "10s", "sluice.dev/on-timeout": then});
    let told = |then, after| word(&asked(&says(then), Freshness::Forbidden, after, true));
    for (then, expected) in [
        ("wait", "late"),
        ("fail", "timeout: refuse"),
        ("proceed", "timeout: open"),
    ] {
        assert_eq!(told(then, 9), "wait", "{then}");
        assert_eq!(told(then, 10), expected, "{then}");
    }
    let waits = waiting(asked(&says("proceed"), Freshness::Forbidden, 9, true));
    assert_eq!(
        waits.again,
        Timestamp::from_second(10).ok(),
        "its gate is told in time"
    );
    let opens = asked(&says("proceed"), Freshness::Forbidden, 10, true);
    assert_eq!(opens.answer.verdict, Decision::Open);
    let note = note(opens);
    assert!(
        note.starts_with("the right to watch the pod's owner"),
        "{note}"
    );
    assert!(
        note.contains("the timeout of 10s (sluice.dev/timeout) has passed"),
        "{note}"
    );
}

#[test]
fn an_owner_that_is_still_being_read_gets_its_time() {
    let says = json!({"sluice.dev/timeout": "10s", "sluice.dev/on-timeout": "fail"});
    let told = |patient| word(&asked(&says, Freshness::Syncing, 10, patient));
    assert_eq!(
        [told(true), told(false)],
        ["provisional", "timeout: refuse"]
    );
}

/// The terms of the wait may stand on the owner, which cannot be read, so no timeout ends the wait.
#[test]
fn without_terms_of_its_own_a_pod_waits_on() {
    let told = word(&asked(&json!({}), Freshness::Forbidden, 1_000_000, false));
    assert_eq!(told, "wait");
}
