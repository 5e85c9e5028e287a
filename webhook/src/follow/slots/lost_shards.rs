//! Restores the ConfigMaps of the slots: makes one again that was deleted, and completes one that is not whole.

use super::context::{LOOK_AGAIN, SlotContext, TRY_AGAIN};
use super::restored_shard;
use crate::known::View;
use crate::known::slots::ShardLoss;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{info, warn};

/// The time after the loss of a ConfigMap in which no slot is given. By then no replica believes the ConfigMap as it was before (30 s),
/// and each gate that was told to open has been seen to open (a few seconds).
const NO_SLOTS_FOR: Duration = Duration::from_secs(35);

/// Restores lost ConfigMaps of the slots for as long as the process runs.
pub(super) async fn mend(shared: &SlotContext) {
    // An error of one shard does not hold up the others.
    let mut failed = HashMap::<usize, Instant>::new();
    loop {
        let view = shared.known.view();
        failed.retain(|_, when| when.elapsed() < TRY_AGAIN);
        for (shard, loss) in shared.known.slots().losses() {
            if !failed.contains_key(&shard) && !shared.mend(shard, loss, &view).await {
                failed.insert(shard, Instant::now());
            }
        }
        tokio::select! {
            biased;
            // Each arm is cancel-safe: a signal that is not taken here comes again.
            () = view.changed() => tokio::time::sleep(TRY_AGAIN).await,
            () = shared.known.slots().lost.notified() => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
    }
}

impl SlotContext {
    /// Makes a ConfigMap of the slots that is gone, or writes the running objects into one that is not whole. Returns `false` if the API
    /// server refuses that; `true` also where it is too early to write.
    async fn mend(&self, shard: usize, loss: ShardLoss, view: &View) -> bool {
        let name = self.shards.name(shard);
        let mended = match loss {
            ShardLoss::Absent => self.shards.create(shard).await,
            ShardLoss::Broken { since, .. } if since.elapsed() < NO_SLOTS_FOR => return true,
            ShardLoss::Broken {
                version,
                keys,
                since,
            } => {
                let now = self.clock.now();
                let settings = self.known.settings();
                let Some(data) = restored_shard::content(shard, &keys, since, settings, view, now)
                else {
                    return true;
                };
                info!(name, "Wrote down who runs: it was not to be seen there");
                self.shards.patch(shard, Some(&version), &data).await
            }
        };
        match mended {
            Ok(stored) => self.known.slots().learn(shard, &stored),
            Err(error) => {
                warn!(%error, name, "Cannot make anew what says who may run");
                self.losses.count("slots", "refused", 1);
                return false;
            }
        }
        true
    }
}
