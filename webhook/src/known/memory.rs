//! What has to outlive the objects that it was seen on: Jobs that completed and were removed, and revisions whose gate
//! has opened once.
//!
//! Kept in one ConfigMap, which the chart makes and the controller only patches: a restart and the other replica find it
//! there, and uninstalling takes it away. Each entry is a key of its own and each write a merge patch of just the
//! changed keys, so replicas never conflict and nothing is read before it is written. A verdict reads from memory and
//! waits for no write: an entry that is lost costs a pod one more question, never its order.

use super::Heard;
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::memory::{self as entry, CompletedJob, Passed, job_key, passed_key};
use rules::object::{controller_of, created};
use rules::selector::Selector;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::Notify;

/// Entries of each sort; beyond it the oldest go. Together they stay well below the 1 MiB of a ConfigMap.
const MOST: usize = 2_500;
/// As long as this, in bytes, the labels of all Jobs may be together; beyond it the oldest are known by their names alone.
const LABELS: usize = 200_000;

/// Options to write, or to remove.
pub(crate) type Changes = BTreeMap<String, Option<String>>;

/// What is remembered, as this replica knows it.
#[derive(Debug, Default)]
pub struct Memory {
    known: RwLock<Entries>,
    pub(crate) changed: Notify,
    loaded: AtomicBool,
}

#[derive(Debug, Default)]
struct Entries {
    held: BTreeMap<String, String>,
    /// What the ConfigMap does not hold yet.
    unwritten: Changes,
    /// Jobs that have not completed, as long as nobody knows what the ConfigMap holds: by their keys, with UID and age.
    before: BTreeMap<String, (String, i64)>,
    heard: Heard,
}

impl Memory {
    /// Whether what an earlier process remembered has been read.
    pub fn is_loaded(&self) -> bool {
        self.loaded.load(Ordering::Acquire)
    }

    /// The API server gave a sign of the ConfigMap. Returns whether what is remembered was no longer believed.
    pub(crate) fn heard(&self) -> bool {
        self.lock().heard.note()
    }

    /// When it last did.
    pub(crate) fn last_heard(&self) -> Heard {
        self.read().heard
    }

    /// Whether a pod of this revision has passed its gate before.
    pub fn has_passed(&self, revision: &str) -> bool {
        self.read().held.contains_key(&passed_key(revision))
    }

    /// A pod of the dependent has passed its gate.
    pub fn pass(&self, dependent: &Dependent, now: Timestamp) {
        if let (Some(revision), Some(owner)) = (dependent.revision(), dependent.owners.first()) {
            let passed = Passed {
                at: now.as_second(),
                group: owner.kind.group().to_owned(),
                kind: owner.kind.word().to_owned(),
                namespace: dependent.namespace.clone(),
                name: owner.name.clone(),
            };
            self.write(passed_key(&revision), entry::text(&passed));
        }
    }

    /// The Job of that name that was seen complete, if none of that name has been seen since.
    pub fn completed(&self, namespace: &str, name: &str) -> Option<CompletedJob> {
        let known = self.read();
        entry::read(known.held.get(&job_key(namespace, name))?)
    }

    /// The Jobs of a namespace that were seen complete and that the selector selects, by their names.
    pub fn selected(&self, namespace: &str, selector: &Selector) -> BTreeMap<String, CompletedJob> {
        let known = self.read();
        let entries = known.held.iter();
        let texts = entries.map(|(key, text)| (key.as_str(), text.as_str()));
        entry::selected(texts, namespace, selector)
    }

    /// A Job was added or changed: a completed one is remembered, and one that is not yet makes an older one of its
    /// name forgotten. A controller's Jobs (a CronJob's) are not: they are many, and the next one is never far.
    pub fn saw_job(&self, job: &Value) {
        if controller_of(job).is_some() {
            return;
        }
        let metadata = &job["metadata"];
        let (Some(namespace), Some(name)) =
            (metadata["namespace"].as_str(), metadata["name"].as_str())
        else {
            return;
        };
        let key = job_key(namespace, name);
        match entry::completed(job) {
            Some(completed) => self.write(key, entry::text(&completed)),
            None if self
                .completed(namespace, name)
                .is_some_and(|known| metadata["uid"] != known.uid) =>
            {
                self.write(key, None);
            }
            None if !self.is_loaded() => {
                if let (Some(uid), Some(made)) = (metadata["uid"].as_str(), created(job)) {
                    let newer = (uid.to_owned(), made.as_second());
                    self.lock().before.insert(key, newer);
                }
            }
            None => {}
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Entries> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: String, value: Option<String>) {
        if self.read().held.get(&key) == value.as_ref() {
            return;
        }
        let mut known = self.lock();
        // A revision that has passed has passed: another pod's later moment is no news.
        if value.is_some() && entry::is_passed(&key) && known.held.contains_key(&key) {
            return;
        }
        known.set(key.clone(), value.clone());
        known.unwritten.insert(key, value);
        self.changed.notify_one();
    }

    /// Takes over what the ConfigMap holds, under what this replica has not written yet.
    pub(crate) fn learn(&self, stored: BTreeMap<String, String>) {
        let mut known = self.lock();
        known.held = stored;
        for (key, (uid, made)) in std::mem::take(&mut known.before) {
            if known
                .job(&key)
                .is_some_and(|old| old.uid != uid && old.created <= made)
            {
                known.unwritten.entry(key).or_insert(None);
                self.changed.notify_one();
            }
        }
        for (key, value) in known.unwritten.clone() {
            let written = value.as_deref().and_then(entry::read::<CompletedJob>);
            let newer = known.job(&key);
            if written
                .zip(newer)
                .is_some_and(|(ours, theirs)| theirs.created > ours.created)
            {
                known.unwritten.remove(&key);
            } else {
                known.set(key, value);
            }
        }
        self.loaded.store(true, Ordering::Release);
    }

    pub(crate) fn unwritten(&self) -> Changes {
        self.read().unwritten.clone()
    }

    /// `changes` are in the ConfigMap now.
    pub(crate) fn written(&self, changes: &Changes) {
        self.lock()
            .unwritten
            .retain(|key, value| changes.get(key) != Some(value));
    }

    /// Removes the revisions whose owner `is_gone`, and the oldest of what there is too much of.
    pub(crate) fn prune(&self, is_gone: impl Fn(&str, &Passed) -> bool) {
        self.prune_revisions(is_gone);
        self.prune_jobs();
    }

    fn prune_revisions(&self, is_gone: impl Fn(&str, &Passed) -> bool) {
        let mut kept = Vec::new();
        for (key, passed) in self.all::<Passed>(entry::is_passed) {
            if is_gone(&key, &passed) {
                self.write(key, None);
            } else {
                kept.push((passed.at, key));
            }
        }
        kept.sort();
        let excess = kept.len().saturating_sub(MOST);
        kept.drain(..excess)
            .for_each(|(_, key)| self.write(key, None));
    }

    fn prune_jobs(&self) {
        let mut jobs = self.all::<CompletedJob>(|key| !entry::is_passed(key));
        jobs.sort_by_key(|(_, job)| Reverse(job.completed));
        let mut length = 0;
        for (newer, (key, job)) in jobs.into_iter().enumerate() {
            length += job.length_of_labels();
            if newer >= MOST {
                self.write(key, None);
            } else if length > LABELS && job.labels.is_some() {
                let labels = None;
                self.write(key, entry::text(&CompletedJob { labels, ..job }));
            }
        }
    }

    /// The entries whose keys are wanted, but for those that this version cannot read.
    fn all<T: DeserializeOwned>(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, T)> {
        let known = self.read();
        let entries = known.held.iter().filter(|(key, _)| wanted(key));
        entries
            .filter_map(|(key, text)| Some((key.clone(), entry::read(text)?)))
            .collect()
    }
}

impl Entries {
    fn job(&self, key: &str) -> Option<CompletedJob> {
        entry::read(self.held.get(key)?)
    }

    fn set(&mut self, key: String, value: Option<String>) {
        match value {
            Some(value) => self.held.insert(key, value),
            None => self.held.remove(&key),
        };
    }
}

#[cfg(test)]
mod tests;
