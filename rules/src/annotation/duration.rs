//! Durations as Go's `time.ParseDuration` reads them: `90s`, `1h30m`, `1.5h`; not negative, and not zero.

use super::fault::DurationFault;
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use std::time::Duration;

/// The units and their length in nanoseconds, with both spellings of micro.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration above zero and of at most 2^63-1 nanoseconds, the longest one of Go.
pub(super) fn duration(piece: Piece<'_>) -> Result<Duration, Flaw> {
    read(piece.text).map_err(|(at, fault)| {
        let text = piece.text.to_owned();
        piece.flaw_at(at, Problem::Duration { text, fault })
    })
}

/// Reads a duration that, unlike one of [`duration`], may be zero.
pub(super) fn duration_or_zero(piece: Piece<'_>) -> Result<Duration, Flaw> {
    match read(piece.text) {
        Err((_, DurationFault::Zero)) => Ok(Duration::ZERO),
        _ => duration(piece),
    }
}

type Fault = (usize, DurationFault);

fn read(text: &str) -> Result<Duration, Fault> {
    if text.is_empty() {
        return Err((0, DurationFault::Empty));
    }
    if text.starts_with('-') {
        return Err((0, DurationFault::Negative));
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut total: u64 = 0;
    // Go knows one number without a unit, where nothing stands beside it.
    if rest == "0" {
        return Err((0, DurationFault::Zero));
    }
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let (nanoseconds, behind) = part(rest).map_err(|(offset, fault)| (at + offset, fault))?;
        total = total
            .checked_add(nanoseconds)
            .filter(|it| *it <= i64::MAX.unsigned_abs())
            .ok_or((at, DurationFault::TooLong))?;
        rest = behind;
    }
    if total == 0 {
        return Err((0, DurationFault::Zero));
    }
    Ok(Duration::from_nanos(total))
}

/// Reads a number with its unit at the start of `text`. Returns its nanoseconds, and the text behind it.
fn part(text: &str) -> Result<(u64, &str), Fault> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    let unit_at = text.len() - rest.len();
    if whole.is_empty() && fraction.is_empty() {
        return Err((0, DurationFault::NoNumber));
    }
    let end = rest.find(|it: char| it == '.' || it.is_ascii_digit());
    let (unit, behind) = rest.split_at(end.unwrap_or(rest.len()));
    if unit.is_empty() {
        return Err((unit_at, DurationFault::NoUnit));
    }
    let Some((_, length)) = UNITS.into_iter().find(|(name, _)| *name == unit) else {
        return Err((unit_at, unknown(unit)));
    };
    let whole = match whole {
        "" => Some(0),
        digits => digits.parse::<u64>().ok(),
    };
    whole
        .and_then(|whole| {
            whole
                .checked_mul(length)?
                .checked_add(share(fraction, length))
        })
        .map(|nanoseconds| (nanoseconds, behind))
        .ok_or((0, DurationFault::TooLong))
}

/// The nanoseconds of `0.FRACTION` of a unit of this length, cut off to whole ones. Digits beyond the 14th are worth nothing even of an hour.
fn share(fraction: &str, length: u64) -> u64 {
    let (mut part, mut of): (u128, u128) = (0, 1);
    for digit in fraction.bytes().take(14) {
        part = part * 10 + u128::from(digit - b'0');
        of *= 10;
    }
    u64::try_from(part * u128::from(length) / of).unwrap_or(u64::MAX)
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

fn unknown(unit: &str) -> DurationFault {
    let likely = match unit.to_lowercase().as_str() {
        "min" | "mins" | "minute" | "minutes" => Some("m"),
        "sec" | "secs" | "second" | "seconds" => Some("s"),
        "hour" | "hours" | "hr" | "hrs" => Some("h"),
        other => UNITS
            .map(|(name, _)| name)
            .into_iter()
            .find(|it| *it == other),
    };
    let unit = unit.to_owned();
    DurationFault::Unit { unit, likely }
}
