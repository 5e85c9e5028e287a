//! The init container and the two volumes that the webhook adds to a pod.

use super::patch::EditValue;
use super::{GateSpec, annotations, resources};
use rules::annotation;
use rules::gate::{STATE_VOLUME, TOKEN_VOLUME};
use rules::keys;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wire::env;

/// The directory of the pod's own API token. Kubernetes mounts that token into every container without a mount here,
/// and the gate must not have the pod's rights.
const TOKEN_DIR: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The file into which the kubelet copies the ClusterTrustBundle, beside the token.
const BUNDLE_FILE: &str = "sluice-ca.pem";

const STATE_DIR: &str = "/run/sluice";

/// The shortest lifetime that Kubernetes grants a token, in seconds.
const TOKEN_SECONDS: u32 = 600;

/// The parts of a gate that are equal in every pod, made once from a spec and ready to go into patches.
#[derive(Debug)]
pub struct GateParts {
    /// The spec that the gate's parts were made from.
    pub spec: GateSpec,
    pub(super) ports: Vec<u16>,
    pub(super) volumes: [ConstantPart; 2],
    /// The fields of the init container that are equal in every pod.
    pub(super) constant: BTreeMap<&'static str, ConstantPart>,
    /// The security context of a gate that runs as the spec's user, for pods that name none; `None` where the spec has no user.
    with_user: Option<EditValue>,
}

/// A part of a gate that is equal in every pod.
#[derive(Debug)]
pub(super) struct ConstantPart {
    /// The part as a tree, to be compared with what a pod has.
    pub(super) value: Value,
    /// The part as text, to be put into patches.
    pub(super) text: EditValue,
}

impl From<Value> for ConstantPart {
    fn from(value: Value) -> Self {
        let text = EditValue::shared(&value);
        Self { value, text }
    }
}

impl From<GateSpec> for GateParts {
    fn from(spec: GateSpec) -> Self {
        let with_user = spec.run_as_user.map(|user| {
            let mut context = security_context();
            context["runAsUser"] = json!(user);
            EditValue::shared(&context)
        });
        Self {
            ports: spec.ports(),
            volumes: volumes(&spec).map(ConstantPart::from),
            constant: container(&spec),
            with_user,
            spec,
        }
    }
}

impl GateParts {
    /// Returns the gate's init container for `pod`. Its user, its resources and its variables depend on the pod.
    pub(super) fn container(&self, pod: &Value) -> EditValue {
        let constant = self.constant.iter();
        let mut gate: BTreeMap<_, _> = constant.map(|(key, it)| (*key, it.text.clone())).collect();
        if let Some(with_user) = self.with_user.as_ref().filter(|_| !names_a_user(pod)) {
            gate.insert("securityContext", with_user.clone());
        }
        if let Some(resources) = resources::of(pod, self.spec.resources.as_ref()) {
            gate.insert("resources", resources.into());
        }
        let variables = variables(pod);
        if !variables.is_empty() {
            let own = self.constant["env"].value.as_array();
            let env = own.into_iter().flatten().cloned().chain(variables);
            gate.insert("env", EditValue::Own(env.collect()));
        }
        EditValue::Mapping(gate)
    }
}

/// Returns the environment variables that the pod's list names, as entries for the gate's `env`. Empty if the list, or one of them, cannot
/// be read. Admission refuses a new list with a variable that the gate cannot get; for a list that was stored before, the gate itself
/// reports the missing variable.
fn variables(pod: &Value) -> Vec<Value> {
    let own = annotations(pod);
    let variables = own.and_then(|own| annotation::variables(own, pod).ok());
    variables.unwrap_or_default()
}

/// Returns whether the pod names a user other than 0 for its containers. The gate then runs as this user, so a policy
/// or a platform that demands certain users finds no other. As user 0 the gate refuses to run.
fn names_a_user(pod: &Value) -> bool {
    let user = &pod["spec"]["securityContext"]["runAsUser"];
    user.as_i64().is_some_and(|user| user != 0)
}

fn container(spec: &GateSpec) -> BTreeMap<&'static str, ConstantPart> {
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
    let variable = |name: &str, value: &str| json!({"name": name, "value": value});
    let mut env = vec![
        variable(env::ADDRESSES, &addresses.join(",")),
        variable(env::SERVER_NAME, server_name),
        variable(env::CA_BUNDLE, ca_bundle),
        variable(env::TOKEN_FILE, &format!("{TOKEN_DIR}/token")),
        variable(env::STATE_DIR, STATE_DIR),
    ];
    if cluster_trust_bundle.is_some() {
        env.push(variable(
            env::CA_FILE,
            &format!("{TOKEN_DIR}/{BUNDLE_FILE}"),
        ));
    }
    let mounts = json!([
        {"name": TOKEN_VOLUME, "mountPath": TOKEN_DIR, "readOnly": true},
        {"name": STATE_VOLUME, "mountPath": STATE_DIR},
    ]);
    let fields = [
        ("name", json!(keys::GATE_CONTAINER)),
        ("image", json!(image)),
        ("env", env.into()),
        ("volumeMounts", mounts),
        ("securityContext", security_context()),
        ("terminationMessagePolicy", json!("File")),
    ];
    let pull = image_pull_policy.as_ref();
    let pull = pull.map(|pull| ("imagePullPolicy", json!(pull)));
    let fields = fields.into_iter().chain(pull);
    fields.map(|(key, value)| (key, value.into())).collect()
}

/// Returns the gate's security context in a pod that names a user: Pod Security `restricted`, written out, because the pod's own
/// security context may say the opposite.
fn security_context() -> Value {
    json!({
        "runAsNonRoot": true,
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The gate's container in a pod with this pod spec and this list, as JSON text and as a tree.
    fn gate_of(spec: &Value, list: &str) -> (String, Value) {
        let parts = GateParts::from(GateSpec {
            image: "gate:1".to_owned(),
            image_pull_policy: None,
            image_pull_secrets: Vec::new(),
            ca_bundle: "\"PEM\"\n".to_owned(),
            cluster_trust_bundle: None,
            addresses: vec!["10.0.0.7:9764".to_owned()],
            server_name: "sluice.x.svc".to_owned(),
            run_as_user: Some(65532),
            resources: None,
            image_volumes: true,
        });
        let annotations = json!({ keys::DEPENDS_ON: list });
        let pod = json!({"metadata": {"annotations": annotations}, "spec": spec});
        let gate = parts.container(&pod);
        let text = serde_json::to_string(&gate).unwrap();
        (text, serde_json::to_value(&gate).unwrap())
    }

    #[test]
    fn a_gate_is_its_constant_parts_and_those_of_its_pod() {
        let app = json!({
            "name": "app", "resources": {"limits": {"cpu": "1"}}, "env": [{"name": "DB", "value": "db:1"}],
        });
        let plain = json!({"containers": [{"name": "app"}]});
        let (text, gate) = gate_of(&plain, "svc/db");
        assert_eq!(text, gate.to_string(), "the keys are in their order");
        assert_eq!(gate["securityContext"]["runAsUser"], 65532);
        assert_eq!(gate.get("resources"), None);
        let own = gate["env"].as_array().cloned().unwrap_or_default();
        assert_eq!(
            own[2],
            json!({"name": env::CA_BUNDLE, "value": "\"PEM\"\n"})
        );

        let other = json!({"containers": [app], "securityContext": {"runAsUser": 7}});
        let (text, gate) = gate_of(&other, "- tcp: $(DB)");
        assert_eq!(text, gate.to_string());
        assert_eq!(gate["securityContext"].get("runAsUser"), None);
        assert_eq!(gate["securityContext"]["runAsNonRoot"], true);
        assert_eq!(gate["resources"], json!({"limits": {"cpu": "1"}}));
        let with_variable = [own, vec![json!({"name": "DB", "value": "db:1"})]].concat();
        assert_eq!(gate["env"], json!(with_variable));
    }
}
