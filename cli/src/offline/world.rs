//! A manifest in place of a cluster: the rules find in it the other objects that a verdict needs.

use super::judge::kind_of;
use jiff::Timestamp;
use rules::definition::Declared;
use rules::health::{self, Rules};
use rules::holder::{Running, Wave};
use rules::judged::Judged;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::memory::{CompletedJob, Completing};
use rules::scope::{self, Scope};
use rules::selector::Selector;
use rules::world::{Definitions, Hints, Objects, Pending, Remembered, Scopes, World};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The objects of a manifest, indexed.
pub(crate) struct Manifest<'a> {
    /// The administrator's health rules.
    rules: &'a Rules,
    kinds: HashMap<Kind, OfKind<'a>>,
    /// Group and kind of each custom resource that the manifest defines, and whether its definition declares a status.
    declared: HashMap<(&'a str, &'a str), Declared>,
}

/// The objects of one kind in a manifest.
#[derive(Default)]
struct OfKind<'a> {
    /// The objects by namespace (empty without one) and name.
    named: BTreeMap<(&'a str, &'a str), &'a Value>,
    /// The objects by namespace (`None`: in all of them), and by key and value of a label.
    labelled: HashMap<(Option<&'a str>, &'a str, &'a str), Vec<&'a Value>>,
}

impl<'a> Manifest<'a> {
    pub(crate) fn new(objects: impl Iterator<Item = &'a Value>, rules: &'a Rules) -> Self {
        let mut world = Self {
            rules,
            kinds: HashMap::new(),
            declared: HashMap::new(),
        };
        for object in objects {
            if let Ok(kind) = kind_of(object) {
                if kind.word() == "CustomResourceDefinition" {
                    let names = (
                        text(object, "/spec/group"),
                        text(object, "/spec/names/kind"),
                    );
                    world.declared.insert(names, declared(object));
                }
                world.kinds.entry(kind).or_default().add(object);
            }
        }
        world
    }
}

impl<'a> OfKind<'a> {
    fn add(&mut self, object: &'a Value) {
        let namespace = text(object, "/metadata/namespace");
        let name = text(object, "/metadata/name");
        self.named.insert((namespace, name), object);
        let labels = object
            .pointer("/metadata/labels")
            .and_then(Value::as_object);
        for (key, value) in labels.into_iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            for namespace in [Some(namespace), None] {
                let same = self.labelled.entry((namespace, key, value)).or_default();
                same.push(object);
            }
        }
    }

    fn list(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Value> {
        let selected = |object: &&Value| selector.selects(object);
        if let Some((key, value)) = selector.indexable() {
            let same = self.labelled.get(&(namespace, key, value));
            let same = same.into_iter().flatten().copied();
            return same.filter(selected).cloned().collect();
        }
        self.named
            .iter()
            .filter(|((of, _), _)| namespace.is_none_or(|namespace| namespace == *of))
            .map(|(_, object)| *object)
            .filter(selected)
            .cloned()
            .collect()
    }
}

impl Objects for Manifest<'_> {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        let Some(objects) = self.kinds.get(kind) else {
            let assumed = assumed_class(kind).map(Lookup::Found);
            return assumed.unwrap_or_else(|| absent(kind, Lookup::NotFound));
        };
        let found = objects.named.get(&(namespace.unwrap_or_default(), name));
        found.map_or(Lookup::NotFound, |object| Lookup::Found((*object).clone()))
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        match self.kinds.get(kind) {
            Some(objects) => Lookup::Found(objects.list(namespace, selector)),
            None => match assumed_class(kind) {
                Some(class) => Lookup::Found(vec![class]),
                None => absent(kind, Lookup::Found(Vec::new())),
            },
        }
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        match kind {
            Kind::Builtin(builtin) => Lookup::Found(builtin.namespaced),
            Kind::Custom { .. } => match self.kinds.get(kind) {
                Some(objects) => Lookup::Found(objects.named.keys().any(|(of, _)| !of.is_empty())),
                None => Lookup::Unavailable(Unavailable::NotServed),
            },
        }
    }
}

impl Scopes for Manifest<'_> {
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        Ok(scope::workloads().collect())
    }

    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        one == other
    }

    fn is_granted(&self, _: &Kind) -> bool {
        true
    }

    fn active(&self, _: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        Ok(None)
    }

    fn pending(&self, _: &Scope) -> Pending {
        Pending::NotFollowed
    }

    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let kind = Kind::Builtin(kinds::CONFIG_MAP);
        self.list(&kind, Some(namespace), &Selector::label(keys::PLAN, "true"))
    }

    /// Answers `None`: a manifest does not change.
    fn seen_to_change(&self, _: &Scope, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Remembered for Manifest<'_> {
    /// Answers that the holders of slots are hidden: no manifest lists them.
    fn slots(&self, _: &Wave) -> Lookup<Running> {
        Lookup::Unavailable(Unavailable::Hidden)
    }

    /// Answers `NotFound`: no manifest holds the memory of removed Jobs.
    fn completed_job(&self, _: Completing, _: &str, _: &str) -> Lookup<CompletedJob> {
        Lookup::NotFound
    }

    fn completed_jobs(
        &self,
        _: Completing,
        _: &str,
        _: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        Lookup::Found(BTreeMap::new())
    }

    fn has_passed(&self, _: &str) -> Lookup<bool> {
        Lookup::Found(false)
    }

    fn satisfied_since(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn recovered(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Definitions for Manifest<'_> {
    /// Answers as the manifest's CustomResourceDefinition declares. Without one, a kind of Kubernetes' own groups is `NotFound`; the definition of any
    /// other kind may be in the cluster, and counts as unseen.
    fn declared(&self, kind: &Kind) -> Lookup<Declared> {
        match self.declared.get(&(kind.group(), kind.word())) {
            Some(declared) => Lookup::Found(declared.clone()),
            None if kinds::knows_group(kind.group()) => Lookup::NotFound,
            None => Lookup::Found(Declared::unseen()),
        }
    }

    fn rule_reads_a_generation(&self, object: &Value) -> bool {
        health::reads_a_generation(self.rules, true, object)
    }

    /// Judges by the rules of the status service in the same order: the administrator's first, then the library's.
    fn health(&self, object: &Value, statusless: bool) -> Option<Judged> {
        health::judge(self.rules, true, object, statusless)
    }
}

impl World for Manifest<'_> {
    fn hints(&self) -> Option<&dyn Hints> {
        None
    }
}

/// The StorageClass that a pending claim is judged by where the manifest holds none: one that waits for the first consumer, as
/// most do; a gate would ask the cluster. `None` for any other kind.
fn assumed_class(kind: &Kind) -> Option<Value> {
    let is_class = kind.group() == "storage.k8s.io" && kind.word() == "StorageClass";
    is_class.then(|| {
        let annotations = json!({keys::DEFAULT_CLASS[0]: "true"});
        json!({"metadata": {"annotations": annotations}, "volumeBindingMode": "WaitForFirstConsumer"})
    })
}

/// The answer for a kind of which the manifest holds no object: `none`, but `Forbidden` for a built-in cluster-scoped kind.
///
/// Cluster-wide objects (a StorageClass) are seldom part of a manifest, so their absence proves nothing. Objects of a
/// namespace (an EndpointSlice) would be beside the object that needs them.
fn absent<T>(kind: &Kind, none: Lookup<T>) -> Lookup<T> {
    match kind {
        Kind::Builtin(builtin) if !builtin.namespaced => {
            Lookup::Unavailable(Unavailable::Forbidden)
        }
        _ => none,
    }
}

/// The declarations about status in a CustomResourceDefinition, of all its versions together: an object may be of any version.
fn declared(definition: &Value) -> Declared {
    let versions = definition
        .pointer("/spec/versions")
        .and_then(Value::as_array);
    let spec = definition.get("spec"); // where apiextensions.k8s.io/v1beta1 has it
    let all = versions.into_iter().flatten().chain(spec);
    let each = all.map(Declared::of);
    each.reduce(Declared::or).unwrap_or_default()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    let value = object.pointer(pointer).and_then(Value::as_str);
    value.unwrap_or_default()
}

#[cfg(test)]
mod tests;
