//! Plans: an order for charts that the user cannot edit, in a ConfigMap beside them.

use crate::annotation::{self, ParseError};
use crate::dependency::{Dependency, Part, Reference};
use crate::kept::is_too_large;
use crate::keys::{self, EVERY_POD, ORDER, SAME_NODE};
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::memory::Completing;
use crate::object::controller_of;
use crate::scope::{self, Scope};
use crate::world::{World, leaves_out};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The names by which a plan may mean a dependent.
pub struct Called<'d> {
    /// The namespace of the dependent.
    pub namespace: &'d str,
    /// The objects above the pod, of which the user wrote the last.
    pub objects: Vec<(&'d Kind, &'d str)>,
    /// The name of the dependent's pod.
    pub pod: &'d str,
    /// The parts of the scope that the dependent may be in.
    pub parts: &'d [Part],
    /// The labels of the object that the user wrote.
    pub labels: &'d Map<String, Value>,
    /// Tells whether two spellings of a kind mean one kind.
    pub is_same: &'d dyn Fn(&Kind, &Kind) -> bool,
    /// Whether the dependent's scope has objects that carry the label of this sub-chart.
    pub has_chart: &'d dyn Fn(&Part) -> bool,
}

/// The dependencies that the plans of a namespace give to one dependent of this scope: what the plans of the scope say of it, and what any plan says
/// of every pod, unless that list names the dependent itself. `passed`: the revision has passed its gate before, so that only entries with `sameNode`
/// hold the dependent.
///
/// # Errors
///
/// A plan that cannot be read and is of the scope, or may say something of every pod: then the order is unknown. Of a dependent that has `passed`,
/// only a plan that may have an entry with `sameNode`.
pub fn dependencies(
    plans: &[Value],
    scope: Option<&Scope>,
    called: &Called<'_>,
    passed: bool,
) -> Result<Vec<Dependency>, ParseError> {
    let mut dependencies = Vec::new();
    for plan in plans {
        let of_scope = scope.is_some_and(|scope| Scope::of(plan).as_ref() == Some(scope));
        let Some(text) = plan["data"][ORDER].as_str() else {
            continue;
        };
        // Of a text that is too long only the beginning is kept, and the key may stand behind it.
        let may_have = |key: &str| text.contains(key) || text.len() > annotation::MAX_BYTES;
        if !of_scope && !may_have(EVERY_POD) {
            continue;
        }
        let plan = match annotation::order(text) {
            Err(_) if passed && !may_have(SAME_NODE) => continue,
            read => read?,
        };
        // The entries may need each other, so what one of them means waits for none.
        if !plan.every_pod.iter().any(|it| called.is_one_of(it)) {
            dependencies.extend(plan.every_pod);
        }
        let steps = plan.steps.into_iter().filter(|_| of_scope);
        for step in steps.filter(|step| called.is_meant_by(&step.subject)) {
            // A chart may wait for a Job of its own; the Job does not wait for itself.
            let after = step.after.into_iter();
            dependencies.extend(after.filter(|it| !called.is_named_by(&it.reference)));
        }
    }
    Ok(dependencies)
}

impl Called<'_> {
    /// Whether a reference of a plan means the dependent. A sub-chart means it by the label of its chart; the label of its application
    /// (`app.kubernetes.io/name`) counts only where no object of the scope carries that chart's label.
    fn is_meant_by(&self, subject: &Reference) -> bool {
        let Reference::Part(parts) = subject else {
            return self.is_named_by(subject);
        };
        let Part::SubChart(name) = &parts.part else {
            return self.parts.contains(&parts.part);
        };
        let (outer, name) = scope::nesting(name);
        let object = json!({"metadata": {"name": self.name(), "labels": self.labels}});
        // A dependent of a part follows the same rule: the label of the application counts where no chart has that name.
        // Otherwise two exporters of a database, both with its name as a label, would wait for each other.
        let counts = || parts.part.holds_exactly(&object) || !(self.has_chart)(&parts.part);
        self.parts.contains(&Part::SubChart(name.to_owned()))
            && outer.is_none_or(|outer| scope::is_inside(outer, &object))
            && counts()
    }

    /// Whether an entry, or one of its alternatives, means the dependent.
    fn is_one_of(&self, entry: &Dependency) -> bool {
        match &entry.reference {
            Reference::Any(any) => any.of.iter().any(|it| self.is_one_of(it)),
            reference => self.is_named_by(reference),
        }
    }

    /// Whether a reference means the dependent by a name, that of a workload above the pod, or of the pod where there is none; or by the kind and the
    /// labels of the object that the user wrote. `false` for a part, alternatives and an address.
    pub(crate) fn is_named_by(&self, reference: &Reference) -> bool {
        let is_here = |namespace: &Option<String>| namespace.iter().all(|it| it == self.namespace);
        match reference {
            Reference::Object(object) if self.objects.is_empty() => {
                is_here(&object.namespace) && object.kind.is_pod() && object.name == self.pod
            }
            Reference::Object(object) => {
                let mut objects = self.objects.iter();
                is_here(&object.namespace)
                    && objects.any(|(kind, name)| {
                        (self.is_same)(kind, &object.kind) && *name == object.name
                    })
            }
            Reference::Selected(selection) => {
                let is_kind = match self.objects.last() {
                    Some((kind, _)) => (self.is_same)(kind, &selection.kind),
                    None => selection.kind.is_pod(),
                };
                let label = |key: &str| self.labels.get(key)?.as_str();
                is_here(&selection.namespace) && is_kind && selection.selector.matches(label)
            }
            Reference::Part(_) | Reference::Any(_) | Reference::Address(_) => false,
        }
    }

    /// The name of the object that the user wrote.
    fn name(&self) -> &str {
        self.objects.last().map_or(self.pod, |(_, name)| name)
    }
}

/// Why a plan orders nothing, or not all that it names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFlaw {
    /// The ConfigMap of the plan lacks the key with the plan's text.
    #[error("the plan has no key {ORDER:?}; write one such as \"api: [postgresql]\"")]
    NoOrder,
    /// The plan is longer than sluice reads of one object.
    #[error(
        "the plan is longer than 8 MiB as JSON, more than sluice reads of one object, so its release waits; make it smaller"
    )]
    TooLarge,
    /// The plan's text cannot be read.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// The plan belongs to no release.
    #[error(
        "the plan is in no release, so nothing of it but {EVERY_POD:?} counts; let its chart install it, or annotate it with {}",
        keys::SCOPE
    )]
    NoRelease,
    /// The pods of the plan's namespace get no gate unless they carry an annotation.
    #[error(
        "namespace {namespace:?} lacks the label {}: {}, so pods without annotations of ours start in any order",
        keys::INJECT,
        keys::INJECT_VALUE
    )]
    NoGates {
        /// The namespace of the plan.
        namespace: String,
    },
    /// The plan was created before its release, which is no fault.
    #[error(
        "there is nothing of release {release} yet; the plan orders it once it is installed. Where yours has another name, write that into {}",
        keys::SCOPE
    )]
    NothingYet {
        /// The release that has no objects yet.
        release: String,
    },
    /// The plan names parts that its release does not have.
    #[error("release {release} has no {}; check the spelling", parts.join(", "))]
    NoPart {
        /// The release that lacks the parts.
        release: String,
        /// The parts that the release lacks: `subchart/postgresql`.
        parts: Vec<String>,
    },
}

/// Whether an object carries the label of a plan.
pub fn is_one(object: &Value) -> bool {
    object["metadata"]["labels"][keys::PLAN] == "true"
}

/// The fault of a plan of a scope; `None` for a plan without a known fault. `gates` tells whether every pod of a namespace gets a
/// gate, `is_empty` whether a part of a scope is known to have no object, `is_there` whether the scope has any object.
pub fn flaw(
    plan: &Value,
    scope: Option<&Scope>,
    gates: impl Fn(&str) -> Option<bool>,
    is_empty: impl Fn(&Reference, &Scope) -> bool,
    is_there: impl Fn(&Scope) -> bool,
) -> Option<PlanFlaw> {
    if is_too_large(plan) {
        return Some(PlanFlaw::TooLarge);
    }
    let Some(text) = plan["data"][ORDER].as_str() else {
        return Some(PlanFlaw::NoOrder);
    };
    let read = match annotation::order(text) {
        Ok(read) => read,
        Err(error) => return Some(error.into()),
    };
    let namespace = plan["metadata"]["namespace"].as_str().unwrap_or_default();
    if gates(namespace) == Some(false) {
        return Some(PlanFlaw::NoGates {
            namespace: namespace.to_owned(),
        });
    }
    let Some(scope) = scope else {
        return (!read.steps.is_empty()).then_some(PlanFlaw::NoRelease);
    };
    let named = read.steps.into_iter().flat_map(|step| {
        let after = step.after.into_iter().filter(|entry| !entry.optional);
        after.map(|entry| entry.reference).chain([step.subject])
    });
    let missing = named.filter(|reference| is_empty(reference, scope));
    let missing: BTreeSet<String> = missing.map(|it| Dependency::on(it).to_string()).collect();
    let release = scope.name.clone();
    match missing.is_empty() {
        true => None,
        false if !is_there(scope) => Some(PlanFlaw::NothingYet { release }),
        false => Some(PlanFlaw::NoPart {
            release,
            parts: missing.into_iter().collect(),
        }),
    }
}

/// The fault of a plan in the cluster. `quiet` tells whether every object of its release has been created.
pub fn flaw_in(
    plan: &Value,
    world: &dyn World,
    quiet: impl Fn(&Scope) -> bool,
) -> Option<PlanFlaw> {
    let gates = |namespace: &str| is_injected(namespace, world);
    let is_empty =
        |reference: &Reference, scope: &Scope| quiet(scope) && is_empty(reference, scope, world);
    let is_there = |scope: &Scope| world.active(scope) != Ok(None);
    flaw(plan, Scope::of(plan).as_ref(), gates, is_empty, is_there)
}

/// Whether every pod of a namespace gets a gate, by the label of the Namespace; `None` while the Namespace cannot be read.
pub(crate) fn is_injected(namespace: &str, world: &dyn World) -> Option<bool> {
    let kind = Kind::Builtin(kinds::NAMESPACE);
    match world.object(&kind, None, namespace) {
        Lookup::Found(found) => {
            Some(found["metadata"]["labels"][keys::INJECT] == keys::INJECT_VALUE)
        }
        _ => None,
    }
}

/// Whether a scope is known to have objects that carry the label of this sub-chart. Objects that a controller made, and hooks of Helm, do not count.
pub(crate) fn has_chart(part: &Part, scope: &Scope, world: &dyn World) -> bool {
    let is_one = |object: &Value| {
        part.may_hold(object)
            && part.holds_exactly(object)
            && Scope::of(object).as_ref() == Some(scope)
            && controller_of(object).is_none()
            && !scope::is_hook(object)
    };
    let within = |kind: Kind| {
        let name = Some(scope.name.as_str());
        match world.members(&kind, &scope.namespace, name, &part.indexed()) {
            Lookup::Found(objects) => objects.iter().any(is_one),
            Lookup::NotFound | Lookup::Unavailable(_) => false,
        }
    };
    let kinds = world.kinds();
    kinds.is_ok_and(|kinds| kinds.into_iter().any(within))
}

/// Whether a reference of a plan is known to mean no object at all. `false` for a selector, alternatives and an address, and for a reference with a
/// namespace of its own. A completed Job that has been removed counts as there.
fn is_empty(reference: &Reference, scope: &Scope, world: &dyn World) -> bool {
    match reference {
        Reference::Part(parts) => {
            let none = |kind: Kind| {
                let name = Some(scope.name.as_str());
                let part = parts.part.indexed();
                match world.members(&kind, &scope.namespace, name, &part) {
                    Lookup::Found(objects) => !objects.iter().any(|it| parts.part.may_hold(it)),
                    Lookup::NotFound => true,
                    Lookup::Unavailable(why) => leaves_out(world, &kind, why),
                }
            };
            let kinds = world.kinds();
            let outspoken = parts.part.outspoken();
            let nowhere = |kinds: Vec<Kind>| kinds.into_iter().chain(outspoken).all(none);
            parts.namespace.is_none() && kinds.is_ok_and(nowhere)
        }
        Reference::Object(object) => {
            let namespace = &scope.namespace;
            let found = world.object(&object.kind, Some(namespace), &object.name);
            // A Job that completed and was removed goes on counting, and so its name is no mistake.
            let is_forgotten =
                |what| world.completed_job(what, namespace, &object.name) == Lookup::NotFound;
            object.namespace.is_none()
                && matches!(found, Lookup::NotFound)
                && Completing::of(&object.kind).is_none_or(is_forgotten)
        }
        // A selector may find nothing for good, and alternatives are not all meant to be there.
        Reference::Selected(_) | Reference::Any(_) | Reference::Address(_) => false,
    }
}

#[cfg(test)]
mod tests;
