//! Masks the parts of a text that differ each time that one trouble is told: addresses and ports, times and durations, and identifiers such as the
//! ID of a request.

use jiff::Timestamp;
use std::net::{IpAddr, SocketAddr};

/// The shortest hexadecimal number, in digits, that is taken for a hash.
const HASH: usize = 8;
/// The shortest run of letters and digits that is taken for an identifier.
const IDENTIFIER: usize = 16;
/// The shortest run of digits that is taken for an identifier. A date, `20260101`, is shorter.
const NUMBER: usize = 10;
/// The lengths of the groups of a UUID, in hexadecimal digits.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];
/// The most characters of a hash or an identifier for each change between letters and digits. In a name that a user wrote the digits stand
/// together, so it has fewer changes: `cafe2024`, `postgresqlcluster1`.
const OF_A_CHANGE: usize = 5;
/// Replaces an address, a port, a time, a duration or an identifier.
const MASK: &str = "*";

/// Returns the text with `*` in place of each address, port, time, duration and identifier. An address behind `://` stays: a user has written it.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        // A user has written the address of a dependency: its port tells one dependency from another.
        let is_of_user = out.ends_with("://");
        let in_brackets = rest
            .find(']')
            .filter(|_| is_of_user && rest.starts_with('['));
        let from = in_brackets.map_or(0, |it| it + 1);
        let end = rest[from..].find(|it| !is_of_word(it));
        let (word, behind) = rest.split_at(end.map_or(rest.len(), |it| from + it));
        if is_of_user {
            out.push_str(word);
        } else {
            let is_in_path = out.ends_with('/');
            out.push_str(&masked_word(word, is_in_path));
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

/// Returns a word with `*` in place of an address, time, duration or identifier, or of the port or hash behind its last colon. In a path, and so in
/// the name of an image, a colon begins a tag, which is no port.
fn masked_word(word: &str, is_in_path: bool) -> String {
    // The address of an IPv6 network ends with colons.
    if is_address(word) {
        return MASK.to_owned();
    }
    let end = word.trim_end_matches(['.', ':', '-']).len();
    let (word, stop) = word.split_at(end);
    let parts = word.rsplit_once(':').filter(|_| !is_in_path);
    let own = if is_volatile(word) {
        MASK.to_owned()
    } else {
        match parts {
            Some((before, port)) if is_port(port) => {
                format!("{}:{MASK}", masked_word(before, is_in_path))
            }
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

/// Whether a word is a UUID, a number of [`NUMBER`] digits or more, or a hash or another identifier in which letters and digits alternate as often as
/// in one that a program made. A name that a user wrote is none, although it may have the letters of a hash alone: it tells one dependency from
/// another.
fn is_identifier(word: &str) -> bool {
    let all = |test: fn(&u8) -> bool| word.as_bytes().iter().all(test);
    if all(u8::is_ascii_digit) {
        return word.len() >= NUMBER;
    }
    let is_hash = word.len() >= HASH && all(u8::is_ascii_hexdigit);
    let is_run = word.len() >= IDENTIFIER && all(u8::is_ascii_alphanumeric);
    is_uuid(word) || (is_hash || is_run) && is_mixed(word)
}

fn is_uuid(word: &str) -> bool {
    let is_hexadecimal = |it: &str| it.bytes().all(|it| it.is_ascii_hexdigit());
    let groups = word.split('-');
    groups.clone().map(str::len).eq(UUID) && groups.clone().all(is_hexadecimal)
}

/// Whether letters and digits alternate as often as in a random text: one change for each [`OF_A_CHANGE`] characters, or more.
fn is_mixed(word: &str) -> bool {
    let letters = word.as_bytes().windows(2);
    let changes = letters.filter(|it| it[0].is_ascii_digit() != it[1].is_ascii_digit());
    changes.count() * OF_A_CHANGE >= word.len()
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
            (
                "no route to fd00::, from fd00::7: lost",
                "no route to *, from *: lost",
            ),
            (
                "sandbox 4fbe6c80d71e3a92b5c8d7e6f1a2b3c4, trace 4bf92f3577b34da6 at 1767225600123",
                "sandbox *, trace * at *",
            ),
            (
                "GET /uploads/0f8fad5b-d9cb-469f-a165-70867728950e: host id aB3xK9pQ7rT2mN5v",
                "GET /uploads/*: host id *",
            ),
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
            "waiting for tcp://[fd00::1]:5432 (ConnectionRefused), tcp://[fd00::2]:5432",
            "waiting for ConfigMap/feed-db-1 (NotFound); 0 of 1 dependencies satisfied",
            "waiting for Service/cafe2024 (NoEndpoints), Job/postgresqlcluster1, Job/20260101",
            "waiting for shop-2024-0815-ab-cd1 of postgres16cluster2 and deadbeef",
            "its pod api-0 cannot pull image r.example/app:2024, a/b:20260101, a/b:9f86d081",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
