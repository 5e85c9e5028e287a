//! How a text of somebody else's stands in a line of ours.

use std::fmt;

/// A text of somebody else's, fit to stand in one line of a log: in quotes, escaped, never longer than 60 characters.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        let Self(text) = self;
        if text.chars().nth(LONGEST).is_none() {
            write!(out, "{text:?}")
        } else {
            let head: String = text.chars().take(LONGEST - 1).collect();
            write!(out, "{:?}", head + "…")
        }
    }
}
