//! Objects that wait for each other.

use super::finding::{Finding, Level};
use crate::objects::Graph;

/// An error for each cycle, on the object of it that comes first. A longer cycle through members of one that was told
/// is not told again: it is broken with the other, or found on the next run.
pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let cycles = graph.cycles().into_iter();
    cycles
        .map(|cycle| {
            let place = &graph.objects[cycle[0]].place;
            Finding::new(Level::Error, place, told(graph, &cycle))
        })
        .collect()
}

fn told(graph: &Graph<'_>, cycle: &[usize]) -> String {
    if cycle.len() == 1 {
        return "it waits for itself; take the entry out of its list".to_owned();
    }
    let path = graph.path(cycle);
    let way_out = graph.way_out(cycle);
    format!("these wait for each other and never start: {path}; {way_out}")
}
