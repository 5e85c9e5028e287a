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

/// `status` shows the word of the gate's log for a pod whose owner the caller may not read.
#[test]
fn a_pod_whose_owner_cannot_be_read_is_told_by_its_gate() {
    let api = shop();
    api.hide("/apis/apps/v1/namespaces/shop/deployments");
    let word = |pod: &str, line: &str| {
        let pod = object("v1", "Pod", pod, json!({}));
        api.log(&pod, &format!("sluice-gate: {line}\n"));
    };
    word(
        "api-1",
        "waiting 3s for Job/migrate: InProgress (JobNotComplete: so), and 1 other\nsluice-gate:   Job/seed: NotFound (NotFound)",
    );
    word("api-2", "open after 4s");
    let ran = ask(&api, &["-n", "shop", "-o", "json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    let tree = ran.lines().remove(0);
    let all = tree["workloads"].as_array().unwrap().iter();
    let mut pods = all.flat_map(|it| it["pods"].as_array().unwrap());
    let mut pod = |name: &str| pods.find(|it| it["name"] == name).unwrap();
    let waits = pod("api-1");
    let dependencies = waits["dependencies"].as_array().unwrap().iter();
    let told: Vec<_> = dependencies
        .map(|it| [&it["dependency"], &it["reason"]])
        .collect();
    let expected = [
        [&json!("Job/migrate"), &json!("JobNotComplete")],
        [&json!("Job/seed"), &json!("NotFound")],
    ];
    assert_eq!(told, expected, "{waits}");
    let right = right("get", "deployments.apps");
    assert!(
        waits["unknown"].as_str().unwrap().ends_with(&right),
        "{waits}"
    );
    let opened = pod("api-2");
    assert_eq!(
        (&opened["stage"], &opened["unknown"]),
        (&json!("starts"), &Value::Null),
        "{opened}"
    );
    assert_eq!(tree["waiting"], 1);
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
