//! Decides on one object of an admission request. Pure: equal objects, options and parts give the same decision, byte
//! for byte, because the API server calls a webhook again after other webhooks have changed the object.
//!
//! There are two halves. [`workload`] puts one constant marker into a pod template and knows nothing of the gate, so
//! neither an upgrade nor another image changes a workload. [`pod`] puts the gate into one pod.

mod container;
pub(crate) mod creation;
mod decision;
mod gate_renewal;
mod hints;
mod lists;
mod patch;
pub mod pod;
mod position;
mod prefetch;
mod qos;
mod resources;
mod template;
mod warning;
pub mod workload;

pub use container::GateParts;
pub use decision::{Action, Decision, Skip};
pub(crate) use decision::{Change, Deny, ListPlace};
pub(crate) use hints::hints;
pub use lists::{Holds, Options, Prefetch};
pub use patch::Edit;
pub use resources::{Amounts, Resources, ResourcesError};
pub(crate) use warning::Warning;

use rules::path::get;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use strum::IntoStaticStr;

/// The ID of the user that the gate runs as, unless the administrator leaves the user to the platform.
pub const GATE_USER: i64 = 65532;

/// The facts from which gates are made and that are in no request: the image, the addresses, the CA, the resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSpec {
    /// The gate's image, best by digest.
    pub image: String,
    /// `imagePullPolicy` of the gate; `None` leaves it to Kubernetes.
    pub image_pull_policy: Option<String>,
    /// The names of pull secrets that a gated pod gets beside its own; each has to be in the pod's namespace.
    pub image_pull_secrets: Vec<String>,
    /// The CA bundle by which the gate verifies the status service, PEM.
    pub ca_bundle: String,
    /// The name of the ClusterTrustBundle that the gate trusts beside `ca_bundle`, at its present contents; `None` where
    /// kubelets cannot mount one.
    pub cluster_trust_bundle: Option<String>,
    /// `host:port` of the status service, in the order in which a gate tries them. The ClusterIP comes first because
    /// it needs no DNS: a `hostNetwork` pod may have no cluster DNS, and the DNS server's own pods may be gated.
    pub addresses: Vec<String>,
    /// The name in the status service's certificate.
    pub server_name: String,
    /// `runAsUser` of the gate in a pod that names no user, or user 0; usually [`GATE_USER`]. `None` where the
    /// platform assigns users, as `OpenShift` does; the image has a numeric user of its own.
    pub run_as_user: Option<i64>,
    /// The gate's resources in pods that request some; `None` takes those of one of the pod's containers.
    pub resources: Option<Resources>,
    /// Whether the API server takes pods with image volumes.
    pub image_volumes: bool,
}

impl GateSpec {
    /// The parameters of the chart's MutatingAdmissionPolicy that only the controller knows, by key: `addresses`,
    /// `serverName` and `caBundle`.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        [
            ("addresses", self.addresses.join(",")),
            ("serverName", self.server_name.clone()),
            ("caBundle", self.ca_bundle.clone()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    /// The ports of the status service's addresses, each once. An address without a port number is passed over.
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

/// The fields of an admission request that decisions read.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The operation by which the user changes the object.
    pub operation: Operation,
    /// The object's group, kind, namespace and name.
    pub subject: &'a Subject,
    /// The object as it would be stored; `Null` where there is none.
    pub object: &'a Value,
    /// The object as it is stored; `Null` on a CREATE.
    pub old: &'a Value,
}

/// The operation of an admission request on its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Operation {
    /// The operation `CREATE` of an admission request.
    Create,
    /// The operation `UPDATE` of an admission request.
    Update,
    /// The operations `DELETE`, `CONNECT` and any future one of an admission request: always allowed.
    Other,
}

impl Operation {
    /// Reads the operation of an AdmissionReview, such as `CREATE`. Every word but `CREATE` and `UPDATE` is [`Operation::Other`].
    pub fn read(word: &str) -> Self {
        match word {
            "CREATE" => Self::Create,
            "UPDATE" => Self::Update,
            _ => Self::Other,
        }
    }

    /// The word for the operation in metrics.
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// The object that a request is about, as messages name it: `shop/Deployment/api`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The API group of the object, empty for the core group.
    pub group: String,
    /// The kind of the object: `Deployment`.
    pub kind: String,
    /// The namespace of the object; empty for a cluster-scoped kind.
    pub namespace: String,
    /// `web-7d9f-*` before the API server has generated the rest of the name; empty where the name is unknown.
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

/// Returns `metadata.annotations`, where the object has any.
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
            image_volumes: true,
        };
        assert_eq!(spec.ports(), [9764, 444]);
    }
}
