//! Phrases that several sentences share.

use crate::dependency::State;
use crate::text::Quoted;
use std::fmt;

/// Writes an unknown word in quotes, and behind it the number of its first letter outside of ASCII, because that may look like the right letter.
pub(super) struct Misspelt<'t>(pub(super) &'t str);

impl fmt::Display for Misspelt<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Quoted(self.0).fmt(out)?;
        match self.0.chars().find(|it| !it.is_ascii()) {
            Some(letter) => write!(out, ", in which {letter:?} is U+{:04X}", u32::from(letter)),
            None => Ok(()),
        }
    }
}

pub(super) fn near(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(", near {}", Quoted(text))
    }
}

pub(super) fn did_you_mean(likely: Option<&str>, otherwise: &str) -> String {
    likely.map_or_else(
        || otherwise.to_owned(),
        |word| format!("; did you mean {word:?}?"),
    )
}

pub(super) fn one_of_the_states() -> String {
    let words: Vec<_> = State::ALL.iter().map(|it| it.word()).collect();
    format!("; the states are {}", words.join(", "))
}

pub(super) fn group_named(group: &str) -> String {
    if group.is_empty() {
        "the core group".to_owned()
    } else {
        format!("group {}", Quoted(group))
    }
}
