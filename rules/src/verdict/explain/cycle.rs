//! Cycles: a dependent that waits for an object that waits for it.
//!
//! A cycle is followed from an edge that is not satisfied, over the lists of the objects behind it, within the dependent's namespace: a path
//! through another namespace would tell which objects are there. Alternatives and optional edges are not followed, since they may be satisfied
//! in another way.

use super::super::judge::Typed;
use super::basis::Explain;
use super::targets::needed;
use crate::dependent::Dependent;
use crate::plan;
use serde_json::Value;
use std::collections::BTreeSet;

/// The most objects over which a cycle is searched: a longer cycle is not found.
const MOST: usize = 64;

/// The object that a way has to reach: for a cycle, the dependent itself. The object has a UID beside its name, because a custom kind has
/// more than one spelling.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) name: &'a str,
    /// The UID of the object; empty where it is unknown.
    pub(super) uid: &'a str,
}

impl Goal<'_> {
    fn is(&self, name: &str, object: &Value) -> bool {
        name == self.name || !self.uid.is_empty() && object["metadata"]["uid"] == self.uid
    }
}

/// An object on the way, the names on the path up to it, and the objects that it needs; where `needs` is `None`, those that its own list
/// declares.
struct Waypoint {
    dependent: Dependent,
    path: Vec<String>,
    needs: Option<Vec<Typed>>,
}

impl Explain<'_> {
    /// The names of the objects on a chain of dependencies from a dependent to the goal, both included; `None` where no chain is found. Its
    /// first step is to one of `needs`, or, without `needs`, to an object that the dependent's own list declares. At most [`MOST`] objects
    /// are searched.
    pub(super) fn way(
        &self,
        from: &Dependent,
        needs: Option<Vec<Typed>>,
        goal: Goal<'_>,
    ) -> Option<Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut open = vec![Waypoint {
            dependent: from.clone(),
            path: vec![from.name()],
            needs,
        }];
        while let Some(Waypoint {
            dependent,
            path,
            needs,
        }) = open.pop()
        {
            let needs = needs.unwrap_or_else(|| {
                let judge = self.judge.of(&dependent);
                Explain::new(&judge, self.hints).needs()
            });
            for (kind, object) in needs {
                let behind = kind.is_service().then(|| needed(self.behind(&object)));
                let next = Dependent::of_workload(kind, &object, &dependent.namespace);
                let name = next.name();
                let mut path = path.clone();
                if goal.is(&name, &object) {
                    path.push(goal.name.to_owned());
                    return Some(path);
                }
                path.push(name.clone());
                if seen.len() < MOST && seen.insert(name) {
                    open.push(Waypoint {
                        dependent: next,
                        path,
                        needs: behind,
                    });
                }
            }
        }
        None
    }

    /// The objects that have to be ready before the dependent starts, by its own list, the plans and the weights. Empty for a dependent without a
    /// gate, and where the list or the plans cannot be read.
    fn needs(&self) -> Vec<Typed> {
        let (dependent, judge) = (self.dependent(), self.judge);
        let is_gated = dependent.asks_for_a_gate()
            || plan::is_injected(&dependent.namespace, judge.world) == Some(true);
        if !is_gated {
            return Vec::new();
        }
        let declared = dependent.edges(judge.policy.config_depends_on, judge.world);
        let links = |edge| needed(self.links(edge));
        declared
            .unwrap_or_default()
            .iter()
            .flat_map(links)
            .collect()
    }
}
