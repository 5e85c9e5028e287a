//! Texts without the parts that differ each time that the same thing is told: addresses and ports, times and durations, and
//! identifiers such as the ID of a request.

use jiff::Timestamp;
use std::net::{IpAddr, SocketAddr};

/// The shortest hexadecimal number that is taken for a hash or a part of an identifier.
const HASH: usize = 8;
/// The shortest run of letters and digits that is taken for an identifier.
const IDENTIFIER: usize = 16;
/// Stands for such a part.
const MASK: &str = "*";

/// The text with a mask in place of each such part.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|it| !is_of_word(it)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        // A user has written the address of a dependency: its port tells one dependency from another.
        if out.ends_with("://") {
            out.push_str(word);
        } else {
            out.push_str(&masked_word(word));
        }
        let mark = behind.chars().next();
        out.extend(mark);
        rest = &behind[mark.map_or(0, char::len_utf8)..];
    }
    out
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-' | '_')
}

fn masked_word(word: &str) -> String {
    let end = word.trim_end_matches(['.', ':', '-']).len();
    let (word, stop) = word.split_at(end);
    let own = if is_volatile(word) {
        MASK.to_owned()
    } else {
        match word.rsplit_once(':') {
            Some((before, port)) if is_port(port) => format!("{}:{MASK}", masked_word(before)),
            Some((before, hash)) if is_volatile(hash) => format!("{before}:{MASK}"),
            _ => word.to_owned(),
        }
    };
    own + stop
}

fn is_volatile(word: &str) -> bool {
    is_address(word) || is_time(word) || is_duration(word) || is_identifier(word)
}

fn is_address(word: &str) -> bool {
    word.parse::<SocketAddr>().is_ok() || word.parse::<IpAddr>().is_ok()
}

fn is_port(word: &str) -> bool {
    matches!(word.len(), 4..=5) && word.bytes().all(|it| it.is_ascii_digit())
}

/// Whether a word is a point in time, or a time of the day.
fn is_time(word: &str) -> bool {
    let of_day = |it: u8| it.is_ascii_digit() || it == b':' || it == b'.';
    let is_of_day = word.matches(':').count() == 2 && word.bytes().all(of_day);
    is_of_day || word.parse::<Timestamp>().is_ok()
}

/// Whether a word is a duration as Go writes it: `2m40s`, `1.5s`.
fn is_duration(word: &str) -> bool {
    let mut rest = word;
    let mut any = false;
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
        let unit = number.trim_start_matches(|it: char| it.is_ascii_lowercase());
        let name = &number[..number.len() - unit.len()];
        if number.len() == rest.len() || !matches!(name, "h" | "m" | "s" | "ms" | "us" | "ns") {
            return false;
        }
        (rest, any) = (unit, true);
    }
    any
}

/// Whether a word is a hash, a UUID, or another identifier of a program.
fn is_identifier(word: &str) -> bool {
    let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
    let all = |test: fn(&u8) -> bool| word.as_bytes().iter().all(test);
    let has_digit = has(u8::is_ascii_digit);
    let is_hash = word.len() >= HASH && all(|it| it.is_ascii_hexdigit() || *it == b'-');
    let is_run = word.len() >= IDENTIFIER && all(u8::is_ascii_alphanumeric);
    has_digit && (is_hash || is_run && has(u8::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_each_time_is_masked() {
        for (text, expected) in [
            (
                "dial tcp: lookup r.example on 10.96.0.10:53: read udp 10.244.0.7:43211->10.96.0.10:53: i/o timeout",
                "dial tcp: lookup r.example on *: read udp *->*: i/o timeout",
            ),
            (
                "back-off 2m40s restarting failed container",
                "back-off * restarting failed container",
            ),
            (
                "toomanyrequests: RequestID=0f8fad5b-d9cb-469f-a165-70867728950e.",
                "toomanyrequests: RequestID=*.",
            ),
            (
                "request id: 7H3KQ0ZP1ABCD9XY, host id",
                "request id: *, host id",
            ),
            ("at 2026-01-01T00:00:09Z or 15:04:05.123", "at * or *"),
            (
                "image a/b@sha256:9f86d081884c7d65 of node:40321",
                "image a/b@sha256:* of node:*",
            ),
            ("connect: [fd00::a]:6443 refused", "connect: [*]:* refused"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn what_tells_one_thing_from_another_stays() {
        for text in [
            "Job/migrate (JobNotComplete: Job in progress. success:0, active: 1, failed: 0)",
            "its pod web-6c4d4dc48c-65rnz cannot pull image docker.io/postgres:17.2: not found",
            "container \"db\" ended with exit code 137 (OOMKilled)",
            "Serving endpoints: 1/12",
            "no pod has the labels that it selects (app=db1)",
            "waiting for tcp://db.example.com:5432 (ConnectionRefused)",
            "waiting for http://10.0.0.5:9200/_cluster/health (HttpStatus)",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
