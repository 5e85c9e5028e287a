//! Plans: ConfigMaps that order the parts of a release.

use super::finding::Finding;
use crate::objects::Object;
use rules::advice::Level;
use rules::annotation;
use rules::dependency::{Part, Plan};
use rules::keys;
use rules::keys::ORDER;
use rules::scope::Scope;
use std::collections::BTreeSet;

/// Where a plan stands in its ConfigMap.
const DATA: &str = "data";

pub(super) fn check(objects: &[Object]) -> Vec<Finding> {
    let configs = objects.iter().filter(|it| it.word() == "ConfigMap");
    configs.filter_map(|it| of_config(objects, it)).collect()
}

fn of_config(objects: &[Object], config: &Object) -> Option<Finding> {
    let warning = |message: String| Some(Finding::new(Level::Warning, &config.place, message));
    if !config.is_plan() {
        let value = config.label(keys::PLAN)?;
        let label = keys::PLAN;
        return warning(format!(
            "the label {label}: {value:?} makes no plan; its only value is \"true\""
        ));
    }
    let Some(text) = config.value["data"][ORDER].as_str() else {
        return warning(format!(
            "the plan has no key {ORDER:?}; write one such as \"api: [postgresql]\""
        ));
    };
    let plan = match annotation::order(text) {
        Ok(plan) => plan,
        // Every gated pod of the release waits until somebody can read it.
        Err(error) => return Some(Finding::refused(&config.place, DATA, &error)),
    };
    let at_order = |message: String| Some(warning(message)?.at(DATA, ORDER));
    let Some(scope) = &config.scope else {
        return at_order(format!(
            "the plan is in no scope, so it orders nothing; let Helm, Flux or Argo CD install it (name a chart's folder as -f), or annotate it with {}",
            keys::SCOPE
        ));
    };
    let unknown = unknown(objects, scope, &plan);
    if !unknown.is_empty() {
        return at_order(format!(
            "{} has no {} among these objects; check the spelling",
            scope.name,
            unknown.join(", ")
        ));
    }
    let namespace = open_namespace(objects, scope)?;
    at_order(format!(
        "{} lacks the label {}: {}, so pods without annotations of sluice start in any order",
        namespace.place,
        keys::INJECT,
        keys::INJECT_VALUE
    ))
}

/// The parts that a plan names and that have no object, each once.
fn unknown(objects: &[Object], scope: &Scope, plan: &Plan) -> Vec<String> {
    let is_there = |part: &Part| {
        let mut of_scope = objects.iter().filter(|it| it.scope.as_ref() == Some(scope));
        of_scope.any(|object| part.may_hold(&object.value))
    };
    let named = plan
        .steps
        .iter()
        .flat_map(|step| step.after.iter().chain([&step.part]));
    let unknown: BTreeSet<String> = named
        .filter(|part| !is_there(part))
        .map(ToString::to_string)
        .collect();
    unknown.into_iter().collect()
}

/// The namespace of a scope, where it is among the objects and does not gate every pod.
fn open_namespace<'o>(objects: &'o [Object], scope: &Scope) -> Option<&'o Object> {
    let mut namespaces = objects.iter().filter(|it| it.word() == "Namespace");
    let namespace = namespaces.find(|it| it.place.name == scope.namespace)?;
    (namespace.label(keys::INJECT) != Some(keys::INJECT_VALUE)).then_some(namespace)
}
