//! Keeps the memory of this replica and its ConfigMaps alike: reads and follows the ConfigMaps, and writes the changes of this replica.

use super::one_object::Notice;
use super::shards::{Losses, Shards};
use crate::known::Known;
use crate::known::memory::{Learned, ShardChanges};
use futures::StreamExt;
use kube::Error;
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::memory::{Passed, owner_uid};
use rules::shards;
use rules::world::Objects;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use tracing::warn;

/// The time over which changes of the memory are gathered for one write.
const GATHER: Duration = Duration::from_millis(200);
/// The pause after a write of the memory has failed.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// The pause between two removals of entries that are no longer needed.
const PRUNE: Duration = Duration::from_mins(5);
/// The shortest pause between two wake-ups: an entry of another replica may open gates, so it wakes every view.
const WAKE: Duration = Duration::from_secs(10);
/// The most entries of one write. If a write is refused, each of its entries is tried by itself.
const BATCH: usize = 100;

/// Keeps the memory and its ConfigMaps alike for as long as the process runs.
pub(crate) async fn keep(shards: Shards, known: Arc<Known>, losses: Losses) {
    let sync = MemorySync {
        shards,
        known,
        losses,
    };
    sync.run().await;
}

struct MemorySync {
    shards: Shards,
    known: Arc<Known>,
    losses: Losses,
}

impl MemorySync {
    /// Reads and writes the ConfigMaps of the memory at the same time. If reading waited for a write, the memory would soon not be
    /// believed.
    async fn run(&self) {
        tokio::join!(self.read(), self.write());
    }

    async fn read(&self) {
        let mut changes = self.shards.follow();
        let mut prune = tokio::time::interval(PRUNE);
        let mut wake = tokio::time::interval(WAKE);
        wake.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_news = false;
        loop {
            tokio::select! {
                biased;
                // All arms are cancel-safe: news and ticks that are not taken come again.
                Some((shard, news)) = changes.next() => is_news |= self.learn(shard, news),
                _ = wake.tick(), if is_news => {
                    self.known.wake_all();
                    is_news = false;
                }
                _ = prune.tick() => self.known.memory().prune(
                    |key, passed| is_gone(&self.known, key, passed),
                    |namespace, at| is_outlived(&self.known, namespace, at),
                ),
            }
        }
    }

    /// Takes over a notice of the API server about a ConfigMap of the memory. Returns whether it brought entries of another replica, so that the
    /// views are to be woken within [`WAKE`]. Wakes them at once where the memory was not read or not believed before. A refusal is a sign of
    /// life, too: the entries that were read before stay.
    fn learn(&self, shard: usize, news: Notice) -> bool {
        let memory = self.known.memory();
        let learned = match news {
            Notice::Read(stored) | Notice::Written(stored) => {
                memory.learn(shard, stored.data.unwrap_or_default())
            }
            Notice::Absent => memory.learn(shard, BTreeMap::new()),
            Notice::Refused | Notice::Sign => Learned::Nothing,
        };
        if memory.heard(shard) || learned == Learned::Everything {
            self.known.wake_all();
        }
        learned == Learned::Entries
    }

    /// Writes changes of the memory to its ConfigMaps for as long as the process runs, gathered for [`GATHER`]. A change that cannot be
    /// written stays for the next write. An error of one ConfigMap does not hold up the others.
    async fn write(&self) {
        let memory = self.known.memory();
        loop {
            memory.changed.notified().await;
            tokio::time::sleep(GATHER).await;
            let mut failed = false;
            for shard in 0..shards::COUNT {
                if let Err(error) = self.write_to(shard).await {
                    let name = self.shards.name(shard);
                    warn!(%error, name, "Cannot write what is to be remembered");
                    self.losses.count("memory", "refused", 1);
                    failed = true;
                }
            }
            if failed {
                tokio::time::sleep(TRY_AGAIN).await;
                memory.changed.notify_one();
            }
        }
    }

    async fn write_to(&self, shard: usize) -> Result<(), Error> {
        let memory = self.known.memory();
        let (changes, evicted) = memory.unwritten(shard);
        if evicted > 0 {
            let name = self.shards.name(shard);
            warn!(
                name,
                evicted, "Too much to remember: the oldest of those who fill the most went"
            );
            self.losses.count("memory", "evicted", evicted);
        }
        let (gone, new): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|(_, value)| value.is_none());
        // The removed entries make room for the new ones.
        let all: Vec<_> = gone.into_iter().chain(new).collect();
        for batch in all.chunks(BATCH) {
            let batch: ShardChanges = batch.iter().cloned().collect();
            match self.patch(shard, &batch).await {
                Err(Error::Api(status)) if is_about_the_entry(status.code) => {
                    self.write_each(shard, batch).await?;
                }
                written => written?,
            }
        }
        Ok(())
    }

    /// Writes the entries of a refused batch one by one. An entry that is refused by itself is counted as lost and not tried again.
    async fn write_each(&self, shard: usize, batch: ShardChanges) -> Result<(), Error> {
        for (key, value) in batch {
            let entry = ShardChanges::from([(key.clone(), value)]);
            match self.patch(shard, &entry).await {
                Err(Error::Api(error)) if is_about_the_entry(error.code) => {
                    warn!(%error, key, "Cannot be remembered");
                    self.losses.count("memory", "refused", 1);
                    self.known.memory().refused(shard, &key);
                }
                written => written?,
            }
        }
        Ok(())
    }

    async fn patch(&self, shard: usize, changes: &ShardChanges) -> Result<(), Error> {
        match self.shards.patch(shard, None, changes).await {
            Err(Error::Api(status)) if status.code == 404 => {
                self.shards.create(shard).await?;
                self.shards.patch(shard, None, changes).await?;
            }
            written => drop(written?),
        }
        self.known.memory().written(shard, changes);
        Ok(())
    }
}

/// Whether an HTTP code of the API server rejects what a write contains (a key, a value, or the size), so that the write would fail again.
fn is_about_the_entry(code: u16) -> bool {
    matches!(code, 400 | 413 | 422)
}

/// Whether the owner of a revision no longer exists, or another object has its name. `false` if that is unknown.
fn is_gone(known: &Arc<Known>, key: &str, passed: &Passed) -> bool {
    let kind = match kinds::builtin(&passed.group, &passed.kind) {
        Some(builtin) => Kind::Builtin(builtin),
        None => Kind::Custom {
            group: passed.group.clone(),
            word: passed.kind.clone(),
        },
    };
    match known
        .view()
        .object(&kind, Some(&passed.namespace), &passed.name)
    {
        Lookup::Found(owner) => owner["metadata"]["uid"] != owner_uid(key),
        Lookup::NotFound => true,
        Lookup::Unavailable(_) => false,
    }
}

/// Whether a namespace no longer exists, or was made again after `at`, in seconds since 1970. `false` if that is unknown.
fn is_outlived(known: &Arc<Known>, namespace: &str, at: i64) -> bool {
    let (view, kind) = (known.view(), Kind::Builtin(kinds::NAMESPACE));
    view.object(&kind, None, namespace) == Lookup::NotFound || view.is_younger(namespace, at)
}

#[cfg(test)]
mod tests;
