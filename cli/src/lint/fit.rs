//! Finds pods that the LimitRanges and ResourceQuotas of the input refuse: they never wait, and objects that wait for them wait for ever.

use super::finding::{Finding, Where};
use crate::objects::{Graph, Object};
use rules::advice::Level;
use rules::fit;
use std::collections::BTreeSet;

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let of_kind = |word: &str| {
        let objects = graph.objects.iter();
        objects
            .filter(|it| it.is_of("", word))
            .collect::<Vec<&Object>>()
    };
    let (ranges, quotas) = (of_kind("LimitRange"), of_kind("ResourceQuota"));
    if ranges.is_empty() && quotas.is_empty() {
        return Vec::new();
    }
    // `lint` looks only at workloads that take part in an order.
    let mut ordered = BTreeSet::new();
    for at in (0..graph.objects.len()).filter(|at| graph.is_gated(*at)) {
        ordered.insert(at);
        ordered.extend(behind(graph, at));
    }
    let objects = ordered.into_iter().map(|at| &graph.objects[at]);
    let objects = objects.filter(|object| object.owner().is_none());
    let findings = objects.flat_map(|it| of_object(it, &ranges, &quotas));
    findings.collect()
}

/// The objects that an object waits for directly; in place of a Service, the workloads behind it.
fn behind(graph: &Graph<'_>, at: usize) -> Vec<usize> {
    let links = graph.links(at).into_iter().map(|link| link.to);
    links
        .flat_map(|to| {
            if graph.objects[to].is_service() {
                graph.backends(to).unwrap_or_default()
            } else {
                vec![to]
            }
        })
        .collect()
}

fn of_object(object: &Object, ranges: &[&Object], quotas: &[&Object]) -> Vec<Finding> {
    let Some(template) = object.template() else {
        return Vec::new();
    };
    let [ranges, quotas] = [ranges, quotas].map(|bounds| {
        let here = bounds.iter().filter(|it| counts_for(it, object));
        here.map(|it| &it.value).collect::<Vec<_>>()
    });
    let path = object.template_path().unwrap_or_default();
    let told = |misfit: fit::Misfit| {
        let told = format!("its pods are refused: {misfit}");
        let finding = Finding::new("DoesNotFit", Level::Warning, &object.place, told);
        finding.spot(Where::Field(format!("{path}/spec/containers")))
    };
    let misfits = fit::of(template, &ranges, &quotas);
    misfits.into_iter().map(told).collect()
}

/// Whether a LimitRange or a quota counts for an object: the two have the same namespace. Where both leave it open and one of them comes
/// from a chart or a kustomization, they must come from the same place, because each place may be installed into a namespace of its own.
fn counts_for(bounds: &Object, object: &Object) -> bool {
    let is_open = object.namespace().is_empty() && (bounds.rendered || object.rendered);
    let is_beside = bounds.place.file == object.place.file;
    bounds.namespace() == object.namespace() && (is_beside || !is_open)
}
