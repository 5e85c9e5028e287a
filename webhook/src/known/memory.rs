//! What has to outlive the objects that it was seen on: Jobs that completed and were removed, and revisions whose gate
//! has opened once.
//!
//! Kept on a few ConfigMaps ([`rules::sheets`]), which the chart makes and the controller only patches: a restart and the other
//! replica find it there, and uninstalling takes it away. Each entry is a key of its own and each write a merge patch of just the
//! changed keys, so replicas never conflict and nothing is read before it is written. A verdict reads from memory and
//! waits for no write: an entry that is lost costs a pod one more question, never its order.
//!
//! A sheet that does not say that it is whole was deleted or emptied, or is new: what is known here is written onto it again. And
//! who has filled a sheet makes room on it by his own oldest entries.

use super::Heard;
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::memory::{self as entry, CompletedJob, Completing, Passed, passed_key};
use rules::object::created;
use rules::selector::Selector;
use rules::sheets;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::Notify;

/// The key that says that a sheet is whole.
const WHOLE: &str = "whole";
/// Where a sheet is full there is made room for a while.
const ENOUGH: usize = 850_000;

/// Keys to write, or to remove.
pub(crate) type Changes = BTreeMap<String, Option<String>>;

/// What a sheet that was read says beyond what was known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    /// Nothing.
    Nothing,
    /// Another replica has written something.
    Entries,
    /// It was the last one to be read: from now on it is known what is not remembered.
    Everything,
}

/// What is remembered, as this replica knows it.
#[derive(Debug, Default)]
pub struct Memory {
    known: RwLock<Entries>,
    pub(crate) changed: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    sheets: [Sheet; sheets::COUNT],
    /// Jobs that have not completed, as long as nobody knows what the ConfigMaps hold: by their keys, with UID and age.
    before: BTreeMap<String, (String, i64)>,
}

#[derive(Debug, Default)]
struct Sheet {
    held: BTreeMap<String, String>,
    /// What the ConfigMap does not hold yet.
    unwritten: Changes,
    loaded: bool,
    heard: Heard,
}

impl Memory {
    /// Whether what an earlier process remembered has been read.
    pub fn is_loaded(&self) -> bool {
        self.read().is_loaded()
    }

    /// The API server gave a sign of a sheet. Returns whether what is remembered there was no longer believed.
    pub(crate) fn heard(&self, sheet: usize) -> bool {
        self.lock().sheets[sheet].heard.note()
    }

    /// When it last did of all of them.
    pub(crate) fn last_heard(&self) -> Heard {
        let known = self.read();
        let heard = known.sheets.iter().map(|sheet| sheet.heard);
        heard.min().unwrap_or_default()
    }

    /// How many bytes each sheet holds.
    pub(super) fn sizes(&self) -> [usize; sheets::COUNT] {
        self.read().sheets.each_ref().map(Sheet::size)
    }

    /// Whether a pod of this revision has passed its gate before.
    pub fn has_passed(&self, revision: &str) -> bool {
        self.read().get(&passed_key(revision)).is_some()
    }

    /// A pod of the dependent has passed its gate.
    pub fn pass(&self, dependent: &Dependent, now: Timestamp) {
        let revision = dependent.revision().filter(|it| !self.has_passed(it));
        if let (Some(revision), Some(owner)) = (revision, dependent.owners.first()) {
            let passed = Passed {
                at: now.as_second(),
                group: owner.kind.group().to_owned(),
                kind: owner.kind.word().to_owned(),
                namespace: dependent.namespace.clone(),
                name: owner.name.clone(),
            };
            let key = passed_key(&revision);
            self.write(&dependent.namespace, &key, entry::text(&passed).as_ref());
        }
    }

    /// The object of that name that was seen complete, if none of that name has been seen since.
    pub fn completed(&self, what: Completing, namespace: &str, name: &str) -> Option<CompletedJob> {
        self.read().job(namespace, &what.key(namespace, name))
    }

    /// The objects of a namespace that were seen complete and that the selector selects, by their names.
    pub fn selected(
        &self,
        what: Completing,
        namespace: &str,
        selector: &Selector,
    ) -> BTreeMap<String, CompletedJob> {
        let known = self.read();
        // What is said of a Job elsewhere is from before there was more than one sheet.
        let mut sheets: Vec<&Sheet> = known.sheets.iter().collect();
        sheets.swap(0, sheets::of(namespace));
        let mut seen = BTreeSet::new();
        let entries = sheets.into_iter().flat_map(|sheet| &sheet.held);
        let entries = entries.filter(|(key, _)| seen.insert(key.as_str()));
        let texts = entries.map(|(key, text)| (key.as_str(), text.as_str()));
        entry::selected(texts, (what, namespace), selector)
    }

    /// A Job was added or changed.
    pub fn saw_job(&self, job: &Value) {
        self.saw(Completing::Job, job, entry::completed(job));
    }

    /// An object of a kind that comes to an end was added or changed: a completed one is remembered, and one that is not yet makes an
    /// older one of its name forgotten. Of the Jobs that a CronJob makes again and again the last few are remembered.
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
            let held = known.sheets[sheets::of(namespace)].held.iter();
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
        let home = sheets::of(namespace);
        if self.read().sheets[home].held.get(key) == value
            && (value.is_some() || self.read().get(key).is_none())
        {
            return;
        }
        let mut known = self.lock();
        // A revision that has passed has passed: another pod's later moment is no news.
        if value.is_some() && entry::is_passed(key) && known.get(key).is_some() {
            return;
        }
        for (number, sheet) in known.sheets.iter_mut().enumerate() {
            if number == home && value.is_some() {
                sheet.set(key.to_owned(), value.cloned());
            } else if sheet.held.contains_key(key) {
                sheet.set(key.to_owned(), None);
            }
        }
        self.changed.notify_one();
    }

    /// Takes over what a sheet holds, under what this replica has not written yet. Where it does not say that it is whole,
    /// nothing that is known here is taken to be gone. One that is not there holds nothing.
    pub(crate) fn learn(&self, number: usize, stored: BTreeMap<String, String>) -> Learned {
        let mut known = self.lock();
        let was_loaded = known.is_loaded();
        let is_news = known.learn(number, stored);
        if known.is_loaded() {
            known.forget_older();
        }
        if known.sheets.iter().any(|sheet| !sheet.unwritten.is_empty()) {
            self.changed.notify_one();
        }
        match (was_loaded, known.is_loaded()) {
            (false, true) => Learned::Everything,
            (true, _) if is_news => Learned::Entries,
            _ => Learned::Nothing,
        }
    }

    /// What is to be written onto a sheet, and how many entries had to make room for it.
    pub(crate) fn unwritten(&self, sheet: usize) -> (Changes, usize) {
        let mut known = self.lock();
        let sheet = &mut known.sheets[sheet];
        if !sheet.loaded {
            return (Changes::new(), 0);
        }
        let evicted = sheet.make_room();
        (sheet.unwritten.clone(), evicted)
    }

    /// `changes` are on the sheet now.
    pub(crate) fn written(&self, sheet: usize, changes: &Changes) {
        self.lock().sheets[sheet]
            .unwritten
            .retain(|key, value| changes.get(key) != Some(value));
    }

    /// The API server does not take this entry, now or later: it is known here until the sheet is read anew.
    pub(crate) fn refused(&self, sheet: usize, key: &str) {
        self.lock().sheets[sheet].unwritten.remove(key);
    }

    /// Removes the revisions whose owner `is_gone`, and what a namespace of the same name has `outlived`: one that is not there
    /// any more, or was made anew since this moment, in seconds since 1970.
    pub(crate) fn prune(
        &self,
        is_gone: impl Fn(&str, &Passed) -> bool,
        outlived: impl Fn(&str, i64) -> bool,
    ) {
        let of_sheet = |sheet: &Sheet| sheet.held.clone();
        let all: Vec<_> = self.read().sheets.iter().flat_map(of_sheet).collect();
        for (key, text) in all {
            let Some(namespace) = entry::namespace_of(&key, &text) else {
                continue; // what this version cannot read
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
        self.sheets.iter().all(|sheet| sheet.loaded)
    }

    fn get(&self, key: &str) -> Option<&String> {
        self.sheets.iter().find_map(|sheet| sheet.held.get(key))
    }

    fn job(&self, namespace: &str, key: &str) -> Option<CompletedJob> {
        let home = self.sheets[sheets::of(namespace)].held.get(key);
        entry::read(home.or_else(|| self.get(key))?)
    }

    /// Returns whether another is remembered there than before.
    fn learn(&mut self, number: usize, stored: BTreeMap<String, String>) -> bool {
        let Sheet {
            held,
            unwritten,
            loaded,
            ..
        } = &mut self.sheets[number];
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

    /// Forgets the Jobs of which a newer one of the same name was seen before this was known of them.
    fn forget_older(&mut self) {
        for (key, (uid, made)) in std::mem::take(&mut self.before) {
            for sheet in &mut self.sheets {
                let known = sheet.held.get(&key).and_then(|text| entry::read(text));
                let old = |it: &CompletedJob| it.uid != uid && it.created <= made;
                if known.as_ref().is_some_and(old) {
                    sheet.set(key.clone(), None);
                }
            }
        }
    }
}

impl Sheet {
    fn set(&mut self, key: String, value: Option<String>) {
        match &value {
            Some(value) => self.held.insert(key.clone(), value.clone()),
            None => self.held.remove(&key),
        };
        self.unwritten.insert(key, value);
    }

    /// In bytes, as the ConfigMap counts them.
    fn size(&self) -> usize {
        let held = self.held.iter();
        held.map(|(key, text)| key.len() + text.len()).sum()
    }

    /// Removes what there is too much of; returns how many entries those were.
    fn make_room(&mut self) -> usize {
        if self.size() <= sheets::MOST {
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
