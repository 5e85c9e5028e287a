//! Finds objects that wait for each other, or for themselves, and so never start.

use super::dependencies;
use super::finding::Finding;
use super::spots;
use crate::objects::Graph;
use rules::advice::{Advice, Level};

/// An error for each cycle of objects that wait for each other, on the object of it that comes first. A cycle that an advice of another check
/// reports already is left out.
pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let cycles = graph.cycles().into_iter();
    cycles
        .filter(|cycle| !is_told(graph, cycle))
        .map(|cycle| {
            let object = &graph.objects[cycle[0]];
            let place = &object.place;
            if cycle.len() == 1 {
                let spot = spots::entry(object, &place.name);
                return Finding::advice(place, &Advice::SelfReference).spot(spot);
            }
            let path = graph.path(&cycle);
            let way_out = graph.way_out(&cycle);
            let told = format!("these wait for each other and never start: {path}; {way_out}");
            let next = &graph.objects[cycle[1]].place.name;
            Finding::new("Cycle", Level::Error, place, told).spot(spots::link(object, next))
        })
        .collect()
}

/// Whether the advice on a member already reports this cycle: the member waits for itself, or for a Service of its own pods.
fn is_told(graph: &Graph<'_>, cycle: &[usize]) -> bool {
    let says = |at: &usize| {
        let advice = dependencies::advice(graph, *at);
        advice.iter().any(|advice| match advice {
            Advice::SelfReference => cycle.len() == 1,
            Advice::OwnService(name) => {
                let mut others = cycle.iter().map(|at| &graph.objects[*at]);
                cycle.len() == 2 && others.any(|it| it.is_service() && it.place.name == *name)
            }
            _ => false,
        })
    };
    cycle.len() <= 2 && cycle.iter().any(says)
}
