//! Times as Go reads them: RFC 3339 and nothing else.

use jiff::SignedDuration;
use jiff::civil::DateTime;

/// Reads a time in RFC 3339, and returns it in UTC; `None` where Go's `time.Parse(time.RFC3339, …)` fails.
///
/// Not jiff's own parser, which also takes a space for the `T`, short offsets and a leap second. Civil time, because
/// the years 0 and 9999 in full are more than a [`jiff::Timestamp`] holds.
pub(crate) fn instant(text: &str) -> Option<DateTime> {
    let bytes = text.as_bytes();
    let (head, rest) = bytes.split_at_checked(19)?;
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|&(at, byte)| head[at] != byte) {
        return None;
    }
    let (nanos, rest) = fraction(rest)?;
    let second = number(&head[17..19]).filter(|second| *second < 60)?;
    let local = DateTime::new(
        number(&head[..4])?,
        i8::try_from(number(&head[5..7])?).ok()?,
        i8::try_from(number(&head[8..10])?).ok()?,
        i8::try_from(number(&head[11..13])?).ok()?,
        i8::try_from(number(&head[14..16])?).ok()?,
        i8::try_from(second).ok()?,
        nanos,
    )
    .ok()?;
    Some(local.saturating_sub(offset(rest)?))
}

/// Reads a number of at most four digits; `None` where a byte is no digit.
fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0, |sum: i16, byte| {
        let digit = byte.is_ascii_digit().then(|| i16::from(byte - b'0'))?;
        Some(sum * 10 + digit)
    })
}

/// Reads an optional fraction of a second behind `.` or `,`. Returns its nanoseconds, cut off or 0, and the text behind it; `None` where no digit
/// follows the sign.
fn fraction(rest: &[u8]) -> Option<(i32, &[u8])> {
    let [b'.' | b',', digits @ ..] = rest else {
        return Some((0, rest));
    };
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if length == 0 {
        return None;
    }
    let (digits, rest) = digits.split_at(length);
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0'));
    let nanos = padded
        .take(9)
        .fold(0, |sum, byte| sum * 10 + i32::from(byte - b'0'));
    Some((nanos, rest))
}

/// Reads the offset of a time, `Z` or `+hh:mm`, with Go's bounds of 24 hours and 60 minutes; `None` for any other text.
fn offset(text: &[u8]) -> Option<SignedDuration> {
    let (sign, hours, minutes) = match text {
        b"Z" => return Some(SignedDuration::ZERO),
        [b'+', h1, h2, b':', m1, m2] => (1, [*h1, *h2], [*m1, *m2]),
        [b'-', h1, h2, b':', m1, m2] => (-1, [*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let hours = number(&hours).filter(|hours| *hours <= 24)?;
    let minutes = number(&minutes).filter(|minutes| *minutes <= 60)?;
    Some(SignedDuration::from_mins(
        sign * (i64::from(hours) * 60 + i64::from(minutes)),
    ))
}
