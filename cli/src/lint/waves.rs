//! Checks weights and caps: those without effect where they stand, and caps of one wave that contradict each other.

use super::finding::Finding;
use crate::objects::{Object, Role};
use rules::advice::Level;
use rules::keys;
use rules::scope::{self, Scope};
use std::collections::BTreeMap;

pub(super) fn check(objects: &[Object]) -> Vec<Finding> {
    let mut findings: Vec<_> = objects.iter().flat_map(idle).collect();
    findings.extend(caps(objects));
    findings
}

/// A warning at the annotation `key` that counts for the object: on its pod template, else on itself.
fn warning(rule: &'static str, object: &Object, key: &str, message: String) -> Finding {
    let holders = object.holders();
    let mut holders = holders.iter().rev().filter(|it| it.role != Role::Copied);
    let holder = holders.find(|holder| holder.annotations.contains_key(key));
    let path = holder.map_or("metadata", |holder| holder.path);
    Finding::new(rule, Level::Warning, &object.place, message).at(path, key)
}

/// The findings on the weight and the cap of an object that have no effect there.
fn idle(object: &Object) -> Vec<Finding> {
    let told = |key: &str| Some(warning("NoEffect", object, key, why_idle(object, key)?));
    let keys = [keys::WEIGHT, keys::PARALLELISM].into_iter();
    keys.filter(|key| object.said(key).is_some())
        .filter_map(told)
        .collect()
}

fn why_idle(object: &Object, key: &str) -> Option<String> {
    if scope::is_hook(&object.value) {
        return Some(
            "Helm runs its hooks itself, one by one in the order of helm.sh/hook-weight; for a wave of sluice make it a plain object"
                .to_owned(),
        );
    }
    // Another check reports that a cap needs pods; an object that a controller made repeats the keys of the object above it.
    if object.owner().is_some() || (key == keys::PARALLELISM && !object.is_dependent()) {
        return None;
    }
    if !object.is_counted() && !object.is_dependent() {
        let kind = object.word();
        return Some(format!(
            "it has no effect on a {kind}; waves are made of workloads, Services, claims and custom resources"
        ));
    }
    object.scope.is_none().then(|| {
        format!(
            "it is in no scope, so there is no wave; let Helm, Flux or Argo CD install it (name a chart's folder as -f), or annotate it with {}",
            keys::SCOPE
        )
    })
}

/// A warning on each object whose cap is larger than the smallest one in its wave: the smallest cap counts for all objects of the wave.
fn caps(objects: &[Object]) -> Vec<Finding> {
    let mut waves: BTreeMap<(&Scope, i64), Vec<(usize, &Object)>> = BTreeMap::new();
    for object in objects {
        if let (Some(cap), Some(scope), Some(weight)) = (object.cap(), &object.scope, object.wave())
        {
            waves
                .entry((scope, weight))
                .or_default()
                .push((cap, object));
        }
    }
    let mut findings = Vec::new();
    for ((scope, weight), capped) in waves {
        let Some((least, first)) = capped.iter().min_by_key(|(cap, _)| *cap) else {
            continue;
        };
        for (cap, object) in capped.iter().filter(|(cap, _)| cap != least) {
            let message = format!(
                "{cap} here and {least} on {}, both of weight {weight} in {}: the smallest counts for all of them; write the same on each",
                first.place, scope.name
            );
            findings.push(warning("CapsDiffer", object, keys::PARALLELISM, message));
        }
    }
    findings
}
