//! The annotations beside the lists: a word, a duration or a text each.

use super::duration;
use super::names::{self, NameRule};
use super::problem::{Flaw, Problem};
use super::reference::{pieces, trimmed};
use crate::keys;
use crate::suggest;
use crate::terms::{OnFailure, OnTimeout, Regate, Terms};
use std::num::{IntErrorKind, ParseIntError};

/// The longest revision, in bytes: as much as the name of an object.
const MAX_REVISION: usize = 253;

/// Writes the value of the annotation `key`, one of [`keys::TERMS`], into `terms`.
pub(super) fn write(terms: &mut Terms, key: &str, text: &str) -> Result<(), Flaw> {
    match key {
        keys::TIMEOUT => terms.timeout = Some(duration::duration(text)?),
        keys::ON_TIMEOUT => terms.on_timeout = Some(on_timeout(text)?),
        keys::ON_FAILURE => {
            let on_failure = match word(text, &["wait", "fail"])? {
                "fail" => OnFailure::Fail,
                _ => OnFailure::Wait,
            };
            terms.on_failure = Some(on_failure);
        }
        keys::REGATE => {
            let regate = match word(text, &["once", "always"])? {
                "always" => Regate::Always,
                _ => Regate::Once,
            };
            terms.regate = Some(regate);
        }
        keys::SKIP => terms.skip = Some(word(text, &["true", "false"])? == "true"),
        // The following keys are only checked here: they count on dependencies too, so other modules read them.
        keys::REVISION => revision(text)?,
        keys::WEIGHT => drop(integer(text)?),
        keys::PARALLELISM => drop(cap(text)?),
        keys::GROUP => groups(text)?,
        keys::SCOPE => {
            let (at, name) = trimmed((0, text));
            names::check("scope", name, NameRule::LabelPart).map_err(|flaw| flaw.after(at))?;
        }
        _ => {}
    }
    Ok(())
}

/// The effect of a timeout that has passed.
pub(super) fn on_timeout(text: &str) -> Result<OnTimeout, Flaw> {
    Ok(match word(text, &["wait", "fail", "proceed"])? {
        "fail" => OnTimeout::Fail,
        "proceed" => OnTimeout::Proceed,
        _ => OnTimeout::Wait,
    })
}

/// The wave that [`keys::WEIGHT`] says; `None` for a text that admission refuses.
pub fn weight(text: &str) -> Option<i64> {
    integer(text).ok()
}

/// The cap that [`keys::PARALLELISM`] says, at least 1; `None` for a text that admission refuses.
pub fn parallelism(text: &str) -> Option<usize> {
    let most = cap(text).ok()?.max(1);
    Some(usize::try_from(most).unwrap_or(usize::MAX))
}

/// A number of any size: a number beyond 64 bits means as much as the nearest end.
fn cap(text: &str) -> Result<i64, Flaw> {
    integer(text).or_else(|flaw| match flaw.problem {
        Problem::LargeInteger(number) if number.starts_with('-') => Ok(i64::MIN),
        Problem::LargeInteger(_) => Ok(i64::MAX),
        _ => Err(flaw),
    })
}

fn integer(text: &str) -> Result<i64, Flaw> {
    let (at, number) = trimmed((0, text));
    let text = || number.to_owned();
    number.parse().map_err(|error: ParseIntError| {
        let problem = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Problem::LargeInteger(text()),
            _ => Problem::NoInteger(text()),
        };
        Flaw::at(at, problem)
    })
}

fn groups(text: &str) -> Result<(), Flaw> {
    for (at, group) in pieces(text, ',').map(trimmed) {
        if !group.is_empty() {
            names::check("group", group, NameRule::LabelPart).map_err(|flaw| flaw.after(at))?;
        }
    }
    Ok(())
}

/// An opaque text; it is compared and never read.
fn revision(text: &str) -> Result<(), Flaw> {
    if text.trim().is_empty() {
        return Err(Flaw::at(0, Problem::Empty { what: "revision" }));
    }
    if let Some(at) = text.find("{{") {
        return Err(Flaw::at(at, Problem::Template(text.to_owned())));
    }
    let (length, most) = (text.len(), MAX_REVISION);
    if length > most {
        let text = text.to_owned();
        return Err(Flaw::at(0, Problem::LongText { text, length, most }));
    }
    Ok(())
}

/// One of a few words, exactly.
pub(super) fn word(text: &str, words: &'static [&'static str]) -> Result<&'static str, Flaw> {
    words.iter().copied().find(|it| *it == text).ok_or_else(|| {
        let likely = suggest::nearest(text, words.iter().copied());
        let word = text.to_owned();
        let problem = Problem::UnknownWord {
            word,
            words,
            likely,
        };
        Flaw::at(0, problem)
    })
}
