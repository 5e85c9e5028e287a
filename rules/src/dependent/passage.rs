//! Whether a pod need not ask again, because a gate of its revision has opened before, and the edges that count all the same.

use super::{Dependent, Unknown};
use crate::dependency::{Edge, NodeRules};
use crate::keys;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::node_rules::{self, HeldPod};
use crate::terms::Regate;
use crate::world::{World, means_same};

/// The administrator's choices of what gives a dependent its edges.
#[derive(Clone, Copy)]
pub struct EdgeSources<'p> {
    /// Whether [`keys::CONFIG_DEPENDS_ON`] counts.
    pub config_depends_on: bool,
    /// The rules that hold pods of every labelled namespace.
    pub node_rules: &'p NodeRules,
}

impl Dependent {
    /// Whether an edge counts for this pod although another pod of the revision has passed its gate. The slot of a Job does: its
    /// pods come one after the other, and each of them runs.
    fn asks_again(&self, edge: &Edge) -> bool {
        match edge {
            Edge::Listed(entry) => entry.is_per_pod() || self.waits_for_own_ordinal(entry),
            Edge::NodeRule(_) => true,
            Edge::Wave(_) => false,
            Edge::Slot(_) => self.job().is_some(),
        }
    }

    /// Whether this pod, or another pod of the revision, has passed its gate before, and that counts. `default` applies where the
    /// dependent has no [`keys::REGATE`].
    pub fn has_passed(&self, default: Regate, world: &dyn World) -> Lookup<bool> {
        let passage = match self.regate(default) {
            Regate::Always => None,
            // The marker of its own gate says so.
            Regate::Once if self.rebooted.is_some() => return Lookup::Found(true),
            Regate::Once | Regate::Boot => self.passage(),
        };
        passage.map_or(Lookup::Found(false), |it| world.has_passed(&it))
    }

    /// The name by which the memory knows that a gate like this one has opened: of the revision and, after a boot of the node, of
    /// that boot. `None` where the revision has no name.
    pub fn passage(&self) -> Option<String> {
        let revision = self.revision()?;
        Some(match &self.rebooted {
            Some(reboot) => format!("{revision}.{}", reboot.id),
            None => revision,
        })
    }

    /// Whether the gate of the pod, once open, need not ask after a boot of its node: nothing would hold it then.
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

    /// Whether the pod waits again. A value that cannot be read makes it wait.
    fn regate(&self, default: Regate) -> Regate {
        let terms = self.terms();
        if terms.is_unreadable(keys::REGATE) {
            return Regate::Always;
        }
        terms.terms.regate.unwrap_or(default)
    }

    /// The edges that count for this pod: all of [`Dependent::edges`] and those of node rules, or only some once another pod of the
    /// revision has passed its gate. A held pod leaves the edges of its node, and the addresses, to its gate, because it has no node and
    /// no network yet. For a caller to whom the gate has told nothing: under [`Regate::Boot`] the node may have been booted, so every edge
    /// counts.
    ///
    /// # Errors
    ///
    /// A list or a plan that cannot be read.
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

    /// The edges that count for this pod, where the caller has found out whether another pod of the revision `passed`.
    /// [`Dependent::asked`] finds out by itself.
    pub(crate) fn asked_after(
        &self,
        passed: bool,
        sources: EdgeSources<'_>,
        world: &dyn World,
    ) -> Result<Vec<Edge>, Unknown> {
        let mut edges = self.all_edges(passed, sources, world)?;
        edges.retain(|edge| !passed || self.asks_again(edge));
        // A pod that is held has neither node nor network yet.
        let is_of_the_gate = |edge: &Edge| {
            let entry = edge.entry();
            entry.is_some_and(|entry| entry.is_per_pod() || entry.is_probed())
        };
        edges.retain(|edge| !(self.held && is_of_the_gate(edge)));
        Ok(edges)
    }

    /// The edges of [`Dependent::edges`], and those of the node rules. A fault in its own list holds no pod of a revision that has
    /// `passed`; plans that are not there to read do, and so does a fault of a plan or of a rule that may hold each pod.
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

    /// The edges that node rules give to the dependent.
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
