//! Each entry of a list beside the objects of the input.

mod files;

use super::finding::Finding;
use crate::objects::{Graph, Object};
use files::Files;
use rules::advice::{self, Advice, Level, Windows, Workload};
use rules::dependency::{Dependency, ObjectRef, Part, Parts, Reference, Selection};
use rules::dependent::Source;
use rules::keys;
use rules::kinds::Kind;
use std::collections::BTreeSet;

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A Job that goes away is one matter, however many wait for it.
    let mut removed = BTreeSet::new();
    for (at, object) in graph.objects.iter().enumerate() {
        let advice = advice(graph, at).into_iter().filter(|advice| match advice {
            Advice::Removed { dependency, .. } => {
                removed.insert((object.namespace(), dependency.clone()))
            }
            _ => true,
        });
        findings.extend(advice.map(|advice| Finding::advice(&object.place, &advice)));
        for dependency in listed(graph, at) {
            let told = beside(graph, at, &dependency).into_iter();
            findings.extend(told.map(|(level, told)| Finding::new(level, &object.place, told)));
        }
    }
    findings
}

/// What admission would say of an object, had it these objects before it.
pub(super) fn advice(graph: &Graph<'_>, at: usize) -> Vec<Advice> {
    let object = &graph.objects[at];
    let Some(workload) = workload(object).filter(|_| object.owner().is_none()) else {
        return Vec::new();
    };
    let position = advice::of_position(&workload);
    if !object.asks_for_a_gate() {
        let misplaced = |advice: &Advice| *advice == Advice::PositionOnWorkload;
        return position.into_iter().filter(misplaced).collect();
    }
    let files = Files { graph, at };
    let mut told = advice::of(&workload, &listed(graph, at), Windows::Unknown, &files);
    told.extend(position);
    told
}

/// What the lists of an object say. What plans say is told of the plan.
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

/// What is not among the objects: it may be in the cluster, or be made by an operator.
fn beside(graph: &Graph<'_>, from: usize, dependency: &Dependency) -> Vec<(Level, String)> {
    let told = match &dependency.reference {
        Reference::Any(alternatives) => {
            let of = alternatives.of.iter();
            return of.flat_map(|it| beside(graph, from, it)).collect();
        }
        _ if dependency.optional => None,
        Reference::Object(object) => absent(graph, from, object),
        Reference::Selected(selection) => unselected(graph, from, selection),
        Reference::Part(parts) => of_part(graph, from, parts, dependency),
    };
    told.into_iter().collect()
}

fn absent(graph: &Graph<'_>, from: usize, object: &ObjectRef) -> Option<(Level, String)> {
    let is_known = graph.find(from, object).is_some() || is_the_clusters(object);
    let told = format!("it depends on {object}, which is not among these objects");
    (!is_known).then_some((Level::Note, told))
}

fn unselected(graph: &Graph<'_>, from: usize, selection: &Selection) -> Option<(Level, String)> {
    let found = graph.selected(from, selection);
    let told = format!("it depends on {selection}, which selects none of these objects");
    found.is_empty().then_some((Level::Note, told))
}

fn of_part(
    graph: &Graph<'_>,
    from: usize,
    parts: &Parts,
    dependency: &Dependency,
) -> Option<(Level, String)> {
    let scope = &graph.objects[from].scope;
    if matches!(parts.part, Part::SubChart(_)) && scope.is_none() {
        let told = format!(
            "it depends on {dependency} and is in no scope, so it has no sub-charts and waits for ever; name the objects themselves, or give both {}",
            keys::SCOPE
        );
        return Some((Level::Warning, told));
    }
    let found = graph.part(from, parts);
    let told = match &parts.part {
        Part::SubChart(_) if parts.namespace.is_some() => {
            "of which these objects have none there: it waits until there is one"
        }
        // Advice says where.
        Part::SubChart(_) if !graph.elsewhere(from, &parts.part).is_empty() => return None,
        // One that is switched off holds nobody back.
        Part::SubChart(_) => {
            "of which these objects have none: a sub-chart that stays away is not waited for; check the spelling"
        }
        Part::Group(_) => "in which no other of these objects is",
        Part::Release(_) => "which is not among these objects",
    };
    let told = format!("it depends on {dependency}, {told}");
    found.is_empty().then_some((Level::Note, told))
}

/// Whether a cluster has it by itself.
fn is_the_clusters(object: &ObjectRef) -> bool {
    let Kind::Builtin(builtin) = &object.kind else {
        return false;
    };
    let of_system = object
        .namespace
        .as_ref()
        .is_some_and(|namespace| namespace.starts_with("kube-"));
    !builtin.namespaced
        || of_system
        || matches!(
            (builtin.kind, object.name.as_str()),
            ("ServiceAccount", "default")
                | ("ConfigMap", "kube-root-ca.crt")
                | ("Service", "kubernetes")
        )
}
