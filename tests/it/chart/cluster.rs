//! What a real API server makes of the webhook configuration while nobody stands behind it.
//!
//! The configuration is the chart's own, under another name and for one namespace only, so that nothing else in the
//! cluster notices. A request that it lets through was not sent to a webhook; one that it stops would have been.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::helm::{Render, helm, program};

const NAMESPACE: &str = "sluice-conditions";

/// kubectl on the cluster of `KUBECONFIG`: what it printed, or what it complained of.
fn kubectl(args: &[&str], input: &Value) -> Result<String, String> {
    let mut child = Command::new(program("kubectl").expect("the cluster's tests need kubectl"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kubectl must start");
    let mut stdin = child.stdin.take().expect("piped");
    stdin
        .write_all(input.to_string().as_bytes())
        .expect("kubectl reads");
    drop(stdin);
    let output = child.wait_with_output().expect("kubectl must end");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr))
    }
}

/// Takes the namespace and the configuration away, however the test ends.
struct Cleanup;

impl Drop for Cleanup {
    fn drop(&mut self) {
        for object in [
            ["mutatingwebhookconfiguration", NAMESPACE],
            ["namespace", NAMESPACE],
        ] {
            let _ = kubectl(
                &[
                    "delete",
                    "--ignore-not-found",
                    "--wait=false",
                    object[0],
                    object[1],
                ],
                &Value::Null,
            );
        }
    }
}

/// The chart's configuration for [`NAMESPACE`] alone, with a service that does not exist.
fn configuration() -> Option<Value> {
    let mut configuration = Render::new(&helm()?)
        .manifest()
        .only("MutatingWebhookConfiguration");
    configuration["metadata"] = json!({"name": NAMESPACE});
    for webhook in configuration["webhooks"].as_array_mut()? {
        webhook["clientConfig"]["service"]["namespace"] = json!(NAMESPACE);
        webhook["namespaceSelector"] =
            json!({"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}});
    }
    Some(configuration)
}

fn pod_template(annotations: &Value) -> Value {
    json!({
        "metadata": {"labels": {"app": "x"}, "annotations": annotations},
        "spec": {"restartPolicy": "Always", "containers": [{"name": "x", "image": "x"}]},
    })
}

/// One object of a kind, without replicas so that nothing runs.
fn object(kind: &str, name: &str, annotations: &Value, template: &Value) -> Value {
    let mut object = json!({"kind": kind, "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations}});
    let labels = json!({"app": "x"});
    let mut once = template.clone();
    once["spec"]["restartPolicy"] = json!("Never");
    let (version, spec) = match kind {
        "Deployment" | "ReplicaSet" => (
            "apps/v1",
            json!({"replicas": 0, "selector": {"matchLabels": labels}, "template": template}),
        ),
        "StatefulSet" => (
            "apps/v1",
            json!({"replicas": 0, "serviceName": "x", "selector": {"matchLabels": labels}, "template": template}),
        ),
        "DaemonSet" => {
            let mut nowhere = template.clone();
            nowhere["spec"]["nodeSelector"] = json!({"nowhere": "true"});
            (
                "apps/v1",
                json!({"selector": {"matchLabels": labels}, "template": nowhere}),
            )
        }
        "ReplicationController" => (
            "v1",
            json!({"replicas": 0, "selector": labels, "template": template}),
        ),
        "Job" => ("batch/v1", json!({"suspend": true, "template": once})),
        "CronJob" => (
            "batch/v1",
            json!({"suspend": true, "schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": once}}}),
        ),
        _ => (
            "v1",
            json!({"containers": [{"name": "x", "image": "x"}], "nodeSelector": {"nowhere": "true"}}),
        ),
    };
    object["apiVersion"] = json!(version);
    object["spec"] = spec;
    object
}

const KINDS: [&str; 8] = [
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "Pod",
];

/// Whether the API server would have called the webhook.
fn stopped(verb: &str, object: &Value) -> bool {
    match kubectl(&[verb, "-f", "-"], object) {
        Ok(_) => false,
        Err(complaint)
            if complaint.contains("failed calling webhook")
                && complaint.contains(".sluice.dev") =>
        {
            true
        }
        Err(complaint) => panic!("{verb} failed for another reason: {complaint}\n{object:#}"),
    }
}

#[test]
#[ignore = "needs a cluster: make test"]
fn a_stopped_webhook_holds_up_only_what_asked_for_it() {
    let Some(configuration) = configuration() else {
        return;
    };
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    kubectl(&["apply", "-f", "-"], &namespace).expect("a namespace");
    let _cleanup = Cleanup;
    let none = json!({});
    let asks = json!({"sluice.dev/depends-on": "svc/redis"});
    let marked = json!({"sluice.dev/gated": "true"});

    // Before the configuration: what was there when sluice arrived.
    for kind in KINDS.iter().filter(|kind| **kind != "Pod") {
        kubectl(
            &["create", "-f", "-"],
            &object(kind, "asked", &asks, &pod_template(&none)),
        )
        .expect("no webhook yet");
    }
    kubectl(&["create", "-f", "-"], &configuration)
        .expect("the API server accepts the configuration");
    wait_until_in_force(&object("Pod", "probe", &asks, &none));

    for kind in KINDS {
        let plain = object(kind, "plain", &none, &pod_template(&none));
        assert!(!stopped("create", &plain), "{kind} without annotations");
        let foreign = object(
            kind,
            "foreign",
            &json!({"example.com/depends-on": "x"}),
            &pod_template(&none),
        );
        assert!(
            !stopped("create", &foreign),
            "{kind} with somebody else's annotation"
        );
        for key in [
            "sluice.dev/depends-on",
            "config.kubernetes.io/depends-on",
            "sluice.dev/weight",
        ] {
            assert!(
                stopped(
                    "create",
                    &object(kind, "new", &json!({key: "1"}), &pod_template(&none))
                ),
                "{kind} with {key}"
            );
        }
        let mut owned = object(kind, "owned", &asks, &pod_template(&none));
        owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "a5cb1d1c-7d3b-4b0e-8d37-5f1f5a0c8a51", "controller": true}]);
        assert_eq!(
            stopped("create", &owned),
            kind == "Pod",
            "{kind} with a controller"
        );
    }
    for kind in KINDS.iter().filter(|kind| **kind != "Pod") {
        let labelled = |mut object: Value| {
            object["metadata"]["labels"] = json!({"touched": "true"});
            object
        };
        let unchanged = object(kind, "asked", &asks, &pod_template(&none));
        assert!(!stopped("apply", &labelled(unchanged)), "{kind}: a label");
        let list = json!({"sluice.dev/depends-on": "svc/other"});
        assert!(
            stopped("apply", &object(kind, "asked", &list, &pod_template(&none))),
            "{kind}: the list"
        );
        assert!(
            stopped("apply", &object(kind, "plain", &asks, &pod_template(&none))),
            "{kind}: a first list"
        );
        if *kind != "Job" {
            assert!(
                stopped(
                    "apply",
                    &object(kind, "asked", &asks, &pod_template(&marked))
                ),
                "{kind}: the template"
            );
            assert!(
                stopped(
                    "apply",
                    &object(kind, "plain", &none, &pod_template(&marked))
                ),
                "{kind}: the marker"
            );
            let other = json!({"example.com/restarted": "now"});
            assert!(
                !stopped(
                    "apply",
                    &object(kind, "plain", &none, &pod_template(&other))
                ),
                "{kind}: a template of no concern"
            );
        }
        let name = format!("{}/asked", kind.to_lowercase());
        kubectl(&["-n", NAMESPACE, "delete", &name], &Value::Null).expect("a delete is never sent");
    }
    assert!(
        stopped("create", &object("Pod", "marked", &marked, &none)),
        "a pod of a marked template"
    );
    let mirror = json!({"sluice.dev/gated": "true", "kubernetes.io/config.mirror": "x"});
    let complaint = kubectl(
        &["create", "-f", "-"],
        &object("Pod", "mirror", &mirror, &none),
    )
    .err()
    .unwrap_or_default();
    assert!(
        !complaint.contains("failed calling webhook"),
        "a mirror pod: {complaint}"
    );
}

/// The API server reads configurations with a delay, so asks until a pod is stopped.
fn wait_until_in_force(probe: &Value) {
    for _ in 0..100 {
        if stopped("create", probe) {
            return;
        }
        let _ = kubectl(
            &["-n", NAMESPACE, "delete", "--now", "pod/probe"],
            &Value::Null,
        );
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("the configuration never came into force");
}
