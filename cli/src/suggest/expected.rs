//! Computes the expected lists: for each workload, the list that means the same as its wait loops. A proposal is right if the rendered
//! workload carries this list.

use super::known::{Group, Known};
use super::target::Target;
use std::collections::BTreeMap;

/// The lists of workloads. A key is the number of the set of values with which the chart was rendered, and the workload's name.
pub(super) type Lists = BTreeMap<(usize, String), Vec<String>>;

/// For each workload of a group, the list that means the same as its wait loops, with the rendered names of the targets. Waits that no list can
/// say are left out.
pub(super) fn of(known: &Known<'_>, group: &Group) -> Lists {
    by(known, group, |target, _| target.plain().text)
}

/// For each workload of a group, the list that means the same as its wait loops, each entry once. Waits that no list can say are left out.
/// `entry` writes the entry of a target; its second argument is the number of the set of values with which the workload was rendered.
pub(super) fn by(
    known: &Known<'_>,
    group: &Group,
    entry: impl Fn(&Target, usize) -> String,
) -> Lists {
    let mut expected = Lists::new();
    let all = group.seen.iter().chain(&group.varied);
    for seen in all.map(|it| &known.seen[*it]) {
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
