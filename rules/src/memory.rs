//! What is remembered of objects that are gone, as keys and values of a ConfigMap: Jobs that completed, and revisions whose
//! gate has opened once. The controller writes it; whoever judges as it does reads it.

use crate::{job, object};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const PASSED: &str = "passed.";
const JOB: &str = "job.";

/// A Job that completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedJob {
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.creationTimestamp`, in seconds since 1970.
    pub created: i64,
    /// `status.completionTime`, in seconds since 1970.
    pub completed: i64,
    /// The value of `sluice.dev/revision`, for dependents in lockstep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// A revision whose gate has opened once, and the owner that it lives as long as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// When, in seconds since 1970.
    pub at: i64,
    /// The owner's API group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The owner's kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// `passed.` and the name of the revision, which begins with the owner's UID: within the characters and the length of a
/// ConfigMap's key.
pub fn passed_key(revision: &str) -> String {
    format!("{PASSED}{revision}")
}

/// `job.NAMESPACE.NAME`; a namespace has no dots, so this is unambiguous.
pub fn job_key(namespace: &str, name: &str) -> String {
    format!("{JOB}{namespace}.{name}")
}

/// Whether it is a key of [`passed_key`].
pub fn is_passed(key: &str) -> bool {
    key.starts_with(PASSED)
}

/// The owner's UID in a key of [`passed_key`].
pub fn owner_uid(key: &str) -> &str {
    let revision = key.strip_prefix(PASSED).unwrap_or_default();
    revision.split('.').next().unwrap_or_default()
}

/// The Job, if its condition `Complete` is True.
pub fn completed(job: &Value) -> Option<CompletedJob> {
    if !job::is_complete(job) {
        return None;
    }
    let time = |pointer: &str| job.pointer(pointer)?.as_str()?.parse::<Timestamp>().ok();
    let created = time("/metadata/creationTimestamp")?.as_second();
    Some(CompletedJob {
        uid: job["metadata"]["uid"].as_str()?.to_owned(),
        created,
        completed: time("/status/completionTime").map_or(created, Timestamp::as_second),
        revision: object::carried(job).map(ToOwned::to_owned),
    })
}

/// An entry; `None` for what this version cannot read.
pub fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// An entry as a value of the ConfigMap.
pub fn text(entry: &impl Serialize) -> Option<String> {
    serde_json::to_string(entry).ok()
}
