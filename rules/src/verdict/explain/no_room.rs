//! Finds dependencies whose pods fit on no node, and the pods at their gates that hold the lacking resource.
//!
//! A pod at its gate has a node and holds its requests there. Where the pods of its dependency come later and find no room, both wait for ever,
//! and neither says why. The words stay within the dependent's namespace, since they quote the scheduler.

mod amount;

use super::super::judge::{Typed, listed};
use super::basis::Explain;
use super::cycle::Goal;
use crate::cause;
use crate::dependent::Dependent;
use crate::gate;
use crate::judged::Reason;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::object::name;
use crate::room::{Lack, Occupant};
use crate::selector::Selector;
use amount::{Amount, requested};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most waiting pods that are looked at for one resource.
const MOST: usize = 64;

/// A pod for which the scheduler finds no node, and the scheduler's reason.
struct WithoutNode {
    pod: String,
    says: String,
}

/// The words about a pod that fits on no node.
pub(super) struct LackTold {
    pub(super) pod: String,
    /// The trouble, in words that follow the name of the pod.
    pub(super) words: String,
    /// Whether pods that wait for the workload hold a resource that the pod lacks.
    pub(super) of_waiting: bool,
}

impl Explain<'_> {
    /// The words about the first pod of these workloads that fits on no node. `None` where every pod has room, or where pods cannot be the cause
    /// of `reason`.
    pub(super) fn lack_of_room(&self, reason: Reason, workloads: &[Typed]) -> Option<LackTold> {
        if !is_about_pods(reason) {
            return None;
        }
        let namespace = &self.dependent().namespace;
        workloads.iter().find_map(|(kind, object)| {
            let name = Dependent::of_workload(kind.clone(), object, namespace).name();
            let goal = Goal {
                name: &name,
                uid: object["metadata"]["uid"].as_str().unwrap_or_default(),
            };
            let look = || self.look(kind, object, goal);
            let lack = self.hints.lack(namespace, &name, &look)?;
            Some(told(&lack, &self.dependent().name()))
        })
    }

    /// Finds a pod of a workload that fits on no node, the resources that the nodes lack for it, and the pods at their gates that request these.
    /// The result is equal for every dependent, so one look serves all.
    fn look(&self, kind: &Kind, workload: &Value, goal: Goal<'_>) -> Option<Lack> {
        let without_node = self.without_node_of(kind, workload)?;
        let gated = self.gated_by(&Selector::default());
        let at_gates: Vec<&Value> = gated
            .iter()
            .filter(|pod| gate::is_at_its_gate(pod))
            .collect();
        let mut known = BTreeMap::new();
        let mut lack = |resource: &str| {
            let occupants = self.occupants(&at_gates, resource, goal, &mut known);
            (resource.to_owned(), occupants)
        };
        let lacking = without_node.lacks().map(&mut lack).collect();
        Some(Lack {
            lacking,
            pod: without_node.pod,
            says: without_node.says,
        })
    }

    fn occupants(
        &self,
        at_gates: &[&Value],
        resource: &str,
        goal: Goal<'_>,
        known: &mut BTreeMap<String, bool>,
    ) -> Vec<Occupant> {
        let requesting = at_gates.iter();
        let requesting = requesting.filter_map(|pod| Some((*pod, requested(pod, resource)?)));
        let occupant = |(pod, amount)| {
            let (dependent, waits) = self.waits(pod, goal, known)?;
            Some(Occupant {
                pod: name(pod).to_owned(),
                dependent,
                waits,
                amount,
            })
        };
        requesting.take(MOST).filter_map(occupant).collect()
    }

    /// The name of the dependent of a pod, and whether the dependent waits for the goal, directly or over further objects; `None` where the
    /// owners of the pod cannot be read. `known` keeps the answers by the names of dependents.
    fn waits(
        &self,
        pod: &Value,
        goal: Goal<'_>,
        known: &mut BTreeMap<String, bool>,
    ) -> Option<(String, bool)> {
        let Lookup::Found(dependent) = Dependent::resolve(pod, &[], self.judge.world) else {
            return None;
        };
        let name = dependent.name();
        let way = || self.way(&dependent, None, goal).is_some();
        let waits = *known.entry(name.clone()).or_insert_with(way);
        Some((name, waits))
    }

    fn without_node_of(&self, kind: &Kind, workload: &Value) -> Option<WithoutNode> {
        if kind.is_pod() {
            return WithoutNode::of(workload);
        }
        // The labels only narrow the search: the owner decides.
        let selector = Selector::labels(&workload["spec"]["selector"]["matchLabels"]);
        if selector.0.is_empty() {
            return None;
        }
        let Lookup::Found(pods) = self
            .hints
            .unscheduled(&self.dependent().namespace, &selector)
        else {
            return None;
        };
        let mut pods = pods.iter().filter(|pod| self.is_of(pod, workload));
        pods.find_map(WithoutNode::of)
    }
}

/// The words about a pod that fits on no node, for the dependent of this name, which waits for the pod's workload.
fn told(Lack { pod, says, lacking }: &Lack, dependent: &str) -> LackTold {
    let held = lacking
        .iter()
        .find_map(|(resource, occupants)| held_by_waiting(resource, occupants, dependent));
    let of_waiting = held.is_some();
    let held = held.map_or_else(String::new, |held| {
        format!(", and {held}: give the cluster room, lower requests, or delete a pod that waits")
    });
    LackTold {
        pod: pod.clone(),
        words: format!("finds no node ({says}){held}"),
        of_waiting,
    }
}

/// The words about how much of a resource the pods hold that wait for the workload, the dependent's own pods among them, with the names of these
/// pods; `None` where there is no such pod.
fn held_by_waiting(resource: &str, occupants: &[Occupant], dependent: &str) -> Option<String> {
    let waiting = || {
        let waits = |it: &&Occupant| it.waits || it.dependent == dependent;
        occupants.iter().filter(waits)
    };
    let sum = waiting().map(|it| it.amount).sum();
    let names: Vec<String> = waiting().map(|it| it.pod.clone()).collect();
    let amount = Amount { resource, sum };
    let told = || {
        format!(
            "{amount} is held by pods that wait for it: {}",
            listed(&names)
        )
    };
    (!names.is_empty()).then(told)
}

/// Whether a finding with this reason may be caused by the pods behind the object, such as `InProgress` or `NoEndpoints`.
pub(super) fn is_about_pods(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::InProgress
            | Reason::Failed
            | Reason::NotObserved
            | Reason::NoStatusYet
            | Reason::JobNotComplete
            | Reason::NoEndpoints
            | Reason::HealthNotMet
            | Reason::HealthFailed
            | Reason::LowerWeight
    )
}

impl WithoutNode {
    fn of(pod: &Value) -> Option<Self> {
        let says = cause::without_a_node(pod)?;
        let pod = name(pod).to_owned();
        Some(Self { pod, says })
    }

    /// The resources that the nodes lack, read from the scheduler's words: `cpu` and `pods` from `1 Insufficient cpu, 2 Too many
    /// pods`.
    fn lacks(&self) -> impl Iterator<Item = &str> {
        self.says.split([',', ':']).filter_map(|part| {
            let (_, why) = part.trim().split_once(' ')?;
            match why {
                "Too many pods" => Some("pods"),
                _ => why.strip_prefix("Insufficient "),
            }
        })
    }
}
