//! The objects of a namespace, read from the cluster, for a graph.

use crate::access;
use crate::objects::{Graph, Object, place};
use crate::status;
use jiff::Timestamp;
use rules::dependency::{Dependency, NodeRules, ObjectRef, Parts, Reference, Selection, State};
use rules::gate::{self, Gate};
use rules::judged::{self, Judged};
use rules::keys;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::object;
use rules::profile;
use rules::scope;
use rules::selector::Selector;
use rules::verdict::{self, Policy};
use rules::world::{Objects, World};
use serde_json::Value;
use std::collections::BTreeMap;

/// The objects of a namespace from which the graph is built.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    /// The namespace of the graph.
    pub(super) namespace: String,
    /// The objects that may become nodes of the graph.
    pub(super) objects: Vec<Object>,
    /// All pods of the graph's namespace.
    pub(super) pods: Vec<Value>,
    /// The kind and name of each object's controller, by the kind and name of the object.
    pub(super) owners: BTreeMap<(String, String), (String, String)>,
    /// The kinds that the caller may not read, by their namespaces (`None` of a cluster-scoped kind), with kubectl's names for them.
    pub(super) hidden: BTreeMap<(Option<String>, String), String>,
}

/// The inputs by which the objects of a graph are judged.
pub(super) struct Judges<'a> {
    pub(super) world: &'a dyn World,
    pub(super) policy: &'a Policy,
    /// Group and word of the custom kinds that make pods.
    pub(super) workloads: &'a [(String, String)],
    /// Tells why sluice itself cannot look at a kind; `None` where it can.
    pub(super) withheld: &'a dyn Fn(&Kind) -> Option<Unavailable>,
    pub(super) now: Timestamp,
}

/// The kinds that are listed beside the workloads that may be in a wave: group and kind.
const MORE: [(&str, &str); 3] = [("batch", "CronJob"), ("", "Service"), ("", "Pod")];

/// The kinds of which every object of the namespace is read; `custom` are the group and word of each workload kind that is not built in.
fn listed(custom: &[(String, String)]) -> Vec<Kind> {
    let more = MORE
        .iter()
        .filter_map(|(group, kind)| kinds::builtin(group, kind).map(Kind::Builtin));
    let custom = custom.iter().cloned();
    let custom = custom.map(|(group, word)| Kind::Custom { group, word });
    scope::workloads().chain(more).chain(custom).collect()
}

/// The namespace of sluice, as the first gate in the pods of a namespace names it; `None` where no pod has a gate, or pods cannot be read.
pub(super) fn home(world: &dyn Objects, namespace: &str) -> Option<String> {
    let kind = Kind::Builtin(kinds::POD);
    let gated = Selector::label(keys::GATED, keys::GATED_VALUE);
    match world.list(&kind, Some(namespace), &gated) {
        Lookup::Found(pods) => pods.iter().find_map(status::home),
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    }
}

/// Reads the objects of a namespace that a graph can show, its plans and the Namespace itself, and the objects that these wait for elsewhere, by
/// their lists or `under` the node rules of the cluster. Notes the kinds that the caller may not read.
pub(super) fn see(
    world: &dyn Objects,
    namespace: &str,
    custom: &[(String, String)],
    under: (&NodeRules, &dyn World),
) -> Inventory {
    let (rules, installed) = under;
    let mut seen = Inventory {
        namespace: namespace.to_owned(),
        ..Inventory::default()
    };
    let listed = listed(custom);
    for kind in &listed {
        seen.list(world, kind, namespace, &Selector::default());
    }
    let plans = Selector::label(keys::PLAN, "true");
    seen.list(world, &Kind::Builtin(kinds::CONFIG_MAP), namespace, &plans);
    let home = Kind::Builtin(kinds::NAMESPACE);
    match world.object(&home, None, namespace) {
        Lookup::Found(object) => seen.objects.push(place("", 0, object)),
        // The label of the Namespace tells whether node rules hold its pods, so the user learns that it could not be read.
        Lookup::Unavailable(Unavailable::Forbidden) if !rules.0.is_empty() => {
            seen.hide(&home, Some(namespace));
        }
        Lookup::NotFound | Lookup::Unavailable(_) => {}
    }
    let graph = Graph::new(&seen.objects).under(rules, installed);
    for (from, reference) in absent(&graph, &listed) {
        seen.fetch(world, &from, &reference);
    }
    seen
}

/// Judges whether an object is ready, without regard to a dependent. Where it is not, the message begins with the root cause, if one is known.
/// A kind that sluice itself cannot look at is judged unavailable; `None` for an object of an unknown kind.
pub(super) fn judge(object: &Object, by: &Judges<'_>) -> Option<Judged> {
    let Judges {
        world, policy, now, ..
    } = *by;
    let kind = object.kind.as_ref()?;
    if let Some(why) = (by.withheld)(kind) {
        return Some(judged::unavailable(why, kind, false));
    }
    let mut judged = profile::judge(kind, &object.value, State::Ready, world, now);
    let of = (kind, &object.value);
    if !judged.satisfied
        && let Some(cause) = verdict::cause_of(of, object.namespace(), policy, world, now)
    {
        judged.message = format!("{cause}; {}", judged.message);
    }
    Some(judged)
}

/// A reference to objects that have not been read yet.
enum Absent {
    Object(ObjectRef),
    Selected(Selection),
    Part(Parts),
}

/// The references in lists, also those of alternatives, that lead to objects which have not been read, each with the namespace of the object
/// that has the list. `listed` are the kinds that were read as a whole in the graph's namespace.
fn absent(graph: &Graph<'_>, listed: &[Kind]) -> Vec<(String, Absent)> {
    let mut found = Vec::new();
    for (at, list) in graph.lists.iter().enumerate() {
        let mut open: Vec<&Dependency> = list.iter().filter_map(|wait| wait.edge.entry()).collect();
        while let Some(dependency) = open.pop() {
            let absent = match &dependency.reference {
                Reference::Object(it) if graph.find(at, it).is_none() => {
                    Some(Absent::Object(it.clone()))
                }
                Reference::Selected(it) if it.namespace.is_some() || !listed.contains(&it.kind) => {
                    Some(Absent::Selected(it.clone()))
                }
                Reference::Part(it) if it.namespace.is_some() => Some(Absent::Part(it.clone())),
                Reference::Any(alternatives) => {
                    open.extend(&alternatives.of);
                    None
                }
                _ => None,
            };
            let namespace = graph.objects[at].namespace().to_owned();
            found.extend(absent.map(|it| (namespace, it)));
        }
    }
    found
}

impl Inventory {
    fn list(&mut self, world: &dyn Objects, kind: &Kind, namespace: &str, selector: &Selector) {
        let objects = match world.list(kind, Some(namespace), selector) {
            Lookup::Found(objects) => objects,
            Lookup::Unavailable(Unavailable::Forbidden) => {
                self.hide(kind, Some(namespace));
                return;
            }
            Lookup::NotFound | Lookup::Unavailable(_) => return,
        };
        for value in objects {
            let object = place("", 0, value);
            let owner = object.owner().map(|(kind, name)| pair(kind, name));
            let made = owner.is_some();
            if object.namespace() == self.namespace {
                let own = pair(object.word(), &object.place.name);
                self.owners.extend(owner.map(|owner| (own, owner)));
                if object.word() == "Pod" {
                    self.pods.push(object.value.clone());
                }
            }
            // The controller of an object is the node, not the object.
            if !made && !self.has(&object) {
                self.objects.push(object);
            }
        }
    }

    fn fetch(&mut self, world: &dyn Objects, from: &str, absent: &Absent) {
        match absent {
            Absent::Object(it) => {
                let Lookup::Found(namespaced) = world.namespaced(&it.kind) else {
                    return;
                };
                let namespace = it.namespace.as_deref().unwrap_or(from);
                let namespace = namespaced.then_some(namespace);
                match world.object(&it.kind, namespace, &it.name) {
                    Lookup::Found(object) => {
                        let object = place("", 0, object);
                        if !self.has(&object) {
                            self.objects.push(object);
                        }
                    }
                    Lookup::Unavailable(Unavailable::Forbidden) => {
                        self.hide(&it.kind, namespace);
                    }
                    Lookup::NotFound | Lookup::Unavailable(_) => {}
                }
            }
            Absent::Selected(it) => {
                let namespace = it.namespace.as_deref().unwrap_or(from);
                self.list(world, &it.kind, namespace, &it.selector);
            }
            Absent::Part(it) => {
                let namespace = it.namespace.as_deref().unwrap_or(from);
                for kind in scope::workloads() {
                    self.list(world, &kind, namespace, &Selector::default());
                }
            }
        }
    }

    fn hide(&mut self, kind: &Kind, namespace: Option<&str>) {
        let place = (namespace.map(ToOwned::to_owned), kind.to_string());
        self.hidden.insert(place, access::resource(kind));
    }

    /// Whether the caller may not read this kind in at least one of the places that were looked at.
    pub(super) fn hides(&self, kind: &str) -> bool {
        self.hidden.keys().any(|(_, it)| it == kind)
    }

    /// A sentence for each namespace in which the caller lacks rights, with the way to get them.
    pub(super) fn lacking(&self) -> Vec<String> {
        let mut places: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
        for ((namespace, _), resource) in &self.hidden {
            let place = places.entry(namespace.as_deref()).or_default();
            place.push(resource);
        }
        let places = places.into_iter();
        places
            .map(|(namespace, resources)| access::missing("list", &resources.join(","), namespace))
            .collect()
    }

    fn has(&self, object: &Object) -> bool {
        let same = |it: &Object| it.kind == object.kind && it.place == object.place;
        self.objects.iter().any(same)
    }

    /// One pod of each topmost owner, by the owner's kind and name, with whether the pod waits at its gate or is held. A waiting pod is preferred;
    /// a pod that is being deleted does not count.
    pub(super) fn pods_by_owner(&self) -> BTreeMap<(String, String), (&Value, bool)> {
        let mut found = BTreeMap::new();
        let stays = |pod: &&Value| pod.pointer("/metadata/deletionTimestamp").is_none();
        for pod in self.pods.iter().filter(stays) {
            let gate = Gate::of(pod);
            let waits = matches!(gate, Gate::Waiting { .. }) || gate::is_held(pod);
            let known = found
                .entry(self.topmost("Pod", object::name(pod)))
                .or_insert((pod, waits));
            if waits && !known.1 {
                *known = (pod, waits);
            }
        }
        found
    }

    /// The kind and name of the topmost owner of an object, at most four owners up; those of the object itself where it has no owner.
    pub(super) fn topmost(&self, kind: &str, name: &str) -> (String, String) {
        let mut at = pair(kind, name);
        // The cluster changes while it is read, so owners may form a cycle; real chains are short.
        for _ in 0..4 {
            match self.owners.get(&at) {
                Some(owner) => at = owner.clone(),
                None => break,
            }
        }
        at
    }
}

fn pair(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}
