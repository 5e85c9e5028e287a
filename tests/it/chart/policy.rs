//! Compares the policies of the chart with the webhook on one object after the other. The API server runs the policies, this process runs the
//! webhook, and both results must be equal.
//!
//! The policies are the chart's own under other names, for one namespace only, with parameters that no installed sluice
//! has. Where the cluster's Kubernetes is older than 1.36 the test says `skipped:` and passes.

use harness::cluster::Look;
use serde_json::{Value, json};
use std::sync::LazyLock;
use tokio::runtime::Runtime;
use webhook::{Action, Holds, Operation, Options, Request, Subject, pod, workload};

mod prefetch;
mod starting;
mod workloads;

use super::cluster::{kubectl, object, pod_template};
use super::helm::{Render, helm};
use crate::admission::{patch, pod_fixtures, policy};

const NAMESPACE: &str = "policy-of-sluice";

/// A namespace that sluice leaves alone. The tests only make dry runs in it, so nothing stays.
const ELSEWHERE: &str = "kube-system";

const POLICIES: [&str; 3] = ["pods", "workloads", "cronjobs"];

/// The kinds of the policies' objects, each binding before its policy, for deletion in this order.
const KINDS_OF_POLICIES: [&str; 4] = [
    "MutatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
];

struct Cleanup;

impl Drop for Cleanup {
    fn drop(&mut self) {
        for kind in KINDS_OF_POLICIES.map(str::to_lowercase) {
            for half in POLICIES {
                let name = format!("{NAMESPACE}-{half}");
                let delete = ["delete", "--ignore-not-found", "--wait=false", &kind, &name];
                let _ = kubectl(&delete, &Value::Null);
            }
        }
        let delete = ["delete", "--wait=false", "namespace", NAMESPACE];
        let _ = kubectl(&delete, &Value::Null);
    }
}

/// Returns the ConfigMap with the parameters of the policies, made from [`policy`], the parts of a gate in tests.
fn parameters() -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "sluice-injection", "namespace": NAMESPACE},
        "data": policy().parameters(),
    })
}

/// Returns the chart's policies and bindings for [`NAMESPACE`] alone, with further flags; `None` without Helm.
fn policies(more: &[&str]) -> Option<Vec<Value>> {
    let manifest = Render::new(&helm()?)
        .flags(&[
            "injection.backend=policy",
            "backstop.enabled=false",
            "certificates.clusterTrustBundle=true",
            "gate.image.registry=localhost",
            "gate.image.repository=sluice-gate",
            "gate.image.tag=dev",
        ])
        .flags(more)
        .manifest();
    let objects = KINDS_OF_POLICIES.iter().flat_map(|kind| manifest.all(kind));
    let injects = |object: &Value| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        POLICIES.iter().any(|half| name == format!("sluice-{half}"))
    };
    Some(objects.filter(injects).map(moved).collect())
}

/// Returns a policy or a binding under another name and limited to the namespace of the test.
fn moved(mut object: Value) -> Value {
    for pointer in ["/metadata/name", "/spec/policyName"] {
        if let Some(name) = object.pointer_mut(pointer) {
            *name = json!(name.as_str().expect("a text").replace("sluice", NAMESPACE));
        }
    }
    if let Some(namespace) = object.pointer_mut("/spec/paramRef/namespace") {
        *namespace = json!(NAMESPACE);
    }
    if let Some(selector) = object.pointer_mut("/spec/matchConstraints/namespaceSelector") {
        *selector = json!({"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}});
    }
    object
}

/// Connections to the API server, for [`NAMESPACE`] and for [`ELSEWHERE`]: to start kubectl for each of two thousand questions takes minutes.
static LOOKS: LazyLock<(Runtime, [Look; 2])> = LazyLock::new(|| {
    let runtime = Runtime::new().expect("a runtime");
    let looks = [NAMESPACE, ELSEWHERE].map(|it| runtime.block_on(Look::at(it)));
    (runtime, looks)
});

/// Returns the object that the API server would store at a creation in the object's namespace, or the refusal.
fn would_create(object: &Value) -> Result<Value, String> {
    let (runtime, [own, elsewhere]) = &*LOOKS;
    let is_own = object["metadata"]["namespace"] == NAMESPACE;
    runtime.block_on(if is_own { own } else { elsewhere }.would_create(object))
}

/// Returns the object that the API server would store at an update in [`NAMESPACE`], or the refusal.
fn would_replace(object: &Value) -> Result<Value, String> {
    let (runtime, [own, _]) = &*LOOKS;
    runtime.block_on(own.would_replace(object))
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

/// Waits until the policy for a kind marks or gates an object that asks for it: the API server reads policies with a delay.
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
    until(&format!("the policy for {kind} is in force"), || {
        let made = would_create(&probe)?.to_string();
        made.contains("sluice.dev/gated").then_some(()).ok_or(made)
    });
}

/// Calls `holds` every 100 ms until it succeeds, for a quarter of an hour at most. Then fails with its last error.
fn until(what: &str, mut holds: impl FnMut() -> Result<(), String>) {
    let mut last = holds();
    for _ in 0..9000 {
        if last.is_err() {
            std::thread::sleep(std::time::Duration::from_millis(100));
            last = holds();
        }
    }
    assert_eq!(last, Ok(()), "never: {what}");
}

/// Whether no sluice is installed, whose webhook would change the objects that the policies alone are to make. Where one is, prints that the test is
/// skipped.
fn is_alone() -> bool {
    let installed = ["get", "mutatingwebhookconfiguration", "sluice"];
    let alone = kubectl(&installed, &Value::Null).is_err();
    if !alone {
        eprintln!("skipped: sluice is installed here");
    }
    alone
}

/// Waits until the policy that refuses pods without a gate, from any injector, is in force: the API server reads it with a delay.
fn wait_until_refused() {
    let asks = json!({"sluice.dev/depends-on": "job/x"});
    let probe = complete(in_namespace(
        NAMESPACE,
        object("Pod", "probe", &asks, &json!({})),
    ));
    until("a pod without a gate is refused", || {
        let complaint = would_create(&probe).err();
        complaint.map(drop).ok_or_else(|| "it is made".to_owned())
    });
}

/// The policies make of each pod and each workload what the webhook makes of it. This is one test, because all its parts share a namespace.
#[test]
#[ignore = "needs a cluster: make test"]
fn a_policy_makes_of_an_object_what_the_webhook_makes() {
    let Some(policies) = policies(&[]).filter(|_| is_served() && is_alone()) else {
        return;
    };
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    kubectl(&["apply", "-f", "-"], &namespace).expect("a namespace");
    let _cleanup = Cleanup;
    workloads::store();
    apply(policies);
    wait_until_refused();
    ["Deployment", "CronJob"]
        .into_iter()
        .for_each(wait_until_in_force);
    starting::only_who_asks_for_a_gate_is_refused(&parameters());
    kubectl(&["apply", "-f", "-"], &parameters()).expect("a ConfigMap");
    wait_until_in_force("Pod");
    compare_pods(Holds::Off);
    workloads::compare();
    prefetch::compare();
    with_holds(namespace);
}

fn apply(objects: Vec<Value>) {
    for object in objects {
        kubectl(&["apply", "-f", "-"], &object).expect("the API server accepts the policy");
    }
}

/// Applies the policies with holds on, and compares them with the webhook: pods that ask to be held are held, and then all pods, where the namespace
/// asks.
fn with_holds(mut namespace: Value) {
    let held = |annotations: &Value| {
        let mut annotations = annotations.clone();
        annotations["sluice.dev/depends-on"] = json!("job/x");
        let probe = object("Pod", "probe", &annotations, &json!({}));
        let made = would_create(&complete(in_namespace(NAMESPACE, probe)))?;
        let gates = made["spec"]["schedulingGates"].to_string();
        gates.contains("sluice.dev/hold").then_some(()).ok_or(gates)
    };
    apply(policies(&["holds.enabled=true"]).expect("as before"));
    until("who asks is held", || {
        held(&json!({"sluice.dev/hold": "true"}))
    });
    compare_pods(Holds::Asked);
    workloads::compare_suspended();
    namespace["metadata"]["labels"] = json!({"sluice.dev/hold": "enabled"});
    apply(vec![namespace]);
    until("who is in the namespace is held", || held(&json!({})));
    compare_pods(Holds::All);
}

/// Returns the pod, and where holds are on also variants of it, each with one more thing: a word of `sluice.dev/hold`, `sluice.dev/held`, a
/// scheduling gate of sluice or of another product, or a node.
fn variants(pod: &Value, holds: Holds) -> Vec<Value> {
    let mut variants = vec![pod.clone()];
    if holds == Holds::Off {
        return variants;
    }
    let mut add = |pointer: &[&str], value: Value| {
        let mut other = pod.clone();
        let place = pointer.iter().fold(&mut other, |at, key| &mut at[*key]);
        *place = value;
        variants.push(other);
    };
    let annotation = |key| ["metadata", "annotations", key];
    for word in ["true", "false"] {
        add(&annotation("sluice.dev/hold"), json!(word));
    }
    add(&annotation("sluice.dev/held"), json!("true"));
    for name in ["sluice.dev/hold", "example.com/quota"] {
        add(&["spec", "schedulingGates"], json!([{ "name": name }]));
    }
    add(&["spec", "nodeName"], json!("nowhere"));
    variants
}

fn in_namespace(namespace: &str, mut object: Value) -> Value {
    object["metadata"]["namespace"] = json!(namespace);
    object
}

/// Returns the parts of a pod that the test compares: labels, annotations and spec.
fn essence(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    json!({"labels": metadata["labels"], "annotations": metadata["annotations"], "spec": pod["spec"]})
}

/// Completes a pod so that the API server takes it: with a name, with images, and without a token of its own, whose volume would get a random name.
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

fn decided(kind: (&str, &str), object: &Value, old: &Value, holds: Holds) -> Action {
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
    let options = Options {
        holds,
        ..Options::default()
    };
    if kind.1 == "Pod" {
        let mut policy = policy();
        // As the chart renders it.
        policy.image_pull_policy = Some("IfNotPresent".to_owned());
        policy.cluster_trust_bundle = Some("sluice".to_owned());
        pod::decide(&request, options, Some(&policy.into())).action
    } else {
        workload::decide(&request, options).action
    }
}

fn applied(object: &Value, action: &Action) -> Value {
    let mut object = object.clone();
    if let Action::Patch(_, edits) = action {
        json_patch::patch(&mut object, &patch(edits)).expect("the patch applies");
    }
    object
}

fn compare_pods(holds: Holds) {
    let mut compared = 0;
    let of = |(name, pod): (String, Value)| {
        let variants = variants(&complete(pod), holds).into_iter();
        variants.map(move |variant| (name.clone(), variant))
    };
    for (name, pod) in pod_fixtures().into_iter().flat_map(of) {
        // As admission sees it: with the API server's defaults.
        let Ok(plain) = would_create(&in_namespace(ELSEWHERE, pod.clone())) else {
            eprintln!("{name}: no pod for an API server");
            continue;
        };
        let action = decided(("", "Pod"), &plain, &Value::Null, holds);
        let expected = would_create(&applied(&plain, &action)).expect(&name);
        let made = would_create(&in_namespace(NAMESPACE, pod)).expect(&name);
        assert_eq!(
            essence(&made),
            essence(&expected),
            "{name}: {holds:?}: {}",
            action.label()
        );
        compared += 1;
    }
    assert!(compared > 15, "only {compared} pods were compared");
}
