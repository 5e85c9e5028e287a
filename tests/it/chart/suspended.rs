//! What a real API server lets the controller's account do to a Job where holds are on.
//!
//! The role and the policy are the chart's own under another name. The account is that of an installed sluice, which need not be
//! there; where it is, and holds are on, it keeps the Jobs suspended, since they wait for what never comes.

use serde_json::{Value, json};

use super::cluster::kubectl;
use super::helm::{Render, helm};

const NAMESPACE: &str = "suspended-by-sluice";
const ACCOUNT: &str = "--as=system:serviceaccount:sluice-system:sluice";
const OURS: &str = "change nothing else of it";
const KINDS: [&str; 4] = [
    "ClusterRoleBinding",
    "ClusterRole",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
];

/// Takes everything away, however the test ends.
struct Cleanup;

impl Drop for Cleanup {
    fn drop(&mut self) {
        for kind in KINDS {
            let delete = ["delete", "--ignore-not-found", kind, NAMESPACE];
            let _ = kubectl(&delete, &Value::Null);
        }
        let delete = ["delete", "--wait=false", "namespace", NAMESPACE];
        let _ = kubectl(&delete, &Value::Null);
    }
}

/// The account's rights to Jobs, and what limits them.
fn rights() -> Option<Vec<Value>> {
    let manifest = Render::new(&helm()?)
        .flags(&["holds.enabled=true"])
        .manifest();
    let named = |kind: &str, name: &str| {
        let mut all = manifest.all(kind).into_iter();
        let mut found = all.find(|it| it["metadata"]["name"] == name).expect(name);
        found["metadata"]["name"] = json!(NAMESPACE);
        for pointer in ["/roleRef/name", "/spec/policyName"] {
            if let Some(name) = found.pointer_mut(pointer) {
                *name = json!(NAMESPACE);
            }
        }
        found
    };
    Some(vec![
        named("ValidatingAdmissionPolicy", "sluice-suspended"),
        named("ValidatingAdmissionPolicyBinding", "sluice-suspended"),
        named("ClusterRole", "sluice"),
        named("ClusterRoleBinding", "sluice"),
    ])
}

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

/// What the account is told that would change a Job so.
fn patched(name: &str, kind: &str, patch: &Value, dry: bool) -> Result<String, String> {
    let (kind, patch) = (format!("--type={kind}"), patch.to_string());
    let mut args = vec![
        "-n", NAMESPACE, "patch", "job", name, ACCOUNT, &kind, "-p", &patch,
    ];
    args.extend(dry.then_some("--dry-run=server"));
    kubectl(&args, &Value::Null)
}

fn resume(note: &Value) -> Value {
    json!({"metadata": {"annotations": {"sluice.dev/suspended": note}}, "spec": {"suspend": false}})
}

/// Adds one patch to another. To merge them would take away what says `null`.
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

/// Each is what whoever steals the account's token would try, together with what it may do and alone.
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
        // Nobody would resume it any more.
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
    let Some(rights) = rights() else { return };
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    let _cleanup = Cleanup;
    let jobs = [
        job("ours", Some("true"), true),
        job("late", Some("true"), true),
        job("resumed", Some("true"), false),
        job("theirs", None, true),
        job("over", Some("timed-out"), true),
    ];
    for object in [vec![namespace], rights, jobs.to_vec()].concat() {
        kubectl(&["apply", "-f", "-"], &object).expect("the API server accepts it");
    }
    // The API server reads the policy with a delay.
    let in_force = |_: &usize| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let label = json!({"metadata": {"labels": {"app": "other"}}});
        patched("ours", "merge", &label, true).is_err_and(|complaint| complaint.contains(OURS))
    };
    assert!((0..100).find(in_force).is_some(), "the policy is in force");
    let mut by_us = 0;
    for change in changes() {
        let complaint = patched("ours", "strategic", &change, true).expect_err(&change.to_string());
        // Some the API server lets nobody make.
        let nobody = complaint.contains("field is immutable") || complaint.contains("is invalid");
        assert!(complaint.contains(OURS) || nobody, "{change}: {complaint}");
        by_us += usize::from(complaint.contains(OURS));
    }
    assert!(by_us > 30, "{by_us}");
    for theirs in ["theirs", "over"] {
        let complaint = patched(theirs, "merge", &resume(&Value::Null), true);
        assert!(complaint.is_err_and(|it| it.contains(OURS)), "{theirs}");
    }
    let suspend = json!({"spec": {"suspend": true}});
    let complaint = patched("resumed", "merge", &suspend, true).expect_err("it runs");
    assert!(complaint.contains(OURS), "{complaint}");

    let note = "/metadata/annotations/sluice.dev~1suspended";
    let takes = json!([
        {"op": "test", "path": note, "value": "true"},
        {"op": "test", "path": "/spec/suspend", "value": true},
        {"op": "remove", "path": note},
        {"op": "replace", "path": "/spec/suspend", "value": false},
    ]);
    patched("ours", "json", &takes, false).expect("what it is there for");
    patched("ours", "json", &takes, false).expect_err("whoever comes second");
    patched("late", "merge", &resume(&json!("timed-out")), false).expect("its wait took too long");
    // Somebody else has resumed this one; a sluice that is installed may be faster.
    let disown = json!([{"op": "remove", "path": note}]);
    let disowned = patched("resumed", "json", &disown, false);
    let read = "jsonpath={.metadata.annotations.sluice\\.dev/suspended}";
    let get = ["-n", NAMESPACE, "get", "job", "resumed", "-o", read];
    assert_eq!(
        kubectl(&get, &Value::Null).as_deref(),
        Ok(""),
        "{disowned:?}"
    );
}
