//! Checks the plans of the input: ConfigMaps that order the parts of a release.

use super::finding::{DATA, Finding};
use crate::objects::{Object, means};
use rules::advice::Level;
use rules::dependency::Reference;
use rules::keys;
use rules::plan::{self, PlanFlaw};
use rules::scope::Scope;

pub(super) fn check(objects: &[Object]) -> Vec<Finding> {
    let plans = objects.iter().filter(|it| it.is_plan());
    plans.filter_map(|it| of_config(objects, it)).collect()
}

fn of_config(objects: &[Object], config: &Object) -> Option<Finding> {
    let warning =
        |message: String| Some(Finding::new("Plan", Level::Warning, &config.place, message));
    let scope = config.scope.as_ref();
    let gates = |namespace: &str| gates(objects, namespace);
    let is_empty = |reference: &Reference, scope: &Scope| {
        let mut of_scope = objects.iter().filter(|it| it.scope.as_ref() == Some(scope));
        match reference {
            Reference::Part(parts) => {
                parts.namespace.is_none() && !of_scope.any(|it| parts.part.may_hold(&it.value))
            }
            Reference::Object(object) => {
                let is_it = |it: &Object| {
                    it.place.name == object.name
                        && it.place.namespace == config.place.namespace
                        && it
                            .kind
                            .as_ref()
                            .is_some_and(|kind| means(&object.kind, kind))
                };
                // Helm writes its release on no hook.
                object.namespace.is_none() && !objects.iter().any(is_it)
            }
            Reference::Selected(_) | Reference::Any(_) | Reference::Address(_) => false,
        }
    };
    let is_there = |scope: &Scope| {
        let mut others = objects.iter().filter(|it| !it.is_plan());
        others.any(|it| it.scope.as_ref() == Some(scope))
    };
    let flaw = plan::flaw(&config.value, scope, gates, is_empty, is_there)?;
    match &flaw {
        // Every gated pod of the release waits until the text is mended.
        PlanFlaw::Text(error) => Some(Finding::refused(&config.place, DATA, error)),
        PlanFlaw::NoOrder | PlanFlaw::TooLarge => warning(flaw.to_string()),
        PlanFlaw::NothingYet { .. } => {
            let note = Finding::new("Plan", Level::Note, &config.place, flaw.to_string());
            Some(note.at(DATA, keys::ORDER))
        }
        _ => Some(warning(flaw.to_string())?.at(DATA, keys::ORDER)),
    }
}

/// Whether every pod of a namespace gets a gate, by the label of the Namespace; `None` where the input does not have it.
fn gates(objects: &[Object], namespace: &str) -> Option<bool> {
    let mut namespaces = objects.iter().filter(|it| it.word() == "Namespace");
    let namespace = namespaces.find(|it| it.place.name == namespace)?;
    Some(namespace.label(keys::INJECT) == Some(keys::INJECT_VALUE))
}
