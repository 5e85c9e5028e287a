//! The workload above a pod: one that cannot be read, and a CronJob.

use super::*;

fn right(verb: &str, resource: &str) -> String {
    format!(
        "you may not {verb} {resource} in namespace shop; an administrator gives the right by kubectl create rolebinding NAME \
         --clusterrole=view --user=YOU -n shop"
    )
}

#[test]
fn the_right_to_read_an_owner_is_named() {
    for (path, resource) in [
        ("replicasets", "replicasets.apps"),
        ("deployments", "deployments.apps"),
    ] {
        let api = shop();
        api.hide(&format!("/apis/apps/v1/namespaces/shop/{path}"));
        let ran = ask(&api, &["api-1", "-n", "shop"]);
        let expected = format!(
            "error: cannot read the owner of pod \"api-1\": {}\n",
            right("get", resource)
        );
        assert_eq!((ran.error, ran.code), (expected, Some(1)));
    }
}

fn controlled_by(kind: &str, name: &str) -> Value {
    json!([{"apiVersion": "batch/v1", "kind": kind, "name": name, "uid": name, "controller": true}])
}

/// A CronJob of the release `nightly`, whose Jobs and pods carry no labels of the release.
fn nightly() -> Value {
    let labels = json!({"app.kubernetes.io/instance": "nightly"});
    let rest = json!({"metadata": {"labels": labels}, "spec": {"jobTemplate": {}}});
    object("batch/v1", "CronJob", "backup", rest)
}

#[test]
fn a_release_of_one_cron_job_is_found() {
    let above = json!({"metadata": {"ownerReferences": controlled_by("CronJob", "backup")}});
    let job = object("batch/v1", "Job", "backup-1", above);
    let mut pod = pod("backup-1-x", "none", passed());
    pod["metadata"]["ownerReferences"] = controlled_by("Job", "backup-1");
    let args = ["--release", "nightly", "-n", "shop"];
    let told = "release nightly in namespace shop: nothing waits";
    for objects in [
        vec![namespace("shop"), nightly(), job, pod],
        vec![namespace("shop"), nightly()],
    ] {
        let pods = objects.len() > 2;
        let ran = ask(&Api::start(&objects), &args);
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        let lines = shown(&ran);
        assert_eq!(lines[0], told);
        assert_eq!(lines.contains(&"CronJob/backup"), pods, "{lines:?}");
    }
}
