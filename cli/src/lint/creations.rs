//! Finds objects whose creation waits for an object that the same installer sends only after them. An installer that waits for a creation
//! sends nothing else.

use super::finding::Finding;
use super::spots;
use crate::objects::{Graph, Object, Role};
use rules::advice::Level;
use rules::annotation;
use rules::dependency::{Dependency, Reference};
use rules::installer::{self, Late};
use rules::keys;
use serde_json::Map;
use std::collections::BTreeSet;

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let objects = graph.objects.iter().enumerate();
    objects
        .filter(|(_, object)| holds_creation(object))
        .flat_map(|(at, object)| of_object(graph, at, object))
        .collect()
}

fn holds_creation(object: &Object) -> bool {
    let holders = object.holders();
    let mut own = holders.iter().filter(|it| it.role == Role::Own);
    own.any(|it| annotation::holds_creation(it.annotations)) && object.owner().is_none()
}

fn of_object(graph: &Graph<'_>, at: usize, object: &Object) -> Vec<Finding> {
    let entries = list(object).into_iter();
    // An optional object that is absent holds nothing back, and of several alternatives one is enough.
    let needed = entries.filter(|it| !it.optional && !matches!(it.reference, Reference::Any(_)));
    let meant = needed.flat_map(|entry| graph.meant(at, &entry));
    let meant: BTreeSet<usize> = meant.filter(|it| *it != at).collect();
    let beside = meant
        .into_iter()
        .filter(|it| graph.is_of_one_release(at, *it));
    beside
        .filter_map(|behind| {
            let (level, why) = sent_later(graph, at, behind)?;
            let place = &graph.objects[behind].place;
            let told = format!(
                "its creation waits for {}/{}, and {why}; an installer that waits sends nothing else, so neither comes",
                place.kind, place.name
            );
            let finding = Finding::new("SentLater", level, &object.place, told);
            Some(finding.spot(spots::entry(object, &place.name)))
        })
        .collect()
}

/// The entries of the lists that count for the object: each key of its pod template, or else of its own. Empty where a list cannot be read:
/// another finding tells of that.
fn list(object: &Object) -> Vec<Dependency> {
    let mut says = Map::new();
    for holder in object.holders() {
        if holder.role != Role::Copied {
            says.extend(holder.annotations.clone());
        }
    }
    says.retain(|key, _| key == keys::DEPENDS_ON || key == keys::CONFIG_DEPENDS_ON);
    annotation::declared(&says).unwrap_or_default()
}

/// Why an installer sends the object `behind` only after the object `at`: an error for Helm and Argo CD, a warning for kubectl, which goes by the
/// order of a file that has both; `None` where it does not.
fn sent_later(graph: &Graph<'_>, at: usize, behind: usize) -> Option<(Level, String)> {
    let [own, theirs] = [at, behind].map(|it| &graph.objects[it]);
    if let Some(late) = installer::late(&own.value, &theirs.value) {
        return Some((Level::Error, later(&late)));
    }
    let by_helm = [own, theirs].map(|it| it.annotation(keys::RELEASE_NAME).is_some());
    if by_helm == [true; 2] {
        let [own, theirs] = [own.word(), theirs.word()];
        let told = || format!("Helm sends each {theirs} after each {own}");
        return installer::helm_sends_later(own, theirs).then(|| (Level::Error, told()));
    }
    // Argo CD and Flux sort by kind themselves.
    let by_kubectl = !own.rendered && !theirs.rendered && own.place.file == theirs.place.file;
    let told = "kubectl sends it only afterwards, in the order of the file: move it up".to_owned();
    (by_kubectl && at < behind).then_some((Level::Warning, told))
}

fn later(late: &Late) -> String {
    match late {
        Late::RunsAfterwards(hook) => format!("it is a {hook} hook, which runs afterwards"),
        Late::NeverMade { hook, by } => {
            format!("{by} does not make it, since it is a {hook} hook")
        }
        Late::RunsBefore(installer) => {
            format!("{} makes it only once this hook is done", installer.name())
        }
        Late::LaterHook { theirs, own } => {
            format!("Helm makes it after this hook, by weight ({theirs}, and {own} here) and name")
        }
        Late::LaterWave { theirs, own } => {
            format!(
                "Argo CD sends it in sync wave {theirs}, and this object in the earlier wave {own}"
            )
        }
    }
}
