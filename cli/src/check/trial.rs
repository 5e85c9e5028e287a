//! Tries whether the API server admits a pod that asks for a gate, by a dry run.

use crate::access;
use crate::status;
use anyhow::Result;
use kube::api::PostParams;
use kube::core::request::Request;
use kube::{Client, Error};
use rules::gate;
use rules::keys;
use serde_json::{Value, json};

/// The answer of the API server to a pod that asks for a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrialOutcome {
    /// The pod of the dry run came back with a gate, and with image volumes where its images are pulled early.
    Gated {
        pulls: bool,
        /// The namespace of sluice, as the gate's address has it.
        home: Option<String>,
    },
    /// The pod of the dry run came back without a gate.
    Ungated,
    /// The namespace is one in which sluice gates no pod, so nothing was tried.
    Excluded,
    /// The caller may not create pods in the namespace of the dry run.
    Forbidden,
    NoNamespace,
    /// A webhook, a policy or a quota refused the pod, in these words.
    Refused(String),
}

/// Has the API server create a pod as a dry run, which stores nothing. Each answer of the API server is an outcome, a refusal too; only a
/// request without an answer is an error.
pub(super) async fn post(client: &Client, namespace: &str, pod: &Value) -> Result<TrialOutcome> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let request = Request::new(format!("/api/v1/namespaces/{namespace}/pods"));
    let request = request.create(&params, serde_json::to_vec(pod)?)?;
    Ok(match client.request::<Value>(request).await {
        Ok(admitted) if has_gate(&admitted) => TrialOutcome::Gated {
            pulls: gate::prefetched(&admitted).next().is_some(),
            home: status::home(&admitted),
        },
        Ok(_) => TrialOutcome::Ungated,
        Err(Error::Api(refusal)) if refusal.code == 404 => TrialOutcome::NoNamespace,
        // Only the API server's own words tell a missing right, because a policy may forbid the pod with the same code.
        Err(Error::Api(refusal)) if refusal.message.contains("cannot create resource") => {
            TrialOutcome::Forbidden
        }
        Err(Error::Api(refusal)) => TrialOutcome::Refused(refusal.message.clone()),
        Err(error) => return Err(access::failed(error)),
    })
}

/// The pod of the dry run. It has a list, so it asks for a gate; it asks for little room and for no right, so that usual policies admit it.
pub(super) fn pod() -> Value {
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
