//! The whole way of a gated pod through the API server, as a dry run: nothing is stored.

use super::Checked;
use super::namespaces::EXCLUDED;
use crate::access;
use crate::installation::Installation;
use anyhow::Result;
use kube::api::PostParams;
use kube::core::request::Request;
use kube::{Client, Error};
use rules::keys;
use serde_json::{Value, json};

const CHECK: &str = "admission";

/// The result of the dry run that creates a pod which asks for a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tried {
    pub(super) namespace: String,
    pub(super) answer: TrialOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrialOutcome {
    /// The pod of the dry run came back with a gate.
    Gated,
    /// The pod of the dry run came back without a gate.
    Ungated,
    /// The namespace is none in which pods are gated.
    Excluded,
    /// The caller may not create pods in the namespace of the dry run.
    Forbidden,
    NoNamespace,
    /// A webhook or a policy refused it, in these words.
    Refused(String),
}

impl Tried {
    pub(super) async fn of(
        client: &Client,
        namespace: &str,
        installation: &Installation,
    ) -> Result<Self> {
        let answer = if EXCLUDED.contains(&namespace) || installation.is_in(namespace) {
            TrialOutcome::Excluded
        } else {
            post(client, namespace).await?
        };
        Ok(Self {
            namespace: namespace.to_owned(),
            answer,
        })
    }
}

async fn post(client: &Client, namespace: &str) -> Result<TrialOutcome> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let request = Request::new(format!("/api/v1/namespaces/{namespace}/pods"));
    let request = request.create(&params, serde_json::to_vec(&pod())?)?;
    Ok(match client.request::<Value>(request).await {
        Ok(admitted) if has_gate(&admitted) => TrialOutcome::Gated,
        Ok(_) => TrialOutcome::Ungated,
        Err(Error::Api(status)) if status.code == 404 => TrialOutcome::NoNamespace,
        // A right that is missing, by the API server's own words; a policy may forbid as well.
        Err(Error::Api(status)) if status.message.contains("cannot create resource") => {
            TrialOutcome::Forbidden
        }
        Err(Error::Api(status)) => TrialOutcome::Refused(status.message.clone()),
        Err(error) => return Err(access::failed(error)),
    })
}

/// A pod that every policy lets pass: it asks for little and for no right.
fn pod() -> Value {
    let resources = json!({"cpu": "10m", "memory": "16Mi"});
    let security = json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"generateName": "sluice-check-", "annotations": {keys::DEPENDS_ON: "configmap/sluice-check"}},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "check", "image": "registry.k8s.io/pause:3.10", "securityContext": security,
                "resources": {"requests": resources, "limits": resources},
            }],
        },
    })
}

fn has_gate(pod: &Value) -> bool {
    let containers = pod["spec"]["initContainers"].as_array();
    let mut containers = containers.into_iter().flatten();
    containers.any(|it| it["name"] == keys::GATE_CONTAINER)
}

pub(super) fn judge(tried: &Tried) -> Checked {
    let Tried { namespace, answer } = tried;
    match answer {
        TrialOutcome::Gated => Checked::ok(
            CHECK,
            format!("the API server gives a pod in namespace {namespace} its gate (a dry run)"),
        ),
        TrialOutcome::Ungated => Checked::problem(
            CHECK,
            format!(
                "the API server admits a pod in namespace {namespace} that asks for a gate without one (a dry run): it does not ask sluice, or goes on without its answer; look at the chart's values admission.excludeNamespaces, admission.namespaceSelector and admission.failurePolicy, and at the controller's log"
            ),
        ),
        TrialOutcome::Refused(why) if why.contains("sluice.dev") => Checked::problem(
            CHECK,
            format!(
                "the API server does not get an answer of sluice for a pod in namespace {namespace} (a dry run): {why}; look at the controller's pods and log, and whether the control plane reaches port 10250 of them"
            ),
        ),
        TrialOutcome::Refused(why) => Checked::warning(
            CHECK,
            format!(
                "another rule of the cluster refuses the pod that is tried in namespace {namespace}: {why}; {}",
                way_out(why)
            ),
        ),
        TrialOutcome::Excluded => Checked::warning(
            CHECK,
            format!(
                "nothing is gated in namespace {namespace}; name another one with -n to try it"
            ),
        ),
        TrialOutcome::Forbidden => Checked::warning(
            CHECK,
            format!(
                "not tried: {}; or name another namespace with -n",
                access::missing("create", "pods", Some(namespace))
            ),
        ),
        TrialOutcome::NoNamespace => Checked::warning(
            CHECK,
            format!("not tried: namespace {namespace} does not exist; name another one with -n"),
        ),
    }
}

/// Words of the API server about a LimitRange and a quota.
const OF_ROOM: [&str; 5] = [
    "usage per Container",
    "usage per Pod",
    "limit to request ratio",
    "exceeded quota",
    "failed quota",
];

/// What to do about a rule of the cluster that refuses the tried pod.
fn way_out(why: &str) -> &'static str {
    if OF_ROOM.iter().any(|words| why.contains(words)) {
        return "the tried pod asks for 10m and 16Mi, and a gate for what its pod's smallest container asks for: pods that fit are admitted with \
                their gates, unless gate.resources of sluice's chart is set and does not fit; then leave it empty";
    }
    if why.contains("PodSecurity") {
        return "the tried pod keeps to the level restricted, so look at the field that is named: the gate's user is \
                gate.runAsUser of sluice's chart";
    }
    "where it is about an image, let it admit that of the gate (gate.image of sluice's chart); or name another namespace with -n"
}
