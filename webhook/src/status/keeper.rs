//! What those have in common who let held pods go and resume Jobs: each that is shown is looked after until it is held no more, and
//! what is written takes its turn.

use super::answer::Waiting;
use super::questions::Wait;
use super::rounds::Round;
use super::{ANEW, Identity, over, reason};
use crate::known::View;
use axum::http::{Request, header};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::{Client, Error};
use serde_json::Value;
use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// So much is being written at a time,
const AT_ONCE: usize = 8;
/// each for as long as this, at least: so a replica writes no more than 160 times a second.
const PACE: Duration = Duration::from_millis(50);
/// What was not written is tried again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// Is shown each object as it arrives.
pub(crate) type Show = Arc<dyn Fn(&Value) + Send + Sync>;

/// Who is to be shown objects, and those of them that are held.
pub(super) fn shown(is_held: fn(&Value) -> bool) -> (Show, UnboundedReceiver<Identity>) {
    let (held, seen) = unbounded_channel();
    let show = move |object: &Value| {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        if is_held(object) {
            // The receiver lives as long as the process.
            let _ = held.send(Identity {
                namespace: text("namespace").to_owned(),
                pod: text("name").to_owned(),
                uid: text("uid").to_owned(),
                expires: Timestamp::MAX,
            });
        }
    };
    (Arc::new(show), seen)
}

/// Looks after each that is `seen` to be held, for as long as the process runs; who does so returns its UID when it is held no more.
pub(super) async fn keep<F: Future<Output = String>>(
    mut seen: UnboundedReceiver<Identity>,
    look_after: impl Fn(Identity) -> F,
) {
    let (mut kept, mut known) = (FuturesUnordered::new(), HashSet::new());
    loop {
        tokio::select! {
            biased;
            // Both arms are cancel-safe: what is not taken here comes again.
            Some(uid) = kept.next(), if !kept.is_empty() => drop(known.remove(&uid)),
            Some(held) = seen.recv() => {
                if known.insert(held.uid.clone()) {
                    kept.push(look_after(held));
                }
            }
            else => pending().await,
        }
    }
}

/// What something is held for.
pub(super) struct Held {
    pub(super) waiting: Waiting,
    pub(super) since: Timestamp,
    pub(super) round: Option<Arc<Round>>,
}

impl Held {
    /// As metrics tell it.
    pub(super) fn wait(&self) -> Wait {
        Wait {
            reason: reason(&self.waiting.answer),
            since: self.since,
        }
    }

    /// Until it is to be judged again: at one of these instants, or where what it waits for may have changed.
    pub(super) async fn rest(self, view: &View, at: impl IntoIterator<Item = Instant>) {
        let next = at.into_iter().fold(Instant::now() + ANEW, Instant::min);
        // Nothing else is kept while it is held.
        let rest = self.round.map(Round::rest);
        tokio::select! {
            biased;
            // Each arm only wakes, so losing one to another loses nothing.
            () = view.changed() => {}
            () = view.doubted() => {}
            () = over(rest.as_ref()) => {}
            () = sleep_until(next) => {}
        }
    }
}

/// Writes by turns.
pub(super) struct Writer {
    client: Client,
    turns: Semaphore,
}

impl Writer {
    pub(super) fn new(client: Client) -> Self {
        let turns = Semaphore::new(AT_ONCE);
        Self { client, turns }
    }

    /// Once it is its turn, patches what stands there where there still is something to change, and tells what became of it;
    /// returns when that is seen here.
    pub(super) async fn write(
        &self,
        view: &View,
        url: &str,
        patch: impl FnOnce() -> Option<Value>,
        told: impl FnOnce(Result<Value, Error>),
    ) {
        let turn = self.turns.acquire().await;
        let Some(patch) = patch() else {
            return;
        };
        told(self.send(url, &patch).await);
        sleep(PACE).await;
        drop(turn);
        let _ = timeout(TRY_AGAIN, view.changed()).await;
    }

    async fn send(&self, url: &str, patch: &Value) -> Result<Value, Error> {
        let request = Request::patch(url)
            .header(header::CONTENT_TYPE, "application/json-patch+json")
            .body(patch.to_string().into_bytes());
        let request = request.map_err(|error| Error::Service(error.into()))?;
        self.client.request(request).await
    }
}
