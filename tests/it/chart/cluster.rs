//! Tries the match conditions of the chart's webhook configuration in a real API server, while no webhook answers.
//!
//! The configuration has another name and is for one namespace only, so that nothing else in the cluster notices. A request that the API server lets
//! through was not sent to a webhook; a request that it refuses would have been.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::helm::{Render, helm, program};

/// The namespace, and the name of the configuration. It sorts before "sluice", because the API server calls webhooks by the name
/// of their configuration, and an installed sluice would be called first.
const NAMESPACE: &str = "conditions-of-sluice";

const WORKLOADS: [&str; 7] = [
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
];

/// Runs kubectl on the cluster of `KUBECONFIG`, with this input. Returns its standard output, or if it fails its standard error.
pub(super) fn kubectl(args: &[&str], input: &Value) -> Result<String, String> {
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

/// Deletes the namespace and the configuration when it is dropped, however the test ends.
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

/// Returns the chart's webhook configuration for [`NAMESPACE`] alone, with a service that does not exist; `None` without Helm.
fn configuration() -> Option<Value> {
    let mut configuration = Render::new(&helm()?)
        .manifest()
        .only("MutatingWebhookConfiguration");
    configuration["metadata"] = json!({"name": NAMESPACE});
    for webhook in configuration["webhooks"].as_array_mut()? {
        webhook["clientConfig"]["service"]["namespace"] = json!(NAMESPACE);
        let mut labels = json!({"kubernetes.io/metadata.name": NAMESPACE});
        if webhook["name"] == "every-pod.sluice.dev" {
            labels["sluice.dev/inject"] = json!("enabled");
        }
        webhook["namespaceSelector"] = json!({"matchLabels": labels});
    }
    Some(configuration)
}

pub(super) fn pod_template(annotations: &Value) -> Value {
    json!({
        "metadata": {"labels": {"app": "x"}, "annotations": annotations},
        "spec": {"restartPolicy": "Always", "containers": [{"name": "x", "image": "x"}]},
    })
}

/// Returns an object of this kind with this pod template, or for any other kind a pod without it. Nothing of it runs: it has no replicas, is
/// suspended, or asks for a node that is not there.
pub(super) fn object(kind: &str, name: &str, annotations: &Value, template: &Value) -> Value {
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

/// Runs kubectl with this verb on an object. Returns whether the API server would have called the webhook: whether it failed because no webhook
/// answers. Another failure fails the test.
fn stopped(verb: &str, object: &Value) -> bool {
    let Err(complaint) = kubectl(&[verb, "-f", "-"], object) else {
        return false;
    };
    let called = complaint.contains("failed calling webhook") && complaint.contains(".sluice.dev");
    assert!(
        called,
        "{verb} failed for another reason: {complaint}\n{object:#}"
    );
    true
}

/// Creates a pod again and again until the webhook would be called: the API server reads configurations with a delay. Fails after a hundred tries.
fn wait_until_in_force(probe: &Value) {
    let in_force = (0..100).any(|_| {
        stopped("create", probe) || {
            let _ = kubectl(
                &["-n", NAMESPACE, "delete", "--now", "pod/probe"],
                &Value::Null,
            );
            std::thread::sleep(std::time::Duration::from_millis(100));
            false
        }
    });
    assert!(in_force, "the configuration never came into force");
}

fn none() -> Value {
    json!({})
}

fn asks() -> Value {
    json!({"sluice.dev/depends-on": "svc/redis"})
}

fn marked() -> Value {
    json!({"sluice.dev/gated": "true"})
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

    // Before the configuration: what was there when sluice arrived.
    for kind in WORKLOADS {
        let early = object(kind, "early", &asks(), &pod_template(&none()));
        let template = object(kind, "early-template", &none(), &pod_template(&asks()));
        for object in [early, template] {
            kubectl(&["create", "-f", "-"], &object).expect("no webhook yet");
        }
    }
    kubectl(&["create", "-f", "-"], &configuration)
        .expect("the API server accepts the configuration");
    wait_until_in_force(&object("Pod", "probe", &asks(), &none()));

    for kind in WORKLOADS {
        creates(kind);
        updates(kind);
        let name = format!("{}/early", kind.to_lowercase());
        kubectl(&["-n", NAMESPACE, "delete", &name], &Value::Null).expect("a delete is never sent");
    }
    creates("Pod");
    assert!(
        stopped("create", &object("Pod", "marked", &marked(), &none())),
        "a pod of a marked template"
    );
    let mut copy = object("Pod", "copy", &none(), &none());
    copy["spec"]["initContainers"] = json!([{"name": "sluice-gate", "image": "x"}]);
    assert!(
        stopped("create", &copy),
        "a copy of a gated pod, without its label"
    );
    copy["metadata"]["labels"] = json!({"sluice.dev/gated": "true"});
    assert!(!stopped("create", &copy), "a copy with its label");
    let mirror = json!({"sluice.dev/gated": "true", "kubernetes.io/config.mirror": "x"});
    let complaint = kubectl(
        &["create", "-f", "-"],
        &object("Pod", "mirror", &mirror, &none()),
    )
    .err()
    .unwrap_or_default();
    assert!(
        !complaint.contains("failed calling webhook"),
        "a mirror pod: {complaint}"
    );
    let every = ["label", "namespace", NAMESPACE, "sluice.dev/inject=enabled"];
    kubectl(&every, &Value::Null).expect("the namespace is ours");
    wait_until_in_force(&object("Pod", "probe", &none(), &none()));
}

fn creates(kind: &str) {
    let new =
        |name: &str, annotations: &Value| object(kind, name, annotations, &pod_template(&none()));
    assert!(
        !stopped("create", &new("plain", &none())),
        "{kind} without annotations"
    );
    assert!(
        !stopped(
            "create",
            &new("foreign", &json!({"example.com/depends-on": "x"}))
        ),
        "{kind} with a foreign key"
    );
    for key in rules::keys::ASKING {
        assert!(
            stopped("create", &new("new", &json!({key: "1"}))),
            "{kind} with {key}"
        );
    }
    if kind != "Pod" {
        creates_with_template(kind);
    }
    let mut owned = new("owned", &asks());
    owned["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "a5cb1d1c-7d3b-4b0e-8d37-5f1f5a0c8a51", "controller": true,
    }]);
    assert_eq!(
        stopped("create", &owned),
        kind == "Pod",
        "{kind} with a controller"
    );
}

/// Checks workloads of this kind with a key on their pod template alone: their creation calls the webhook for each key that asks for a gate, and for
/// no other.
fn creates_with_template(kind: &str) {
    let new = |annotations: &Value| object(kind, "new", &none(), &pod_template(annotations));
    for key in rules::keys::ASKING {
        assert!(
            stopped("create", &new(&json!({key: "1"}))),
            "{kind} with {key} on its template"
        );
    }
    for (name, annotations) in [
        ("marked", marked()),
        ("foreign-template", json!({"example.com/depends-on": "x"})),
        ("terms", json!({"sluice.dev/timeout": "1m"})),
    ] {
        let object = object(kind, name, &none(), &pod_template(&annotations));
        assert!(
            !stopped("create", &object),
            "{kind} with {annotations} on its template"
        );
    }
}

/// Checks updates of the stored workloads of this kind, with a list on themselves, on their template, or nowhere: whether each calls the webhook. The
/// template of a Job cannot change, so it is left out.
fn updates(kind: &str) {
    let changed = |name: &str, annotations: &Value, template: &Value| {
        object(kind, name, annotations, &pod_template(template))
    };
    let mut touched = changed("early", &asks(), &none());
    touched["metadata"]["labels"] = json!({"touched": "true"});
    assert!(!stopped("apply", &touched), "{kind}: a label");
    let list = json!({"sluice.dev/depends-on": "svc/other"});
    assert!(
        stopped("apply", &changed("early", &list, &none())),
        "{kind}: the list"
    );
    assert!(
        stopped("apply", &changed("plain", &asks(), &none())),
        "{kind}: a first list"
    );
    if kind == "Job" {
        return; // its template cannot change
    }
    let other = json!({"example.com/restarted": "now"});
    assert!(
        stopped("apply", &changed("early", &asks(), &other)),
        "{kind}: the template of one with a list"
    );
    assert!(
        stopped("apply", &changed("plain", &none(), &marked())),
        "{kind}: the marker by hand"
    );
    assert!(
        stopped("apply", &changed("plain", &none(), &asks())),
        "{kind}: a first list on the template"
    );
    let mut labelled = changed("early-template", &none(), &asks());
    labelled["metadata"]["labels"] = json!({"touched": "true"});
    assert!(
        !stopped("apply", &labelled),
        "{kind}: a label of one with a list on its template"
    );
    assert!(
        stopped("apply", &changed("early-template", &none(), &list)),
        "{kind}: the list on the template"
    );
    let rolled = json!({"sluice.dev/depends-on": "svc/redis", "example.com/restarted": "now"});
    assert!(
        stopped("apply", &changed("early-template", &none(), &rolled)),
        "{kind}: the template of one with a list on it"
    );
    assert!(
        !stopped("apply", &changed("plain", &none(), &other)),
        "{kind}: a template of no concern"
    );
}
