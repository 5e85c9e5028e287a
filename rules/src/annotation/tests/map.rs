//! Maps of annotations: the keys that are read, the keys that are refused, and the sum of the lists.

use super::super::*;
use super::shown;
use insta::assert_snapshot;
use serde_json::json;

fn read(annotations: &Value) -> Result<Vec<Dependency>, ParseError> {
    declared(annotations.as_object().expect("a map"))
}

fn refused(annotations: &Value) -> String {
    read(annotations).expect_err("must be refused").to_string()
}

#[test]
fn keys_of_others_and_our_own_records_are_no_declaration() {
    let dependencies = read(&json!({
        "kubernetes.io/change-cause": "x",
        "helm.sh/hook": "post-install",
        "sluice.dev/gated": "true",
        "sluice.dev/gate-position": "after=istio-init",
        "sluice.dev/allow-dependents-from": "*",
        "sluice.dev/health": "/status/replicas >= 1",
        "sluice.dev/health.status.replicas": ">= 1",
        "notsluice.dev/weight": "1",
    }));
    assert_eq!(dependencies, Ok(Vec::new()));
}

#[test]
fn weights_caps_groups_and_scopes_are_checked() {
    assert_snapshot!(refused(&json!({ "sluice.dev/weight": "1.5" })), @r#"sluice.dev/weight: line 1, column 1: "1.5" is no integer; write one such as 0, 10 or -5"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/weight": "99999999999999999999" })), @r#"sluice.dev/weight: line 1, column 1: "99999999999999999999" is beyond 64 bits; write a number nearer to 0"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/parallelism": "many" })), @r#"sluice.dev/parallelism: line 1, column 1: "many" is no integer; write one such as 0, 10 or -5"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/group": "a, b c" })), @r#"sluice.dev/group: line 1, column 5: group "b c" has ' ' in it; letters, digits, "-", "_" and "." are allowed"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/scope": "" })), @"sluice.dev/scope: line 1, column 1: scope is empty; write one");
    for (key, text) in [
        ("weight", "-5"),
        ("parallelism", " -5\n"),
        ("parallelism", "99999999999999999999"),
        ("scope", " shop "),
    ] {
        let key = format!("{}{key}", keys::PREFIX);
        assert_eq!(read(&json!({ key: text })), Ok(Vec::new()));
    }
}

#[test]
fn a_weight_is_an_integer_and_a_cap_is_at_least_1() {
    assert_eq!([weight(" -5\n"), weight("1.5")], [Some(-5), None]);
    let caps = ["-5", "0", "3", "x"].map(parallelism);
    assert_eq!(caps, [Some(1), Some(1), Some(3), None]);
    let most = usize::try_from(i64::MAX).ok();
    let huge = [
        "9223372036854775807",
        "99999999999999999999",
        "-99999999999999999999",
    ];
    assert_eq!(huge.map(parallelism), [most, most, Some(1)]);
}

#[test]
fn terms_are_read_although_a_list_is_bad() {
    let annotations = json!({ "sluice.dev/skip": "true", "sluice.dev/depends-on": "job/A" });
    let read = terms(annotations.as_object().expect("a map")).all();
    assert_eq!(read.map(|terms| terms.skip), Ok(Some(true)));
    let bad = json!({ "sluice.dev/revision": 2 });
    assert_snapshot!(terms(bad.as_object().expect("a map")).all().expect_err("no text"),
        @"sluice.dev/revision: the value is not a text; put it in quotes");
}

#[test]
fn terms_are_read_although_another_is_bad() {
    let annotations = json!({
        "sluice.dev/timeout": "5", "sluice.dev/on-timeout": "explode", "sluice.dev/skip": "true",
    });
    let read = terms(annotations.as_object().expect("a map"));
    assert_eq!(read.terms.skip, Some(true));
    assert_eq!((read.terms.timeout, read.terms.on_timeout), (None, None));
    assert!(read.is_unreadable(keys::TIMEOUT) && read.is_unreadable(keys::ON_TIMEOUT));
    assert!(!read.is_unreadable(keys::SKIP));
}

#[test]
fn unknown_keys_are_refused() {
    assert_snapshot!(refused(&json!({ "sluice.dev/revsion": "1" })),
        @r#"sluice.dev/revsion: unknown annotation; did you mean "sluice.dev/revision"?"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/depend-on": "job/a" })),
        @r#"sluice.dev/depend-on: unknown annotation; did you mean "sluice.dev/depends-on"?"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/wieght": "1" })),
        @r#"sluice.dev/wieght: unknown annotation; did you mean "sluice.dev/weight"?"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/colour": "red" })),
        @"sluice.dev/colour: unknown annotation; remove it");
    assert_snapshot!(refused(&json!({ "sluice.dev/healthy": "x" })),
        @r#"sluice.dev/healthy: unknown annotation; did you mean "sluice.dev/health"?"#);
}

#[test]
fn values_are_texts() {
    assert_snapshot!(refused(&json!({ "sluice.dev/depends-on": ["job/a"] })),
        @"sluice.dev/depends-on: the value is not a text; put it in quotes");
}

#[test]
fn a_bad_list_names_its_key() {
    assert_snapshot!(refused(&json!({ "sluice.dev/depends-on": "svc/db,\n job/A" })),
        @r#"sluice.dev/depends-on: line 2, column 6: name "A" has 'A' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused(&json!({ "config.kubernetes.io/depends-on": "job/A" })),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: 3 or 5 fields are needed, "job/A" has 2; write group/Kind/name or group/namespaces/namespace/Kind/name, the core group being empty"#);
}

#[test]
fn different_keys_add_up_and_only_exact_repeats_are_one() {
    for (annotations, expected) in [
        (json!({}), ""),
        (
            json!({
                "config.kubernetes.io/depends-on": "batch/Job/both, batch/Job/other",
                "sluice.dev/depends-on": "svc/pod, job/both",
            }),
            "Service/pod Job/both Job/other",
        ),
        (
            json!({ "sluice.dev/depends-on": "job/a, jobs/a, job/a:started, x/job/a" }),
            "Job/a Job/a:started x/Job/a",
        ),
    ] {
        let dependencies = read(&annotations).map(|it| shown(&it));
        assert_eq!(dependencies, Ok(expected.to_owned()));
    }
}
