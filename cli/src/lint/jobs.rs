//! Notes Jobs of a chart whose name is the same in every revision: Kubernetes changes no Job, so an upgrade cannot run one again.

use super::finding::{Finding, Where};
use crate::objects::{Graph, Object};
use rules::advice::Level;
use rules::keys;
use rules::scope;
use std::collections::BTreeSet;

/// Annotations by which an installer replaces a Job: the key, and the word in its value.
const REPLACED: [(&str, &str); 3] = [
    ("argocd.argoproj.io/sync-options", "Replace=true"),
    ("argocd.argoproj.io/sync-options", "Force=true"),
    ("kustomize.toolkit.fluxcd.io/force", "enabled"),
];

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let entries = (0..graph.objects.len()).flat_map(|at| {
        let waits = graph.lists[at].iter();
        let listed = waits.filter_map(|wait| wait.edge.entry());
        listed.flat_map(move |entry| graph.meant(at, entry))
    });
    let awaited: BTreeSet<usize> = entries.collect();
    let objects = graph.objects.iter().enumerate();
    let ordered = objects.filter(|(at, it)| awaited.contains(at) || it.asks_for_a_gate());
    ordered
        .filter(|(_, it)| it.is_job() && is_fixed(it))
        .map(|(_, it)| finding(it))
        .collect()
}

/// Whether a Job of a chart keeps its name in every revision, is no hook, and no installer replaces it. A revision, a version or a hash has digits,
/// so a name without any has none of these.
fn is_fixed(job: &Object) -> bool {
    let annotations = &job.value["metadata"]["annotations"];
    let says = |key: &str, word: &str| {
        annotations[key]
            .as_str()
            .is_some_and(|it| it.contains(word))
    };
    let of_release = job.rendered && annotations[keys::RELEASE_NAME].is_string();
    let varies = job.place.name.contains(|it: char| it.is_ascii_digit());
    let replaced = REPLACED.iter().any(|(key, word)| says(key, word));
    of_release && !varies && !replaced && !scope::is_hook(&job.value)
}

fn finding(job: &Object) -> Finding {
    let told = "its name is the same in every revision, and Kubernetes changes no Job: an upgrade that changes its pods is refused, and \
                any other does not run it again; put {{ .Release.Revision }} into the name";
    let finding = Finding::new("FixedJobName", Level::Note, &job.place, told);
    finding.spot(Where::Field("/metadata/name".to_owned()))
}
