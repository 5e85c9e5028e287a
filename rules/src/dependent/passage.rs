//! Whether a pod starts without waiting, because a gate of its revision has opened before, and the edges for which it waits even then.

use super::{Dependent, Unknown};
use crate::dependency::{Edge, NodeRules};
use crate::keys;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::node_rules::{self, HeldPod};
use crate::terms::Regate;
use crate::world::{World, means_same};

/// The administrator's settings that decide which edges a dependent has.
#[derive(Clone, Copy)]
pub struct EdgeSources<'p> {
    /// Whether [`keys::CONFIG_DEPENDS_ON`] counts.
    pub config_depends_on: bool,
    /// The rules that make pods of every labelled namespace wait for the agents of their nodes.
    pub node_rules: &'p NodeRules,
}

impl Dependent {
    /// Whether an edge counts for this pod although another pod of the revision has passed its gate: an entry with `sameNode`, an entry for
    /// ordinal 0 of the own StatefulSet, a node rule, and the slot of a Job, whose pods come one after the other.
    fn asks_again(&self, edge: &Edge) -> bool {
        match edge {
            Edge::Listed(entry) => entry.is_per_pod() || self.waits_for_own_ordinal(entry),
            Edge::NodeRule(_) => true,
            Edge::Wave(_) => false,
            Edge::Slot(_) => self.job().is_some(),
        }
    }

    /// Whether this pod need not wait again, because it or another pod of the revision has passed its gate; under [`Regate::Boot`] in the present
    /// boot of the node, and never under [`Regate::Always`]. `false` for a revision without a name. `default` applies where the dependent has no
    /// [`keys::REGATE`].
    pub fn has_passed(&self, default: Regate, world: &dyn World) -> Lookup<bool> {
        let passage = match self.regate(default) {
            Regate::Always => None,
            // A boot is told only by a gate that has opened before.
            Regate::Once if self.rebooted.is_some() => return Lookup::Found(true),
            Regate::Once | Regate::Boot => self.passage(),
        };
        passage.map_or(Lookup::Found(false), |it| world.has_passed(&it))
    }

    /// The name under which the memory keeps that a gate of this revision has opened: the name of the revision and, where the gate tells of a
    /// boot of the node, the boot ID. `None` where the revision has no name.
    pub fn passage(&self) -> Option<String> {
        let revision = self.revision()?;
        Some(match &self.rebooted {
            Some(reboot) => format!("{revision}.{}", reboot.id),
            None => revision,
        })
    }

    /// Whether the gate of the pod, once open, need not ask after a boot of its node: the pod has [`Regate::Once`], and no edge of it counts
    /// again. `false` where the edges cannot be read.
    pub(crate) fn opens_for_good(
        &self,
        default: Regate,
        sources: EdgeSources<'_>,
        world: &dyn World,
    ) -> bool {
        self.regate(default) == Regate::Once
            && self
                .all_edges(false, sources, world)
                .is_ok_and(|edges| !edges.iter().any(|edge| self.asks_again(edge)))
    }

    /// The value of [`keys::REGATE`], else `default`; [`Regate::Always`] where the value cannot be read.
    fn regate(&self, default: Regate) -> Regate {
        let terms = self.terms();
        if terms.is_unreadable(keys::REGATE) {
            return Regate::Always;
        }
        terms.terms.regate.unwrap_or(default)
    }

    /// The edges that count for this pod: all of [`Dependent::edges`] and those of node rules, or only some once another pod of the revision has
    /// passed its gate. A held pod leaves the edges of its node, and the addresses, to its gate, because it has no node and no network yet. For
    /// a caller that the gate has told nothing: under [`Regate::Boot`] the node may have been booted, so every edge counts.
    ///
    /// # Errors
    ///
    /// A list or a plan that cannot be read, or a Namespace that cannot be read although a node rule may hold the pod.
    pub fn asked(
        &self,
        default: Regate,
        sources: EdgeSources<'_>,
        world: &dyn World,
    ) -> Result<Vec<Edge>, Unknown> {
        // Where it is unknown whether the revision has passed, every edge counts.
        let passed = self.regate(default) != Regate::Boot
            && self.has_passed(default, world) == Lookup::Found(true);
        self.asked_after(passed, sources, world)
    }

    /// The edges that count for this pod, where the caller has found out whether another pod of the revision `passed`; then only those that count
    /// nevertheless. [`Dependent::asked`] finds out by itself. A held pod leaves the edges of its node, and the addresses, to its gate.
    pub(crate) fn asked_after(
        &self,
        passed: bool,
        sources: EdgeSources<'_>,
        world: &dyn World,
    ) -> Result<Vec<Edge>, Unknown> {
        let mut edges = self.all_edges(passed, sources, world)?;
        edges.retain(|edge| !passed || self.asks_again(edge));
        // A held pod has neither node nor network yet.
        let is_of_the_gate = |edge: &Edge| {
            let entry = edge.entry();
            entry.is_some_and(|entry| entry.is_per_pod() || entry.is_probed())
        };
        edges.retain(|edge| !(self.held && is_of_the_gate(edge)));
        Ok(edges)
    }

    /// The edges of [`Dependent::edges`], and those of the node rules. Where the revision has `passed`, a fault in the dependent's own list is
    /// no error: the list then gives no edge. Plans or a Namespace that cannot be read are an error even then.
    fn all_edges(
        &self,
        passed: bool,
        sources: EdgeSources<'_>,
        world: &dyn World,
    ) -> Result<Vec<Edge>, Unknown> {
        let mut edges = match self.listed(sources.config_depends_on) {
            Err(_) if passed => Vec::new(),
            listed => listed?,
        };
        edges.extend(self.ordered(passed, world)?);
        edges.extend(self.ruled(sources.node_rules, world)?);
        Ok(edges)
    }

    /// The edges that node rules give to the dependent; none for a test of Helm and for an object whose creation is held.
    ///
    /// # Errors
    ///
    /// Why it is unknown whether a rule holds the dependent.
    pub fn ruled(&self, rules: &NodeRules, world: &dyn World) -> Result<Vec<Edge>, Unknown> {
        if rules.0.is_empty() || self.is_test() || self.to_create {
            return Ok(Vec::new());
        }
        let is_same = |one: &Kind, other: &Kind| means_same(world, one, other);
        let held = HeldPod {
            called: self.called(&is_same, &|_| false),
            labels: &self.pod_labels,
            scope: self.scope.as_ref(),
        };
        let entries = node_rules::entries(rules, &held, world).map_err(Unknown::Namespace)?;
        Ok(entries.into_iter().map(Edge::NodeRule).collect())
    }
}
