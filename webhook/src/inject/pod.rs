//! The pod half: the gate, once, when the pod is made.
//!
//! On CREATE only. Init containers cannot be added later, and a webhook that tries on UPDATE blocks the updates by which
//! finalizers are removed.

use super::container;
use super::hints::workload;
use super::lists::{Lists, gate_position};
use super::patch::{Edits, Misshapen};
use super::position::{self, containers};
use super::{
    Action, Change, Decision, Deny, GateSpec, Operation, Options, Request, Skip, Warning,
    annotations, qos,
};
use rules::advice::{self, is_for_windows};
use rules::annotation::GatePosition;
use rules::gate;
use rules::keys;
use serde_json::{Value, json};

/// What the kubelet puts on the API server's image of a static pod.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Decides one pod. `spec` is `None` while the gate's settings are not known.
pub fn decide(request: &Request<'_>, options: Options, spec: Option<&GateSpec>) -> Decision {
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
    if let Err(deny) = lists.check(options) {
        return deny.into();
    }
    let gate = containers(pod, "initContainers")
        .iter()
        .position(gate::is_gate);
    let asked = options.every_pod || has(keys::GATED) || lists.asked(options);
    if !asked && gate.is_none() {
        return Skip::NotAsked.into();
    }
    if options.skip_windows && is_for_windows(pod) {
        return Skip::Windows.into();
    }
    let position = gate_position(own);
    let advice = advice::of_position(&workload(request.subject, pod, pod));
    let warnings = advice.filter(|_| gate.is_none()).map(Warning::Advice);
    Decision {
        action: inject(pod, gate, position.as_ref(), spec).unwrap_or_else(Action::Deny),
        warnings: warnings.into_iter().collect(),
    }
}

/// `gate` is the index of the gate that the pod has already: of an earlier round, or because it is a copy.
fn inject(
    pod: &Value,
    gate: Option<usize>,
    position: Option<&GatePosition>,
    spec: Option<&GateSpec>,
) -> Result<Action, Deny> {
    if is_for_windows(pod) {
        return Err(Deny::Windows);
    }
    if let Some((what, name)) = gate::taken(pod) {
        return Err(Deny::NameTaken { what, name });
    }
    let spec = spec.ok_or(Deny::Starting)?;

    let init_containers = containers(pod, "initContainers");
    let index = gate.unwrap_or_else(|| position::index(init_containers, position));
    let exclusion = position::exclusion(pod, index, &spec.ports());
    let labelled = pod["metadata"]["labels"][keys::GATED] == keys::GATED_VALUE;
    let mut edits = Edits::new(pod);
    if let Some((key, value)) = exclusion {
        edits.set(&["metadata", "annotations"], key, value.into())?;
    }
    // A copy that `kubectl debug` makes has the gate, and nothing by which the status service finds it.
    if gate.is_none() || !labelled {
        edits.set(
            &["metadata", "labels"],
            keys::GATED,
            keys::GATED_VALUE.into(),
        )?;
    }
    if gate.is_none() {
        add_gate(&mut edits, pod, index, spec)?;
    }
    let operations = edits.finish();
    Ok(match (gate, operations.is_empty()) {
        (Some(_), true) => Action::Skip(Skip::AlreadyInjected),
        (Some(_), false) if labelled => Action::Patch(Change::PortExcluded, operations),
        (Some(_), false) => Action::Patch(Change::Labelled, operations),
        (None, _) => Action::Patch(Change::Injected, operations),
    })
}

fn add_gate(
    edits: &mut Edits<'_>,
    pod: &Value,
    index: usize,
    spec: &GateSpec,
) -> Result<(), Misshapen> {
    for volume in container::volumes(spec) {
        edits.insert(&["spec", "volumes"], None, volume)?;
    }
    let known = containers(pod, "imagePullSecrets");
    for name in &spec.image_pull_secrets {
        if !known.iter().any(|secret| secret["name"] == *name) {
            edits.insert(&["spec", "imagePullSecrets"], None, json!({ "name": name }))?;
        }
    }
    let gate = container::gate(spec, qos::class(pod));
    edits.insert(&["spec", "initContainers"], Some(index), gate)
}
