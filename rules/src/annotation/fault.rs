//! The faults of a name, a duration or another part, mostly as the end of a sentence.

use crate::text::Quoted;

/// The fault of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum NameFault {
    #[error("is {length} characters long; at most {most} are allowed")]
    TooLong { length: usize, most: usize },
    #[error("has {} in it; {allowed}", shown(*.letter))]
    Letter { letter: char, allowed: &'static str },
    #[error("begins with {}; {allowed}", shown(*.letter))]
    Start { letter: char, allowed: &'static str },
    #[error("ends with {}; {allowed}", shown(*.letter))]
    End { letter: char, allowed: &'static str },
    #[error("has two dots with nothing between them, or a dot at its start or end")]
    EmptyLabel,
    #[error("is a step in a path, not a name")]
    PathStep,
}

/// Writes a character in quotes; one outside ASCII with its number, because it may look like another.
fn shown(letter: char) -> String {
    if letter.is_ascii() {
        format!("{letter:?}")
    } else {
        format!("{letter:?} (U+{:04X})", u32::from(letter))
    }
}

/// The fault of a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum DurationFault {
    #[error("it is empty")]
    Empty,
    #[error("it is negative")]
    Negative,
    #[error("it is zero, which is never meant; leave it out")]
    Zero,
    #[error("it is longer than 292 years")]
    TooLong,
    #[error("a number is missing")]
    NoNumber,
    #[error("a unit is missing behind the number")]
    NoUnit,
    #[error("unknown unit {}{}", Quoted(.unit), .likely.map_or_else(String::new, |it| format!(", for which {it:?} is written")))]
    Unit {
        unit: String,
        likely: Option<&'static str>,
    },
}

/// The fault of an address outside of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum AddressFault {
    #[error("has a blank in it; remove it")]
    Blank,
    #[error("has no port; write HOST:PORT, e.g. tcp://db.example.com:5432")]
    NoPort,
    #[error("has a port that is no number from 1 to 65535; write one, or $(NAME) for a variable")]
    Port,
    #[error(
        "has a host that is no name; write a DNS name, an IPv4 address, or an IPv6 address in brackets"
    )]
    Host,
    #[error("is no host and port; write an IPv6 address in brackets, e.g. tcp://[fd00::1]:5432")]
    Unbracketed,
    #[error(
        "has a path, and only a connection is made; write http:// to ask for an answer, or remove it"
    )]
    Path,
    #[error(
        "has \"@\" before its host; the gate sends no credentials, so remove what is before the host"
    )]
    Credentials,
    #[error("has a fragment, which no server ever sees; remove what begins with \"#\"")]
    Fragment,
    #[error(
        "has \"$\" in it; write $(NAME), the name of a variable in env of a container, with letters, digits and \"_\""
    )]
    Variable,
}

/// The fault of a node rule in the chart's value, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum NodeRuleFault {
    #[error(
        "a node rule is a mapping such as {{kind: DaemonSet, name: csi-node, namespace: storage, sameNode: true}}, and the rules are a list of them"
    )]
    NoRule,
    #[error(
        "a node rule needs {0}; write one such as {{kind: DaemonSet, name: csi-node, namespace: storage, sameNode: true}}"
    )]
    Lacks(&'static str),
    #[error("{} means nothing in a node rule, which has {}; remove it", Quoted(.key), .keys.join(", "))]
    Idle {
        key: String,
        keys: &'static [&'static str],
    },
    #[error(
        "label {} tells apart the pods of one workload, and a node rule holds all of them or none; select by another label",
        Quoted(.0)
    )]
    OwnLabel(String),
}
