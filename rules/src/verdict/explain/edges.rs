//! All edges of one dependent, judged and explained.

use super::super::judge::{Judge, JudgedEdge, Judgement, Policy};
use super::basis::Explain;
use super::cycle::Goal;
use super::targets::needed;
use super::too_late;
use crate::dependency::{Edge, Reference};
use crate::dependent::Dependent;
use crate::judged::Reason;
use crate::world::World;
use jiff::Timestamp;

/// Judges every edge of one dependent, and explains those that are not satisfied, as far as the world has hints.
pub fn judge(
    dependent: &Dependent,
    edges: Vec<Edge>,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Judgement {
    let judge = Judge::new(dependent, policy, world, now);
    let found = judge.edges(edges);
    let explain = world.hints().map(|hints| Explain::new(&judge, hints));
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

impl Explain<'_> {
    /// Adds the words that no object has about itself to an edge that is not satisfied: the way on which it leads back to the
    /// dependent, the lack of room for the pods behind it, or why those pods are not ready. A path through another namespace would
    /// tell a tenant which objects are there, so none is followed.
    fn look_behind(&self, edge: &mut JudgedEdge) {
        let known = matches!(
            edge.judged.reason,
            Reason::Syncing | Reason::SelfReference | Reason::NotStable | Reason::BeforeBoot
        );
        if known || edge.foreign {
            return;
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
            return;
        }
        let lack = self.lack_of_room(edge.judged.reason, &self.workloads(&links));
        let cause = self.cause(edge, lack.is_some());
        if lack.is_some() {
            edge.judged.reason = Reason::Unschedulable;
        }
        let labelled = self.labelled(edge);
        for told in lack.into_iter().chain(cause).chain(labelled) {
            edge.judged.message = format!("{}; {told}", edge.judged.message);
        }
    }

    /// What is told of a selector that finds no object.
    fn labelled(&self, edge: &JudgedEdge) -> Option<String> {
        let missing = edge.judged.reason == Reason::NotFound;
        match edge.edge.entry().map(|it| &it.reference) {
            Some(Reference::Selected(selection)) if missing => self.labelled_pods(selection),
            _ => None,
        }
    }
}
