//! The holders of the slots of each capped wave, as this replica knows them.
//!
//! The holders are kept in a few ConfigMaps, the shards ([`rules::shards`]), which the chart makes. The controller patches a shard on
//! condition that no other replica has written since: [`rules::slots`] tells why that is enough. A wave in which no gate waits costs next
//! to nothing: its holders are struck out when the next object asks for a slot, or when the watch begins again.
//!
//! Each shard says in an entry of its own that it is whole. If that entry is missing, or if an entry cannot be read, the ConfigMap was
//! deleted, emptied or garbled. Then no object holds a slot and none is given, until the running pods are known.

use super::freshness::{LastContact, WallClock};
use super::waiters::{Bell, Subscription, Waiters};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use rules::holder::{Holder, Running, Trouble, Wave};
use rules::lookup::Unavailable;
use rules::shards;
use rules::slots::Entry;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The key by which a ConfigMap of the slots tells that it is whole. Its value is the time since which it is whole.
pub(crate) const WHOLE: &str = "whole-since";
/// The most bytes of a ConfigMap of the slots that one namespace may fill: about 500 holders. The ConfigMap has room for few such shares,
/// so a namespace also takes at most half of the room that the others leave.
const SHARE: usize = 128 * 1024;

/// The objects that hold the slots of each capped wave, and the views to wake when these holders change.
#[derive(Debug)]
pub struct Slots {
    known: Mutex<Table>,
    waiters: Waiters<Wave>,
    /// Rings when a view asks for a slot of a wave.
    pub(crate) wanted: Notify,
    /// Rings when a ConfigMap of the slots is lost.
    pub(crate) lost: Notify,
}

#[derive(Debug)]
struct Table {
    shards: [SlotShard; shards::COUNT],
    troubles: BTreeMap<Wave, Trouble>,
    /// The waves of a ConfigMap that was read again, whose holders no task has checked since.
    begun: BTreeSet<Wave>,
    /// The namespaces in which a view has asked for a slot, and that the task which gives slots has not taken up yet.
    asked: BTreeSet<String>,
}

#[derive(Debug)]
struct SlotShard {
    heard: LastContact,
    content: ShardContent,
    /// The moment since which the ConfigMap of the slots is missing or not whole.
    lost: Option<Instant>,
}

#[derive(Debug, Default)]
enum ShardContent {
    /// The ConfigMap of the slots has not been read.
    #[default]
    Unread,
    /// The ConfigMap of the slots does not exist.
    Absent,
    /// The ConfigMap of the slots is not whole: its `resourceVersion` and its keys.
    Broken(String, Vec<String>),
    /// The ConfigMap of the slots is whole: its `resourceVersion`, and the holders of each wave with the length of their entry.
    Whole(String, BTreeMap<Wave, (Vec<Holder>, usize)>),
}

/// The entry of one wave in a ConfigMap of the slots.
#[derive(Debug)]
pub(crate) struct WrittenWave {
    /// The `resourceVersion` of the ConfigMap with the entry.
    pub(crate) version: String,
    /// The holders of the wave's slots.
    pub(crate) holders: Vec<Holder>,
    /// The most bytes that the wave's entry may have in the ConfigMap, by the share of its namespace.
    pub(crate) room: usize,
}

/// The fault of a ConfigMap of the slots.
#[derive(Debug)]
pub(crate) enum ShardLoss {
    /// The ConfigMap of the slots does not exist.
    Absent,
    /// The ConfigMap of the slots is there, but is not whole.
    Broken {
        /// The `resourceVersion` of the broken ConfigMap of the slots.
        version: String,
        /// The keys of the broken ConfigMap of the slots.
        keys: Vec<String>,
        /// The moment since which this replica knows the fault.
        since: Instant,
    },
}

impl Slots {
    /// The slots before anything is read. `wall`: the clock by which the data of the ConfigMaps grows old.
    pub(super) fn new(wall: WallClock) -> Self {
        let shard = || SlotShard {
            heard: LastContact::none(wall),
            content: ShardContent::Unread,
            lost: None,
        };
        let table = Table {
            shards: [(); shards::COUNT].map(|()| shard()),
            troubles: BTreeMap::new(),
            begun: BTreeSet::new(),
            asked: BTreeSet::new(),
        };
        Self {
            known: table.into(),
            waiters: Waiters::default(),
            wanted: Notify::new(),
            lost: Notify::new(),
        }
    }

    /// The holders of a wave, and the moment until which they are believed without a further sign of the API server. An error while they are
    /// unknown or no longer believed. Asks the task of the wave's namespace to look for a free slot. The subscription wakes the view behind
    /// `waiter` when the holders change.
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

    /// Notes a sign of life of the API server about a ConfigMap of the slots. Wakes the waiting views if its holders were no longer believed.
    pub(crate) fn heard(&self, shard: usize) {
        if self.lock().shards[shard].heard.note() {
            self.waiters.wake_all();
        }
    }

    /// Replaces the known content of a ConfigMap of the slots by one that was read anew, and has the holders of all its waves checked once.
    pub(crate) fn begin(&self, shard: usize, stored: &ConfigMap) {
        let mut known = self.lock();
        known.take_over(shard, ShardContent::of(stored), &self.waiters);
        known.begin(shard);
        self.wanted.notify_one();
        self.lost.notify_one();
    }

    /// Takes over the content of a ConfigMap of the slots after a write, unless newer content is known: the watch shows a write later than
    /// the answer to the write does, and it shows the writes before it as well.
    pub(crate) fn learn(&self, shard: usize, stored: &ConfigMap) {
        let mut known = self.lock();
        let version = stored.metadata.resource_version.as_deref();
        if !is_older(version, known.shards[shard].content.version()) {
            known.take_over(shard, ShardContent::of(stored), &self.waiters);
        }
    }

    /// Notes that a ConfigMap of the slots does not exist: its holders are unknown from now on, and it is to be made again.
    pub(crate) fn lose(&self, shard: usize) {
        self.lock()
            .take_over(shard, ShardContent::Absent, &self.waiters);
        self.lost.notify_one();
    }

    /// The bytes of the entries in each ConfigMap of the slots; zero for one that is unread, missing or not whole.
    pub(super) fn sizes(&self) -> [usize; shards::COUNT] {
        let size = |shard: &SlotShard| {
            let waves = shard.content.waves().into_iter().flatten();
            waves.map(|(_, (_, length))| length).sum()
        };
        self.lock().shards.each_ref().map(size)
    }

    /// The ConfigMaps of the slots that are missing or not whole, by their numbers, with their faults. An unread one is not among them.
    pub(crate) fn losses(&self) -> Vec<(usize, ShardLoss)> {
        let known = self.lock();
        let shards = known.shards.iter().enumerate();
        let losses = shards.filter_map(|(number, shard)| Some((number, shard.loss()?)));
        losses.collect()
    }

    /// Takes the namespaces in which a view has asked for a slot since the last call, and those with holders in a ConfigMap that was read
    /// again.
    pub(crate) fn take_asked(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.lock().asked)
    }

    /// Asks for one more look for free slots in a namespace, if a view waits for a slot there, or if holders there have not been checked
    /// since their ConfigMap was read.
    pub(crate) fn ask_again(&self, namespace: &str) {
        let mut known = self.lock();
        let awaited = self.waiters.interests();
        let mut waves = awaited.iter().chain(&known.begun);
        if waves.any(|wave| wave.scope.namespace == namespace) {
            known.asked.insert(namespace.to_owned());
        }
    }

    /// The waves of a namespace in which a view waits for a slot. After each reading of a ConfigMap its other waves are added once, because their
    /// finished holders would otherwise stay for ever. Forgets the troubles of the waves in which no view waits.
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

    /// The entry of a wave, without holders if it is not written yet, with its ConfigMap's version and the room that is left for the entry; `None`
    /// while the wave's ConfigMap is unread, missing or not whole.
    pub(crate) fn written(&self, wave: &Wave) -> Option<WrittenWave> {
        let known = self.lock();
        let content = &known.shard(wave).content;
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
        Some(WrittenWave {
            version,
            holders: holders.unwrap_or_default(),
            room: room(all, ours),
        })
    }

    /// Notes why the holders of a wave cannot be written, or with `None` that they can be again. Wakes the waiting views and returns `true`
    /// if that is news.
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
        // A panic while the lock is held loses one wake-up at worst; the gate asks again within 30 s.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn shard(&self, wave: &Wave) -> &SlotShard {
        &self.shards[shards::of(&wave.scope.namespace)]
    }

    /// Plans one check of the holders of all waves in a ConfigMap of the slots: [`Slots::waves`] returns each of these waves once.
    fn begin(&mut self, shard: usize) {
        let waves = self.shards[shard].content.waves().into_iter();
        for wave in waves.flat_map(BTreeMap::keys) {
            self.asked.insert(wave.scope.namespace.clone());
            self.begun.insert(wave.clone());
        }
    }

    /// The holders of a wave, with the trouble in writing them, and the moment until which they are believed. An error while the wave's ConfigMap
    /// is unread, missing, not whole or stale.
    fn running(&self, wave: &Wave) -> Result<(Running, Instant), Unavailable> {
        let shard = self.shard(wave);
        let waves = shard.content.waves().ok_or(Unavailable::Syncing)?;
        let until = shard.heard.believed_until().ok_or(Unavailable::Stale)?;
        let holders = waves.get(wave).map(|(holders, _)| holders.clone());
        let running = Running {
            holders: holders.unwrap_or_default(),
            trouble: self.troubles.get(wave).copied(),
        };
        Ok((running, until))
    }

    /// Takes over the content of a ConfigMap of the slots, and wakes the views whose wave has changed: all of its views, if its holders were or
    /// are unknown or were stale.
    fn take_over(&mut self, shard: usize, content: ShardContent, waiters: &Waiters<Wave>) {
        let SlotShard {
            heard,
            content: before,
            lost,
        } = &mut self.shards[shard];
        // A view that was told `Stale` has to ask again, even if the shard holds the same.
        let stale = heard.note();
        *lost = content
            .waves()
            .is_none()
            .then(|| lost.unwrap_or_else(Instant::now));
        let before = std::mem::replace(before, content);
        let (before, after) = (before.waves(), self.shards[shard].content.waves());
        let unknown = stale || before.is_none() || after.is_none();
        for wave in waiters.interests() {
            let ours = shards::of(&wave.scope.namespace) == shard;
            let changed = || before.map(|it| it.get(&wave)) != after.map(|it| it.get(&wave));
            if ours && (unknown || changed()) {
                waiters.wake(&wave, |()| true);
            }
        }
    }
}

impl SlotShard {
    fn loss(&self) -> Option<ShardLoss> {
        match &self.content {
            ShardContent::Unread | ShardContent::Whole(..) => None,
            ShardContent::Absent => Some(ShardLoss::Absent),
            ShardContent::Broken(version, keys) => Some(ShardLoss::Broken {
                version: version.clone(),
                keys: keys.clone(),
                since: self.lost?,
            }),
        }
    }
}

impl ShardContent {
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

/// The most bytes that an entry of a namespace may have, beside `all` bytes of other entries in the ConfigMap, of which `ours` are of the
/// same namespace. The namespace fills at most its share, and at most half of the room that the other namespaces leave: so a few
/// namespaces that want all of the ConfigMap leave room for the next one.
fn room(all: usize, ours: usize) -> usize {
    let fair = shards::MOST.saturating_sub(all + ours) / 2;
    fair.min(SHARE.saturating_sub(ours))
}

/// Reads the entry of the key `of`, with the bytes of key and text; `None` if the text is no entry, or that of another key.
fn read(of: &str, text: &str) -> Option<(Wave, (Vec<Holder>, usize))> {
    let Entry { wave, holders } = serde_json::from_str(text).ok()?;
    (key(&wave) == of).then_some((wave, (holders, of.len() + text.len())))
}

/// Whether one `resourceVersion` is older than another: decimal numbers that grow (KEP-5504). `false` for any other version.
fn is_older(version: Option<&str>, than: Option<&str>) -> bool {
    let number = |version: Option<&str>| version?.parse::<u64>().ok();
    match (number(version), number(than)) {
        (Some(version), Some(than)) => version < than,
        _ => false,
    }
}

/// The key of a wave in its ConfigMap: the namespace and a digest of the wave. So it is short, and has only letters that a ConfigMap allows, for
/// any name of a scope.
pub(crate) fn key(wave: &Wave) -> String {
    let text = serde_json::to_vec(wave).unwrap_or_default();
    let digest = Sha256::digest(text);
    let half = digest.iter().take(16);
    let number = half.fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    format!("{}.{number:032x}", wave.scope.namespace)
}

/// The value for the key of a wave; `None`, which removes the key, for a wave without holders.
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
