//! What the policies of the chart make of an object, against what the webhook makes of it. The API server runs the one, this
//! process the other, and both results have to be the same object.
//!
//! The policies are the chart's own under other names, for one namespace only, with parameters that no installed sluice
//! has. Where the cluster's Kubernetes is older than 1.36 the test says `skipped:` and passes.

use serde_json::{Value, json};
use webhook::inject::{Action, Keys, Operation, Request, Subject, pod, workload};

use super::cluster::{kubectl, object, pod_template};
use super::helm::{Render, helm};
use crate::admission::{pod_fixtures, policy};

const NAMESPACE: &str = "policy-of-sluice";

/// Nothing of sluice looks in here, and nothing of the test stays: dry runs only.
const ELSEWHERE: &str = "kube-system";

const POLICIES: [&str; 3] = ["pods", "workloads", "cronjobs"];

struct Cleanup;

impl Drop for Cleanup {
    fn drop(&mut self) {
        for kind in ["mutatingadmissionpolicybinding", "mutatingadmissionpolicy"] {
            for half in POLICIES {
                let name = format!("{NAMESPACE}-{half}");
                let delete = ["delete", "--ignore-not-found", "--wait=false", kind, &name];
                let _ = kubectl(&delete, &Value::Null);
            }
        }
        let delete = ["delete", "--wait=false", "namespace", NAMESPACE];
        let _ = kubectl(&delete, &Value::Null);
    }
}

/// The chart's policies for [`NAMESPACE`] alone, and the parameters that `policy()` stands for.
fn policies() -> Option<Vec<Value>> {
    let manifest = Render::new(&helm()?)
        .flags(&["injection.backend=policy"])
        .manifest();
    let policy = policy();
    let mut objects = vec![json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "sluice-injection", "namespace": NAMESPACE},
        "data": policy.parameters(),
    })];
    for mut object in manifest.all("MutatingAdmissionPolicy") {
        rename(&mut object, "/metadata/name");
        object["spec"]["matchConstraints"]["namespaceSelector"] =
            json!({"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}});
        objects.push(object);
    }
    for mut object in manifest.all("MutatingAdmissionPolicyBinding") {
        rename(&mut object, "/metadata/name");
        rename(&mut object, "/spec/policyName");
        if let Some(namespace) = object.pointer_mut("/spec/paramRef/namespace") {
            *namespace = json!(NAMESPACE);
        }
        objects.push(object);
    }
    Some(objects)
}

fn rename(object: &mut Value, pointer: &str) {
    let name = object.pointer_mut(pointer).expect("a name");
    *name = json!(name.as_str().expect("a text").replace("sluice", NAMESPACE));
}

/// What the API server would store.
fn dry_run(verb: &str, object: &Value) -> Result<Value, String> {
    let args = [
        verb,
        "--validate=false",
        "--dry-run=server",
        "--output=json",
        "-f",
        "-",
    ];
    let printed = kubectl(&args, object)?;
    Ok(serde_json::from_str(&printed).expect("kubectl prints JSON"))
}

fn is_served() -> bool {
    let resources = [
        "api-resources",
        "--api-group=admissionregistration.k8s.io",
        "--output=name",
    ];
    let served = kubectl(&resources, &Value::Null).expect("a cluster");
    let served = served.contains("mutatingadmissionpolicies");
    if !served {
        eprintln!("skipped: this Kubernetes serves no MutatingAdmissionPolicy");
    }
    served
}

/// The API server reads policies with a delay.
fn wait_until_in_force(kind: &str) {
    let asks = json!({"sluice.dev/depends-on": "job/x"});
    let probe = in_namespace(
        NAMESPACE,
        object(kind, "probe", &asks, &pod_template(&json!({}))),
    );
    let probe = if kind == "Pod" {
        complete(probe)
    } else {
        probe
    };
    let mut last = Ok(Value::Null);
    let in_force = (0..100).any(|_| {
        last = dry_run("create", &probe);
        let made = last
            .as_ref()
            .is_ok_and(|made| made.to_string().contains("sluice.dev/gated"));
        if !made {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        made
    });
    assert!(
        in_force,
        "the policy for {kind} never came into force: {last:#?}"
    );
}

/// One test, because both halves share a namespace.
#[test]
#[ignore = "needs a cluster: make test"]
fn a_policy_makes_of_an_object_what_the_webhook_makes() {
    let Some(policies) = policies().filter(|_| is_served()) else {
        return;
    };
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    kubectl(&["apply", "-f", "-"], &namespace).expect("a namespace");
    let _cleanup = Cleanup;
    for (_, kind) in KINDS {
        for (name, annotations, template) in stored() {
            let object = object(kind, name, &annotations, &pod_template(&template));
            kubectl(&["create", "-f", "-"], &in_namespace(NAMESPACE, object))
                .expect("no policy yet");
        }
    }
    for object in policies {
        kubectl(&["apply", "-f", "-"], &object).expect("the API server accepts the policy");
    }
    ["Pod", "Deployment", "CronJob"]
        .into_iter()
        .for_each(wait_until_in_force);
    compare_pods();
    compare_workloads();
}

fn in_namespace(namespace: &str, mut object: Value) -> Value {
    object["metadata"]["namespace"] = json!(namespace);
    object
}

/// What counts of a pod.
fn essence(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    json!({"labels": metadata["labels"], "annotations": metadata["annotations"], "spec": pod["spec"]})
}

/// A fixture as the API server takes it: named, with images, and without a token of its own, whose volume gets a random name.
fn complete(mut pod: Value) -> Value {
    pod["metadata"]["name"] = json!("p");
    pod["spec"]["serviceAccountName"] = json!("default");
    pod["spec"]["automountServiceAccountToken"] = json!(false);
    for list in ["containers", "initContainers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            container["image"] = json!("x");
        }
    }
    pod
}

fn decided(kind: (&str, &str), object: &Value, old: &Value) -> Action {
    let subject = Subject {
        group: kind.0.to_owned(),
        kind: kind.1.to_owned(),
        namespace: NAMESPACE.to_owned(),
        name: "p".to_owned(),
    };
    let request = Request {
        operation: if old.is_null() {
            Operation::Create
        } else {
            Operation::Update
        },
        subject: &subject,
        object,
        old,
    };
    let keys = Keys::default();
    if kind.1 == "Pod" {
        let mut policy = policy();
        // As the chart renders it by default.
        policy.image_pull_policy = Some("IfNotPresent".to_owned());
        pod::decide(&request, keys, Some(&policy)).action
    } else {
        workload::decide(&request, keys).action
    }
}

fn applied(object: &Value, action: &Action) -> Value {
    let mut object = object.clone();
    if let Action::Patch(_, operations) = action {
        json_patch::patch(&mut object, operations).expect("the patch applies");
    }
    object
}

fn compare_pods() {
    let mut compared = 0;
    for (name, pod) in pod_fixtures() {
        let pod = complete(pod);
        // As admission sees it: with the API server's defaults.
        let Ok(plain) = dry_run("create", &in_namespace(ELSEWHERE, pod.clone())) else {
            eprintln!("{name}: no pod for an API server");
            continue;
        };
        let action = decided(("", "Pod"), &plain, &Value::Null);
        let expected = dry_run("create", &applied(&plain, &action)).expect(&name);
        let made = dry_run("create", &in_namespace(NAMESPACE, pod)).expect(&name);
        assert_eq!(
            essence(&made),
            essence(&expected),
            "{name}: {}",
            action.label()
        );
        compared += 1;
    }
    assert!(compared > 15, "only {compared} pods were compared");
}

const KINDS: [(&str, &str); 3] = [
    ("apps", "Deployment"),
    ("batch", "Job"),
    ("batch", "CronJob"),
];

fn template_of(object: &mut Value) -> &mut Value {
    let cron = object["kind"] == "CronJob";
    let spec = if cron {
        &mut object["spec"]["jobTemplate"]["spec"]
    } else {
        &mut object["spec"]
    };
    &mut spec["template"]
}

/// Eight updates of one object: with and without a list, a marker, and a change of the template.
fn updates(stored: &Value) -> Vec<Value> {
    let mut updates = Vec::new();
    for case in 0..8 {
        let mut new = stored.clone();
        let list = (case & 1 != 0).then_some("job/x");
        set(&mut new["metadata"], "sluice.dev/depends-on", list);
        let template = template_of(&mut new);
        set(
            &mut template["metadata"],
            "sluice.dev/gated",
            (case & 2 != 0).then_some("true"),
        );
        if case & 4 != 0 {
            set(&mut template["metadata"], "example.com/rolled", Some("yes"));
        }
        updates.push(new);
    }
    updates
}

fn set(metadata: &mut Value, key: &str, value: Option<&str>) {
    if metadata["annotations"].is_null() {
        metadata["annotations"] = json!({});
    }
    let annotations = metadata["annotations"].as_object_mut().expect("a mapping");
    match value {
        Some(value) => annotations.insert(key.to_owned(), json!(value)),
        None => annotations.remove(key),
    };
}

/// What is there before the policies are: name, annotations, annotations of the pod template.
fn stored() -> [(&'static str, Value, Value); 4] {
    let list = || json!({"sluice.dev/depends-on": "job/x"});
    let marker = || json!({"sluice.dev/gated": "true"});
    [
        ("plain", json!({}), json!({})),
        ("listed", list(), json!({})),
        ("gated", list(), marker()),
        ("left", json!({}), marker()),
    ]
}

fn compare_workloads() {
    for (group, kind) in KINDS {
        for (name, ..) in stored() {
            let reference = format!("{}/{name}", kind.to_lowercase());
            let get = ["-n", NAMESPACE, "get", "-o", "json", &reference];
            let old = kubectl(&get, &Value::Null).expect(name);
            let old: Value = serde_json::from_str(&old).expect("kubectl prints JSON");
            for new in updates(&old) {
                let expected = applied(&new, &decided((group, kind), &new, &old));
                match dry_run("replace", &new) {
                    Ok(made) => {
                        assert_eq!(marker(made), marker(expected), "{kind} {name}: {new:#}");
                    }
                    // The template of a Job cannot change, with or without us.
                    Err(complaint) => {
                        let rolled = new.to_string().contains("example.com/rolled");
                        assert!(
                            kind == "Job" && rolled,
                            "{kind} {name}: {complaint}\n{new:#}"
                        );
                    }
                }
            }
        }
    }
}

fn marker(mut object: Value) -> Value {
    template_of(&mut object)["metadata"]["annotations"]["sluice.dev/gated"].take()
}
