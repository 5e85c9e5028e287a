//! The judge by whose findings the edges of one dependent are explained, and the hints: facts that only explain a verdict.

use super::super::judge::Judge;
use crate::dependent::Dependent;
use crate::world::Hints;

/// The judge of one dependent, and the facts of its world that only explain a verdict ([`Hints`]).
#[derive(Clone, Copy)]
pub(super) struct Explain<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) hints: &'a dyn Hints,
}

impl<'a> Explain<'a> {
    pub(super) fn new(judge: &'a Judge<'a>, hints: &'a dyn Hints) -> Self {
        Self { judge, hints }
    }

    pub(super) fn dependent(&self) -> &'a Dependent {
        self.judge.dependent
    }
}
