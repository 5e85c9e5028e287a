//! The pod half: the gate, once, when the pod is made.
//!
//! On CREATE only. Init containers cannot be added later, and a webhook that tries on UPDATE blocks the updates by which
//! finalizers are removed.

use super::container::{self, STATE_VOLUME, TOKEN_VOLUME};
use super::lists::{Lists, waits_for_itself};
use super::patch::{Edits, Misshapen};
use super::position::{self, containers};
use super::{
    Action, Change, Decision, Deny, Keys, Operation, Policy, Request, Skip, Warning, annotations,
    qos,
};
use rules::keys;
use serde_json::Value;

/// What the kubelet puts on the API server's image of a static pod.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Decides one pod. `policy` is `None` while the gate's settings are not known.
pub fn decide(request: &Request<'_>, keys: Keys, policy: Option<&Policy>) -> Decision {
    let pod = request.object;
    if request.operation != Operation::Create {
        return Skip::Operation.into();
    }
    let own = annotations(pod);
    let has = |key: &str| own.is_some_and(|own| own.contains_key(key));
    if has(MIRROR) {
        return Skip::MirrorPod.into();
    }
    let lists = Lists {
        object: own,
        ..Lists::default()
    };
    let dependencies = match lists.read(keys) {
        Ok(dependencies) => dependencies.unwrap_or_default(),
        Err(deny) => return deny.into(),
    };
    if !has(keys::GATED) && !lists.asked(keys) {
        return Skip::NotAsked.into();
    }
    let itself = waits_for_itself(&dependencies, request.subject);
    Decision {
        action: inject(pod, policy).unwrap_or_else(Action::Deny),
        warnings: itself
            .then_some(Warning::SelfReference)
            .into_iter()
            .collect(),
    }
}

fn inject(pod: &Value, policy: Option<&Policy>) -> Result<Action, Deny> {
    if windows(pod) {
        return Err(Deny::Windows);
    }
    let injected = containers(pod, "initContainers")
        .iter()
        .any(container::is_gate);
    if let Some((what, name)) = taken(pod).filter(|_| !injected) {
        return Err(Deny::NameTaken { what, name });
    }
    let policy = policy.ok_or(Deny::Starting)?;

    let mut edits = Edits::new(pod);
    if let Some((key, value)) = position::exclusion(pod, &policy.ports()) {
        edits.set(&["metadata", "annotations"], key, value.into())?;
    }
    if !injected {
        add_gate(&mut edits, pod, policy)?;
    }
    let operations = edits.finish();
    Ok(match (injected, operations.is_empty()) {
        (true, true) => Action::Skip(Skip::AlreadyInjected),
        (true, false) => Action::Patch(Change::PortExcluded, operations),
        (false, _) => Action::Patch(Change::Injected, operations),
    })
}

fn add_gate(edits: &mut Edits<'_>, pod: &Value, policy: &Policy) -> Result<(), Misshapen> {
    edits.set(
        &["metadata", "labels"],
        keys::GATED,
        keys::GATED_VALUE.into(),
    )?;
    for volume in container::volumes() {
        edits.insert(&["spec", "volumes"], None, volume)?;
    }
    let index = position::index(containers(pod, "initContainers"));
    let gate = container::gate(policy, qos::class(pod));
    edits.insert(&["spec", "initContainers"], Some(index), gate)
}

/// The first of our names that something in the pod has.
fn taken(pod: &Value) -> Option<(&'static str, &'static str)> {
    let has = |list: &str, name: &str| {
        containers(pod, list)
            .iter()
            .any(|item| item["name"] == name)
    };
    let gate = keys::GATE_CONTAINER;
    if has("initContainers", gate) || has("containers", gate) {
        return Some(("container", gate));
    }
    [TOKEN_VOLUME, STATE_VOLUME]
        .into_iter()
        .find(|name| has("volumes", name))
        .map(|name| ("volume", name))
}

fn windows(pod: &Value) -> bool {
    let spec = &pod["spec"];
    let selected = |key: &str| spec["nodeSelector"][key] == "windows";
    spec["os"]["name"] == "windows"
        || selected("kubernetes.io/os")
        || selected("beta.kubernetes.io/os")
}
