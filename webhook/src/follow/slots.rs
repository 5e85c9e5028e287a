//! The effect of caps: follows the ConfigMaps of the slots, and runs a task for each namespace in which a gate asks for a slot.
//!
//! The task of a namespace ends when no gate there waits for a slot any more. A namespace with many pods, or with holders about which the
//! API server answers slowly, holds up no other namespace.

mod claims;
mod context;
mod finished_holders;
mod living_pods;
mod lost_shards;
mod namespace;
mod restored_shard;

use super::one_object::Notice;
use super::shards::{Losses, Shards};
use crate::clock::Clock;
use crate::known::Known;
use crate::tasks::Spawner;
use context::SlotContext;
use finished_holders::HolderCheck;
use futures::{Stream, StreamExt};
use kube::Client;
use namespace::Namespace;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};

/// Follows the ConfigMaps of the slots, restores lost ones, and gives slots away in each namespace, for as long as the process runs.
pub(crate) async fn keep(
    client: Client,
    shards: Shards,
    known: Arc<Known>,
    clock: Clock,
    losses: Losses,
    tasks: Spawner,
) {
    let follow = follow(shards.follow(), Arc::clone(&known));
    let shared = Arc::new(SlotContext {
        holders: HolderCheck::new(client),
        shards,
        known,
        clock,
        losses,
    });
    let mend = lost_shards::mend(&shared);
    tokio::join!(follow, mend, look_after_each(&shared, &tasks));
}

/// Takes over the notices of the API server about the ConfigMaps of the slots. No notice waits for a write, or the holders would soon not
/// be believed.
async fn follow(mut changes: impl Stream<Item = (usize, Notice)> + Unpin, known: Arc<Known>) {
    let slots = known.slots();
    while let Some((shard, news)) = changes.next().await {
        match news {
            Notice::Read(stored) => slots.begin(shard, &stored),
            Notice::Written(stored) => slots.learn(shard, &stored),
            Notice::Sign => slots.heard(shard),
            Notice::Absent => slots.lose(shard),
            Notice::Refused => {}
        }
    }
}

/// Runs one task at a time for each namespace in which a gate asks for a slot.
async fn look_after_each(shared: &Arc<SlotContext>, tasks: &Spawner) {
    let slots = shared.known.slots();
    let (done, mut ended) = mpsc::unbounded_channel::<String>();
    let mut looked_after = HashMap::<String, Arc<Notify>>::new();
    loop {
        for name in slots.take_asked() {
            if let Some(asked) = looked_after.get(&name) {
                asked.notify_one();
                continue;
            }
            let asked = Arc::<Notify>::default();
            looked_after.insert(name.clone(), Arc::clone(&asked));
            let namespace = Namespace::new(Arc::clone(shared), name.clone(), asked);
            let done = done.clone();
            tasks.run(format!("slots of {name}"), async move {
                namespace.look_after().await;
                // The receiver lives as long as the process.
                let _ = done.send(name);
            });
        }
        tokio::select! {
            biased;
            // Each arm is cancel-safe: a signal that is not taken here comes again.
            Some(name) = ended.recv() => {
                looked_after.remove(&name);
                // A gate may have asked in the moment of the end.
                slots.ask_again(&name);
            }
            () = slots.wanted.notified() => {}
        }
    }
}

#[cfg(test)]
mod tests;
