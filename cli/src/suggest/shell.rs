//! Reads the commands that a shell is told to run, as far as their words can be known without running them.

mod branches;
mod expand;
mod fed;
mod inner;
mod loops;
mod outputs;
mod run;
mod tokens;

pub(super) use outputs::OWN_NAMESPACE;
pub(super) use run::{Call, Looped, of_words};
