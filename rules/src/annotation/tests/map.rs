//! Maps of annotations: which keys are read, which are refused, and how two maps are laid over each other.

use super::super::*;
use super::shown;
use insta::assert_snapshot;
use serde_json::json;

fn read(annotations: &Value) -> Result<Declaration, ParseError> {
    declared(annotations.as_object().expect("a map"))
}

fn refused(annotations: &Value) -> String {
    read(annotations).expect_err("must be refused").to_string()
}

#[test]
fn keys_of_others_and_our_own_records_are_no_declaration() {
    let declaration = read(&json!({
        "kubernetes.io/change-cause": "x",
        "helm.sh/hook": "post-install",
        "sluice.dev/gated": "true",
        "sluice.dev/gate-position": "after=istio-init",
        "sluice.dev/allow-dependents-from": "*",
        "sluice.dev/health": "/status/replicas >= 1",
        "sluice.dev/health.status.replicas": ">= 1",
        "notsluice.dev/weight": "1",
    }));
    assert_eq!(declaration, Ok(Declaration::default()));
}

#[test]
fn weights_caps_groups_and_scopes_are_checked() {
    assert_snapshot!(refused(&json!({ "sluice.dev/weight": "1.5" })), @r#"sluice.dev/weight: line 1, column 1: "1.5" is no integer; write one such as 0, 10 or -5"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/parallelism": "99999999999999999999" })), @r#"sluice.dev/parallelism: line 1, column 1: "99999999999999999999" is beyond 64 bits; write a number nearer to 0"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/group": "a, b c" })), @r#"sluice.dev/group: line 1, column 5: group "b c" has ' ' in it; letters, digits, "-", "_" and "." are allowed"#);
    assert_snapshot!(refused(&json!({ "sluice.dev/scope": "" })), @"sluice.dev/scope: line 1, column 1: scope is empty; write one");
    let read = |key: &str, value: &str| read(&json!({ key: value })).expect("legal").terms;
    assert_eq!(read("sluice.dev/weight", "-5").weight, Some(-5));
    assert_eq!(read("sluice.dev/parallelism", "-5").parallelism, Some(1));
    assert_eq!(
        read("sluice.dev/scope", "shop").scope.as_deref(),
        Some("shop")
    );
}

#[test]
fn a_revision_is_read_beside_the_lists_and_the_pod_wins() {
    let pod = read(&json!({ "sluice.dev/revision": "2" })).expect("legal");
    let workload = read(&json!({ "sluice.dev/revision": "1", "sluice.dev/depends-on": "job/a" }))
        .expect("legal");
    assert_eq!(
        pod.clone().over(workload.clone()).terms.revision.as_deref(),
        Some("2")
    );
    assert_eq!(workload.over(pod).terms.revision.as_deref(), Some("1"));
}

#[test]
fn terms_are_read_although_a_list_is_bad() {
    let annotations = json!({ "sluice.dev/revision": "2", "sluice.dev/depends-on": "job/A" });
    let read = terms(annotations.as_object().expect("a map")).all();
    assert_eq!(read.map(|terms| terms.revision), Ok(Some("2".to_owned())));
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
fn the_pod_wins_key_by_key_and_different_keys_add_up() {
    let pod = json!({ "sluice.dev/depends-on": "svc/pod, job/both" });
    let workload = json!({
        "sluice.dev/depends-on": "svc/workload",
        "config.kubernetes.io/depends-on": "batch/Job/both, batch/Job/other",
    });
    for (above, below, expected) in [
        (&pod, &workload, "Service/pod Job/both Job/other"),
        (&workload, &pod, "Service/workload Job/both Job/other"),
        (&json!({}), &workload, "Service/workload Job/both Job/other"),
        (
            &json!({ "sluice.dev/depends-on": "" }),
            &workload,
            "Job/both Job/other",
        ),
        (&json!({}), &json!({}), ""),
    ] {
        let declaration = read(above).and_then(|above| Ok(above.over(read(below)?)));
        let dependencies = declaration.map(Declaration::dependencies);
        assert_eq!(dependencies.map(|it| shown(&it)), Ok(expected.to_owned()));
    }
}

#[test]
fn only_exact_repeats_are_one() {
    let declaration =
        read(&json!({ "sluice.dev/depends-on": "job/a, jobs/a, job/a:started, x/job/a" }));
    let dependencies = declaration.map(Declaration::dependencies);
    assert_eq!(
        dependencies.map(|it| shown(&it)),
        Ok("Job/a Job/a:started x/Job/a".to_owned())
    );
}
