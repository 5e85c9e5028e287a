//! Objects that wait for each other.

use super::finding::{Finding, Level};
use crate::objects::Graph;

/// An error for each circle, on the object of it that comes first. A longer circle through members of one that was told
/// is not told again: it is broken with the other, or found on the next run.
pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let circles = graph.circles().into_iter();
    circles
        .map(|circle| {
            let place = &graph.objects[circle[0]].place;
            Finding::new(Level::Error, place, told(graph, &circle))
        })
        .collect()
}

fn told(graph: &Graph<'_>, circle: &[usize]) -> String {
    if circle.len() == 1 {
        return "it waits for itself; take the entry out of its list".to_owned();
    }
    let path = graph.path(circle);
    let way_out = graph.way_out(circle);
    format!("these wait for each other and never start: {path}; {way_out}")
}
