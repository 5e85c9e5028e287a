//! Who may run in each capped wave, as this replica knows it.
//!
//! Kept on a few ConfigMaps ([`rules::sheets`]), which the chart makes and the controller patches on condition that nobody else has
//! since: [`rules::slots`] says why that is enough. A wave that nobody waits in costs next to nothing: its holders are struck out
//! when the next object asks for a slot, or when the watch begins again.
//!
//! Each sheet says in an entry of its own that it is whole. Without it, or where an entry cannot be read, somebody has deleted,
//! emptied or garbled the ConfigMap: then nobody holds a slot and none is given, until it is known what runs.

use super::Heard;
use super::waiters::{Bell, Subscription, Waiters};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use rules::holder::{Holder, Running, Trouble, Wave};
use rules::lookup::Unavailable;
use rules::sheets;
use rules::slots::Entry;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The key that says that a sheet is whole, and since when.
pub(crate) const WHOLE: &str = "whole-since";
/// So many bytes of a sheet are filled by one namespace: some 500 holders.
const SHARE: usize = 128 * 1024;

/// The holders of every wave, and who waits to become one.
#[derive(Debug, Default)]
pub struct Slots {
    known: Mutex<Table>,
    waiters: Waiters<Wave>,
    /// Slots are looked for in a namespace.
    pub(crate) wanted: Notify,
    /// A sheet is lost.
    pub(crate) lost: Notify,
}

#[derive(Debug, Default)]
struct Table {
    sheets: [Sheet; sheets::COUNT],
    troubles: BTreeMap<Wave, Trouble>,
    /// The waves of sheets that have been read anew, which nobody has looked through since.
    begun: BTreeSet<Wave>,
    /// The namespaces in which somebody has asked for a slot that nobody has looked for.
    asked: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Sheet {
    heard: Heard,
    content: Content,
    /// Since when it has not been whole.
    lost: Option<Instant>,
}

#[derive(Debug, Default)]
enum Content {
    /// Nobody has looked.
    #[default]
    Unread,
    /// There is no such ConfigMap.
    Absent,
    /// It is not whole: its `resourceVersion` and its keys.
    Broken(String, Vec<String>),
    /// Its `resourceVersion`, and the holders of each wave with the length of the entry.
    Whole(String, BTreeMap<Wave, (Vec<Holder>, usize)>),
}

/// What is written down of a wave.
#[derive(Debug)]
pub(crate) struct Written {
    /// The version that this is.
    pub(crate) version: String,
    /// Who runs in it.
    pub(crate) holders: Vec<Holder>,
    /// So many bytes its entry may have.
    pub(crate) room: usize,
}

/// What is wrong with a sheet.
#[derive(Debug)]
pub(crate) enum Loss {
    /// There is no such ConfigMap.
    Absent,
    /// It says nothing that can be believed.
    Broken {
        /// Its `resourceVersion`.
        version: String,
        /// What it holds.
        keys: Vec<String>,
        /// Since when this is known here.
        since: Instant,
    },
}

impl Slots {
    /// Who runs in a wave, and until when that is believed if nothing more is heard; `waiter` is woken when it changes, and a
    /// slot is looked for.
    pub(crate) fn ask(
        &self,
        wave: &Wave,
        waiter: &Arc<Bell>,
    ) -> (Result<(Running, Instant), Unavailable>, Subscription<Wave>) {
        let subscription = self.waiters.subscribe(wave.clone(), waiter);
        let mut known = self.lock();
        known.asked.insert(wave.scope.namespace.clone());
        self.wanted.notify_one();
        (known.running(wave), subscription)
    }

    /// The API server gave a sign of a sheet.
    pub(crate) fn heard(&self, sheet: usize) {
        if self.lock().sheets[sheet].heard.note() {
            self.waiters.wake_all();
        }
    }

    /// Begins to follow a sheet, whatever was known before.
    pub(crate) fn begin(&self, sheet: usize, stored: &ConfigMap) {
        let mut known = self.lock();
        known.take_over(sheet, Content::of(stored), &self.waiters);
        known.begin(sheet);
        self.wanted.notify_one();
        self.lost.notify_one();
    }

    /// Takes over what a sheet holds, unless something newer is known: the watch tells of a write later than the answer to it
    /// does, and of those before it too.
    pub(crate) fn learn(&self, sheet: usize, stored: &ConfigMap) {
        let mut known = self.lock();
        let version = stored.metadata.resource_version.as_deref();
        if !is_older(version, known.sheets[sheet].content.version()) {
            known.take_over(sheet, Content::of(stored), &self.waiters);
        }
    }

    /// There is no such sheet.
    pub(crate) fn lose(&self, sheet: usize) {
        self.lock().take_over(sheet, Content::Absent, &self.waiters);
        self.lost.notify_one();
    }

    /// How many bytes each sheet holds.
    pub(super) fn sizes(&self) -> [usize; sheets::COUNT] {
        let size = |sheet: &Sheet| {
            let waves = sheet.content.waves().into_iter().flatten();
            waves.map(|(_, (_, length))| length).sum()
        };
        self.lock().sheets.each_ref().map(size)
    }

    /// The sheets that are lost.
    pub(crate) fn losses(&self) -> Vec<(usize, Loss)> {
        let known = self.lock();
        let sheets = known.sheets.iter().enumerate();
        let losses = sheets.filter_map(|(number, sheet)| Some((number, sheet.loss()?)));
        losses.collect()
    }

    /// The namespaces in which somebody has asked for a slot since they were last taken, or whose sheet has been read anew.
    pub(crate) fn take_asked(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.lock().asked)
    }

    /// Has slots looked for in a namespace once more, if somebody waits for one there.
    pub(crate) fn ask_again(&self, namespace: &str) {
        let mut known = self.lock();
        let awaited = self.waiters.interests();
        let mut waves = awaited.iter().chain(&known.begun);
        if waves.any(|wave| wave.scope.namespace == namespace) {
            known.asked.insert(namespace.to_owned());
        }
    }

    /// The waves of a namespace that somebody waits in; once after each reading all of them, or one that nobody comes back to would
    /// stay for ever.
    pub(crate) fn waves(&self, namespace: &str) -> BTreeSet<Wave> {
        let mut known = self.lock();
        let is_here = |wave: &Wave| wave.scope.namespace == namespace;
        let mut waves: BTreeSet<Wave> = self.waiters.interests().into_iter().collect();
        waves.retain(is_here);
        known
            .troubles
            .retain(|wave, _| !is_here(wave) || waves.contains(wave));
        waves.extend(known.begun.extract_if(.., |wave| is_here(wave)));
        waves
    }

    /// What is written down of a wave; `None` where nobody can say.
    pub(crate) fn written(&self, wave: &Wave) -> Option<Written> {
        let known = self.lock();
        let content = &known.sheet(wave).content;
        let (version, waves) = (content.version()?.to_owned(), content.waves()?);
        let holders = waves.get(wave).map(|(holders, _)| holders.clone());
        let others = waves.iter().filter(|(it, _)| *it != wave);
        let length = |(it, (_, length)): (&Wave, &(Vec<Holder>, usize))| {
            let ours = it.scope.namespace == wave.scope.namespace;
            (*length, if ours { *length } else { 0 })
        };
        let (all, ours) = others
            .map(length)
            .fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        Some(Written {
            version,
            holders: holders.unwrap_or_default(),
            room: sheets::MOST
                .saturating_sub(all)
                .min(SHARE.saturating_sub(ours)),
        })
    }

    /// Notes why no more can be written down of a wave, or that it can. Returns whether that is news, of which those hear who
    /// wait in it.
    pub(crate) fn note(&self, wave: &Wave, trouble: Option<Trouble>) -> bool {
        let mut known = self.lock();
        let before = match trouble {
            Some(trouble) => known.troubles.insert(wave.clone(), trouble),
            None => known.troubles.remove(wave),
        };
        let news = before != trouble;
        if news {
            self.waiters.wake(wave, |()| true);
        }
        news
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic while the lock was held leaves at worst a waiter that was not woken; it asks again within 30 s.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn sheet(&self, wave: &Wave) -> &Sheet {
        &self.sheets[sheets::of(&wave.scope.namespace)]
    }

    /// Has all that a sheet holds looked through once.
    fn begin(&mut self, sheet: usize) {
        let waves = self.sheets[sheet].content.waves().into_iter();
        for wave in waves.flat_map(BTreeMap::keys) {
            self.asked.insert(wave.scope.namespace.clone());
            self.begun.insert(wave.clone());
        }
    }

    /// Who runs in a wave, and until when that is believed.
    fn running(&self, wave: &Wave) -> Result<(Running, Instant), Unavailable> {
        let sheet = self.sheet(wave);
        let waves = sheet.content.waves().ok_or(Unavailable::Syncing)?;
        let until = sheet.heard.believed_until().ok_or(Unavailable::Stale)?;
        let holders = waves.get(wave).map(|(holders, _)| holders.clone());
        let running = Running {
            holders: holders.unwrap_or_default(),
            trouble: self.troubles.get(wave).copied(),
        };
        Ok((running, until))
    }

    /// Wakes those whom it concerns.
    fn take_over(&mut self, sheet: usize, content: Content, waiters: &Waiters<Wave>) {
        let Sheet {
            heard,
            content: before,
            lost,
        } = &mut self.sheets[sheet];
        // Those who were told that nobody can say have to ask again, whatever it says now.
        let stale = heard.note();
        *lost = content
            .waves()
            .is_none()
            .then(|| lost.unwrap_or_else(Instant::now));
        let before = std::mem::replace(before, content);
        let (before, after) = (before.waves(), self.sheets[sheet].content.waves());
        let unknown = stale || before.is_none() || after.is_none();
        for wave in waiters.interests() {
            let ours = sheets::of(&wave.scope.namespace) == sheet;
            let changed = || before.map(|it| it.get(&wave)) != after.map(|it| it.get(&wave));
            if ours && (unknown || changed()) {
                waiters.wake(&wave, |()| true);
            }
        }
    }
}

impl Sheet {
    fn loss(&self) -> Option<Loss> {
        match &self.content {
            Content::Unread | Content::Whole(..) => None,
            Content::Absent => Some(Loss::Absent),
            Content::Broken(version, keys) => Some(Loss::Broken {
                version: version.clone(),
                keys: keys.clone(),
                since: self.lost?,
            }),
        }
    }
}

impl Content {
    fn of(stored: &ConfigMap) -> Self {
        let version = stored.metadata.resource_version.clone().unwrap_or_default();
        let data = || stored.data.iter().flatten();
        let since = data().find(|(key, _)| *key == WHOLE);
        let is_marked = since.is_some_and(|(_, since)| since.parse::<Timestamp>().is_ok());
        let entries = data().filter(|(key, _)| *key != WHOLE);
        let waves: Option<BTreeMap<_, _>> = entries.map(|(key, text)| read(key, text)).collect();
        match waves.filter(|_| is_marked) {
            Some(waves) => Self::Whole(version, waves),
            None => Self::Broken(version, data().map(|(key, _)| key.clone()).collect()),
        }
    }

    fn version(&self) -> Option<&str> {
        match self {
            Self::Unread | Self::Absent => None,
            Self::Broken(version, _) | Self::Whole(version, _) => Some(version),
        }
    }

    fn waves(&self) -> Option<&BTreeMap<Wave, (Vec<Holder>, usize)>> {
        match self {
            Self::Whole(_, waves) => Some(waves),
            Self::Unread | Self::Absent | Self::Broken(..) => None,
        }
    }
}

/// An entry with its length, if it is what stands under that key.
fn read(of: &str, text: &str) -> Option<(Wave, (Vec<Holder>, usize))> {
    let Entry { wave, holders } = serde_json::from_str(text).ok()?;
    (key(&wave) == of).then_some((wave, (holders, of.len() + text.len())))
}

/// Whether one `resourceVersion` is from before another: decimal numbers that grow (KEP-5504). Of anything else nobody
/// can say.
fn is_older(version: Option<&str>, than: Option<&str>) -> bool {
    let number = |version: Option<&str>| version?.parse::<u64>().ok();
    match (number(version), number(than)) {
        (Some(version), Some(than)) => version < than,
        _ => false,
    }
}

/// A key of a ConfigMap for a wave: short, and made of the letters that one may have, whatever a scope is called.
pub(crate) fn key(wave: &Wave) -> String {
    let text = serde_json::to_vec(wave).unwrap_or_default();
    let digest = Sha256::digest(text);
    let half = digest.iter().take(16);
    let number = half.fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    format!("{}.{number:032x}", wave.scope.namespace)
}

/// The value for a wave's key; `None`, which takes the key away, where nobody holds a slot.
pub(crate) fn value(wave: &Wave, holders: &[Holder]) -> serde_json::Result<Option<String>> {
    if holders.is_empty() {
        return Ok(None);
    }
    let entry = Entry {
        wave: wave.clone(),
        holders: holders.to_vec(),
    };
    serde_json::to_string(&entry).map(Some)
}

#[cfg(test)]
mod tests;
