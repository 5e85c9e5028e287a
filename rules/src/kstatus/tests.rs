use super::arbitrary::{json, manifest};
use super::go::Printed;
use super::*;
use proptest::prelude::*;
use serde_json::json;

fn noon() -> Timestamp {
    "2024-01-01T12:00:00Z".parse().unwrap()
}

fn error_of(object: &Value) -> String {
    compute(object, noon()).unwrap_err().to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn compute_takes_any_manifest(object in manifest()) {
        if let Ok(evaluation) = compute(&object, noon()) {
            let told = matches!(evaluation.status, Status::InProgress | Status::Failed);
            prop_assert_eq!(evaluation.condition().is_some(), told);
            prop_assert!(!matches!(evaluation.status, Status::NotFound | Status::Unknown));
        }
    }

    #[test]
    fn compute_takes_any_json(value in json()) {
        let _ = compute(&value, noon());
        let _ = Printed(&value).to_string();
    }

    #[test]
    fn an_instant_is_what_jiff_reads(seconds in -62_135_596_800_i64..253_402_000_000) {
        let time = Timestamp::from_second(seconds).unwrap();
        let civil = jiff::tz::TimeZone::UTC.to_datetime(time);
        prop_assert_eq!(instant(&time.to_string()), Some(civil));
    }

    #[test]
    fn an_instant_takes_any_text(text in "[0-9TZtz:.+ -]{15,30}|.{0,30}") {
        let _ = instant(&text);
    }
}

#[test]
fn errors_have_the_words_of_the_library() {
    let deletion = |value: Value| {
        error_of(&json!({ "kind": "X", "metadata": { "deletionTimestamp": value } }))
    };
    assert_eq!(
        deletion(Value::Null),
        "looking up metadata.deletionTimestamp from resource: .metadata.deletionTimestamp \
         accessor error: <nil> is of the type <nil>, expected string"
    );
    assert_eq!(
        deletion(json!({ "b": [1, 1_000_000.0, null], "a": true })),
        "looking up metadata.deletionTimestamp from resource: .metadata.deletionTimestamp accessor error: \
         map[a:true b:[1 1e+06 <nil>]] is of the type map[string]interface {}, expected string"
    );
    assert_eq!(
        error_of(&json!({ "kind": "X", "metadata": "odd" })),
        "looking up metadata.deletionTimestamp from resource: .metadata.deletionTimestamp \
         accessor error: odd is of the type string, expected map[string]interface{}"
    );
    let observed = |value: Value| {
        error_of(
            &json!({ "kind": "X", "metadata": { "generation": 1 }, "status": { "observedGeneration": value } }),
        )
    };
    assert_eq!(
        observed(json!("1")),
        "looking up status.observedGeneration from resource: .status.observedGeneration \
         accessor error: 1 is of the type string, expected int64"
    );
    assert_eq!(
        observed(json!(u64::MAX)),
        "looking up status.observedGeneration from resource: .status.observedGeneration \
         accessor error: 1.8446744073709552e+19 is of the type float64, expected int64"
    );
}

#[test]
fn conditions_are_read_as_a_struct_of_texts() {
    let with = |status: Value| error_of(&json!({ "kind": "X", "status": status }));
    let field = |name: &str, value: Value| with(json!({ "conditions": [{ name: value }] }));
    assert_eq!(with(json!("odd")), "cannot restore struct from: string");
    assert_eq!(with(json!([])), "cannot restore struct from: slice");
    assert_eq!(
        with(json!({ "conditions": {} })),
        "cannot restore slice from map"
    );
    assert_eq!(
        with(json!({ "conditions": [7.5] })),
        "cannot restore struct from: float64"
    );
    assert_eq!(field("type", json!(1)), "cannot convert int64 to string");
    assert_eq!(
        field("status", json!(1)),
        "cannot convert int64 to v1.ConditionStatus"
    );
    assert_eq!(field("status", json!(true)), "unrecognized type: string");
    for fine in [
        json!(null),
        json!({ "conditions": null }),
        json!({ "conditions": [null, { "type": null }] }),
    ] {
        let object = json!({ "kind": "X", "status": fine });
        assert_eq!(
            compute(&object, noon()).unwrap().message,
            "Resource is current"
        );
    }
}

#[test]
fn floats_print_as_in_go() {
    for (value, text) in [
        (json!(100_000.0), "100000"),
        (json!(1_000_000.0), "1e+06"),
        (json!(123_456.75), "123456.75"),
        (json!(0.0001), "0.0001"),
        (json!(0.000_015), "1.5e-05"),
        (json!(-2.5e30), "-2.5e+30"),
        (json!(1e100), "1e+100"),
        (json!(-0.0), "-0"),
        (json!(5e-324), "5e-324"),
        // As near to …73 as to …72, and to …13 as to …12.
        (json!(-2_057_327_627_576_237.2), "-2.0573276275762372e+15"),
        (json!(524_288.000_488_281_2), "524288.0004882812"),
    ] {
        assert_eq!(Printed(&value).to_string(), text);
    }
}

#[test]
fn the_rule_is_chosen_by_group_and_kind() {
    let message = |version: Value, kind: &str| {
        let object = json!({ "apiVersion": version, "kind": kind });
        compute(&object, noon()).unwrap().message
    };
    assert_eq!(message(json!("apps/v7"), "Deployment"), "Replicas: 0/1");
    assert_eq!(
        message(json!("extensions/v1beta1"), "DaemonSet"),
        "DaemonSet metadata.generation not found"
    );
    assert_eq!(message(json!(null), "Pod"), "Pod phase not available");
    assert_eq!(message(json!("/"), "Pod"), "Pod phase not available");
    for version in ["apps.example.com/v1", "v1", "apps/v1/v1"] {
        assert_eq!(message(json!(version), "Deployment"), "Resource is current");
    }
}

#[test]
fn a_condition_may_say_more_than_the_message() {
    let object = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "status": { "conditions": [
        { "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out" },
    ] } });
    let evaluation = compute(&object, noon()).unwrap();
    assert_eq!(evaluation.message, "Progress deadline exceeded");
    let condition = evaluation.condition().unwrap();
    assert_eq!(
        (condition.kind, condition.message),
        ("Stalled", "timed out")
    );
}

/// A container status of a wrong type is skipped, where the library of kstatus mostly panics.
#[test]
fn odd_container_statuses_are_passed_over() {
    let pod = |statuses: Value| json!({ "apiVersion": "v1", "kind": "Pod", "status": { "phase": "Running", "containerStatuses": statuses } });
    let crashing =
        json!({ "name": "app", "state": { "waiting": { "reason": "CrashLoopBackOff" } } });
    for odd in [
        json!("odd"),
        json!(null),
        json!({ "name": null, "state": { "waiting": { "reason": "CrashLoopBackOff" } } }),
        json!({ "name": "odd", "state": null }),
        json!({ "name": "odd", "state": { "waiting": null } }),
        json!({ "name": "odd", "state": { "waiting": {} } }),
        json!({ "name": "odd", "state": { "waiting": { "reason": null } } }),
        json!({ "name": "odd", "state": { "waiting": { "reason": 5 } } }),
        json!({ "name": "odd", "state": { "waiting": "CrashLoopBackOff" } }),
    ] {
        let message = |statuses: Value| compute(&pod(statuses), noon()).unwrap().message;
        assert_eq!(
            message(json!([odd])),
            "Pod is running but is not Ready",
            "{odd}"
        );
        assert_eq!(
            message(json!([odd, crashing])),
            "Containers in CrashLoop state: app",
            "{odd}"
        );
    }
    assert_eq!(
        error_of(&pod(Value::Null)),
        ".status.containerStatuses accessor error: <nil> is of the type <nil>, expected []interface{}"
    );
}

#[test]
fn an_instant_is_read_as_in_go() {
    let at = |text: &str| instant(text).map(|time| time.to_string());
    assert_eq!(
        at("2024-01-01T01:00:00.5+02:30").unwrap(),
        "2023-12-31T22:30:00.5"
    );
    assert_eq!(
        at("2024-01-01T00:00:00,1234567890123Z").unwrap(),
        "2024-01-01T00:00:00.123456789"
    );
    assert_eq!(at("9999-12-31T23:59:59Z").unwrap(), "9999-12-31T23:59:59");
    for odd in [
        "",
        "2024-01-01",
        "2024-01-01 00:00:00Z",
        "2024-01-01t00:00:00Z",
        "2024-01-01T00:00:00z",
        "2024-01-01T00:00:60Z",
        "2024-02-30T00:00:00Z",
        "2024-01-01T00:00:00",
        "2024-01-01T00:00:00+02",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00Z[UTC]",
        "2024-01-01T00:00:00+25:00",
    ] {
        assert_eq!(at(odd), None, "{odd}");
    }
}
