//! Judges all edges of one dependent: entries of lists, plans and node rules, the wave, and the slot.

use super::basis::Judge;
use super::finding::{EntryFinding, Lead};
use super::judgement::JudgedEdge;
use super::patience;
use crate::dependency::Edge;
use jiff::Timestamp;

impl Judge<'_> {
    /// Judges each edge, and returns it with the lead to more words: first all but the slot in their order, then the slot, which is requested
    /// only if no other edge holds the dependent back. A satisfied wave of a dependent without a weight is left out.
    pub(in crate::verdict) fn edges(&self, edges: Vec<Edge>) -> Vec<(JudgedEdge, Option<Lead>)> {
        // A slot is for a dependent that can start at once, so it is judged after all other edges.
        let (slots, others): (Vec<Edge>, Vec<Edge>) = edges
            .into_iter()
            .partition(|edge| matches!(edge, Edge::Slot(_)));
        let others = others.into_iter().map(|edge| self.edge(edge, false));
        let mut found: Vec<(JudgedEdge, Option<Lead>)> = others.collect();
        let can_start = holds_up_nothing(
            found.iter().map(|(edge, _)| edge),
            self.dependent.started,
            self.now,
        );
        found.extend(slots.into_iter().map(|edge| self.edge(edge, can_start)));
        found.retain(|(edge, _)| !self.is_idle_wave(edge));
        found
    }

    /// Judges one edge. `can_start` matters for a slot alone: a slot is requested only if no other edge holds the dependent back.
    pub(in crate::verdict) fn edge(
        &self,
        edge: Edge,
        can_start: bool,
    ) -> (JudgedEdge, Option<Lead>) {
        let (foreign, EntryFinding { judged, lead }, turn) = match &edge {
            Edge::Listed(entry) => self.lasting(entry),
            Edge::NodeRule(entry) => (true, self.of_a_node_rule(entry), None),
            Edge::Wave(below) => (false, self.below(*below).into(), None),
            Edge::Slot(most) => (false, self.slot(*most, can_start).into(), None),
        };
        let judged = JudgedEdge {
            edge,
            foreign,
            judged,
            turns: turn.into_iter().collect(),
            root: None,
        };
        (judged, lead)
    }

    /// Whether an edge is a satisfied wave of a dependent without a weight. Most dependents have such an edge, and it tells nothing.
    fn is_idle_wave(&self, edge: &JudgedEdge) -> bool {
        matches!(edge.edge, Edge::Wave(_))
            && edge.judged.satisfied
            && self.dependent.weight().is_none()
    }
}

/// Whether none of these edges holds back a dependent that was started at `started`: each is satisfied, or its own timeout has passed and says
/// `proceed`. The judge that asks for a slot and the writer that gives slots must agree on this.
pub fn can_start(edges: &[JudgedEdge], started: Option<Timestamp>, now: Timestamp) -> bool {
    holds_up_nothing(edges, started, now)
}

fn holds_up_nothing<'e>(
    edges: impl IntoIterator<Item = &'e JudgedEdge>,
    started: Option<Timestamp>,
    now: Timestamp,
) -> bool {
    let mut edges = edges.into_iter();
    edges.all(|edge| edge.judged.satisfied || patience::is_given_up(edge, started, now))
}
