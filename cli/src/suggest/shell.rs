//! Reads the commands that a shell is told to run, as far as their words are known before they run.

mod branches;
mod counted;
mod expand;
mod fed;
mod inner;
mod loops;
mod outputs;
mod run;
mod tokens;

pub(super) use outputs::OWN_NAMESPACE;
pub(super) use run::{Call, Looped, of_words};
