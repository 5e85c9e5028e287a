//! Chooses the sets of values that are varied, and lists the texts of such a set that may come from values.

use crate::suggest::release::{NAMESPACE, RELEASE};
use crate::suggest::traces;
use crate::suggest::tried_sets::TriedSets;
use std::collections::BTreeSet;

/// The sets that together show each entry of each container. The set with the most entries that no other set has shown comes next.
pub(super) fn bases(tried: &TriedSets<'_>) -> Vec<usize> {
    let shown = |set: usize| {
        let seen = tried.seen.iter().filter(move |it| it.set == set);
        let entries = seen.flat_map(|it| {
            let targets = it.found.iter();
            let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
            targets.map(move |target| {
                let entry = traces::shown(&target.plain().text, &tried.sets[it.set]);
                (it.source.as_path(), it.container.name.as_str(), entry)
            })
        });
        entries.collect::<BTreeSet<_>>()
    };
    let all: Vec<_> = (0..tried.sets.len()).map(shown).collect();
    let mut covered = BTreeSet::new();
    let mut bases: Vec<usize> = Vec::new();
    loop {
        let new = |set: &usize| all[*set].difference(&covered).count();
        let sets = (0..all.len()).rev();
        let Some(best) = sets.max_by_key(new).filter(|it| new(it) > 0) else {
            return bases;
        };
        covered.extend(all[best].iter().cloned());
        bases.push(best);
    }
}

/// The entries for which the containers of a set wait, without the names of the release and of its namespace, which come from no value.
pub(super) fn literals(tried: &TriedSets<'_>, base: usize) -> Vec<String> {
    let seen = tried.seen.iter().filter(|it| it.set == base);
    let targets = seen.flat_map(|it| &it.found);
    let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
    let mut literals: Vec<String> = Vec::new();
    for target in targets {
        let text = target.plain().text;
        let text = text.replace(RELEASE, "/").replace(NAMESPACE, "/");
        if !literals.contains(&text) {
            literals.push(text);
        }
    }
    literals
}
