//! Room: dependencies whose pods fit on no node, and the pods at their gates that hold what is lacking.
//!
//! A pod at its gate is on a node and holds there what it requests. Where the pods of what it waits for come later and find no
//! room, both wait for ever, and neither says why. Nothing here decides; it finds the words. It stays within the dependent's
//! namespace, since it quotes the scheduler.

mod amount;

use super::cycle::Found;
use super::edge::Judge;
use super::slot::listed;
use crate::dependent::Dependent;
use crate::gate::{self, Gate};
use crate::judged::Reason;
use crate::kinds::{self, Kind};
use crate::kstatus::Conditions;
use crate::lookup::Lookup;
use crate::object::{controller_of, group_kind, name};
use crate::selector::Selector;
use amount::{Amount, requested};
use serde_json::Value;
use std::collections::BTreeMap;

/// So many waiting pods are looked at, at most.
const MOST: usize = 64;

/// A pod that no node takes, and what the scheduler says.
struct Homeless {
    pod: String,
    says: String,
}

impl Judge<'_> {
    /// Which pod of these workloads finds no node, where that may be the reason why they are not ready.
    pub(super) fn lack_of_room(&self, reason: Reason, workloads: &[Found]) -> Option<String> {
        if !may_be_lack(reason) {
            return None;
        }
        let (kind, object, found) = workloads.iter().find_map(|(kind, object)| {
            let found = self.homeless_of(kind, object)?;
            Some((kind, object, found))
        })?;
        let namespace = &self.dependent.namespace;
        let goal = Dependent::of_workload(kind.clone(), object, namespace).name();
        let told = format!("Pod/{} finds no node ({})", found.pod, found.says);
        let held = found.lacks().find_map(|it| self.held_by_waiting(it, &goal));
        Some(match held {
            Some(held) => format!(
                "{told}, and {held}: give the cluster room, lower requests, or delete a pod that waits"
            ),
            None => told,
        })
    }

    fn homeless_of(&self, kind: &Kind, workload: &Value) -> Option<Homeless> {
        if kind.word() == "Pod" {
            return Homeless::of(workload);
        }
        // The labels are only the cheaper way to find them: the owner decides.
        let selector = Selector::labels(&workload["spec"]["selector"]["matchLabels"]);
        if selector.0.is_empty() {
            return None;
        }
        let Lookup::Found(pods) = self.world.unscheduled(&self.dependent.namespace, &selector)
        else {
            return None;
        };
        let mut pods = pods.iter().filter(|pod| self.is_of(pod, workload));
        pods.find_map(Homeless::of)
    }

    /// Whether a workload has made a pod, itself or by what it made.
    pub(super) fn is_of(&self, pod: &Value, workload: &Value) -> bool {
        let Some(uid) = workload["metadata"]["uid"].as_str() else {
            return false;
        };
        let Some(owner) = controller_of(pod) else {
            return false;
        };
        if owner["uid"] == uid {
            return true;
        }
        let (group, kind) = group_kind(owner);
        // What stands between a pod and the workload that somebody wrote.
        if !matches!(kind, "ReplicaSet" | "Job") {
            return false;
        }
        let (Some(kind), Some(name)) = (kinds::builtin(group, kind), owner["name"].as_str()) else {
            return false;
        };
        let home = Some(self.dependent.namespace.as_str());
        match self.world.object(&Kind::Builtin(kind), home, name) {
            Lookup::Found(between) => {
                controller_of(&between).is_some_and(|owner| owner["uid"] == uid)
            }
            Lookup::NotFound | Lookup::Unavailable(_) => false,
        }
    }

    /// How much of a resource the pods hold that wait for a workload, directly or through others; `None` where it is nothing.
    fn held_by_waiting(&self, resource: &str, goal: &str) -> Option<String> {
        let mut known = BTreeMap::from([(self.dependent.name(), true)]);
        let mut waits = |pod: &Value| {
            let Lookup::Found(dependent) = Dependent::resolve(pod, &[], self.world) else {
                return false;
            };
            let way = || self.way(&dependent, None, goal).is_some();
            *known.entry(dependent.name()).or_insert_with(way)
        };
        let pods = self.gated_by(&Selector::default());
        let requesting = pods.iter().filter(|pod| is_at_its_gate(pod));
        let requesting = requesting.filter_map(|pod| Some((pod, requested(pod, resource)?)));
        let (mut sum, mut names) = (0.0, Vec::new());
        for (pod, amount) in requesting.take(MOST) {
            if waits(pod) {
                sum += amount;
                names.push(name(pod).to_owned());
            }
        }
        let amount = Amount { resource, sum };
        let told = || {
            format!(
                "{amount} is held by pods that wait for it: {}",
                listed(&names)
            )
        };
        (!names.is_empty()).then(told)
    }
}

/// Whether a lack of room may be the cause of what was found.
fn may_be_lack(reason: Reason) -> bool {
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

/// Whether a pod is on a node, and its gate has not opened.
pub(super) fn is_at_its_gate(pod: &Value) -> bool {
    let open = matches!(Gate::of(pod), Gate::Passed { .. });
    gate::is_pending(pod) && !open && pod["spec"]["nodeName"].is_string()
}

impl Homeless {
    fn of(pod: &Value) -> Option<Self> {
        let conditions = Conditions::read(pod).ok()?;
        let condition = conditions.find("PodScheduled", "False")?;
        if condition.reason != "Unschedulable" {
            return None;
        }
        // Behind the first sentence it is about preemption.
        let says = condition.message.split(". ").next().unwrap_or_default();
        let says = says.trim_end_matches('.').replace(char::is_control, " ");
        let pod = name(pod).to_owned();
        Some(Self { pod, says })
    }

    /// What no node has enough of, in the scheduler's words: `1 Insufficient cpu, 2 Too many pods`.
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
