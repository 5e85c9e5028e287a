//! Finds the workloads that others wait for although Kubernetes does not ask whether their pods are ready.

use super::finding::{Finding, Where};
use super::spots;
use crate::objects::{Graph, Object};
use rules::advice::Level;
use rules::dependency::{Dependency, Reference, State};
use rules::rollout;
use std::collections::BTreeMap;

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A workload without a probe is reported once, however many objects wait for it.
    let mut unasked: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, object) in graph.objects.iter().enumerate() {
        let mut open = Vec::new();
        let waits = graph.lists[at].iter();
        for (entry, target) in waits
            .filter_map(|wait| wait.edge.entry())
            .flat_map(|it| ends(graph, at, it))
        {
            let workload = &graph.objects[target];
            if is_available_at_once(entry, workload) && !open.contains(&target) {
                open.push(target);
                findings.push(available(object, workload));
            }
            for behind in asked(graph, entry, target) {
                let dependents = unasked.entry(behind).or_default();
                if behind != at && !dependents.contains(&at) {
                    dependents.push(at);
                }
            }
        }
    }
    let told = unasked
        .iter()
        .filter_map(|(target, dependents)| unprobed(graph, *target, dependents));
    findings.extend(told);
    findings
}

/// The objects that an entry means, each with the entry, or with the alternative that means it.
fn ends<'e>(graph: &Graph<'_>, from: usize, entry: &'e Dependency) -> Vec<(&'e Dependency, usize)> {
    if let Reference::Any(alternatives) = &entry.reference {
        let of = alternatives.of.iter();
        return of.flat_map(|it| ends(graph, from, it)).collect();
    }
    let meant = graph.meant(from, entry).into_iter();
    meant.map(|target| (entry, target)).collect()
}

/// Whether an entry asks for the state `available` of a Deployment that has this state before any of its pods is ready.
fn is_available_at_once(entry: &Dependency, workload: &Object) -> bool {
    let asks = entry.state == State::Available && entry.health.is_empty();
    asks && workload.is_deployment() && rollout::needs_no_pod(&workload.value)
}

fn available(object: &Object, workload: &Object) -> Finding {
    let name = &workload.place.name;
    let told = format!(
        "it depends on Deployment/{name}:available, and its spec.strategy lets all replicas be unavailable: Kubernetes calls it available \
         without a pod, so nothing is waited for; write deployment/{name}, or lower its maxUnavailable"
    );
    let finding = Finding::new("AvailableAtOnce", Level::Warning, &object.place, told);
    finding.spot(spots::entry(object, name))
}

/// The workloads whose readiness an entry waits for at this target: the target itself, or those behind a Service. Empty where the entry waits for
/// another state than `ready` or `available`, or for a health expression.
fn asked(graph: &Graph<'_>, entry: &Dependency, target: usize) -> Vec<usize> {
    let by_kind = matches!(entry.state, State::Ready | State::Available) && entry.health.is_empty();
    let object = &graph.objects[target];
    match graph.backends(target) {
        _ if !by_kind => Vec::new(),
        Some(behind) if object.is_service() => behind,
        _ => vec![target],
    }
}

/// The note on a workload that `dependents` wait for and whose containers have no readiness probe; `None` where it has one, or serves nothing.
fn unprobed(graph: &Graph<'_>, target: usize, dependents: &[usize]) -> Option<Finding> {
    let object = &graph.objects[target];
    let template = object.template().filter(|_| object.serves())?;
    let containers = template.pointer("/spec/containers")?.as_array()?;
    let (first, others) = dependents.split_first()?;
    if containers.is_empty() || rollout::is_asked(template) {
        return None;
    }
    let others = match others.len() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    let told = format!(
        "{} waits for it{others}, and none of its containers has a readiness probe: it counts as ready as soon as they run; add a \
         readinessProbe that asks what the wait is for",
        graph.objects[*first].place
    );
    let path = object.template_path().unwrap_or_default();
    let finding = Finding::new("NoReadinessProbe", Level::Note, &object.place, told);
    Some(finding.spot(Where::Field(format!("{path}/spec/containers"))))
}
