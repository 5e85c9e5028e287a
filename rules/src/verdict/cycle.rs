//! Cycles: a dependent that waits for what waits for it.
//!
//! Followed from an edge that holds a dependent back, over what the objects behind it declare, within the dependent's
//! namespace: a path through another would tell what is there. Alternatives and optional edges are no links, since they
//! may yet be satisfied otherwise.

use super::JudgedEdge;
use super::edge::Judge;
use super::never;
use super::room::is_at_its_gate;
use crate::dependency::{Edge, ObjectRef, Parts, Selection};
use crate::dependent::Dependent;
use crate::edges::{self, Link};
use crate::judged::Reason;
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::object::{self, controller_of};
use crate::plan;
use crate::profile;
use crate::selector::Selector;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// So many objects are looked at, at most: who waits for more than that is not told of a cycle among them.
const MOST: usize = 64;

/// A workload or a Service, with its kind.
pub(super) type Found = (Kind, Value);

/// Where a way may lead to. A custom kind has more than one spelling, so a UID tells more than a name.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) name: &'a str,
    /// Empty where nobody knows it.
    pub(super) uid: &'a str,
}

impl Goal<'_> {
    fn is(&self, name: &str, object: &Value) -> bool {
        name == self.name || !self.uid.is_empty() && object["metadata"]["uid"] == self.uid
    }
}

/// An object on the way, the names up to it, and those that it needs; `None` for all that it declares.
struct Waypoint {
    dependent: Dependent,
    path: Vec<String>,
    needs: Option<Vec<Found>>,
}

impl Judge<'_> {
    /// Says of an edge that holds the dependent back what no object says of itself: that it leads back to the dependent, and on
    /// which way, or that what is behind it has no room, or why its pods are not ready. A path through another namespace would
    /// tell what is there.
    pub(super) fn look_behind(&self, edge: &mut JudgedEdge) {
        let known = matches!(
            edge.judged.reason,
            Reason::Syncing | Reason::SelfReference | Reason::NotStable
        );
        if known || edge.foreign {
            return;
        }
        let links = self.links(&edge.edge);
        let own = self.dependent.name();
        let goal = Goal {
            name: &own,
            uid: self.dependent.uid_as_written(),
        };
        let way = self.way(self.dependent, Some(needed(links.clone())), goal);
        if let Some(path) = way {
            edge.judged.reason = Reason::Cycle;
            edge.judged.message = never::of_cycle(&path);
            return;
        }
        let lack = self.lack_of_room(edge.judged.reason, &self.workloads(&links));
        let cause = self.cause(edge, lack.is_some());
        if lack.is_some() {
            edge.judged.reason = Reason::Unschedulable;
        }
        for told in lack.into_iter().chain(cause) {
            edge.judged.message = format!("{}; {told}", edge.judged.message);
        }
    }

    /// The names from a dependent over these objects, or over all that it needs, to another one.
    pub(super) fn way(
        &self,
        from: &Dependent,
        needs: Option<Vec<Found>>,
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
            let needs = needs.unwrap_or_else(|| self.of(&dependent).needs());
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

    pub(super) fn of<'a>(&'a self, dependent: &'a Dependent) -> Judge<'a> {
        Judge {
            dependent,
            policy: self.policy,
            world: self.world,
            now: self.now,
            at_once: false,
            again: Cell::new(None),
            reading: Cell::default(),
            probes: RefCell::default(),
        }
    }

    /// What has to be ready before the dependent starts, as it declares. One without a gate waits for nothing.
    fn needs(&self) -> Vec<Found> {
        let namespace = &self.dependent.namespace;
        let is_gated = self.dependent.asks_for_a_gate()
            || plan::is_injected(namespace, self.world) == Some(true);
        if !is_gated {
            return Vec::new();
        }
        let config = self.policy.config_depends_on;
        let declared = self.dependent.edges(config, self.world);
        let links = |edge| needed(self.links(edge));
        declared
            .unwrap_or_default()
            .iter()
            .flat_map(links)
            .collect()
    }

    /// The workloads and Services that an edge of the dependent leads to. Where others may stand for them nothing is looked up.
    fn links(&self, edge: &Edge) -> Vec<Link<Found>> {
        if edge.entry().is_some_and(edges::has_choice) {
            return Vec::new();
        }
        self.meant(edge)
    }

    /// The same, whatever may stand for them.
    pub(super) fn meant(&self, edge: &Edge) -> Vec<Link<Found>> {
        let mut links = edges::links(edge, self);
        links.retain(|link| link.to.1["spec"].is_object());
        links
    }

    /// The workloads among some objects, and those behind the Services.
    fn workloads(&self, links: &[Link<Found>]) -> Vec<Found> {
        let workloads = |link: &Link<Found>| {
            let (kind, object) = &link.to;
            if !kind.is_service() {
                return vec![link.to.clone()];
            }
            let behind = self.behind(object).into_iter();
            behind.map(|link| link.to).collect()
        };
        links.iter().flat_map(workloads).collect()
    }

    /// The workloads whose pods a Service selects. There is a way around them where other pods may serve it.
    pub(super) fn behind(&self, service: &Value) -> Vec<Link<Found>> {
        let selector = Selector::labels(&service["spec"]["selector"]);
        if selector.0.is_empty() {
            return Vec::new();
        }
        let kinds = self.kinds_behind();
        let words: Vec<String> = kinds.iter().map(Kind::to_string).collect();
        let of = format!("Service/{} {}", object::name(service), words.join(","));
        let look = || {
            let mut links = edges::behind(self.selected_by(&selector, &kinds));
            if let [only] = links.as_mut_slice() {
                only.must = !self.has_others(service, &only.to, &selector);
            }
            links
        };
        self.world.behind(&self.dependent.namespace, &of, &look)
    }

    /// Whether other pods may serve a Service than those of a workload that wait at their gates.
    fn has_others(&self, service: &Value, (kind, workload): &Found, selector: &Selector) -> bool {
        let is_of = |pod: &&Value| match kind.word() {
            "Pod" => pod["metadata"]["name"] == workload["metadata"]["name"],
            _ => self.is_of(pod, workload),
        };
        let gated = self.gated_by(selector);
        let waiting = gated.iter().filter(|pod| is_at_its_gate(pod)).filter(is_of);
        let behind = profile::pods_behind(service, self.world);
        behind.is_none_or(|behind| behind > waiting.count())
    }

    /// The kinds of workloads whose pods may serve: the usual ones, and the dependent's own.
    fn kinds_behind(&self) -> Vec<Kind> {
        let usual = [kinds::DEPLOYMENT, kinds::STATEFUL_SET, kinds::DAEMON_SET];
        let usual = usual.map(Kind::Builtin);
        let own = self.dependent.owners.last().map(|owner| owner.kind.clone());
        let own = own.filter(|own| !usual.contains(own));
        usual.into_iter().chain(own).collect()
    }

    /// The workloads of these kinds whose pods have these labels, and such pods without a workload.
    fn selected_by(&self, selector: &Selector, kinds: &[Kind]) -> Vec<Found> {
        let home = Some(self.dependent.namespace.as_str());
        let mut found = Vec::new();
        for kind in kinds {
            let listed = self.world.list(kind, home, &Selector::default());
            let Lookup::Found(objects) = listed else {
                continue;
            };
            let selected = objects.into_iter().filter(|it| makes(it, selector));
            found.extend(selected.map(|object| (kind.clone(), object)));
        }
        let mut bare = self.gated_by(selector);
        bare.retain(|pod| controller_of(pod).is_none());
        let of_kind = |pod| (Kind::Builtin(kinds::POD), pod);
        found.extend(bare.into_iter().map(of_kind));
        found
    }

    /// The pods with a gate and these labels.
    pub(super) fn gated_by(&self, selector: &Selector) -> Vec<Value> {
        match self.world.peek_gated(&self.dependent.namespace, selector) {
            Lookup::Found(gated) => gated,
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    /// Whether a namespace, as it is written, is the dependent's own.
    fn is_own(&self, namespace: Option<&String>) -> bool {
        namespace.is_none_or(|namespace| *namespace == self.dependent.namespace)
    }
}

/// Within the dependent's namespace.
impl edges::Targets for Judge<'_> {
    type Object = Found;

    fn named(&self, named: &ObjectRef) -> Option<Found> {
        let own = Some(self.dependent.namespace.as_str());
        if !self.is_own(named.namespace.as_ref()) {
            return None;
        }
        match self.world.object(&named.kind, own, &named.name) {
            Lookup::Found(object) => Some((named.kind.clone(), object)),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    fn selected(&self, selection: &Selection) -> Vec<Found> {
        let own = Some(self.dependent.namespace.as_str());
        if !self.is_own(selection.namespace.as_ref()) {
            return Vec::new();
        }
        match self.world.list(&selection.kind, own, &selection.selector) {
            Lookup::Found(mut objects) => {
                objects.retain(|object| !self.dependent.includes(&selection.kind, object));
                let kind = |object| (selection.kind.clone(), object);
                objects.into_iter().map(kind).collect()
            }
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    fn part(&self, parts: &Parts) -> Vec<Found> {
        if parts.namespace.is_some() {
            return Vec::new();
        }
        let own = self.dependent.namespace.as_str();
        self.found_in(parts, own).unwrap_or_default()
    }

    /// The first that is not ready, which is the one that holds the dependent back.
    fn lighter(&self, below: i64) -> Vec<Found> {
        let scope = self.dependent.scope.as_ref();
        let first = scope.and_then(|scope| self.first_below(scope, below).ok()?);
        first
            .map(|(_, kind, object)| (kind, object))
            .into_iter()
            .collect()
    }
}

/// Those that there is no way around.
fn needed(links: Vec<Link<Found>>) -> Vec<Found> {
    let links = links.into_iter().filter(|link| link.must);
    links.map(|link| link.to).collect()
}

/// Whether the pods of a workload have these labels.
fn makes(workload: &Value, selector: &Selector) -> bool {
    let own = &workload["spec"]["selector"]["matchLabels"];
    let by_template = object::template(workload).is_some_and(|it| selector.selects(it));
    by_template || selector.matches(|key| own.get(key)?.as_str())
}
