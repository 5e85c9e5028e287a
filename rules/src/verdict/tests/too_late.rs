//! Tests the words about dependencies that never come.

use super::*;

const HOOK: &str = "helm.sh/hook";
const WAVE: &str = "argocd.argoproj.io/sync-wave";

/// A pod without an owner that waits for `job/migrate`, with these annotations, made so many seconds ago.
fn waits(annotations: Value, age: i64) -> Value {
    let mut pod = pod("job/migrate");
    merge(&mut pod, annotations);
    let made = Timestamp::UNIX_EPOCH - jiff::SignedDuration::from_secs(age);
    pod["metadata"]["creationTimestamp"] = json!(made.to_string());
    pod
}

fn merge(object: &mut Value, annotations: Value) {
    let Value::Object(annotations) = annotations else {
        panic!("a mapping")
    };
    let own = object["metadata"]["annotations"].as_object_mut().unwrap();
    own.extend(annotations);
}

/// A Job with these annotations that has failed now.
fn failed(annotations: Value) -> Value {
    let mut job = owned("Job", "migrate", None, annotations);
    job["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
    job["status"] = json!({"failed": 1, "conditions": [{"type": "Failed", "status": "True"}]});
    job
}

fn told(pod: &Value, objects: Vec<Value>) -> String {
    let edges = edges_of(pod, &Cluster::of(objects), &Policy::of_the_chart());
    format!("{}: {}", edges[0].judged.reason, edges[0].judged.message)
}

const POST_INSTALL: &str = "Job/migrate is a post-install hook, which runs only once everything else is ready, so with --wait \
     neither comes; make it a plain object";

#[test]
fn a_hook_that_comes_later_is_told_of_where_only_the_installer_can_mend_it() {
    let hook = || json!({HOOK: "post-install,post-upgrade"});
    let now = || waits(json!({}), 0);
    let said = told(&now(), vec![failed(hook())]);
    assert!(said.starts_with("JobFailed: "), "{said}");
    assert!(said.ends_with(POST_INSTALL), "{said}");

    let fresh = "- {kind: Job, name: migrate, fresh: true}";
    let mut asks = now();
    merge(&mut asks, list(fresh));
    let said = told(&asks, vec![owned("Job", "migrate", None, hook())]);
    assert!(said.starts_with("NotFresh: "), "{said}");
    assert!(said.ends_with(POST_INSTALL), "{said}");

    let mut old = failed(hook());
    merge(&mut old, json!({"sluice.dev/revision": "1"}));
    let said = told(&waits(json!({"sluice.dev/revision": "2"}), 0), vec![old]);
    assert!(said.starts_with("OtherRevision: "), "{said}");
    assert!(said.ends_with(POST_INSTALL), "{said}");

    let running = owned("Job", "migrate", None, hook());
    let said = told(&now(), vec![running]);
    assert!(said.starts_with("JobNotComplete: "), "{said}");
    assert!(!said.contains("hook"), "it may complete: {said}");
}

#[test]
fn what_a_selector_finds_is_told_of_by_its_name() {
    let mut pod = waits(json!({}), 0);
    merge(&mut pod, list("- {kind: Job, selector: app=a}"));
    let mut job = failed(json!({HOOK: "post-install"}));
    job["metadata"]["labels"] = json!({"app": "a"});
    let said = told(&pod, vec![job]);
    assert!(said.contains(POST_INSTALL), "{said}");
}

#[test]
fn a_later_sync_wave_and_a_hook_after_the_sync_are_told_of() {
    let said = told(&waits(json!({}), 0), vec![failed(json!({WAVE: "1"}))]);
    assert!(
        said.ends_with(
            "Job/migrate is in sync wave 1 of Argo CD, which comes only once wave 0, where this one is, is healthy: neither \
             comes; put it into an earlier wave"
        ),
        "{said}"
    );
    let after = json!({"argocd.argoproj.io/hook": "PostSync"});
    let said = told(&waits(json!({}), 0), vec![failed(after)]);
    assert!(said.contains("Job/migrate is a PostSync hook"), "{said}");
    for own in [json!({WAVE: "1"}), json!({WAVE: "2"})] {
        let said = told(&waits(own, 0), vec![failed(json!({WAVE: "1"}))]);
        assert!(!said.contains("wave"), "{said}");
    }
}

#[test]
fn what_is_there_was_made_and_what_is_of_another_release_is_made_by_itself() {
    let before = failed(json!({HOOK: "pre-upgrade"}));
    assert!(!told(&waits(json!({}), 0), vec![before]).contains("hook"));
    let release = |name: &str| json!({"sluice.dev/scope": name});
    let mut theirs = failed(json!({HOOK: "post-install"}));
    merge(&mut theirs, release("b"));
    let said = told(&waits(release("a"), 0), vec![theirs]);
    assert!(!said.contains("hook"), "{said}");
}

#[test]
fn what_is_missing_for_six_seconds_may_never_be_made() {
    let missing = "NotFound: not created yet, or misspelt";
    let never = format!(
        "{missing}; it may be a later hook or sync wave: if the installer waits for this workload, it never makes it"
    );
    for own in [json!({"sluice.dev/scope": "a"}), json!({WAVE: "0"})] {
        assert_eq!(told(&waits(own.clone(), 5), vec![]), missing);
        assert_eq!(told(&waits(own, 6), vec![]), never);
    }
    assert_eq!(told(&waits(json!({}), 10), vec![]), missing, "no installer");

    let pod = waits(json!({WAVE: "0"}), 2);
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &Cluster::of(vec![])) else {
        panic!("resolved")
    };
    let world = Cluster::of(vec![]);
    let now = Timestamp::UNIX_EPOCH;
    let list = dependent.edges(true, &world).unwrap();
    let judged = judge(&dependent, list, &Policy::of_the_chart(), &world, now);
    let after = jiff::SignedDuration::from_secs(4);
    assert_eq!(
        judged.again,
        Some(now + after),
        "it is looked at again then"
    );
}

#[test]
fn what_is_nearly_called_so_in_the_own_namespace_is_named() {
    let pod = |text: &str| {
        let mut pod = waits(json!({WAVE: "0"}), 60);
        merge(&mut pod, list(text));
        pod
    };
    let set = owned("StatefulSet", "db", None, json!({}));
    let job = owned("Job", "migrate-1", None, json!({}));
    let secret = json!({"kind": "Secret", "metadata": {"namespace": "shop", "name": "login"}});
    let asked = |text: &str| told(&pod(text), vec![set.clone(), job.clone(), secret.clone()]);
    let means =
        |likely: &str| format!("NotFound: not created yet, or misspelt; did you mean {likely}?");
    assert_eq!(asked("job/migrate"), means("Job/migrate-1"));
    assert_eq!(asked("deployment/db"), means("StatefulSet/db"));
    for (text, why) in [
        ("job/migrate-2", "another of a series"),
        ("configmap/db", "a workload is no ConfigMap"),
        ("job/sow", "far from all"),
        ("secret/logni", "no Secret is named"),
        ("job/migrate, job/migrate-1", "it is listed too"),
    ] {
        let said = asked(text);
        assert!(!said.contains("did you mean"), "{why}: {said}");
    }
    let mut elsewhere = job.clone();
    elsewhere["metadata"]["namespace"] = json!("data");
    let consents = json!({"kind": "Namespace", "metadata": {
        "name": "data", "annotations": {"sluice.dev/allow-dependents-from": "*"},
    }});
    for text in ["job/migrate", "data/job/migrate"] {
        let said = told(&pod(text), vec![elsewhere.clone(), consents.clone()]);
        assert!(said.starts_with("NotFound"), "{said}");
        assert!(!said.contains("did you mean"), "{said}");
    }
}

/// For the name of a ReplicaSet that does not exist its Deployment is suggested, since a Deployment makes ReplicaSets under names that change with
/// each rollout.
#[test]
fn a_replica_set_is_named_by_its_deployment() {
    let deployment = owned("Deployment", "store", None, json!({}));
    let made = owned(
        "ReplicaSet",
        "store-6d5f8b7c9d",
        Some(("Deployment", "store")),
        json!({}),
    );
    let asked = |text: &str, objects: Vec<Value>| {
        let mut pod = waits(json!({WAVE: "0"}), 60);
        merge(&mut pod, list(text));
        told(&pod, objects)
    };
    let expected = "NotFound: not created yet, or misspelt; did you mean Deployment/store?";
    for text in ["replicaset/store", "replicaset/store-5f7bdc8c4d"] {
        for objects in [
            vec![deployment.clone()],
            vec![made.clone()],
            vec![deployment.clone(), made.clone()],
        ] {
            assert_eq!(asked(text, objects), expected, "{text}");
        }
    }
}

#[test]
fn a_name_or_a_namespace_that_a_tool_has_changed_is_told() {
    let prefixed = owned("Deployment", "prod-db", None, json!({}));
    let moved = owned("Deployment", "cache", None, json!({}));
    let asked = |own: &str, text: &str| {
        let mut pod = waits(json!({WAVE: "0"}), 60);
        merge(&mut pod, list(text));
        pod["metadata"]["name"] = json!(own);
        told(&pod, vec![prefixed.clone(), moved.clone()])
    };
    let missing = "NotFound: not created yet, or misspelt";
    let said = asked("prod-api", "deployment/db");
    assert_eq!(said, format!("{missing}; did you mean Deployment/prod-db?"));
    let said = asked("web", "deployment/db");
    assert!(
        !said.contains("did you mean"),
        "no name shares the prefix: {said}"
    );
    let said = asked("web", "base/deployment/cache");
    assert!(
        said.starts_with("NotPermitted: Namespace base has not agreed")
            && said.ends_with("; did you mean Deployment/cache of this namespace?"),
        "{said}"
    );
    let said = asked("web", "base/deployment/else");
    assert!(
        !said.contains("did you mean") && !said.contains("never makes"),
        "{said}"
    );
}
