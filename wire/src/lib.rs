//! The answers of the status service to a gate: JSON over HTTPS, with a version in the path.
//!
//! `GET /v1/verdict?seen=DIGEST&wait=SECONDS` with `Authorization: Bearer TOKEN` answers 200 with an [`Answer`].
//! While the answer's digest would be `DIGEST`, the service holds the request, for `SECONDS` at most. Meanwhile it
//! sends a space every [`SIGN`], which means nothing in JSON: both sides, and any proxy between them, see that the
//! connection lives.
//!
//! A gate ignores unknown fields, so an older gate understands a newer service; pods wait for days.
//!
//! Only the gate can try an address outside of the cluster: an answer names the address ([`probe::Probe`]), and the next question
//! holds the outcome.
//!
//! A gate whose node was booted again since it opened says so ([`reboot::Reboot`]).
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * said
//! * probe, reboot

pub mod probe;
pub mod reboot;
pub mod said;

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version of all programs: the one that `make release` sets, or else that of the sources.
pub const VERSION: &str = match option_env!("SLUICE_VERSION") {
    Some(released) => released,
    None => env!("CARGO_PKG_VERSION"),
};

/// The path of the URL at which a gate asks for its verdict; version 1 of the messages is the only one so far.
pub const PATH: &str = "/v1/verdict";

/// The time between two spaces that the status service sends on a held request, as signs that the connection lives.
pub const SIGN: Duration = Duration::from_secs(20);

/// The silence on a held request after which the gate takes the service for gone: two signs are overdue. The gate alone
/// measures it; the service ends the review of a token sooner. A service of version 0.1 sends no sign, and answers
/// after half a minute.
pub const SILENCE: Duration = Duration::from_secs(2 * SIGN.as_secs() + 5);

/// The longest answer that a gate reads, in bytes. It must not grow: gates of older versions may wait for days, with
/// this limit.
pub const LONGEST_ANSWER: usize = 1024 * 1024;

const _: () = assert!(
    SILENCE.as_secs() > 30,
    "services of version 0.1 answer after half a minute, without a sign"
);

/// The decision of the status service about one gated pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The gate keeps waiting, until it is told otherwise.
    Wait,
    /// The gate exits 0: every dependency is satisfied, or the wait is over by policy.
    Open,
    /// The gate exits non-zero: by policy, the wait has failed.
    Refuse,
}

/// The answer of the status service to one question of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The decision of the status service: the gate waits, opens or refuses.
    pub verdict: Decision,
    /// A digest of this answer, which the gate sends back as `seen`.
    pub digest: String,
    /// One entry for each dependency, in the order of the list.
    #[serde(default)]
    pub dependencies: Vec<Report>,
    /// A note about the whole list, for example that it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The addresses that the gate tries in its pod's own network while it waits for the next answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<probe::Probe>,
    /// Whether a boot of the node changes nothing for the pod: its gate, once open, opens in a later boot without a question. A
    /// service of an older version does not say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_good: bool,
}

/// The report on one dependency. It never holds the dependency's spec, and holds a message only within the gate's own
/// namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The dependency: `Job/migrate`, `data/StatefulSet/postgres`, `Deployment[app=cache]`, `any of (Service/a,
    /// Service/b)`.
    pub dependency: String,
    /// The text by which dependencies are sorted: `metadata.name`, a selector, or the first name among alternatives.
    pub name: String,
    /// Whether the edge is satisfied.
    pub satisfied: bool,
    /// The status of the dependency, as a word of kstatus.
    pub status: String,
    /// A word of the closed set of reasons.
    pub reason: String,
    /// A message about the dependency for a reader, on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The changes that time alone will bring to this dependency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// A change that time alone will bring to a dependency, unless the dependency changes before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The state after the change: [`turn::STABLE`], [`turn::GIVEN_UP`], [`turn::REFUSED`], or a word of a later
    /// version.
    pub what: String,
    /// The time of the change, in RFC 3339.
    pub at: String,
    /// The length of the whole wait that ends with the change, in seconds: the `stable` or the `timeout` of the entry.
    pub takes: u64,
}

/// The words of [`Turn::what`].
pub mod turn {
    /// The dependency has been satisfied for the time that its entry asks for.
    pub const STABLE: &str = "stable";
    /// The entry's own timeout has passed, and the gate goes on without the dependency.
    pub const GIVEN_UP: &str = "given up";
    /// The entry's own timeout has passed, and the gate refuses.
    pub const REFUSED: &str = "refused";
}

/// The environment of the gate, which the webhook writes into the init container.
pub mod env {
    /// The beginning of the names of all variables that the webhook writes for the gate. A user's list may not name such a variable.
    pub const PREFIX: &str = "SLUICE_";
    /// The variable with the addresses of the status service: `host:port`, comma separated, in the order in which the gate tries them: the
    /// ClusterIP first, the DNS name next.
    pub const ADDRESSES: &str = "SLUICE_ADDRESSES";
    /// The variable with the DNS name that the status service's certificate must carry.
    pub const SERVER_NAME: &str = "SLUICE_SERVER_NAME";
    /// The variable with the CA bundle by which the gate verifies the status service, PEM.
    pub const CA_BUNDLE: &str = "SLUICE_CA_BUNDLE";
    /// The variable with the path of a file of further CAs, PEM, which the kubelet keeps up to date; not set where kubelets cannot do that.
    pub const CA_FILE: &str = "SLUICE_CA_FILE";
    /// The variable with the path of the pod's projected token; the gate reads the file again for every request.
    pub const TOKEN_FILE: &str = "SLUICE_TOKEN_FILE";
    /// The variable with the path of the folder (an `emptyDir`) in which the gate's marker outlives a restart of the container.
    pub const STATE_DIR: &str = "SLUICE_STATE_DIR";
}
