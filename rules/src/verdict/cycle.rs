//! Cycles: a dependent that waits for what waits for it.
//!
//! Followed from an edge that holds a dependent back, over what the objects behind it declare, within the dependent's
//! namespace: a path through another would tell what is there. Alternatives and optional edges are no links, since they
//! may yet be satisfied otherwise.

use super::Edge;
use super::edge::Judge;
use crate::dependency::{Dependency, Reference};
use crate::dependent::Dependent;
use crate::judged::Reason;
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::selector::Selector;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;

/// So many objects are looked at, at most: who waits for more than that is not told of a cycle among them.
const MOST: usize = 64;

/// A workload, with its kind.
pub(super) type Found = (Kind, Value);

/// A workload on the way, the names up to it, and those that it leads on to; `None` for all that it declares.
struct Step {
    dependent: Dependent,
    path: Vec<String>,
    links: Option<Vec<Found>>,
}

impl Judge<'_> {
    /// Says of an edge that holds the dependent back what no object says of itself: that it leads back to the dependent, and on
    /// which way, or that what is behind it has no room. A path through another namespace would tell what is there.
    pub(super) fn look_behind(&self, edge: &mut Edge) {
        let known = matches!(edge.judged.reason, Reason::Syncing | Reason::SelfReference);
        if known || edge.foreign {
            return;
        }
        let links = self.links(&edge.dependency);
        let lack = self.lack_of_room(edge.judged.reason, &links);
        let judged = &mut edge.judged;
        if let Some(path) = self.way(self.dependent, Some(links), &self.dependent.name()) {
            judged.reason = Reason::Cycle;
            judged.message = format!("{}; take one of these entries out", path.join(" -> "));
        } else if let Some(lack) = lack {
            judged.reason = Reason::Unschedulable;
            judged.message = format!("{}; {lack}", judged.message);
        }
    }

    /// The names from a dependent over these workloads, or over all that it waits for, to another one.
    pub(super) fn way(
        &self,
        from: &Dependent,
        links: Option<Vec<Found>>,
        goal: &str,
    ) -> Option<Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut open = vec![Step {
            dependent: from.clone(),
            path: vec![from.name()],
            links,
        }];
        while let Some(Step {
            dependent,
            path,
            links,
        }) = open.pop()
        {
            let links = links.unwrap_or_else(|| self.of(&dependent).declared_links());
            for (kind, object) in links {
                let next = Dependent::of_workload(kind, &object, &dependent.namespace);
                let name = next.name();
                let mut path = path.clone();
                path.push(name.clone());
                if name == goal {
                    return Some(path);
                }
                if seen.len() < MOST && seen.insert(name) {
                    open.push(Step {
                        dependent: next,
                        path,
                        links: None,
                    });
                }
            }
        }
        None
    }

    fn of<'a>(&'a self, dependent: &'a Dependent) -> Judge<'a> {
        Judge {
            dependent,
            policy: self.policy,
            world: self.world,
            now: self.now,
            again: Cell::new(None),
            held_back: Cell::new(false),
        }
    }

    fn declared_links(&self) -> Vec<Found> {
        let config = self.policy.config_depends_on;
        let declared = self.dependent.dependencies(config, self.world);
        let links = |edge| self.links(edge);
        declared
            .unwrap_or_default()
            .iter()
            .flat_map(links)
            .collect()
    }

    /// The workloads whose pods an edge of the dependent needs.
    fn links(&self, dependency: &Dependency) -> Vec<Found> {
        if dependency.optional {
            return Vec::new();
        }
        let own = self.dependent.namespace.as_str();
        let found = match &dependency.reference {
            Reference::Object(it) if it.namespace.as_deref().is_none_or(|it| it == own) => {
                match self.world.object(&it.kind, Some(own), &it.name) {
                    Lookup::Found(object) if it.kind.word() == "Service" => self.behind(&object),
                    Lookup::Found(object) => vec![(it.kind.clone(), object)],
                    Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
                }
            }
            Reference::Selected(it) if it.namespace.as_deref().is_none_or(|it| it == own) => {
                match self.world.list(&it.kind, Some(own), &it.selector) {
                    Lookup::Found(objects) if it.min.is_none() => {
                        let named = |object| (it.kind.clone(), object);
                        objects.into_iter().map(named).collect()
                    }
                    _ => Vec::new(),
                }
            }
            Reference::Part(it) if it.min.is_none() && it.namespace.is_none() => {
                self.found_in(&it.part, own).unwrap_or_default()
            }
            Reference::Wave(below) => {
                let scope = self.dependent.scope.as_ref();
                let first = scope.and_then(|scope| self.first_below(scope, *below).ok()?);
                first
                    .map(|(_, kind, object)| (kind, object))
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        };
        let makes_pods = |(_, object): &Found| object["spec"].is_object();
        found.into_iter().filter(makes_pods).collect()
    }

    /// The workloads whose pods a Service selects, as far as their own selectors tell.
    fn behind(&self, service: &Value) -> Vec<Found> {
        let selector = Selector::labels(&service["spec"]["selector"]);
        if selector.0.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for kind in [kinds::DEPLOYMENT, kinds::STATEFUL_SET, kinds::DAEMON_SET] {
            let kind = Kind::Builtin(kind);
            let home = Some(self.dependent.namespace.as_str());
            let Lookup::Found(objects) = self.world.list(&kind, home, &Selector::default()) else {
                continue;
            };
            let selected = |object: &Value| {
                let labels = &object["spec"]["selector"]["matchLabels"];
                selector.matches(|key| labels.get(key)?.as_str())
            };
            let selected = objects.into_iter().filter(selected);
            found.extend(selected.map(|object| (kind.clone(), object)));
        }
        found
    }
}
