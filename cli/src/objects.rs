//! The objects of a manifest or of a cluster, and the waits among them.

mod chart;
mod cycles;
mod files;
mod graph;
mod links;
mod object;
mod place;
mod sources;

pub(crate) use files::{Doubt, Input, Read, place, read};
pub(crate) use graph::{Graph, is_plural, means};
#[cfg(test)]
pub(crate) use object::Alias;
pub(crate) use object::{Holder, Object, Role};
pub(crate) use place::Place;
pub(crate) use sources::{Finder, Location, Spot};
