//! The memory of this replica: Jobs that completed and were removed, and revisions of which a gate has opened once. Both have to outlive
//! the objects that they were seen on.
//!
//! The memory is kept in a few ConfigMaps, the shards ([`rules::shards`]), which the chart makes and the controller only patches. So a
//! restart and the other replica find the memory there, and an uninstallation takes it away. Each entry is a key of its own, and each
//! write is a merge patch of the changed keys alone. So replicas never conflict, and nothing is read before it is written. A verdict
//! reads from memory and waits for no write: a lost entry costs a pod one more question, never its order.
//!
//! A shard without the entry that says that it is whole was deleted or emptied, or is new: this replica writes its entries into the
//! shard again. A namespace that has filled a shard makes room with its own oldest entries.

use super::freshness::{LastContact, WallClock};
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::memory::{self as entry, CompletedJob, Completing, Passed, passed_key};
use rules::object::created;
use rules::selector::Selector;
use rules::shards;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::Notify;

/// The key by which a ConfigMap of the memory tells that it is whole.
const WHOLE: &str = "whole";
/// The bytes that a full ConfigMap of the memory is reduced to, so that there is room for a while.
const ENOUGH: usize = 850_000;

/// The changes to write to a ConfigMap of the memory: keys with their new values, and keys to remove (`None`).
pub(crate) type ShardChanges = BTreeMap<String, Option<String>>;

/// The news in a ConfigMap of the memory that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    /// The ConfigMap has no news.
    Nothing,
    /// Another replica has written an entry to the ConfigMap, or removed one.
    Entries,
    /// The ConfigMap was the last one of the memory to be read: from now on a missing entry is known to be missing.
    Everything,
}

/// The memory of passed revisions and completed Jobs, as this replica knows it.
#[derive(Debug)]
pub struct Memory {
    known: RwLock<Entries>,
    pub(crate) changed: Notify,
}

#[derive(Debug)]
struct Entries {
    shards: [MemoryShard; shards::COUNT],
    /// The Jobs that were seen before all ConfigMaps of the memory had been read and that had not completed: their keys, UIDs and ages.
    /// An older completed Job of such a key is forgotten then.
    before: BTreeMap<String, (String, i64)>,
}

#[derive(Debug)]
struct MemoryShard {
    held: BTreeMap<String, String>,
    /// The changes that the ConfigMap does not hold yet.
    unwritten: ShardChanges,
    loaded: bool,
    heard: LastContact,
}

impl Memory {
    /// The memory before anything is read. `wall`: the clock by which the data of the ConfigMaps grows old.
    pub(super) fn new(wall: WallClock) -> Self {
        let shard = || MemoryShard {
            held: BTreeMap::new(),
            unwritten: ShardChanges::default(),
            loaded: false,
            heard: LastContact::none(wall),
        };
        let entries = Entries {
            shards: [(); shards::COUNT].map(|()| shard()),
            before: BTreeMap::new(),
        };
        Self {
            known: entries.into(),
            changed: Notify::new(),
        }
    }

    /// Whether all ConfigMaps of the memory have been read.
    pub fn is_loaded(&self) -> bool {
        self.read().is_loaded()
    }

    /// Notes a sign of life of the API server about a ConfigMap of the memory. Returns whether its data was no longer believed.
    pub(crate) fn heard(&self, shard: usize) -> bool {
        self.lock().shards[shard].heard.note()
    }

    /// The oldest among the last signs of life that the API server gave of each ConfigMap of the memory.
    pub(crate) fn last_contact(&self) -> LastContact {
        let known = self.read();
        let [first, others @ ..] = &known.shards;
        let others = others.iter().map(|shard| shard.heard);
        others.fold(first.heard, LastContact::or_earlier)
    }

    /// The bytes of data in each ConfigMap of the memory.
    pub(super) fn sizes(&self) -> [usize; shards::COUNT] {
        self.read().shards.each_ref().map(MemoryShard::size)
    }

    /// Whether a gate of this revision has opened before, as far as the memory tells: `false` also while the memory is not read.
    pub fn has_passed(&self, revision: &str) -> bool {
        self.read().get(&passed_key(revision)).is_some()
    }

    /// Notes that a gate of the dependent has opened; not for a dependent without a revision or an owner. After a boot of the dependent's node,
    /// the note is for that boot alone.
    pub fn pass(&self, dependent: &Dependent, now: Timestamp) {
        let passage = dependent.passage().filter(|it| !self.has_passed(it));
        if let (Some(passage), Some(owner)) = (passage, dependent.owners.first()) {
            let passed = Passed {
                at: now.as_second(),
                group: owner.kind.group().to_owned(),
                kind: owner.kind.word().to_owned(),
                namespace: dependent.namespace.clone(),
                name: owner.name.clone(),
            };
            let key = passed_key(&passage);
            self.write(&dependent.namespace, &key, entry::text(&passed).as_ref());
        }
    }

    /// The remembered completed object of this kind, namespace and name; forgotten once a newer one of the name has not completed.
    pub fn completed(&self, what: Completing, namespace: &str, name: &str) -> Option<CompletedJob> {
        self.read().job(namespace, &what.key(namespace, name))
    }

    /// The remembered objects of a kind in a namespace, by name: those that had completed, and whose labels the selector selects.
    pub fn selected(
        &self,
        what: Completing,
        namespace: &str,
        selector: &Selector,
    ) -> BTreeMap<String, CompletedJob> {
        let known = self.read();
        // A version of sluice with a single shard has written an entry that is in another shard.
        let mut shards: Vec<&MemoryShard> = known.shards.iter().collect();
        shards.swap(0, shards::of(namespace));
        let mut seen = BTreeSet::new();
        let entries = shards.into_iter().flat_map(|shard| &shard.held);
        let entries = entries.filter(|(key, _)| seen.insert(key.as_str()));
        let texts = entries.map(|(key, text)| (key.as_str(), text.as_str()));
        entry::selected(texts, (what, namespace), selector)
    }

    /// Notes in the memory that a Job was added or changed.
    pub fn saw_job(&self, job: &Value) {
        self.saw(Completing::Job, job, entry::completed(job));
    }

    /// Notes that an object was added or changed whose kind comes to an end. A completed object is remembered. An object that has
    /// not completed makes the older object of its name forgotten. Of the Jobs of a CronJob the last few are remembered.
    pub fn saw(&self, what: Completing, object: &Value, completed: Option<CompletedJob>) {
        let metadata = &object["metadata"];
        let (Some(namespace), Some(name)) =
            (metadata["namespace"].as_str(), metadata["name"].as_str())
        else {
            return;
        };
        let key = what.key(namespace, name);
        match completed {
            Some(completed) => {
                self.write(namespace, &key, entry::text(&completed).as_ref());
                if let Some(controller) = completed.controller {
                    self.forget_repeated(namespace, &controller);
                }
            }
            None if self
                .completed(what, namespace, name)
                .is_some_and(|known| metadata["uid"] != known.uid) =>
            {
                self.write(namespace, &key, None);
            }
            None if !self.is_loaded() => {
                if let (Some(uid), Some(made)) = (metadata["uid"].as_str(), created(object)) {
                    let newer = (uid.to_owned(), made.as_second());
                    self.lock().before.insert(key, newer);
                }
            }
            None => {}
        }
    }

    fn forget_repeated(&self, namespace: &str, controller: &str) {
        let gone: Vec<String> = {
            let known = self.read();
            let held = known.shards[shards::of(namespace)].held.iter();
            let texts = held.map(|(key, text)| (key.as_str(), text.as_str()));
            let gone = entry::repeated(texts, controller).into_iter();
            gone.map(str::to_owned).collect()
        };
        for key in gone {
            self.write(namespace, &key, None);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Entries> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, namespace: &str, key: &str, value: Option<&String>) {
        let home = shards::of(namespace);
        if self.read().shards[home].held.get(key) == value
            && (value.is_some() || self.read().get(key).is_none())
        {
            return;
        }
        let mut known = self.lock();
        // A revision stays passed: the later moment of another pod is no news.
        if value.is_some() && entry::is_passed(key) && known.get(key).is_some() {
            return;
        }
        for (number, shard) in known.shards.iter_mut().enumerate() {
            if number == home && value.is_some() {
                shard.set(key.to_owned(), value.cloned());
            } else if shard.held.contains_key(key) {
                shard.set(key.to_owned(), None);
            }
        }
        self.changed.notify_one();
    }

    /// Takes over the entries of a shard, a ConfigMap of the memory, under the changes that this replica has yet to write, except where the shard
    /// has a newer Job. Returns the news in it. If the shard does not say that it is whole, no entry of this replica counts as removed. A shard
    /// that does not exist has no entries.
    pub(crate) fn learn(&self, number: usize, stored: BTreeMap<String, String>) -> Learned {
        let mut known = self.lock();
        let was_loaded = known.is_loaded();
        let is_news = known.learn(number, stored);
        if known.is_loaded() {
            known.forget_older();
        }
        if known.shards.iter().any(|shard| !shard.unwritten.is_empty()) {
            self.changed.notify_one();
        }
        match (was_loaded, known.is_loaded()) {
            (false, true) => Learned::Everything,
            (true, _) if is_news => Learned::Entries,
            _ => Learned::Nothing,
        }
    }

    /// The changes to write to a ConfigMap of the memory (none before it was read), and the number of old entries dropped to make room.
    pub(crate) fn unwritten(&self, shard: usize) -> (ShardChanges, usize) {
        let mut known = self.lock();
        let shard = &mut known.shards[shard];
        if !shard.loaded {
            return (ShardChanges::new(), 0);
        }
        let evicted = shard.make_room();
        (shard.unwritten.clone(), evicted)
    }

    /// Notes that the API server has written `changes` to the ConfigMap of the memory. A key that has changed again since stays to be written.
    pub(crate) fn written(&self, shard: usize, changes: &ShardChanges) {
        self.lock().shards[shard]
            .unwritten
            .retain(|key, value| changes.get(key) != Some(value));
    }

    /// Notes that the API server refuses this entry for good: it is written no more, and known only until the ConfigMap is read again.
    pub(crate) fn refused(&self, shard: usize, key: &str) {
        self.lock().shards[shard].unwritten.remove(key);
    }

    /// Removes the revisions whose owner `is_gone`, and the completed Jobs of namespaces that no longer exist, or were made again since:
    /// `outlived` tells that by the namespace and the time of the completion, in seconds since 1970. An entry that this version cannot read
    /// stays.
    pub(crate) fn prune(
        &self,
        is_gone: impl Fn(&str, &Passed) -> bool,
        outlived: impl Fn(&str, i64) -> bool,
    ) {
        let of_shard = |shard: &MemoryShard| shard.held.clone();
        let all: Vec<_> = self.read().shards.iter().flat_map(of_shard).collect();
        for (key, text) in all {
            let Some(namespace) = entry::namespace_of(&key, &text) else {
                continue; // an entry that this version cannot read
            };
            let gone = match entry::read::<Passed>(&text).filter(|_| entry::is_passed(&key)) {
                Some(passed) => is_gone(&key, &passed),
                None => entry::read::<CompletedJob>(&text)
                    .is_some_and(|job| outlived(&namespace, job.completed)),
            };
            if gone {
                self.write(&namespace, &key, None);
            }
        }
    }
}

impl Entries {
    fn is_loaded(&self) -> bool {
        self.shards.iter().all(|shard| shard.loaded)
    }

    fn get(&self, key: &str) -> Option<&String> {
        self.shards.iter().find_map(|shard| shard.held.get(key))
    }

    fn job(&self, namespace: &str, key: &str) -> Option<CompletedJob> {
        let home = self.shards[shards::of(namespace)].held.get(key);
        entry::read(home.or_else(|| self.get(key))?)
    }

    /// Takes over the entries of a ConfigMap of the memory. If it does not say that it is whole, all entries known before are to be written
    /// again. Returns whether an entry has changed.
    fn learn(&mut self, number: usize, stored: BTreeMap<String, String>) -> bool {
        let MemoryShard {
            held,
            unwritten,
            loaded,
            ..
        } = &mut self.shards[number];
        let before = std::mem::replace(held, stored);
        *loaded = true;
        if held.remove(WHOLE).is_none() {
            unwritten.insert(WHOLE.to_owned(), Some(String::new()));
            for (key, value) in &before {
                let unwritten = unwritten.entry(key.clone());
                unwritten.or_insert_with(|| Some(value.clone()));
            }
        }
        unwritten.retain(|key, value| {
            let ours = value.as_deref().and_then(entry::read::<CompletedJob>);
            let theirs = held
                .get(key)
                .and_then(|text| entry::read::<CompletedJob>(text));
            let older = ours
                .zip(theirs)
                .is_some_and(|(ours, theirs)| theirs.created > ours.created);
            !older
        });
        for (key, value) in unwritten.iter().filter(|(key, _)| *key != WHOLE) {
            match value {
                Some(value) => held.insert(key.clone(), value.clone()),
                None => held.remove(key),
            };
        }
        *held != before
    }

    /// Forgets each completed Job for which a newer Job of the same name was seen before the ConfigMaps were read.
    fn forget_older(&mut self) {
        for (key, (uid, made)) in std::mem::take(&mut self.before) {
            for shard in &mut self.shards {
                let known = shard.held.get(&key).and_then(|text| entry::read(text));
                let old = |it: &CompletedJob| it.uid != uid && it.created <= made;
                if known.as_ref().is_some_and(old) {
                    shard.set(key.clone(), None);
                }
            }
        }
    }
}

impl MemoryShard {
    fn set(&mut self, key: String, value: Option<String>) {
        match &value {
            Some(value) => self.held.insert(key.clone(), value.clone()),
            None => self.held.remove(&key),
        };
        self.unwritten.insert(key, value);
    }

    /// The size in bytes, as Kubernetes counts a ConfigMap: all keys and values.
    fn size(&self) -> usize {
        let held = self.held.iter();
        held.map(|(key, text)| key.len() + text.len()).sum()
    }

    /// Shrinks a full ConfigMap of the memory to [`ENOUGH`] bytes: the oldest entries of the fullest namespace go. Returns their number; zero if
    /// it is not full.
    fn make_room(&mut self) -> usize {
        if self.size() <= shards::MOST {
            return 0;
        }
        let texts = self.held.iter();
        let texts = texts.map(|(key, text)| (key.as_str(), text.as_str()));
        let gone: Vec<String> = entry::excess(texts, ENOUGH)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let evicted = gone.len();
        for key in gone {
            self.set(key, None);
        }
        evicted
    }
}

#[cfg(test)]
mod tests;
