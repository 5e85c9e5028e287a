//! The edges of a dependent: its lists, and what plans, weights and caps add to them.

use super::{Dependent, Unknown};
use crate::annotation;
use crate::dependency::{Edge, Part};
use crate::kept::is_too_large;
use crate::keys;
use crate::kinds::Kind;
use crate::lookup::{Lookup, Unavailable};
use crate::plan;
use crate::scope::Scope;
use crate::world::{World, means_same};
use serde_json::Value;

/// One edge of a dependent, with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The edge that the dependent waits for.
    pub edge: Edge,
    /// The place where the edge was written.
    pub source: Source,
}

/// The place where an edge was written: a list, a plan, the weights and caps, or a node rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The edge comes from a list of dependencies on the workload or on its pod template.
    List,
    /// The edge comes from a plan of the namespace.
    Plan,
    /// The edge comes from the weights and caps of the scope.
    Weight,
    /// The edge comes from a rule that the administrator wrote for the pods of labelled namespaces.
    NodeRule,
}

impl Dependent {
    /// The edges of the dependent: from its lists, from the plans and, in a scope, one for all lower weights and one for a slot where it has a
    /// cap. A test of Helm, and an object whose creation is held, have the edges of their lists alone. Node rules are not included.
    /// `config_depends_on` tells whether [`keys::CONFIG_DEPENDS_ON`] is honoured.
    ///
    /// # Errors
    ///
    /// A list or a plan that cannot be read.
    pub fn edges(&self, config_depends_on: bool, world: &dyn World) -> Result<Vec<Edge>, Unknown> {
        let mut edges = self.listed(config_depends_on)?;
        edges.extend(self.ordered(false, world)?);
        Ok(edges)
    }

    /// The edges that the dependent's own annotations list. `config_depends_on` tells whether [`keys::CONFIG_DEPENDS_ON`] counts.
    ///
    /// # Errors
    ///
    /// A list that cannot be read.
    pub(super) fn listed(&self, config_depends_on: bool) -> Result<Vec<Edge>, Unknown> {
        let mut annotations = self.annotations();
        if !config_depends_on || annotation::foreign(&annotations).is_some() {
            annotations.remove(keys::CONFIG_DEPENDS_ON);
        }
        let listed = annotation::declared(&annotations)?;
        Ok(listed.into_iter().map(Edge::Listed).collect())
    }

    /// The edges that plans, weights and caps give to the dependent. `passed`: its revision has passed its gate before.
    ///
    /// # Errors
    ///
    /// A plan that cannot be read, as [`plan::dependencies`] says.
    pub(super) fn ordered(&self, passed: bool, world: &dyn World) -> Result<Vec<Edge>, Unknown> {
        let plans = || world.plans(&self.namespace);
        let is_same = |one: &Kind, other: &Kind| means_same(world, one, other);
        let scope = self.scope.as_ref();
        let has_chart =
            |part: &Part| scope.is_some_and(|scope| plan::has_chart(part, scope, world));
        let waits = self.ordered_by(passed, plans, &is_same, &has_chart)?;
        Ok(waits.into_iter().map(|wait| wait.edge).collect())
    }

    /// The edges of [`Dependent::edges`], each with its source. `plans` reads the plans of the dependent's namespace. `is_same` tells whether
    /// two words mean one kind, `has_chart` whether the dependent's scope has objects that carry the label of a sub-chart.
    ///
    /// # Errors
    ///
    /// A list or a plan that cannot be read.
    pub fn waits(
        &self,
        config_depends_on: bool,
        plans: impl FnOnce() -> Lookup<Vec<Value>>,
        is_same: &dyn Fn(&Kind, &Kind) -> bool,
        has_chart: &dyn Fn(&Part) -> bool,
    ) -> Result<Vec<Wait>, Unknown> {
        let listed = self.listed(config_depends_on)?.into_iter();
        let source = Source::List;
        let mut waits: Vec<Wait> = listed.map(|edge| Wait { edge, source }).collect();
        waits.extend(self.ordered_by(false, plans, is_same, has_chart)?);
        Ok(waits)
    }

    fn ordered_by(
        &self,
        passed: bool,
        plans: impl FnOnce() -> Lookup<Vec<Value>>,
        is_same: &dyn Fn(&Kind, &Kind) -> bool,
        has_chart: &dyn Fn(&Part) -> bool,
    ) -> Result<Vec<Wait>, Unknown> {
        let mut waits = Vec::new();
        if self.is_test() || self.to_create {
            return Ok(waits);
        }
        match plans() {
            Lookup::Found(plans) => {
                // A plan without a scope can only say something of every pod.
                let counts = |plan: &&Value| {
                    let scope = Scope::of(plan);
                    scope.is_none() || scope == self.scope
                };
                if plans.iter().filter(counts).any(is_too_large) {
                    return Err(Unknown::Plans(Unavailable::TooLarge));
                }
                let called = self.called(is_same, has_chart);
                let planned = plan::dependencies(&plans, self.scope.as_ref(), &called, passed)?;
                let source = Source::Plan;
                let planned = planned.into_iter().map(Edge::Listed);
                waits.extend(planned.map(|edge| Wait { edge, source }));
            }
            Lookup::NotFound => {}
            Lookup::Unavailable(why) => return Err(Unknown::Plans(why)),
        }
        if self.scope.is_none() {
            return Ok(waits);
        }
        let below = self.waits_below();
        let slot = self.parallelism().map(Edge::Slot);
        let turn = [Edge::Wave(below)].into_iter().chain(slot);
        let source = Source::Weight;
        waits.extend(turn.map(|edge| Wait { edge, source }));
        Ok(waits)
    }
}
