//! Watches of the objects that were read, so that only changed objects are read again.

mod stream;

use crate::reader::{KindInNamespace, Reader};
use futures::StreamExt;
use futures::stream::{LocalBoxStream, SelectAll};
use kube::Client;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use stream::Heard;
use tokio::time::{Instant, sleep_until, timeout_at};

/// The most places, pairs of a kind and a namespace, that are watched; a change in any other place is seen only when one of these changes.
const MOST: usize = 64;

/// The pause between two judgements of the known objects: verdicts change with time too. No request is sent for it.
const TICK: Duration = Duration::from_secs(1);

/// The time for which further changes are awaited after one: changes that belong together arrive together, such as a pod that starts and the
/// endpoints of its Service.
const TOGETHER: Duration = Duration::from_millis(200);

/// The age up to which objects that may not be watched are believed, where a user waits for a change.
const BELIEVED: Duration = Duration::from_secs(5);

/// One watch for each kind and namespace.
pub(crate) struct Watches {
    client: Client,
    /// The label selector of each followed place, empty where all of its objects count.
    followed: HashMap<KindInNamespace, String>,
    /// The followed places that may not be watched.
    unwatched: HashSet<KindInNamespace>,
    /// When the unwatched places were forgotten for the last time.
    forgotten: Instant,
    changed: SelectAll<LocalBoxStream<'static, (KindInNamespace, Heard)>>,
}

impl Watches {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            followed: HashMap::new(),
            unwatched: HashSet::new(),
            forgotten: Instant::now(),
            changed: SelectAll::new(),
        }
    }

    /// Begins a watch of every kind and namespace that the reader has read and that is not watched with the same labels yet, up to [`MOST`].
    pub(crate) fn cover(&mut self, reader: &Reader) {
        for (place, selector) in reader.places() {
            if self.followed.get(&place) == Some(&selector) || self.followed.len() >= MOST {
                continue;
            }
            let Ok(path) = reader.path(&place.0, place.1.as_deref()) else {
                continue;
            };
            let heard = stream::changes(self.client.clone(), path, selector.clone());
            self.followed.insert(place.clone(), selector);
            self.changed
                .push(heard.map(move |heard| (place.clone(), heard)).boxed_local());
        }
    }

    /// Makes the reader forget the places that change within a second, and every five seconds those that may not be watched, so that they are read
    /// again. Returns whether it forgot any.
    pub(crate) async fn changes(&mut self, reader: &mut Reader) -> bool {
        let changed = self.within(TICK, reader).await;
        let outdated = !self.unwatched.is_empty() && self.forgotten.elapsed() >= BELIEVED;
        if outdated {
            self.forget_unwatched(reader);
        }
        changed || outdated
    }

    /// Makes the reader forget the places that change within a time; returns soon after the first change, with whether there was one.
    pub(crate) async fn within(&mut self, time: Duration, reader: &mut Reader) -> bool {
        let end = Instant::now() + time;
        loop {
            let Ok(Some((place, heard))) = timeout_at(end, self.changed.next()).await else {
                sleep_until(end).await;
                return false;
            };
            if self.take(place, heard, reader) {
                self.all_within(TOGETHER, reader).await;
                return true;
            }
        }
    }

    /// Makes the reader forget the places that change within a time; returns after that time, with whether there was a change. A watch
    /// goes on only while it is listened to, so a caller that pauses listens.
    pub(crate) async fn all_within(&mut self, time: Duration, reader: &mut Reader) -> bool {
        let end = Instant::now() + time;
        let mut changed = false;
        while let Ok(Some((place, heard))) = timeout_at(end, self.changed.next()).await {
            changed |= self.take(place, heard, reader);
        }
        sleep_until(end).await;
        changed
    }

    /// Makes the reader forget the answers that no watch tells of: the places that may not be watched, and the kinds that were not served.
    pub(crate) fn forget_unwatched(&mut self, reader: &mut Reader) {
        self.forgotten = Instant::now();
        for place in &self.unwatched {
            reader.forget(place);
        }
        reader.forget_unserved();
    }

    fn take(&mut self, place: KindInNamespace, heard: Heard, reader: &mut Reader) -> bool {
        match heard {
            Heard::Change => {
                self.unwatched.remove(&place);
                reader.forget(&place);
                true
            }
            Heard::Refusal => {
                self.unwatched.insert(place);
                false
            }
        }
    }
}
