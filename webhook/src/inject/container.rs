//! What the webhook adds to a pod: the init container and its two volumes.

use super::GateSpec;
use super::patch::Added;
use super::qos::Class;
use rules::gate::{STATE_VOLUME, TOKEN_VOLUME};
use rules::keys;
use serde_json::{Value, json};
use wire::env;

/// Where the pod's own API token would be: Kubernetes mounts that into every container that has nothing mounted here,
/// and the gate is to have no rights.
const TOKEN_DIR: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Where the kubelet keeps a copy of the ClusterTrustBundle, beside the token.
const BUNDLE_FILE: &str = "sluice-ca.pem";

const STATE_DIR: &str = "/run/sluice";

/// The shortest life that Kubernetes grants a token.
const TOKEN_SECONDS: u32 = 600;

/// What gates are made of, as it goes into patches: the same in every pod but for its class.
#[derive(Debug)]
pub struct GateParts {
    /// What it was made of.
    pub spec: GateSpec,
    pub(super) ports: Vec<u16>,
    pub(super) volumes: [Added; 2],
    guaranteed: Added,
    burstable: Added,
    /// Without resources.
    plain: Added,
}

impl From<GateSpec> for GateParts {
    fn from(spec: GateSpec) -> Self {
        let of = |class| Added::often(container(&spec, class));
        Self {
            ports: spec.ports(),
            volumes: volumes(&spec).map(Added::often),
            guaranteed: of(Class::Guaranteed),
            burstable: of(Class::Burstable),
            plain: of(Class::BestEffort),
            spec,
        }
    }
}

impl GateParts {
    /// The init container of a pod of this class.
    pub(super) fn container(&self, class: Class) -> &Added {
        match class {
            Class::Guaranteed => &self.guaranteed,
            Class::Burstable => &self.burstable,
            Class::BestEffort | Class::PodLevel => &self.plain,
        }
    }
}

fn container(spec: &GateSpec, class: Class) -> Value {
    let GateSpec {
        image,
        image_pull_policy,
        image_pull_secrets: _,
        ca_bundle,
        cluster_trust_bundle,
        addresses,
        server_name,
        run_as_user,
        resources: _,
    } = spec;
    let mut gate = json!({
        "name": keys::GATE_CONTAINER,
        "image": image,
        "env": [
            {"name": env::ADDRESSES, "value": addresses.join(",")},
            {"name": env::SERVER_NAME, "value": server_name},
            {"name": env::CA_BUNDLE, "value": ca_bundle},
            {"name": env::TOKEN_FILE, "value": format!("{TOKEN_DIR}/token")},
            {"name": env::STATE_DIR, "value": STATE_DIR},
        ],
        "volumeMounts": [
            {"name": TOKEN_VOLUME, "mountPath": TOKEN_DIR, "readOnly": true},
            {"name": STATE_VOLUME, "mountPath": STATE_DIR},
        ],
        // Pod Security `restricted`, written out: the pod's own context may say the opposite.
        "securityContext": {
            "runAsNonRoot": true,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "File",
    });
    if let (Some(_), Some(variables)) = (cluster_trust_bundle, gate["env"].as_array_mut()) {
        let file = format!("{TOKEN_DIR}/{BUNDLE_FILE}");
        variables.push(json!({"name": env::CA_FILE, "value": file}));
    }
    if let Some(user) = run_as_user {
        gate["securityContext"]["runAsUser"] = json!(user);
    }
    if let Some(pull) = image_pull_policy {
        gate["imagePullPolicy"] = json!(pull);
    }
    if let Some(resources) = resources(spec, class) {
        gate["resources"] = resources;
    }
    gate
}

/// The resources that leave the pod in its class and satisfy a quota that demands limits. None where any amount would
/// change the class, or could exceed what the pod as a whole may have.
fn resources(spec: &GateSpec, class: Class) -> Option<Value> {
    let (requests, limits) = match class {
        Class::Guaranteed => (&spec.resources.limits, &spec.resources.limits),
        Class::Burstable => (&spec.resources.requests, &spec.resources.limits),
        Class::BestEffort | Class::PodLevel => return None,
    };
    Some(json!({
        "requests": {"cpu": requests.cpu, "memory": requests.memory},
        "limits": {"cpu": limits.cpu, "memory": limits.memory},
    }))
}

/// The gate's volumes. Its token is good for the status service only, and for as long as the pod lives. The marker is on
/// disk: in memory it would be lost when the node restarts, and the pod would wait again. A bundle that is not there keeps no
/// pod from starting.
fn volumes(spec: &GateSpec) -> [Value; 2] {
    let token =
        json!({"audience": keys::AUDIENCE, "expirationSeconds": TOKEN_SECONDS, "path": "token"});
    let bundle = spec.cluster_trust_bundle.as_ref().map(
        |name| json!({"clusterTrustBundle": {"name": name, "path": BUNDLE_FILE, "optional": true}}),
    );
    let sources = [json!({ "serviceAccountToken": token })];
    let sources: Vec<_> = sources.into_iter().chain(bundle).collect();
    [
        json!({"name": TOKEN_VOLUME, "projected": {"sources": sources}}),
        json!({"name": STATE_VOLUME, "emptyDir": {"sizeLimit": "1Mi"}}),
    ]
}
