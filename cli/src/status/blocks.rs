//! Puts workloads and pods of a tree together whose lines would be equal but for their names and times.

use super::rows;
use super::tree::{Pod, Tree, Workload};

/// One or more workloads under one title of the tree, with the rows of their pods.
pub(super) struct TreeBlock<'t> {
    pub(super) workloads: Vec<&'t Workload>,
    pub(super) rows: Vec<TreeRow<'t>>,
}

/// The pods that share one row of the tree.
pub(super) struct TreeRow<'t> {
    pub(super) pods: Vec<&'t Pod>,
}

/// The number of alike workloads from which on they share one block.
const MANY: usize = 4;

/// The blocks of a tree, in the order of its workloads: [`MANY`] or more alike workloads share a block. `apart`: each workload and each pod by
/// itself.
pub(super) fn blocks(tree: &Tree, apart: bool) -> Vec<TreeBlock<'_>> {
    let all = tree.workloads.iter().map(|it| TreeBlock::of(it, apart));
    // Each block with its place among the workloads.
    let mut alike: Vec<Vec<(usize, TreeBlock<'_>)>> = Vec::new();
    for (place, block) in all.enumerate() {
        let group = alike
            .iter_mut()
            .find(|group| !apart && group[0].1.is_like(&block));
        match group {
            Some(group) => group.push((place, block)),
            None => alike.push(vec![(place, block)]),
        }
    }
    let blocks = alike.into_iter().flat_map(|group| {
        if group.len() < MANY {
            return group;
        }
        let place = group[0].0;
        let joined = TreeBlock::joined(group.into_iter().map(|(_, block)| block));
        vec![(place, joined)]
    });
    let mut blocks: Vec<_> = blocks.collect();
    blocks.sort_by_key(|(place, _)| *place);
    blocks.into_iter().map(|(_, block)| block).collect()
}

impl<'t> TreeBlock<'t> {
    fn of(workload: &'t Workload, apart: bool) -> Self {
        let mut rows: Vec<TreeRow<'t>> = Vec::new();
        for pod in &workload.pods {
            let alike = rows
                .iter_mut()
                .find(|row| !apart && is_like(row.pods[0], pod));
            match alike {
                Some(row) => row.pods.push(pod),
                None => rows.push(TreeRow { pods: vec![pod] }),
            }
        }
        Self {
            workloads: vec![workload],
            rows,
        }
    }

    /// Joins several alike blocks into one, with all of their workloads and one row for all of their pods.
    fn joined(group: impl Iterator<Item = Self>) -> Self {
        let (mut workloads, mut pods) = (Vec::new(), Vec::new());
        for mut block in group {
            workloads.append(&mut block.workloads);
            pods.extend(block.rows.into_iter().flat_map(|row| row.pods));
        }
        Self {
            workloads,
            rows: vec![TreeRow { pods }],
        }
    }

    /// Whether one title and one row are enough for both blocks.
    fn is_like(&self, other: &Self) -> bool {
        let ([own], [others]) = (self.rows.as_slice(), other.rows.as_slice()) else {
            return false;
        };
        let (one, two) = (self.workloads[0], other.workloads[0]);
        let plain = one.refused.is_none() && two.refused.is_none();
        plain && one.namespace == two.namespace && is_like(own.pods[0], others.pods[0])
    }
}

/// Whether a row tells the same of both pods, but for their names and times.
fn is_like(one: &Pod, other: &Pod) -> bool {
    let told = |pod: &Pod| {
        (
            pod.stage,
            pod.gated,
            pod.since.is_some(),
            pod.opened.is_some(),
        )
    };
    let why = |pod: &Pod| {
        let gate = pod.gate.as_deref();
        let gate = gate.map(|line| rows::wait(line).unwrap_or(line).to_owned());
        [
            pod.unknown.clone(),
            pod.not_started.clone(),
            pod.trouble.clone(),
            pod.stranded.map(str::to_owned),
            gate,
        ]
    };
    told(one) == told(other)
        && why(one) == why(other)
        && one.answer == other.answer
        && one.pulls == other.pulls
}
