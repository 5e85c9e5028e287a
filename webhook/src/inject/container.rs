//! What the webhook adds to a pod: the init container and its two volumes.

use super::{GateSpec, resources};
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

/// What gates are made of, as it goes into patches.
#[derive(Debug)]
pub struct GateParts {
    /// What it was made of.
    pub spec: GateSpec,
    pub(super) ports: Vec<u16>,
    pub(super) volumes: [Value; 2],
    /// The init container, as far as it is the same in every pod.
    pub(super) constant: Value,
}

impl From<GateSpec> for GateParts {
    fn from(spec: GateSpec) -> Self {
        Self {
            ports: spec.ports(),
            volumes: volumes(&spec),
            constant: container(&spec),
            spec,
        }
    }
}

impl GateParts {
    /// The init container for a pod.
    pub(super) fn container(&self, pod: &Value) -> Value {
        let mut gate = self.constant.clone();
        if let Some(user) = self.spec.run_as_user.filter(|_| !names_a_user(pod)) {
            gate["securityContext"]["runAsUser"] = json!(user);
        }
        if let Some(resources) = resources::of(pod, self.spec.resources.as_ref()) {
            gate["resources"] = resources;
        }
        gate
    }
}

/// Whether all containers of a pod that say nothing else run as a user other than 0. The gate is then one of them, so that a policy
/// or a platform which asks for certain users finds no other; as user 0 it refuses to run.
fn names_a_user(pod: &Value) -> bool {
    let user = &pod["spec"]["securityContext"]["runAsUser"];
    user.as_i64().is_some_and(|user| user != 0)
}

fn container(spec: &GateSpec) -> Value {
    let GateSpec {
        image,
        image_pull_policy,
        image_pull_secrets: _,
        ca_bundle,
        cluster_trust_bundle,
        addresses,
        server_name,
        run_as_user: _,
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
    if let Some(pull) = image_pull_policy {
        gate["imagePullPolicy"] = json!(pull);
    }
    gate
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
