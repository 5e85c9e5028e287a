//! The memory of objects that are gone, as keys and values of a few ConfigMaps ([`crate::shards`]): Jobs that completed, and
//! revisions of which a gate has opened. The controller writes it; the controller and the command line read it.

use crate::ending_kinds::{self, Ending};
use crate::kinds::Kind;
use crate::path::get;
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
const END: &str = "end.";
/// The longest key in the data of a ConfigMap, in bytes.
const LONGEST_KEY: usize = 253;
/// The longest entry, in bytes: without a limit, a user who makes Jobs could fill the ConfigMap.
const LONGEST: usize = 4_096;
/// The longest labels of a Job, all together, and the longest revision of it that are remembered, in bytes.
const LONGEST_LABELS: usize = 2_048;

/// A kind whose completed objects are remembered when they are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completing {
    /// The kind Job, whose completed objects are remembered.
    Job,
    /// A custom kind whose objects come to an end as a Job does.
    Custom(&'static Ending),
}

impl Completing {
    /// The completing kind of a reference; `None` for a kind that does not come to an end.
    pub fn of(kind: &Kind) -> Option<Self> {
        match kind {
            _ if kind.is_job() => Some(Self::Job),
            kind => ending_kinds::of(kind).map(Self::Custom),
        }
    }

    /// The key in the memory for an object of the kind.
    pub fn key(self, namespace: &str, name: &str) -> String {
        match self {
            Self::Job => job_key(namespace, name),
            Self::Custom(Ending { group, kind }) => {
                bounded(format!("{END}{namespace}.{kind}.{group}.{name}"), name)
            }
        }
    }
}

/// The remembered facts about a Job that completed, or about a completed object of a custom kind that comes to an end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedJob {
    /// `metadata.uid` of the completed Job.
    pub uid: String,
    /// `metadata.creationTimestamp` of the completed Job, in seconds since 1970.
    pub created: i64,
    /// The time at which the Job completed, in seconds since 1970: its status says it, or the last change of a condition, or else its creation.
    pub completed: i64,
    /// The UID of the controller that makes one Job after another (a CronJob), of which only the last few are remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// The value of `sluice.dev/revision`, for dependents in lockstep; also `None` where it was too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The release that the Job belonged to; also `None` where an older version that kept no release wrote the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// All labels of the Job, because a later selector may name any of them. `None` where the labels were too long, or where an
    /// older version that kept no labels wrote the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

/// The remembered fact that a gate of a revision has opened, with the owner of the revision's pods. It is forgotten once the owner is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// The time at which the gate opened, in seconds since 1970.
    pub at: i64,
    /// The API group of the owner of the passed revision.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind of the owner of the passed revision.
    pub kind: String,
    /// The namespace of the owner of the passed revision.
    pub namespace: String,
    /// The name of the owner of the passed revision.
    pub name: String,
}

/// The key in the memory for a revision that has passed: `passed.` and the name of the revision, which begins with the owner's UID. It fits the
/// characters and the length of a ConfigMap's key.
pub fn passed_key(revision: &str) -> String {
    format!("{PASSED}{revision}")
}

/// The key in the memory for a completed Job: `job.NAMESPACE.NAME`. A namespace has no dots, so the key is unambiguous. A key that is too long for
/// a ConfigMap ends in a hash of the name.
pub fn job_key(namespace: &str, name: &str) -> String {
    bounded(format!("{JOB}{namespace}.{name}"), name)
}

/// Shortens a key of the memory that is too long for a ConfigMap: it then ends in a hash of the object's name.
fn bounded(key: String, name: &str) -> String {
    if key.len() < LONGEST_KEY {
        return key;
    }
    // FNV-1a. Two names of one namespace with the same hash affect only that namespace.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let begin = &key[..key.floor_char_boundary(LONGEST_KEY - 16)];
    format!("{begin}{hash:016x}")
}

/// The namespace that an entry of the memory is about; `None` for an entry that this version cannot read.
pub fn namespace_of(key: &str, text: &str) -> Option<String> {
    if is_passed(key) {
        return read::<Passed>(text).map(|passed| passed.namespace);
    }
    let object = key.strip_prefix(JOB).or_else(|| key.strip_prefix(END))?;
    let namespace = object.split('.').next()?;
    read::<CompletedJob>(text).map(|_| namespace.to_owned())
}

/// The keys of the entries to drop, so that the others have at most `most` bytes together: always the oldest entry of the namespace that fills the
/// most, so that no namespace pushes out the entries of another. Unreadable entries count as those of one namespace.
pub fn excess<'e>(
    entries: impl IntoIterator<Item = (&'e str, &'e str)>,
    most: usize,
) -> Vec<&'e str> {
    let mut shares = BTreeMap::<_, (usize, Vec<_>)>::new();
    for (key, text) in entries {
        let (all, of) = shares.entry(namespace_of(key, text)).or_default();
        *all += key.len() + text.len();
        of.push((age(key, text), key, key.len() + text.len()));
    }
    for (_, entries) in shares.values_mut() {
        entries.sort_by(|one, other| other.cmp(one));
    }
    let mut all: usize = shares.values().map(|(length, _)| length).sum();
    let mut gone = Vec::new();
    while all > most {
        let largest = shares.values_mut().max_by_key(|(length, _)| *length);
        let Some((share, entries)) = largest else {
            break;
        };
        let Some((_, key, length)) = entries.pop() else {
            break;
        };
        *share -= length;
        all -= length;
        gone.push(key);
    }
    gone
}

/// The time of an entry of the memory, in seconds since 1970: when the Job completed, or when the revision passed. 0 for an unreadable entry.
fn age(key: &str, text: &str) -> i64 {
    let at = if is_passed(key) {
        read::<Passed>(text).map(|passed| passed.at)
    } else {
        read::<CompletedJob>(text).map(|job| job.completed)
    };
    at.unwrap_or_default()
}

/// Whether a key of the memory is a [`passed_key`].
pub fn is_passed(key: &str) -> bool {
    key.starts_with(PASSED)
}

/// The owner's UID in a key of the memory that [`passed_key`] made; empty for any other key.
pub fn owner_uid(key: &str) -> &str {
    let revision = key.strip_prefix(PASSED).unwrap_or_default();
    revision.split('.').next().unwrap_or_default()
}

/// The facts to remember about a Job whose condition `Complete` is True; `None` for any other Job.
pub fn completed(job: &Value) -> Option<CompletedJob> {
    job::is_complete(job).then(|| ended(job)).flatten()
}

/// The fields of a status in which the kinds that come to an end say when that was.
const ENDED: [&str; 2] = ["completionTime", "finishedAt"];

/// The facts to remember about an object that has completed, which the caller has checked; `None` without a UID or a creation time.
pub fn ended(job: &Value) -> Option<CompletedJob> {
    let created = object::created(job)?.as_second();
    let said = ENDED
        .iter()
        .find_map(|field| object::time(job, &["status", field]));
    let conditions = get(job, &["status", "conditions"]).and_then(Value::as_array);
    let all = conditions.into_iter().flatten();
    let changed = || {
        all.filter_map(|it| object::time(it, &["lastTransitionTime"]))
            .max()
    };
    Some(CompletedJob {
        uid: job["metadata"]["uid"].as_str()?.to_owned(),
        created,
        completed: said.or_else(changed).map_or(created, Timestamp::as_second),
        controller: repeating(job),
        revision: object::carried(job)
            .filter(|revision| revision.len() <= LONGEST_LABELS)
            .map(ToOwned::to_owned),
        scope: Scope::of(job),
        labels: Some(labels(job)).filter(|labels| length(labels) <= LONGEST_LABELS),
    })
}

/// The most remembered Jobs of one controller that makes them again and again: as many as a CronJob keeps by default.
const OF_ONE: usize = 3;

fn repeating(job: &Value) -> Option<String> {
    let controller = object::controller_of(job)?;
    (controller["kind"] == "CronJob").then(|| controller["uid"].as_str().map(str::to_owned))?
}

/// The keys of the entries for the oldest Jobs of one controller, given by its UID, beyond the three newest that stay remembered.
pub fn repeated<'e>(
    entries: impl IntoIterator<Item = (&'e str, &'e str)>,
    controller: &str,
) -> Vec<&'e str> {
    let of_it = |(key, text): (&'e str, &str)| {
        // Most entries are of others: to look for the text is cheaper than to read each.
        let job = text
            .contains(controller)
            .then(|| read::<CompletedJob>(text))??;
        (job.controller.as_deref() == Some(controller)).then_some((job.completed, key))
    };
    let mut all: Vec<_> = entries.into_iter().filter_map(of_it).collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    all.into_iter().skip(OF_ONE).map(|(_, key)| key).collect()
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

/// The remembered objects, by their names, of a kind in a namespace that a selector selects by the labels that they had. An object whose labels or
/// whole name the memory does not hold is left out.
pub fn selected<'e>(
    entries: impl IntoIterator<Item = (&'e str, &'e str)>,
    (what, namespace): (Completing, &str),
    selector: &Selector,
) -> BTreeMap<String, CompletedJob> {
    let of_namespace = what.key(namespace, "");
    let selected = |(key, text): (&str, &str)| {
        // A key that ends in a hash does not hold the whole name, so a selector cannot find its entry.
        let name = key
            .strip_prefix(&of_namespace)
            .filter(|_| key.len() < LONGEST_KEY)?;
        let job: CompletedJob = read(text)?;
        let labels = job.labels.as_ref()?;
        let fits = selector.matches(|key| labels.get(key).map(String::as_str));
        fits.then(|| (name.to_owned(), job))
    };
    entries.into_iter().filter_map(selected).collect()
}

/// Reads an entry of the memory from its text; `None` for a text that this version cannot read.
pub fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// Writes an entry of the memory as the text of a ConfigMap's value; `None` for an entry longer than 4 KiB.
pub fn text(entry: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(entry).ok();
    text.filter(|text| text.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_too_long() {
        assert_eq!(job_key("shop", "migrate"), "job.shop.migrate");
        let long = |last: &str| job_key("shop", &format!("{}{last}", "x".repeat(252)));
        assert_eq!(long("a").len(), LONGEST_KEY);
        assert_ne!(long("a"), long("b"));
    }

    #[test]
    fn the_oldest_of_the_namespace_that_fills_the_most_go() {
        let job = |namespace: &str, number: i64| {
            let text = format!(r#"{{"uid":"u","created":0,"completed":{number}}}"#);
            (job_key(namespace, &format!("{:04}", 9_999 - number)), text)
        };
        let mut entries: Vec<_> = (1..=50).map(|number| job("loop", number)).collect();
        entries.extend([job("shop", 0), job("shop", 1)]);
        let passed = r#"{"at":7,"kind":"ReplicaSet","namespace":"shop","name":"a"}"#;
        entries.push((passed_key("u"), passed.to_owned()));
        let entries: Vec<_> = entries
            .iter()
            .map(|(key, text)| (&**key, &**text))
            .collect();
        let all: usize = entries
            .iter()
            .map(|(key, text)| key.len() + text.len())
            .sum();
        assert!(excess(entries.clone(), all).is_empty());
        let gone = excess(entries.clone(), all - 1);
        assert_eq!(gone, ["job.loop.9998"], "the oldest");
        let gone = excess(entries.clone(), all / 2);
        assert!(
            gone.len() > 20 && gone.iter().all(|key| key.starts_with("job.loop.")),
            "{gone:?}"
        );
        let mut spoilt = entries;
        let garbage = "x".repeat(all);
        spoilt.push(("garbage", &garbage));
        assert_eq!(excess(spoilt, all), ["garbage"]);
    }
}
