//! The annotations beside the lists: a word, a duration or a text each.

use super::duration;
use super::names::{self, NameRule};
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use crate::keys;
use crate::suggest;
use crate::terms::{OnFailure, OnTimeout, Regate, Terms};
use std::num::{IntErrorKind, ParseIntError};

/// The longest revision, in bytes: as much as the name of an object.
const MAX_REVISION: usize = 253;

/// Writes the value of the annotation `key`, one of [`keys::TERMS`], into `terms`.
pub(super) fn write(terms: &mut Terms, key: &str, text: Piece<'_>) -> Result<(), Flaw> {
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
        keys::REGATE => terms.regate = Regate::of(word(text, &Regate::WORDS)?),
        keys::SKIP => terms.skip = Some(word(text, &["true", "false"])? == "true"),
        // The following keys are only checked here: they count on dependencies too, so other modules read them.
        keys::REVISION => revision(text)?,
        keys::WEIGHT => drop(integer(text)?),
        keys::PARALLELISM => drop(cap(text)?),
        keys::GROUP => groups(text)?,
        keys::SCOPE => {
            names::check("scope", text.trim(), NameRule::LabelPart)?;
        }
        _ => {}
    }
    Ok(())
}

/// Reads the effect of a timeout that has passed.
pub(super) fn on_timeout(text: Piece<'_>) -> Result<OnTimeout, Flaw> {
    Ok(match word(text, &["wait", "fail", "proceed"])? {
        "fail" => OnTimeout::Fail,
        "proceed" => OnTimeout::Proceed,
        _ => OnTimeout::Wait,
    })
}

/// The wave that [`keys::WEIGHT`] says; `None` for a text that admission refuses.
pub fn weight(text: &str) -> Option<i64> {
    integer(Piece::whole(text)).ok()
}

/// The cap that [`keys::PARALLELISM`] says, at least 1; `None` for a text that admission refuses.
pub fn parallelism(text: &str) -> Option<usize> {
    let most = cap(Piece::whole(text)).ok()?.max(1);
    Some(usize::try_from(most).unwrap_or(usize::MAX))
}

/// A number of any size: a number beyond 64 bits means as much as the nearest end.
fn cap(text: Piece<'_>) -> Result<i64, Flaw> {
    integer(text).or_else(|flaw| match flaw.problem {
        Problem::LargeInteger(number) if number.starts_with('-') => Ok(i64::MIN),
        Problem::LargeInteger(_) => Ok(i64::MAX),
        _ => Err(flaw),
    })
}

fn integer(text: Piece<'_>) -> Result<i64, Flaw> {
    let number = text.trim();
    let text = || number.text.to_owned();
    number.text.parse().map_err(|error: ParseIntError| {
        let problem = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Problem::LargeInteger(text()),
            _ => Problem::NoInteger(text()),
        };
        number.flaw(problem)
    })
}

fn groups(text: Piece<'_>) -> Result<(), Flaw> {
    for group in text.split(',').map(Piece::trim) {
        if !group.is_empty() {
            names::check("group", group, NameRule::LabelPart)?;
        }
    }
    Ok(())
}

/// An opaque text; it is compared and never read.
fn revision(written: Piece<'_>) -> Result<(), Flaw> {
    if written.trim().is_empty() {
        return Err(written.flaw(Problem::Empty { what: "revision" }));
    }
    let text = written.text;
    if let Some(at) = text.find("{{") {
        return Err(written.flaw_at(at, Problem::Template(text.to_owned())));
    }
    let (length, most) = (text.len(), MAX_REVISION);
    if length > most {
        let text = text.to_owned();
        return Err(written.flaw(Problem::LongText { text, length, most }));
    }
    Ok(())
}

/// Reads one of a few words, spelled exactly.
pub(super) fn word(
    written: Piece<'_>,
    words: &'static [&'static str],
) -> Result<&'static str, Flaw> {
    let mut known = words.iter().copied();
    known.find(|it| *it == written.text).ok_or_else(|| {
        let likely = suggest::nearest(written.text, words.iter().copied());
        let word = written.text.to_owned();
        let problem = Problem::UnknownWord {
            word,
            words,
            likely,
        };
        written.flaw(problem)
    })
}
