//! The objects that an edge leads to within the dependent's namespace, and the workloads behind a Service.

use super::super::judge::Typed;
use super::basis::Explain;
use crate::dependency::{Edge, ObjectRef, Parts, Selection};
use crate::edges::{self, Link};
use crate::gate;
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::object::{self, controller_of};
use crate::profile;
use crate::selector::Selector;
use crate::world::has_made;
use serde_json::Value;

impl Explain<'_> {
    /// The objects with a `spec`, such as workloads and Services, in the dependent's namespace that an edge means; of a wave only the first that is
    /// not ready. None, and nothing is looked up, where the entry may be satisfied without one of them: it is `optional`, has alternatives to choose
    /// from, or a `min` other than 100%.
    pub(super) fn links(&self, edge: &Edge) -> Vec<Link<Typed>> {
        if edge.entry().is_some_and(edges::has_choice) {
            return Vec::new();
        }
        self.meant(edge)
    }

    /// The objects with a `spec`, such as workloads and Services, in the dependent's namespace that an edge means, also where the entry may be
    /// satisfied without one of them, such as with `any`. Of a wave only the first object that is not ready.
    pub(super) fn meant(&self, edge: &Edge) -> Vec<Link<Typed>> {
        let mut links = edges::links(edge, self);
        links.retain(|link| link.to.1["spec"].is_object());
        links
    }

    /// The objects of these links, with each Service replaced by the workloads whose pods it selects.
    pub(super) fn workloads(&self, links: &[Link<Typed>]) -> Vec<Typed> {
        let workloads = |link: &Link<Typed>| {
            let (kind, object) = &link.to;
            if !kind.is_service() {
                return vec![link.to.clone()];
            }
            let behind = self.behind(object).into_iter();
            behind.map(|link| link.to).collect()
        };
        links.iter().flat_map(workloads).collect()
    }

    /// The workloads, and pods without a workload, that a Service selects; none for a Service without a selector. The link to the only one is a must
    /// unless other pods may serve as well.
    pub(super) fn behind(&self, service: &Value) -> Vec<Link<Typed>> {
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
        self.hints.behind(&self.dependent().namespace, &of, &look)
    }

    /// Whether pods other than those of this workload that wait at their gates may be behind a Service; `true` where the number of pods behind
    /// it is unknown.
    fn has_others(&self, service: &Value, (kind, workload): &Typed, selector: &Selector) -> bool {
        let is_of = |pod: &&Value| match kind.word() {
            "Pod" => pod["metadata"]["name"] == workload["metadata"]["name"],
            _ => self.is_of(pod, workload),
        };
        let gated = self.gated_by(selector);
        let waiting = gated
            .iter()
            .filter(|pod| gate::is_at_its_gate(pod))
            .filter(is_of);
        let behind = profile::pods_behind(service, self.judge.world);
        behind.is_none_or(|behind| behind > waiting.count())
    }

    /// The kinds of workloads whose pods may be behind a Service: Deployment, StatefulSet, DaemonSet, and the kind of the dependent's topmost
    /// owner.
    fn kinds_behind(&self) -> Vec<Kind> {
        let usual = [kinds::DEPLOYMENT, kinds::STATEFUL_SET, kinds::DAEMON_SET];
        let usual = usual.map(Kind::Builtin);
        let own = self
            .dependent()
            .owners
            .last()
            .map(|owner| owner.kind.clone());
        let own = own.filter(|own| !usual.contains(own));
        usual.into_iter().chain(own).collect()
    }

    /// The workloads of these kinds in the dependent's namespace whose pods have these labels, and the gated pods with these labels that have no
    /// controller. A kind that cannot be read is left out.
    pub(super) fn selected_by(&self, selector: &Selector, kinds: &[Kind]) -> Vec<Typed> {
        let home = Some(self.dependent().namespace.as_str());
        let mut found = Vec::new();
        for kind in kinds {
            let world = self.judge.world;
            let is_selected = |it: &Value| makes(it, selector);
            let listed = world.list_where(kind, home, &Selector::default(), &is_selected);
            let Lookup::Found(selected) = listed else {
                continue;
            };
            let selected = selected.into_iter();
            found.extend(selected.map(|object| (kind.clone(), object)));
        }
        let mut bare = self.gated_by(selector);
        bare.retain(|pod| controller_of(pod).is_none());
        let of_kind = |pod| (Kind::Builtin(kinds::POD), pod);
        found.extend(bare.into_iter().map(of_kind));
        found
    }

    /// The pods of the dependent's namespace that have a gate and these labels; empty where they cannot be read.
    pub(super) fn gated_by(&self, selector: &Selector) -> Vec<Value> {
        match self.hints.peek_gated(&self.dependent().namespace, selector) {
            Lookup::Found(gated) => gated,
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    /// Whether a workload controls a pod, directly or through a ReplicaSet or a Job, by its UID.
    pub(super) fn is_of(&self, pod: &Value, workload: &Value) -> bool {
        let uid = workload["metadata"]["uid"].as_str();
        let namespace = &self.dependent().namespace;
        uid.is_some_and(|uid| has_made(self.judge.world, namespace, uid, pod))
    }

    /// Whether the namespace that an entry writes is the dependent's own; an entry without a namespace means that one, too.
    fn is_own(&self, namespace: Option<&String>) -> bool {
        namespace.is_none_or(|namespace| *namespace == self.dependent().namespace)
    }
}

impl edges::Targets for Explain<'_> {
    type Object = Typed;

    fn named(&self, named: &ObjectRef) -> Option<Typed> {
        let own = Some(self.dependent().namespace.as_str());
        if !self.is_own(named.namespace.as_ref()) {
            return None;
        }
        match self.judge.world.object(&named.kind, own, &named.name) {
            Lookup::Found(object) => Some((named.kind.clone(), object)),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    fn selected(&self, selection: &Selection) -> Vec<Typed> {
        let own = Some(self.dependent().namespace.as_str());
        if !self.is_own(selection.namespace.as_ref()) {
            return Vec::new();
        }
        match self
            .judge
            .world
            .list(&selection.kind, own, &selection.selector)
        {
            Lookup::Found(mut objects) => {
                objects.retain(|object| !self.dependent().includes(&selection.kind, object));
                let kind = |object| (selection.kind.clone(), object);
                objects.into_iter().map(kind).collect()
            }
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    fn part(&self, parts: &Parts) -> Vec<Typed> {
        if parts.namespace.is_some() {
            return Vec::new();
        }
        let own = self.dependent().namespace.as_str();
        self.judge.objects_of(parts, own).unwrap_or_default()
    }

    /// The first object of the dependent's scope that weighs less than `below` and is not ready: the dependent waits for this one.
    fn lighter(&self, below: i64) -> Vec<Typed> {
        let scope = self.dependent().scope.as_ref();
        let first = scope.and_then(|scope| self.judge.first_below(scope, below).ok()?);
        first
            .map(|(_, kind, object)| (kind, object))
            .into_iter()
            .collect()
    }
}

/// The objects of the links that are a must: the edge cannot be satisfied without them.
pub(super) fn needed(links: Vec<Link<Typed>>) -> Vec<Typed> {
    let links = links.into_iter().filter(|link| link.must);
    links.map(|link| link.to).collect()
}

/// Whether the pods of a workload have these labels, by its pod template or by `spec.selector.matchLabels`.
fn makes(workload: &Value, selector: &Selector) -> bool {
    let own = &workload["spec"]["selector"]["matchLabels"];
    let by_template = object::template(workload).is_some_and(|it| selector.selects(it));
    by_template || selector.matches(|key| own.get(key)?.as_str())
}
