//! The list that each workload of a group has to have: what its loops wait for.

use super::known::{Group, Known};
use super::target::Target;
use std::collections::BTreeMap;

/// The lists of workloads, by the number of the set of values and the workload's name.
pub(super) type Lists = BTreeMap<(usize, String), Vec<String>>;

/// The lists with the rendered names of the targets.
pub(super) fn of(known: &Known<'_>, group: &Group) -> Lists {
    by(known, group, |target, _| target.plain().text)
}

/// The lists with the entry that `entry` makes of a target and the number of its set of values.
pub(super) fn by(
    known: &Known<'_>,
    group: &Group,
    entry: impl Fn(&Target, usize) -> String,
) -> Lists {
    let mut expected = Lists::new();
    for seen in group.seen.iter().map(|it| &known.seen[*it]) {
        let list = expected
            .entry((seen.set, seen.workload.1.clone()))
            .or_default();
        for found in &seen.found {
            if let Ok(Some(target)) = &found.target {
                let text = entry(target, seen.set);
                if !list.contains(&text) {
                    list.push(text);
                }
            }
        }
    }
    expected
}
