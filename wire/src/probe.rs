//! The addresses that a gate tries in its pod's own network, and the header with the outcomes.
//!
//! An answer names the probes. A gate tries each of them and sends the outcomes with its next question, in one header
//! ([`HEADER`]): `ID=OUTCOME, ID=OUTCOME`. A gate that can probe sends the header with every question, also while it has nothing to
//! tell; a gate of an older version never does, and that tells the two apart.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The HTTP header in which a gate sends the outcomes of its tries with each question.
pub const HEADER: &str = "sluice-probed";

/// The most outcomes that the status service reads from one question; further ones are dropped. Two full lists have fewer.
pub const MOST: usize = 256;

/// One address that a gate is to try.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Probe {
    /// The name of the probe in the gate's report of outcomes: letters and digits.
    pub id: String,
    /// The kind of the try: [`what::TCP`], [`what::HTTP`], [`what::DNS`], or a word of a later version.
    pub what: String,
    /// The address to try, such as `db.example.com:5432`, `https://search.example.com/health` or `db.example.com`. `$(NAME)` stands for a
    /// variable of the gate's environment, which may also hold a URL.
    pub to: String,
}

/// The kinds of tries.
pub mod what {
    /// A try for an accepted connection.
    pub const TCP: &str = "tcp";
    /// A try for the answer to one request; the controller decides which status is right.
    pub const HTTP: &str = "http";
    /// A try for an address of a name.
    pub const DNS: &str = "dns";
}

/// The outcome of one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The connection was accepted.
    Connected,
    /// The name has an address.
    Found,
    /// An answer with this status code.
    Status(u16),
    /// The connection was refused: no process listens at the address.
    Refused,
    /// No reply to the connection, or no answer on it, in time.
    TimedOut,
    /// The connection was reset, or closed before the answer.
    Reset,
    /// No route leads to the address.
    Unreachable,
    /// No name server knows the name, or it has no address.
    NoName,
    /// No name server has answered, or each has refused to.
    NoNameServer,
    /// The server does not speak TLS, or no version of TLS that the gate speaks.
    NoTls,
    /// The server does not speak HTTP.
    NoHttp,
    /// The gate has no variable of this name.
    NoVariable,
    /// The text is no address after its variables were replaced by their values.
    NoAddress,
    /// This gate does not know the kind of the try.
    Unknown,
    /// The try ended with an error that no other outcome names.
    Failed,
}

/// The outcomes that have one word each.
const WORDS: [(&str, Outcome); 14] = [
    ("connected", Outcome::Connected),
    ("found", Outcome::Found),
    ("refused", Outcome::Refused),
    ("timed-out", Outcome::TimedOut),
    ("reset", Outcome::Reset),
    ("unreachable", Outcome::Unreachable),
    ("no-name", Outcome::NoName),
    ("no-name-server", Outcome::NoNameServer),
    ("no-tls", Outcome::NoTls),
    ("no-http", Outcome::NoHttp),
    ("no-variable", Outcome::NoVariable),
    ("no-address", Outcome::NoAddress),
    ("unknown", Outcome::Unknown),
    ("failed", Outcome::Failed),
];

/// Writes the outcome for the header: its word in `WORDS`, or the digits of the status code.
impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Status(code) = self {
            return write!(out, "{code}");
        }
        let word = WORDS.iter().find(|(_, outcome)| outcome == self);
        out.write_str(word.map_or("failed", |(word, _)| word))
    }
}

impl Outcome {
    /// Reads an outcome: a word such as `timed-out`, or a number as a status code. Any other word, as of a later gate, is [`Outcome::Unknown`],
    /// which opens nothing.
    pub fn of_word(word: &str) -> Self {
        let known = WORDS.iter().find(|(known, _)| *known == word);
        let code = || word.parse().ok().map(Self::Status);
        let known = known.map(|(_, outcome)| *outcome);
        known.or_else(code).unwrap_or(Self::Unknown)
    }
}

/// Writes the value of [`HEADER`] from pairs of a probe's ID and its outcome: `ID=OUTCOME, ID=OUTCOME`.
pub fn told<'a>(outcomes: impl IntoIterator<Item = (&'a str, Outcome)>) -> String {
    let words = outcomes
        .into_iter()
        .map(|(id, outcome)| format!("{id}={outcome}"));
    words.collect::<Vec<_>>().join(", ")
}

/// Reads the value of [`HEADER`] into pairs of a probe's ID and its outcome. Skips a part without `=`, reads an unknown word as
/// [`Outcome::Unknown`], and stops after [`MOST`] pairs.
pub fn read(value: &str) -> Vec<(String, Outcome)> {
    let parts = value.split(',').map(str::trim);
    let outcomes = parts.filter_map(|part| {
        let (id, word) = part.split_once('=')?;
        Some((id.to_owned(), Outcome::of_word(word)))
    });
    outcomes.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_back() {
        let outcomes: Vec<_> = WORDS
            .iter()
            .map(|(_, outcome)| *outcome)
            .chain([Outcome::Status(503)])
            .zip(0..)
            .map(|(outcome, number)| (format!("p{number}"), outcome))
            .collect();
        let value = told(outcomes.iter().map(|(id, it)| (id.as_str(), *it)));
        assert_eq!(read(&value), outcomes);
        assert_eq!(read(""), [], "a gate that has tried nothing yet");
    }

    #[test]
    fn what_a_later_gate_says_opens_nothing() {
        let read = read("a=brand-new, =, nothing, b=99999999, c=connected");
        let expected = [
            ("a", Outcome::Unknown),
            ("", Outcome::Unknown),
            ("b", Outcome::Unknown),
            ("c", Outcome::Connected),
        ];
        assert_eq!(read, expected.map(|(id, it)| (id.to_owned(), it)));
        let many = vec!["a=refused"; MOST + 1].join(",");
        assert_eq!(super::read(&many).len(), MOST);
    }
}
