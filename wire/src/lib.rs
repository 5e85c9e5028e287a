//! What the status service tells a gate: JSON over HTTPS, versioned in the path.
//!
//! `GET /v1/verdict?seen=DIGEST&wait=SECONDS` with `Authorization: Bearer TOKEN` answers 200 with an [`Answer`]. Where
//! the answer's digest would be `DIGEST`, the service holds the request until it changes or `SECONDS` have passed, and sends
//! a space every [`SIGN`] until then: in JSON it means nothing, and each side, and whatever lies between, sees that the other lives.
//! A gate ignores fields that it does not know, so that an older gate understands a newer service; pods wait for days.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * said

pub mod said;

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version that all programs say they are: the one that `make release` makes, or else that of the sources.
pub const VERSION: &str = match option_env!("SLUICE_VERSION") {
    Some(released) => released,
    None => env!("CARGO_PKG_VERSION"),
};

/// The path of the only version so far.
pub const PATH: &str = "/v1/verdict";

/// How often the service gives a sign that it holds a request.
pub const SIGN: Duration = Duration::from_secs(20);

/// A side that hears nothing for so long while a request is held takes the other for gone: two signs are overdue. A service of an
/// older version gives none, and answers after half a minute.
pub const SILENCE: Duration = Duration::from_secs(2 * SIGN.as_secs() + 5);

/// The longest answer that a gate reads, in bytes. Gates of older versions, which may wait for days, read no longer ones either.
pub const LONGEST_ANSWER: usize = 1024 * 1024;

const _: () = assert!(
    SILENCE.as_secs() > 30,
    "services of version 0.1 answer after half a minute, without a sign"
);

/// What the gate is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Keep waiting; exit only when told otherwise.
    Wait,
    /// Every dependency is satisfied.
    Open,
    /// Policy says that the wait has failed: exit non-zero.
    Refuse,
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What to do.
    pub verdict: Decision,
    /// Names this answer; sent back as `seen`.
    pub digest: String,
    /// One entry for each dependency, in the order of the list.
    #[serde(default)]
    pub dependencies: Vec<Report>,
    /// Something that concerns the whole list, for example that it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What is said of one dependency: never its spec, and the message only within the gate's own namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// `Job/migrate`, `data/StatefulSet/postgres`, `Deployment[app=cache]`, `any of (Service/a, Service/b)`.
    pub dependency: String,
    /// By what it is put in order: `metadata.name`, a selector, the first name among alternatives.
    pub name: String,
    /// Whether the edge is satisfied.
    pub satisfied: bool,
    /// A kstatus word.
    pub status: String,
    /// A word of the closed set of reasons.
    pub reason: String,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What time alone will change of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// What time alone will change of a dependency, unless the dependency changes before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// What it is then: [`turn::STABLE`], [`turn::GIVEN_UP`], [`turn::REFUSED`], or a word of a later version.
    pub what: String,
    /// When, in RFC 3339.
    pub at: String,
    /// How many seconds it takes in all.
    pub takes: u64,
}

/// What a [`Turn`] may come to.
pub mod turn {
    /// It has been satisfied for as long as was asked for.
    pub const STABLE: &str = "stable";
    /// Its own timeout has passed, and the gate goes on without it.
    pub const GIVEN_UP: &str = "given up";
    /// Its own timeout has passed, and the gate refuses.
    pub const REFUSED: &str = "refused";
}

/// The gate's environment, written by the webhook into the init container.
pub mod env {
    /// How the name of each of them begins.
    pub const PREFIX: &str = "SLUICE_";
    /// `host:port`, comma separated, in the order in which they are tried: the ClusterIP first, the DNS name next.
    pub const ADDRESSES: &str = "SLUICE_ADDRESSES";
    /// The name that the service's certificate must carry.
    pub const SERVER_NAME: &str = "SLUICE_SERVER_NAME";
    /// The CA bundle, PEM.
    pub const CA_BUNDLE: &str = "SLUICE_CA_BUNDLE";
    /// A file with more of them, which the kubelet keeps up to date; absent where it cannot.
    pub const CA_FILE: &str = "SLUICE_CA_FILE";
    /// The file of the projected token; read again for every request.
    pub const TOKEN_FILE: &str = "SLUICE_TOKEN_FILE";
    /// The folder (an `emptyDir`) that keeps the marker across restarts of the container.
    pub const STATE_DIR: &str = "SLUICE_STATE_DIR";
}
