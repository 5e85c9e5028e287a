//! The init container and the two volumes that the webhook adds to a pod.

use super::{GateSpec, resources};
use rules::gate::{STATE_VOLUME, TOKEN_VOLUME};
use rules::keys;
use serde_json::{Value, json};
use wire::env;

/// The directory of the pod's own API token. Kubernetes mounts that token into every container without a mount here,
/// and the gate must not have the pod's rights.
const TOKEN_DIR: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The file into which the kubelet copies the ClusterTrustBundle, beside the token.
const BUNDLE_FILE: &str = "sluice-ca.pem";

const STATE_DIR: &str = "/run/sluice";

/// The shortest lifetime that Kubernetes grants a token, in seconds.
const TOKEN_SECONDS: u32 = 600;

/// The parts of a gate, as they go into patches.
#[derive(Debug)]
pub struct GateParts {
    /// The spec that the gate's parts were made from.
    pub spec: GateSpec,
    pub(super) ports: Vec<u16>,
    pub(super) volumes: [Value; 2],
    /// The fields of the init container that are equal in every pod.
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
    /// Returns the gate's init container for `pod`.
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

/// Returns whether the pod names a user other than 0 for its containers. The gate then runs as this user, so a policy
/// or a platform that demands certain users finds no other. As user 0 the gate refuses to run.
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
        image_volumes: _,
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
        // Pod Security `restricted`, written out, because the pod's own security context may say the opposite.
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

/// Returns the gate's volumes. The token is good for the status service only, and for as long as the pod lives. The
/// volume of the marker is on disk: in memory, a restart of the node would lose the marker, and the pod would wait
/// again. The bundle is optional, so a missing one does not keep a pod from starting.
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
