//! The effect: follows the ConfigMaps, and has somebody look after the slots of each namespace in which anybody asks for one.
//!
//! Each namespace has a task of its own, which ends when nobody there waits any more. So one whose look takes long, because it has
//! many pods, or because of how slowly the API server answers about its holders, holds up no other.

mod claims;
mod finished;
mod gone;
mod lost;
mod namespace;
mod restored;

use super::sheets::{Losses, Sheets};
use super::single::Notice;
use crate::clock::Clock;
use crate::known::Known;
use crate::tasks::Spawner;
use finished::Asking;
use futures::{Stream, StreamExt};
use kube::Client;
use namespace::Namespace;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// What has failed is tried again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// Slots are looked through this often although nothing is known to have changed: time alone makes some ready, and others give up
/// what they wait for.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// What all namespaces share.
struct Shared {
    sheets: Sheets,
    known: Arc<Known>,
    clock: Clock,
    losses: Losses,
    asking: Asking,
}

/// Gives slots away for as long as the process runs.
pub(crate) async fn keep(
    client: Client,
    sheets: Sheets,
    known: Arc<Known>,
    clock: Clock,
    losses: Losses,
    tasks: Spawner,
) {
    let follow = follow(sheets.follow(), Arc::clone(&known));
    let shared = Arc::new(Shared {
        asking: Asking::new(client),
        sheets,
        known,
        clock,
        losses,
    });
    let mend = lost::mend(&shared);
    tokio::join!(follow, mend, look_after_each(&shared, &tasks));
}

/// Takes over what the API server says; that waits for no write, or who runs would soon not be believed.
async fn follow(mut changes: impl Stream<Item = (usize, Notice)> + Unpin, known: Arc<Known>) {
    let slots = known.slots();
    while let Some((sheet, news)) = changes.next().await {
        match news {
            Notice::Read(stored) => slots.begin(sheet, &stored),
            Notice::Written(stored) => slots.learn(sheet, &stored),
            Notice::Sign => slots.heard(sheet),
            Notice::Absent => slots.lose(sheet),
            Notice::Refused => {}
        }
    }
}

/// Has each namespace looked after in which somebody asks for a slot, by one task at a time.
async fn look_after_each(shared: &Arc<Shared>, tasks: &Spawner) {
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
            // Each arm is cancel-safe: what is not taken here comes again.
            Some(name) = ended.recv() => {
                looked_after.remove(&name);
                // Somebody may have asked in the moment of its end.
                slots.ask_again(&name);
            }
            () = slots.wanted.notified() => {}
        }
    }
}

#[cfg(test)]
mod tests;
