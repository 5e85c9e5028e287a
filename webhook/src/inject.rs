//! What admission does with one object. Pure: the same object, options and spec give the same decision, byte for byte,
//! because webhooks are called again after others have changed the object.
//!
//! Two halves. [`workload`] puts one constant marker into a pod template and knows nothing of the gate, so that neither
//! an upgrade nor another image ever changes a workload. [`pod`] puts the gate into one pod.

mod container;
mod decision;
mod hints;
mod lists;
mod patch;
pub mod pod;
mod position;
mod qos;
mod renewal;
mod resources;
mod warning;
pub mod workload;

pub use container::GateParts;
pub use decision::{Action, Decision, Skip};
pub(crate) use decision::{Change, Deny, Place};
pub(crate) use hints::hints;
pub use lists::{Holds, Options};
pub use patch::Edit;
pub use resources::{Amounts, Resources, ResourcesError};
pub(crate) use warning::Warning;

use rules::path::get;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The user that the gate runs as where the administrator does not leave it to the platform.
pub const GATE_USER: i64 = 65532;

/// Everything about the gate that is not in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSpec {
    /// The gate's image, best by digest.
    pub image: String,
    /// `imagePullPolicy` of the gate; `None` leaves it to Kubernetes.
    pub image_pull_policy: Option<String>,
    /// Pull secrets that a gated pod gets beside its own; each has to be in the pod's namespace.
    pub image_pull_secrets: Vec<String>,
    /// The CA bundle that the gate trusts, PEM.
    pub ca_bundle: String,
    /// The ClusterTrustBundle that the gate trusts beside it, as it is at the time; `None` where kubelets cannot mount one.
    pub cluster_trust_bundle: Option<String>,
    /// `host:port` of the status service in the order in which a gate tries them: the ClusterIP first, because it needs
    /// no DNS, which a `hostNetwork` pod may not have and which may itself be gated.
    pub addresses: Vec<String>,
    /// The name that the service's certificate carries.
    pub server_name: String,
    /// `runAsUser` of the gate in a pod that names no user, or user 0; [`GATE_USER`] as a rule. `None` where the platform hands
    /// out users, as `OpenShift` does; the image has a numeric user of its own.
    pub run_as_user: Option<i64>,
    /// What the gate asks for in pods that ask for something; `None`: what one of their containers asks for.
    pub resources: Option<Resources>,
}

impl GateSpec {
    /// What a MutatingAdmissionPolicy of the chart takes from its ConfigMap: the part that only the controller knows.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        [
            ("addresses", self.addresses.join(",")),
            ("serverName", self.server_name.clone()),
            ("caBundle", self.ca_bundle.clone()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    /// The ports of the addresses, each once.
    fn ports(&self) -> Vec<u16> {
        let mut ports: Vec<u16> = Vec::new();
        for address in &self.addresses {
            let port = address
                .rsplit(':')
                .next()
                .and_then(|port| port.parse().ok());
            ports.extend(port.filter(|port| !ports.contains(port)));
        }
        ports
    }
}

/// One admission request, as far as a decision looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What the user does.
    pub operation: Operation,
    /// Which object.
    pub subject: &'a Subject,
    /// The object as it would be stored, `Null` where there is none.
    pub object: &'a Value,
    /// The object as it is stored, `Null` on a CREATE.
    pub old: &'a Value,
}

/// The operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `CREATE`
    Create,
    /// `UPDATE`
    Update,
    /// `DELETE`, `CONNECT`, and whatever may come: always allowed.
    Other,
}

impl Operation {
    /// Reads the word of an AdmissionReview.
    pub fn read(word: &str) -> Self {
        match word {
            "CREATE" => Self::Create,
            "UPDATE" => Self::Update,
            _ => Self::Other,
        }
    }

    /// The metric label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Other => "other",
        }
    }
}

/// The object that a request is about, as messages name it: `shop/Deployment/api`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// API group, empty for the core group.
    pub group: String,
    /// `Deployment`
    pub kind: String,
    /// Empty for a cluster-scoped kind.
    pub namespace: String,
    /// `web-7d9f-*` while the API server has not made up the rest yet; empty where not even that is known.
    pub name: String,
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(out, "{}/", self.namespace)?;
        }
        let name = if self.name.is_empty() {
            "(no name)"
        } else {
            &self.name
        };
        write!(out, "{}/{name}", self.kind)
    }
}

/// `metadata.annotations`, where the object has any.
fn annotations(object: &Value) -> Option<&serde_json::Map<String, Value>> {
    get(object, &["metadata", "annotations"])?.as_object()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_named_once() {
        let spec = GateSpec {
            image: String::new(),
            image_pull_policy: None,
            image_pull_secrets: Vec::new(),
            ca_bundle: String::new(),
            cluster_trust_bundle: None,
            addresses: vec![
                "10.0.0.7:9764".into(),
                "[fd00::1]:9764".into(),
                "sluice.x.svc:444".into(),
                "bad".into(),
            ],
            server_name: String::new(),
            run_as_user: None,
            resources: None,
        };
        assert_eq!(spec.ports(), [9764, 444]);
    }
}
