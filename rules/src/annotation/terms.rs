//! The annotations beside the lists: a word, a duration or a text each.

use super::duration;
use super::names::{self, NameRule};
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use crate::keys;
use crate::suggest;
use crate::terms::{OnFailure, OnTimeout, Regate, Terms};
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use strum::VariantNames;

/// The words of an annotation that is on or off.
pub(super) const FLAGS: [&str; 2] = ["true", "false"];

/// The longest revision, in bytes: as much as the name of an object.
const MAX_REVISION: usize = 253;

/// Reads the value of the annotation `key`, one of [`keys::TERMS`], into `terms`. The keys that other modules read are only checked here.
pub(super) fn write(terms: &mut Terms, key: &str, text: Piece<'_>) -> Result<(), Flaw> {
    match key {
        keys::TIMEOUT => terms.timeout = Some(duration::duration(text)?),
        keys::ON_TIMEOUT => terms.on_timeout = Some(word(text, OnTimeout::VARIANTS)?),
        keys::ON_FAILURE => terms.on_failure = Some(word(text, OnFailure::VARIANTS)?),
        keys::REGATE => terms.regate = Some(word(text, Regate::VARIANTS)?),
        keys::SKIP => terms.skip = Some(word(text, &FLAGS)?),
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

/// Reads the value of [`keys::WEIGHT`], the number of a wave; `None` for a text that is no integer of 64 bits, which admission refuses.
pub fn weight(text: &str) -> Option<i64> {
    integer(Piece::whole(text)).ok()
}

/// Reads the value of [`keys::PARALLELISM`], a cap: a number below 1 means 1. `None` for a text that is no integer, which admission refuses.
pub fn parallelism(text: &str) -> Option<usize> {
    let most = cap(Piece::whole(text)).ok()?.max(1);
    Some(usize::try_from(most).unwrap_or(usize::MAX))
}

/// Reads an integer of any size; one beyond 64 bits becomes the least or the greatest of 64 bits.
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

/// Checks the value of [`keys::REVISION`]: not empty, not a template, not too long. It is an opaque text, which is only ever compared.
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

/// Reads a value from its word, spelled exactly. The refusal of any other text lists `words`, and the likely one of them.
pub(super) fn word<T: FromStr>(
    written: Piece<'_>,
    words: &'static [&'static str],
) -> Result<T, Flaw> {
    written.text.parse().map_err(|_| {
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
