//! Whether the contents are believed, and why not.

use super::{Interest, Store};
use crate::known::heard::BELIEVED_FOR;
use rules::lookup::Unavailable;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// For how long a kind has to be refused until it counts as forbidden or not served: an API server that starts refuses
/// every kind until its own watches have synced.
const REFUSED_FOR: Duration = BELIEVED_FOR;

/// The same for a kind that was never read. Nothing is believed of it in any case, so this is about the word alone.
const REFUSED_AT_FIRST: Duration = Duration::from_secs(10);

/// What can be said of a store's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// The first list has not arrived.
    #[default]
    Syncing,
    /// It was listed, and is followed. For how long it is believed says [`Store::believed_until`].
    Live,
    /// The API server forbids it, and has for a while.
    Forbidden,
    /// The API server does not serve the kind, and has not for a while.
    NotServed,
    /// The API server cannot tell whether it serves the kind.
    Undiscovered,
}

impl Freshness {
    /// Why contents of this condition, or live ones of which nothing was heard for too long, are not believed.
    fn unavailable(self) -> Unavailable {
        match self {
            Self::Live => Unavailable::Stale,
            Self::Syncing => Unavailable::Syncing,
            Self::Forbidden => Unavailable::Forbidden,
            Self::NotServed => Unavailable::NotServed,
            Self::Undiscovered => Unavailable::Undiscovered,
        }
    }
}

impl Store {
    /// What can be said of the contents.
    pub fn condition(&self) -> Freshness {
        self.lock().condition
    }

    /// Until when the contents are believed if nothing more is heard, or why they are not.
    pub fn believed_until(&self) -> Result<Instant, Unavailable> {
        let inner = self.lock();
        let live = inner.condition == Freshness::Live;
        if let Some(until) = inner.heard.believed_until().filter(|_| live) {
            return Ok(until);
        }
        // An API server that refuses is not lost.
        let refused = inner.refused.filter(|_| live).map(|(_, why)| why);
        Err(refused.unwrap_or(inner.condition).unavailable())
    }

    /// Returns when the first list has arrived.
    pub async fn synced(&self) {
        let bell = Arc::default();
        let _subscription = self.subscribe(Interest::Kind, &bell);
        while self.condition() == Freshness::Syncing {
            bell.heard().await;
        }
    }

    /// The API server gave a sign of this watch, which is therefore not refused. A list says nothing of that.
    pub fn heard(&self) {
        self.change(|inner, woken| {
            inner.refused = None;
            if inner.heard.note() {
                inner.find_all(woken);
            }
        });
    }

    /// The API server refuses the kind: `why` is what it then comes to, and the contents are forgotten, once it has been
    /// refused for a while. Until then they are believed as long as ever. Returns whether it comes to that now.
    pub fn refuse(&self, why: Freshness) -> bool {
        self.change(|inner, woken| {
            if inner.condition == why {
                return false;
            }
            let since = inner.refused.map_or_else(Instant::now, |(since, _)| since);
            inner.refused = Some((since, why));
            let lasting = match inner.condition {
                Freshness::Syncing => REFUSED_AT_FIRST,
                _ => REFUSED_FOR,
            };
            let lasts = since.elapsed() >= lasting;
            if lasts {
                inner.forget(why, woken);
            }
            lasts
        })
    }

    /// The API server cannot be asked. What was known is believed for a while; whether it would still be refused, nobody
    /// knows.
    pub fn lost(&self) {
        self.change(|inner, woken| {
            inner.refused = None;
            if !matches!(inner.condition, Freshness::Syncing | Freshness::Live) {
                inner.forget(Freshness::Syncing, woken);
            }
        });
    }
}
