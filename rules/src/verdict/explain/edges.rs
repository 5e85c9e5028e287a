//! All edges of one dependent, judged and explained.

use super::super::judge::{Judge, JudgedEdge, Judgement, Policy};
use super::basis::Explain;
use super::cycle::Goal;
use super::no_room::LackTold;
use super::targets::needed;
use super::too_late;
use crate::cause::RootCause;
use crate::dependency::{Edge, Reference};
use crate::dependent::Dependent;
use crate::judged::Reason;
use crate::world::World;
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Judges every edge of one dependent, and explains those that are not satisfied, as far as the world has hints.
pub fn judge(
    dependent: &Dependent,
    edges: Vec<Edge>,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Judgement {
    found_by(&Judge::new(dependent, policy, world, now), edges)
}

/// Judges every edge of a dependent whose gate has opened, and explains those that are not satisfied. A satisfied object counts at once, without
/// the waits for an upgrade that may replace it or for a status that may change in a moment.
pub fn judge_opened(
    dependent: &Dependent,
    edges: Vec<Edge>,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Judgement {
    found_by(&Judge::new(dependent, policy, world, now).at_once(), edges)
}

fn found_by(judge: &Judge<'_>, edges: Vec<Edge>) -> Judgement {
    let world = judge.world;
    let found = judge.edges(edges);
    let explain = world.hints().map(|hints| Explain::new(judge, hints));
    let edges = found.into_iter().map(|(mut edge, lead)| {
        if let Some(explain) = explain.filter(|_| !edge.judged.satisfied) {
            explain.follow(lead, &mut edge.judged);
            explain.look_behind(&mut edge);
        }
        edge
    });
    Judgement {
        edges: edges.collect(),
        again: judge.again(),
        reading: judge.is_reading(),
        probes: judge.take_probes(),
    }
}

/// The root cause of a cycle with these names. It is equal for each dependent of the cycle, wherever the path begins.
fn root_of_cycle(path: &[String], message: &str) -> RootCause {
    let objects: BTreeSet<&str> = path.iter().map(String::as_str).collect();
    let objects: Vec<&str> = objects.into_iter().collect();
    let is_own_service = matches!(path, [_, service, _] if service.starts_with("Service/"));
    RootCause {
        object: objects.join(", "),
        pod: None,
        reason: Reason::Cycle.label().to_owned(),
        broken: true,
        message: if is_own_service {
            message.to_owned()
        } else {
            "wait for each other; take one entry out of a list".to_owned()
        },
    }
}

impl RootCause {
    /// The root cause of an edge from its own finding, without a pod: the edge, its reason and, where the dependent's namespace may see it, its
    /// message.
    pub(super) fn of_edge(edge: &JudgedEdge) -> Self {
        let JudgedEdge {
            edge,
            foreign,
            judged,
            ..
        } = edge;
        Self {
            object: edge.to_string(),
            pod: None,
            reason: judged.reason.label().to_owned(),
            broken: judged.reason.is_final_failure() || judged.reason == Reason::Cycle,
            message: judged.told(*foreign).unwrap_or_default().to_owned(),
        }
    }
}

impl Explain<'_> {
    /// Adds to an unsatisfied edge the words that its object does not have about itself, and the root cause: the way on which the edge
    /// leads back to the dependent, the lack of room for the pods behind the edge, or why those pods are not ready. Such words come
    /// before the object's own, which count what is ready. A path through another namespace would tell a tenant which objects are there,
    /// so none is followed.
    fn look_behind(&self, edge: &mut JudgedEdge) {
        let root = self.found_behind(edge);
        let root = root.unwrap_or_else(|| self.own_root(edge));
        edge.root = Some(Box::new(root));
    }

    fn found_behind(&self, edge: &mut JudgedEdge) -> Option<RootCause> {
        let known = matches!(
            edge.judged.reason,
            Reason::Syncing | Reason::SelfReference | Reason::NotStable | Reason::BeforeBoot
        );
        if known || edge.foreign {
            return None;
        }
        let links = self.links(&edge.edge);
        let own = self.dependent().name();
        let goal = Goal {
            name: &own,
            uid: self.dependent().uid_as_written(),
        };
        let way = self.way(self.dependent(), Some(needed(links.clone())), goal);
        if let Some(path) = way {
            edge.judged.reason = Reason::Cycle;
            edge.judged.message = too_late::of_cycle(&path);
            return Some(root_of_cycle(&path, &edge.judged.message));
        }
        let lack = self.lack_of_room(edge.judged.reason, &self.workloads(&links));
        let cause = self.cause(edge, lack.is_some());
        if lack.is_some() {
            edge.judged.reason = Reason::Unschedulable;
        }
        let labelled = self.labelled(edge);
        let (cause, root) = cause.map(|it| (it.words, it.root)).unzip();
        let no_node = |it: &LackTold| format!("Pod/{} {}", it.pod, it.words);
        let behind = lack.iter().map(no_node).chain(cause);
        let own = std::mem::take(&mut edge.judged.message);
        let told = behind.chain([own]).chain(labelled);
        edge.judged.message = told
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        let without_node = |lack: LackTold| RootCause {
            object: edge.edge.to_string(),
            pod: Some(lack.pod),
            reason: Reason::Unschedulable.label().to_owned(),
            broken: true,
            message: lack.words,
        };
        // A cause of the pod itself, such as a claim that is not bound, says more than the scheduler, unless pods that wait are in the way.
        match lack {
            Some(lack) if lack.of_waiting || root.is_none() => Some(without_node(lack)),
            _ => root,
        }
    }

    /// The root cause of an unsatisfied edge for which the search behind its objects has found no cause: for a slot its holders, where they are
    /// known, else the edge's own finding.
    fn own_root(&self, edge: &JudgedEdge) -> RootCause {
        if let Edge::Slot(most) = edge.edge
            && let Some(held) = self.held_slots(most)
        {
            return held.root;
        }
        RootCause::of_edge(edge)
    }

    /// The words about a selector that finds no object although a workload's pods have the labels; `None` for any other edge.
    fn labelled(&self, edge: &JudgedEdge) -> Option<String> {
        let missing = edge.judged.reason == Reason::NotFound;
        match edge.edge.entry().map(|it| &it.reference) {
            Some(Reference::Selected(selection)) if missing => self.labelled_pods(selection),
            _ => None,
        }
    }
}
