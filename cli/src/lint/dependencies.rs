//! Compares each entry of a list with the objects of the input: the advice of admission, entries that mean no object, and missing consent.

mod absent;
mod files;

use super::finding::Finding;
use super::spots;
use crate::objects::{Graph, Object};
use files::Files;
use rules::advice::{self, Advice, Level, Windows, Workload};
use rules::dependency::{Dependency, Reference};
use rules::dependent::Source;
use rules::keys;
use rules::verdict::consents;
use std::collections::BTreeSet;

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A Job that goes away is reported once, however many objects wait for it.
    let mut removed = BTreeSet::new();
    for (at, object) in graph.objects.iter().enumerate() {
        let advice = advice(graph, at).into_iter().filter(|advice| match advice {
            Advice::Removed { dependency, .. } => {
                removed.insert((object.namespace(), dependency.clone()))
            }
            // `targets` reports a missing probe once for each workload, and looks behind Services too.
            Advice::NoReadinessProbe(_) => false,
            _ => true,
        });
        let advice = advice.map(|advice| {
            let spot = spots::of_advice(object, &advice);
            Finding::advice(&object.place, &advice).spot(spot)
        });
        findings.extend(once(advice));
        let of_entries = listed(graph, at).into_iter().flat_map(|dependency| {
            let absent = absent::check(graph, at, &dependency).into_iter();
            absent.chain(consent(graph, at, &dependency))
        });
        findings.extend(once(of_entries));
    }
    findings
}

/// The findings without repetitions, since several entries or alternatives may name one object: of equal rule and message the first one stays.
fn once(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut told: Vec<Finding> = Vec::new();
    for finding in findings {
        let same = |it: &Finding| it.rule == finding.rule && it.message == finding.message;
        if !told.iter().any(same) {
            told.push(finding);
        }
    }
    told
}

/// The advice that admission would give on an object if the cluster held the other objects of the input before it. Empty for an object without
/// pods and for one that a controller made; an object that asks for no gate gets only advice on misplaced annotations.
pub(super) fn advice(graph: &Graph<'_>, at: usize) -> Vec<Advice> {
    let object = &graph.objects[at];
    let Some(workload) = workload(object).filter(|_| object.owner().is_none()) else {
        return Vec::new();
    };
    let position = advice::of_position(&workload);
    let of_pods = advice::of_hold(&workload);
    let of_pods = of_pods.into_iter().chain(advice::of_prefetch(&workload));
    if !object.asks_for_a_gate() {
        let misplaced = |advice: &Advice| *advice == Advice::PositionOnWorkload;
        let position = position.filter(misplaced);
        return position.into_iter().chain(of_pods).collect();
    }
    let files = Files { graph, at };
    let mut told = advice::of(&workload, &listed(graph, at), Windows::Unknown, &files);
    told.extend(position.into_iter().chain(of_pods));
    told
}

/// The entries of an object's own lists. An entry that a plan gives to the object is reported for the plan.
fn listed(graph: &Graph<'_>, at: usize) -> Vec<Dependency> {
    let waits = graph.lists[at].iter();
    waits
        .filter(|wait| wait.source == Source::List)
        .filter_map(|wait| wait.edge.entry().cloned())
        .collect()
}

fn workload(object: &Object) -> Option<Workload<'_>> {
    Some(Workload {
        group: object.kind.as_ref()?.group(),
        kind: object.word(),
        namespace: object.namespace(),
        name: &object.place.name,
        object: &object.value,
        template: object.template()?,
    })
}

/// The warning that the namespace of an entry does not consent to the dependent; `None` where it does, where it is the dependent's own, or where
/// the input has no such Namespace. No file tells what the administrator allows beyond that.
fn consent(graph: &Graph<'_>, from: usize, dependency: &Dependency) -> Option<Finding> {
    let object = &graph.objects[from];
    let (namespace, name) = match &dependency.reference {
        Reference::Object(it) => (it.namespace.as_ref()?, it.name.as_str()),
        Reference::Selected(it) => (it.namespace.as_ref()?, ""),
        Reference::Part(it) => (it.namespace.as_ref()?, it.part.name()),
        Reference::Any(_) | Reference::Address(_) => return None,
    };
    let (own, key) = (object.namespace(), keys::ALLOW_DEPENDENTS_FROM);
    if namespace == own {
        return None;
    }
    let consenting = graph.namespace_object(namespace)?;
    let says = consenting.value["metadata"]["annotations"][key].is_string();
    // An object without a namespace may be put into any namespace that the other consents to.
    if own.is_empty() && says || consents(&consenting.value, own) {
        return None;
    }
    let own = if own.is_empty() { "NAMESPACE" } else { own };
    let told = format!(
        "it depends on {dependency}, and namespace {namespace} does not consent, so it waits for ever; annotate the \
         Namespace with {key}: {own}"
    );
    let finding = Finding::new("NoConsent", Level::Warning, &object.place, told);
    Some(finding.spot(spots::entry(object, name)))
}
