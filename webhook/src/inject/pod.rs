//! The pod half of admission: adds the gate, and the hold before it, when the pod is created.
//!
//! Only on CREATE. Init containers cannot be added later, and a webhook that tries on UPDATE blocks the updates by
//! which finalizers are removed.

use super::gate_renewal::{add_pull_secrets, renew};
use super::hints::workload;
use super::lists::{Holds, Lists, gate_position, hold};
use super::patch::{Edits, Misshapen};
use super::position::{self, containers};
use super::prefetch;
use super::{
    Action, Change, Decision, Deny, GateParts, ListPlace, Operation, Options, Request, Skip,
    Warning, annotations,
};
use rules::advice::{self, is_for_windows};
use rules::annotation::GatePosition;
use rules::gate;
use rules::keys;
use rules::object::controller_of;
use serde_json::{Value, json};

/// The annotation by which the kubelet marks the API server's copy of a static pod.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Decides whether a pod gets the gate, a hold and early pulls, with the warnings for its user. `parts` is `None` while the parts of a gate are
/// not known: a pod that asks for one is then refused. A request other than a CREATE, a mirror pod, and a pod that neither asks for a gate nor
/// has one stay unchanged.
pub fn decide(request: &Request<'_>, options: Options, parts: Option<&GateParts>) -> Decision {
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
        pod: Some(pod),
        ..Lists::default()
    };
    // A controller's pod is never refused for its list: the list may have been stored before sluice was installed, or
    // under an older grammar, and a running workload must not lose its pods. The gate reports the error instead.
    let is_made = controller_of(pod).is_some();
    let checked = (!is_made).then(|| lists.checked(options, ListPlace::Object));
    let entries = match checked.transpose() {
        Ok(entries) => entries,
        Err(deny) => return deny.into(),
    };
    // Warnings to a controller reach no user.
    let foreign = lists.foreign(options).filter(|_| !is_made);
    let foreign = foreign.map(Warning::Advice);
    let gate = containers(pod, "initContainers")
        .iter()
        .position(gate::is_gate);
    let asked = options.every_pod || has(keys::GATED) || lists.asked(options);
    if !asked && gate.is_none() {
        return Decision {
            action: Action::Skip(Skip::NotAsked),
            warnings: foreign.into_iter().collect(),
            entries: None,
        };
    }
    if options.skip_windows && is_for_windows(pod) {
        return Skip::Windows.into();
    }
    let position = gate_position(own);
    let advice = advice::of_position(&workload(request.subject, pod, pod));
    let in_vain = !is_made && lists.holds_in_vain(options);
    let unsupported = !is_made && lists.prefetches_in_vain(options);
    let warnings = [
        advice.filter(|_| gate.is_none()).map(Warning::Advice),
        in_vain.then_some(Warning::HoldsOff { deadline: None }),
        unsupported.then_some(Warning::NoImageVolumes),
        foreign,
    ];
    let wanted = Placement {
        position: position.as_ref(),
        hold: is_to_be_held(pod, options.holds),
        prefetch: prefetch::is_wanted(own, options.prefetch),
    };
    Decision {
        action: inject(pod, gate, wanted, parts).unwrap_or_else(Action::Deny),
        warnings: warnings.into_iter().flatten().collect(),
        entries,
    }
}

/// The wishes of a pod that its annotations tell, beside the wish for a gate.
#[derive(Clone, Copy)]
struct Placement<'a> {
    /// The position of the gate among the pod's init containers.
    position: Option<&'a GatePosition>,
    /// Whether the pod is held before it takes a node.
    hold: bool,
    /// Whether the images of its later containers are pulled before its gate begins.
    prefetch: bool,
}

/// Returns whether the pod is to be held: under [`Holds::Asked`] if it asks for that, under [`Holds::All`] unless it declines. A pod is held
/// once: a pod with the note of an earlier hold may be a copy of a released pod. A pod that names its node is past the scheduler, and the API
/// server refuses a scheduling gate on it.
fn is_to_be_held(pod: &Value, holds: Holds) -> bool {
    let said = hold(annotations(pod));
    let wanted = match holds {
        Holds::Off => false,
        Holds::Asked => said == Some(true),
        Holds::All => said != Some(false),
    };
    let has_node = pod["spec"]["nodeName"]
        .as_str()
        .is_some_and(|node| !node.is_empty());
    wanted && !has_node && !gate::was_held(pod)
}

/// Makes the patch that adds the gate, or renews it, with the hold and the early pulls that the pod wants. `gate` is the index of a gate that the
/// pod has already: from an earlier call, or because the pod is a copy. An error for a pod for Windows, for one that uses one of our names, and
/// while `parts` is `None`.
fn inject(
    pod: &Value,
    gate: Option<usize>,
    wanted: Placement<'_>,
    parts: Option<&GateParts>,
) -> Result<Action, Deny> {
    if is_for_windows(pod) {
        return Err(Deny::Windows);
    }
    if let Some((what, name)) = gate::taken(pod) {
        return Err(Deny::NameTaken { what, name });
    }
    let parts = parts.ok_or(Deny::Starting)?;

    let init_containers = containers(pod, "initContainers");
    let index = gate.unwrap_or_else(|| position::index(init_containers, wanted.position));
    let exclusion = position::exclusion(pod, index, &parts.ports);
    let labelled = gate::is_gated(pod);
    let mut edits = Edits::new(pod);
    if let Some((key, value)) = exclusion {
        edits.set(&["metadata", "annotations"], key, value)?;
    }
    // A copy that `kubectl debug` makes has the gate, but not the label by which the status service finds it.
    if gate.is_none() || !labelled {
        edits.set(&["metadata", "labels"], keys::GATED, keys::GATED_VALUE)?;
    }
    let renewed = match gate {
        None => {
            add_gate(&mut edits, pod, index, parts)?;
            false
        }
        Some(index) => renew(&mut edits, pod, index, parts)?,
    };
    let begin = gate.map_or(index, |gate| gate + 1);
    let prefetched = wanted.prefetch && prefetch::add(&mut edits, pod, begin, parts)?;
    if wanted.hold {
        add_hold(&mut edits, pod)?;
    }
    let operations = edits.finish();
    Ok(match (gate, operations.is_empty()) {
        (Some(_), true) => Action::Skip(Skip::AlreadyInjected),
        (Some(_), false) if renewed => Action::Patch(Change::Renewed, operations),
        (Some(_), false) if wanted.hold => Action::Patch(Change::Held, operations),
        (Some(_), false) if prefetched => Action::Patch(Change::Prefetched, operations),
        (Some(_), false) if labelled => Action::Patch(Change::PortExcluded, operations),
        (Some(_), false) => Action::Patch(Change::Labelled, operations),
        (None, _) => Action::Patch(Change::Injected, operations),
    })
}

fn add_hold(edits: &mut Edits<'_>, pod: &Value) -> Result<(), Misshapen> {
    edits.set(&["metadata", "annotations"], keys::HELD, keys::GATED_VALUE)?;
    if gate::is_held(pod) {
        return Ok(());
    }
    let hold = json!({ "name": keys::HOLD });
    edits.insert(&["spec", "schedulingGates"], None, hold)
}

fn add_gate(
    edits: &mut Edits<'_>,
    pod: &Value,
    index: usize,
    parts: &GateParts,
) -> Result<(), Misshapen> {
    for volume in &parts.volumes {
        edits.insert(&["spec", "volumes"], None, volume.text.clone())?;
    }
    add_pull_secrets(edits, pod, parts)?;
    edits.insert(
        &["spec", "initContainers"],
        Some(index),
        parts.container(pod),
    )
}
