//! What is remembered of objects that are gone, as keys and values of a ConfigMap: Jobs that completed, and revisions whose
//! gate has opened once. The controller writes it; whoever judges as it does reads it.

use crate::scope::Scope;
use crate::selector::Selector;
use crate::{job, object};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const PASSED: &str = "passed.";
const JOB: &str = "job.";
/// As long as this, in bytes, an entry may be: whoever makes Jobs fills the ConfigMap.
const LONGEST: usize = 4_096;
/// The same of a Job's labels.
const LONGEST_LABELS: usize = 2_048;

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
    /// The release that it belonged to; also `None` where the version that wrote this did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// All of its labels, since nobody knows which of them the selectors to come will name. `None` where they were too long, or
    /// the version that wrote this kept none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

impl CompletedJob {
    /// How long its labels are, in bytes.
    pub fn length_of_labels(&self) -> usize {
        self.labels.as_ref().map_or(0, length)
    }
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
        scope: Scope::of(job),
        labels: Some(labels(job)).filter(|labels| length(labels) <= LONGEST_LABELS),
    })
}

fn labels(object: &Value) -> BTreeMap<String, String> {
    let labels = object["metadata"]["labels"].as_object();
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(text).collect()
}

fn length(labels: &BTreeMap<String, String>) -> usize {
    labels
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum()
}

/// The Jobs of a namespace that a selector selects by the labels that they had, by their names. None is selected whose labels
/// are not known.
pub fn selected<'e>(
    entries: impl IntoIterator<Item = (&'e str, &'e str)>,
    namespace: &str,
    selector: &Selector,
) -> BTreeMap<String, CompletedJob> {
    let of_namespace = job_key(namespace, "");
    let selected = |(key, text): (&str, &str)| {
        let name = key.strip_prefix(&of_namespace)?;
        let job: CompletedJob = read(text)?;
        let labels = job.labels.as_ref()?;
        let fits = selector.matches(|key| labels.get(key).map(String::as_str));
        fits.then(|| (name.to_owned(), job))
    };
    entries.into_iter().filter_map(selected).collect()
}

/// An entry; `None` for what this version cannot read.
pub fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// An entry as a value of the ConfigMap; `None` for one that is too long.
pub fn text(entry: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(entry).ok();
    text.filter(|text| text.len() <= LONGEST)
}
