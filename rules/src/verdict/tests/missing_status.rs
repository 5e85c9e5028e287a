//! Tests objects without a status, of a kind whose definition declares one.

use super::settle::{judged_at, new_pod, told_at};
use super::*;

fn pool(written: i64) -> Value {
    let written = Timestamp::from_second(written).unwrap().to_string();
    json!({
        "apiVersion": "example.com/v1", "kind": "Pool",
        "metadata": {
            "namespace": "shop", "name": "a", "creationTimestamp": "1970-01-01T00:00:00Z",
            "managedFields": [{ "time": written }],
        },
    })
}

#[test]
fn a_status_that_is_optional_has_half_a_minute_to_come() {
    let pod = new_pod("- {kind: Pool.example.com, name: a, optional: status}");
    assert_eq!(told_at(9, &pod, pool(10)), (Reason::NoStatusYet, Some(40)));
    assert_eq!(told_at(39, &pod, pool(10)), (Reason::NoStatusYet, Some(40)));
    assert_eq!(told_at(40, &pod, pool(10)), (Reason::Satisfied, None));
    let mut busy = pool(10);
    busy["status"] = json!({ "phase": "Creating" });
    assert_eq!(told_at(60, &pod, busy).0, Reason::InProgress);
}

#[test]
fn who_waits_for_a_status_that_never_comes_is_told_the_way_out() {
    let message = |now: i64| {
        let pod = new_pod("Pool.example.com/a");
        judged_at(now, &pod, pool(0)).edges[0]
            .judged
            .message
            .clone()
    };
    assert!(!message(29).contains("optional: status"), "{}", message(29));
    assert!(message(30).contains("optional: status"), "{}", message(30));
    assert_eq!(
        told_at(30, &new_pod("Pool.example.com/a"), pool(0)).0,
        Reason::NoStatusYet
    );
}
