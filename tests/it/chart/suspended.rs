//! The changes of a Job that a real API server allows the controller's account where holds are on.
//!
//! A sluice that is installed, with holds on, keeps the Jobs suspended, since they wait for an object that is never created.

use serde_json::{Value, json};

use super::account::{Account, OURS};
use super::cluster::kubectl;

const NAMESPACE: &str = "suspended-by-sluice";
fn job(name: &str, note: Option<&str>, suspend: bool) -> Value {
    let mut annotations = json!({"team": "shop", "sluice.dev/depends-on": "configmap/never"});
    if let Some(note) = note {
        annotations["sluice.dev/suspended"] = json!(note);
    }
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": "j"}, "annotations": annotations},
        "spec": {
            "suspend": suspend, "backoffLimit": 2, "parallelism": 1, "completions": 2,
            "template": {
                "metadata": {"labels": {"app": "j"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "x"}]},
            },
        },
    })
}

fn resume(note: &Value) -> Value {
    json!({"metadata": {"annotations": {"sluice.dev/suspended": note}}, "spec": {"suspend": false}})
}

/// Adds the fields of one merge patch to another, at any depth. A `null` stays a `null`; to apply one patch to the other would remove the field.
fn add(patch: &mut Value, more: &Value) {
    match (patch.as_object_mut(), more.as_object()) {
        (Some(fields), Some(more)) => {
            for (key, value) in more {
                add(fields.entry(key).or_insert(Value::Null), value);
            }
        }
        _ => *patch = more.clone(),
    }
}

/// Returns changes of a Job that a thief of the account's token would try, each alone and together with the allowed change. All must be refused.
fn changes() -> Vec<Value> {
    let container = json!({"name": "app", "image": "other"});
    let others = [
        json!({"metadata": {"labels": {"app": "other"}}}),
        json!({"metadata": {"labels": {"more": "x"}}}),
        json!({"metadata": {"labels": null}}),
        json!({"metadata": {"annotations": {"sluice.dev/skip": "true"}}}),
        json!({"metadata": {"annotations": {"sluice.dev/depends-on": null}}}),
        json!({"metadata": {"annotations": {"team": "other"}}}),
        json!({"metadata": {"annotations": {"sluice.dev/suspended": "other"}}}),
        json!({"metadata": {"finalizers": ["example.com/other"]}}),
        json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}]}}),
        json!({"spec": {"parallelism": 9}}),
        json!({"spec": {"parallelism": 0}}),
        json!({"spec": {"completions": 9, "parallelism": 9}}),
        json!({"spec": {"backoffLimit": 0}}),
        json!({"spec": {"activeDeadlineSeconds": 1}}),
        json!({"spec": {"ttlSecondsAfterFinished": 0}}),
        json!({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}),
        json!({"spec": {"template": {"spec": {"nodeSelector": {"pool": "gpu"}}}}}),
        json!({"spec": {"template": {"spec": {"containers": [container]}}}}),
    ];
    let with = |change: &Value| {
        let mut both = resume(&Value::Null);
        add(&mut both, change);
        both
    };
    let both: Vec<Value> = others.iter().map(with).collect();
    let alone = [
        // The Job would never be resumed.
        json!({"metadata": {"annotations": {"sluice.dev/suspended": null}}}),
        json!({"metadata": {"annotations": {"sluice.dev/suspended": "timed-out"}}}),
        // It would be resumed once more.
        json!({"spec": {"suspend": false}}),
    ];
    others.into_iter().chain(both).chain(alone).collect()
}

#[test]
#[ignore = "needs a cluster: make test"]
fn the_account_may_resume_what_was_suspended_here_and_change_nothing_else_of_a_job() {
    let flags = ["holds.enabled=true"];
    let Some(account) = Account::under("sluice-suspended", &flags, NAMESPACE) else {
        return;
    };
    for job in [
        job("ours", Some("true"), true),
        job("late", Some("true"), true),
        job("resumed", Some("true"), false),
        job("theirs", None, true),
        job("over", Some("timed-out"), true),
    ] {
        kubectl(&["apply", "-f", "-"], &job).expect("a Job");
    }
    account.is_limited("job/ours");
    let changes = changes().into_iter().map(|change| ("strategic", change));
    let nobody = ["field is immutable", "is invalid"];
    let by_us = account.tries("job/ours", changes, &nobody);
    assert!(by_us > 30, "{by_us}");
    let refused = |object: &str, change: &Value| {
        let complaint = account.patched(object, "merge", change, true);
        assert!(complaint.is_err_and(|it| it.contains(OURS)), "{object}");
    };
    refused("job/theirs", &resume(&Value::Null));
    refused("job/over", &resume(&Value::Null));
    refused("job/resumed", &json!({"spec": {"suspend": true}}));

    let note = "/metadata/annotations/sluice.dev~1suspended";
    let takes = json!([
        {"op": "test", "path": note, "value": "true"},
        {"op": "test", "path": "/spec/suspend", "value": true},
        {"op": "remove", "path": note},
        {"op": "replace", "path": "/spec/suspend", "value": false},
    ]);
    let take = || account.patched("job/ours", "json", &takes, false);
    take().expect("what it is there for");
    take().expect_err("whoever comes second");
    let late = account.patched("job/late", "merge", &resume(&json!("timed-out")), false);
    late.expect("its wait took too long");
    // A user has resumed this Job; an installed sluice may be faster.
    let disown = json!([{"op": "remove", "path": note}]);
    let disowned = account.patched("job/resumed", "json", &disown, false);
    let left = account.says(
        "job/resumed",
        ".metadata.annotations.sluice\\.dev/suspended",
    );
    assert_eq!(left.as_deref(), Ok(""), "{disowned:?}");
}
