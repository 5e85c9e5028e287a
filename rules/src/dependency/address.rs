//! An address that a gate tries, such as `tcp://db.example.com:5432`, and the probe that the status service sends to the gate for it.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use wire::probe::{self, Probe};

/// An address that the gate tries from its pod, and the kind of the try. Most are outside of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    /// The kind of try that the gate makes at the address.
    pub asks: Asks,
    /// The text of the address: `db.example.com:5432` for [`Asks::Connection`], a URL with its scheme for [`Asks::Answer`], a name
    /// for [`Asks::Name`]. Each may hold variables, `$(NAME)`.
    pub to: String,
    /// The container whose environment variables count. With `None`, each variable is that of the first container that has it.
    pub container: Option<String>,
}

/// The kind of try that the gate makes at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asks {
    /// A try that succeeds when a TCP connection is accepted.
    Connection,
    /// A try that succeeds when an HTTP or HTTPS request gets an answer with one of these status codes.
    Answer(Codes),
    /// A try that succeeds when the DNS name has an address.
    Name,
}

/// The HTTP status codes from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Codes {
    /// The least status code, from 100.
    pub from: u16,
    /// The greatest status code, up to 599.
    pub to: u16,
}

impl Codes {
    /// The codes 200 to 399: success for the kubelet's probes, and the default of a list.
    pub const SUCCESS: Self = Self { from: 200, to: 399 };

    /// Whether this status code is one of the range.
    pub fn contains(self, code: u16) -> bool {
        (self.from..=self.to).contains(&code)
    }
}

/// Writes the range of status codes: `200`, `200-399`.
impl fmt::Display for Codes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        if from == to {
            write!(out, "{from}")
        } else {
            write!(out, "{from}-{to}")
        }
    }
}

/// Writes the address with its scheme: `tcp://db.example.com:5432`, `https://search.example.com/health`,
/// `dns://db.example.com`.
impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.asks {
            Asks::Connection => write!(out, "tcp://{}", self.to),
            Asks::Answer(_) => out.write_str(&self.to),
            Asks::Name => write!(out, "dns://{}", self.to),
        }
    }
}

impl Address {
    /// The address `host:port` for a try of a TCP connection, without a container. An IPv6 address as `host` must be in brackets.
    pub fn connection(host: &str, port: u16) -> Self {
        Self {
            asks: Asks::Connection,
            to: format!("{host}:{port}"),
            container: None,
        }
    }

    /// The probe by which a gate tries the address. Two entries with one address and one kind of try get one probe ID, even if their status
    /// codes or containers differ.
    pub fn probe(&self) -> Probe {
        let what = match self.asks {
            Asks::Connection => probe::what::TCP,
            Asks::Answer(_) => probe::what::HTTP,
            Asks::Name => probe::what::DNS,
        };
        // Replicas of one version have to agree, and nothing else rests on it: a gate that is told another name tries once more.
        let mut hasher = DefaultHasher::new();
        (what, &self.to).hash(&mut hasher);
        Probe {
            id: format!("{:x}", hasher.finish()),
            what: what.to_owned(),
            to: self.to.clone(),
        }
    }

    /// The names of the environment variables that the address holds as `$(NAME)`.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        variables(&self.to)
    }
}

/// The names between `$(` and `)` in a text. Skips each that cannot be the name of a variable ([`is_variable`]).
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split("$(").skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once(')')?;
        is_variable(name).then_some(name)
    })
}

/// Whether a list may use an environment variable of this name: ASCII letters, digits and `_`, without a digit at the beginning.
pub fn is_variable(name: &str) -> bool {
    let mut letters = name.bytes();
    let first = letters
        .next()
        .is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
    first && letters.all(|it| it.is_ascii_alphanumeric() || it == b'_')
}
