//! Finds objects that are likely not as their author means them: without a kind, of a wrong API group, there twice, or in a namespace that
//! sluice leaves alone.

use super::finding::{Finding, Where};
use crate::objects::Object;
use rules::advice::Level;
use rules::kinds;
use rules::object::group_kind;
use rules::scope;
use std::collections::HashMap;

/// The namespaces that sluice's webhooks leave alone, however it is installed.
const UNTOUCHED: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];

pub(super) fn check(objects: &[Object]) -> Vec<Finding> {
    let mut findings: Vec<_> = objects.iter().filter_map(no_kind).collect();
    findings.extend(objects.iter().filter_map(wrong_group));
    findings.extend(objects.iter().filter_map(out_of_reach));
    findings.extend(twice(objects));
    findings
}

/// The warning for a document that has no kind and so is no object, such as a chart's values.
fn no_kind(object: &Object) -> Option<Finding> {
    let told = "it has no kind, so it is no object; the values of a chart are given with --values";
    let has_none = object.place.kind.is_empty() && object.value.is_object();
    has_none.then(|| Finding::new("NoKind", Level::Warning, &object.place, told))
}

/// An error for an object of a built-in kind whose `apiVersion` is of a built-in group that does not have the kind, such as `v1`, `Deployment`.
fn wrong_group(object: &Object) -> Option<Finding> {
    let (group, kind) = group_kind(&object.value);
    let version = object.value["apiVersion"].as_str()?;
    if !kinds::knows_group(group) || kinds::builtin(group, kind).is_some() {
        return None;
    }
    let meant = kinds::all().iter().find(|it| it.kind == kind)?;
    let told = format!(
        "{version} has no {kind}, so the API server refuses it; write {}",
        meant.api_version()
    );
    let finding = Finding::new("WrongGroup", Level::Error, &object.place, told);
    Some(finding.spot(Where::Field("/apiVersion".to_owned())))
}

fn out_of_reach(object: &Object) -> Option<Finding> {
    let namespace = object.namespace();
    if !UNTOUCHED.contains(&namespace) || !object.asks_for_a_gate() || object.owner().is_some() {
        return None;
    }
    let told = format!(
        "sluice leaves namespace {namespace} alone, so it starts without waiting; put it into another namespace"
    );
    let finding = Finding::new("NeverGated", Level::Warning, &object.place, told);
    Some(finding.spot(Where::Field("/metadata/namespace".to_owned())))
}

/// The finding for each object that was there before with equal kind, namespace and name: a warning in one file, a note in two. Objects of
/// different charts do not count, since each may have a namespace of its own, nor do hooks, which run at different times.
fn twice(objects: &[Object]) -> Vec<Finding> {
    let mut first = HashMap::new();
    let mut findings = Vec::new();
    for object in objects {
        let place = &object.place;
        let (Some(kind), false) = (&object.kind, place.name.is_empty()) else {
            continue;
        };
        if scope::is_hook(&object.value) {
            continue;
        }
        let chart = object.rendered.then_some(&place.file);
        let key = (kind, object.namespace(), &place.name, chart);
        let Some(before) = first.insert(key, place) else {
            continue;
        };
        let told = if before.file == place.file {
            "it is there twice, and the last one counts; take one away, or give it another name"
                .to_owned()
        } else {
            format!("it is in {} too, and the last one counts", before.file)
        };
        let level = if before.file == place.file {
            Level::Warning
        } else {
            Level::Note
        };
        findings.push(Finding::new("DuplicateObject", level, place, told));
    }
    findings
}
