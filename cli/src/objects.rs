//! Objects of a manifest or of a cluster, and who waits for whom among them.

mod chart;
mod cycles;
mod files;
mod graph;
mod links;
mod object;
mod place;

pub(crate) use chart::Chart;
pub(crate) use files::{Input, place, read};
pub(crate) use graph::Graph;
pub(crate) use object::{Holder, Object, Role};
pub(crate) use place::Place;
