//! Node rules: the pods that the administrator lets wait for the agents of their nodes, beside the lists that the pods have.
//!
//! A rule holds the pods of each namespace with the label [`keys::INJECT`]. No rule holds a pod that the agent of one may need,
//! because each would wait for the other: a pod of the agents themselves, of their namespaces or of their releases, or a pod that
//! their lists lead to.

use crate::annotation;
use crate::dependency::{Dependency, NodeRule, NodeRules, ObjectRef, Reference};
use crate::keys;
use crate::kinds::{self, Kind};
use crate::lookup::{Lookup, Unavailable};
use crate::object;
use crate::plan::Called;
use crate::scope::Scope;
use crate::selector::Selector;
use crate::world::World;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The most objects over which the search follows lists, from an agent on, for a pod that the agent needs.
const MOST: usize = 64;

/// A pod that node rules may hold.
pub(crate) struct HeldPod<'d> {
    /// The names of the pod and of the workloads above it.
    pub(crate) called: Called<'d>,
    /// The labels of the pod.
    pub(crate) labels: &'d Map<String, Value>,
    /// The release of the pod.
    pub(crate) scope: Option<&'d Scope>,
}

/// The entries of the rules that hold a pod. None in a namespace without the label, and none for a pod that the agent of any rule may need.
///
/// # Errors
///
/// Why the Namespace of the pod cannot be read, and so it is unknown whether a rule holds the pod.
pub(crate) fn entries(
    rules: &NodeRules,
    pod: &HeldPod<'_>,
    world: &dyn World,
) -> Result<Vec<Dependency>, Unavailable> {
    let NodeRules(rules) = rules;
    let held: Vec<_> = rules.iter().filter(|rule| pod.has(&rule.pods)).collect();
    if held.is_empty() || !is_labelled(pod.called.namespace, world)? {
        return Ok(Vec::new());
    }
    // A pod that one agent needs waits for no other agent either: the agents may need each other.
    if rules.iter().any(|rule| may_need(rule, pod, world)) {
        return Ok(Vec::new());
    }
    Ok(held.into_iter().map(|rule| rule.entry.clone()).collect())
}

fn is_labelled(namespace: &str, world: &dyn World) -> Result<bool, Unavailable> {
    match world.object(&Kind::Builtin(kinds::NAMESPACE), None, namespace) {
        Lookup::Found(found) => Ok(found["metadata"]["labels"][keys::INJECT] == keys::INJECT_VALUE),
        // The Namespace exists, since the pod is in it; the watch of pods may be ahead of the watch of Namespaces.
        Lookup::NotFound => Err(Unavailable::Syncing),
        Lookup::Unavailable(why) => Err(why),
    }
}

impl HeldPod<'_> {
    /// Whether the pod has these labels.
    fn has(&self, labels: &Selector) -> bool {
        labels.matches(|key| self.labels.get(key)?.as_str())
    }
}

/// Whether the agent of a rule may need a pod before the agent is ready: the pod is in the agent's namespace or release, or the lists of the agent,
/// and of the objects that they name, lead to it.
fn may_need(rule: &NodeRule, pod: &HeldPod<'_>, world: &dyn World) -> bool {
    let Reference::Object(agent) = &rule.entry.reference else {
        return false;
    };
    let mut open = vec![agent.clone()];
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        let here = next.namespace.as_deref();
        let is_here = here == Some(pod.called.namespace);
        if is_here && next == *agent {
            return true;
        }
        if seen.len() == MOST || !seen.insert(next.clone()) {
            continue;
        }
        let Lookup::Found(object) = world.object(&next.kind, here, &next.name) else {
            continue;
        };
        let of_agent = Scope::of(&object).filter(|_| next == *agent);
        if pod
            .scope
            .is_some_and(|own| of_agent.is_some_and(|it| release(&it) == release(own)))
        {
            return true;
        }
        if next.kind.is_service() && is_here {
            let labels = Selector::labels(&object["spec"]["selector"]);
            if !labels.0.is_empty() && pod.has(&labels) {
                return true;
            }
        }
        for reference in listed(&object, here) {
            match reference {
                reference if pod.called.is_named_by(&reference) => return true,
                Reference::Object(it) if is_followed(&it.kind) => open.push(it),
                _ => {}
            }
        }
    }
    false
}

/// The namespace that keeps the release that a scope is a part of, and the name of the release.
fn release(scope: &Scope) -> (&str, &str) {
    let kept_in = scope.kept_in.as_ref().unwrap_or(&scope.namespace);
    (kept_in, &scope.name)
}

/// The objects and selections that the lists of an object name, also as alternatives. A reference without a namespace gets `namespace`, the
/// object's own. Empty where the lists cannot be read.
fn listed(object: &Value, namespace: Option<&str>) -> Vec<Reference> {
    let mut annotations = Map::new();
    for part in [Some(object), object::template(object)]
        .into_iter()
        .flatten()
    {
        let own = part["metadata"]["annotations"].as_object();
        annotations.extend(own.cloned().unwrap_or_default());
    }
    let home = |own: Option<String>| own.or_else(|| namespace.map(ToOwned::to_owned));
    let mut open = annotation::declared(&annotations).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(entry) = open.pop() {
        match entry.reference {
            Reference::Object(it) => found.push(Reference::Object(ObjectRef {
                namespace: home(it.namespace),
                ..it
            })),
            Reference::Selected(mut it) => {
                it.namespace = home(it.namespace);
                found.push(Reference::Selected(it));
            }
            Reference::Any(any) => open.extend(any.of),
            Reference::Part(_) | Reference::Address(_) => {}
        }
    }
    found
}

/// Whether the lists of objects of a kind are followed: of the workloads and pods of Kubernetes, and of Services to their pods.
fn is_followed(kind: &Kind) -> bool {
    kind.is_service() || kind.is_pod() || matches!(kind.group(), "apps" | "batch")
}
