//! The commands that a shell is told to run, as far as a reader knows their words.

mod expand;
mod run;
mod tokens;

pub(super) use run::{Call, of_words};
