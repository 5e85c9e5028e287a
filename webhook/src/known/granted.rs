//! The custom kinds that sluice is meant to read: those that the administrator lets be followed.

use rules::kinds::Kind;
use std::sync::Arc;
use tokio::sync::watch;

/// They are watched as soon as somebody waits for a wave, a group or a release, which may have objects of them.
#[derive(Debug)]
pub(crate) struct Granted(watch::Sender<Option<Arc<[Kind]>>>);

impl Granted {
    /// None, or what somebody has yet to say.
    pub(super) fn new(awaited: bool) -> Self {
        Self(watch::Sender::new((!awaited).then(Arc::default)))
    }

    /// What they are; `None` before anybody has said so.
    pub(crate) fn kinds(&self) -> Option<Arc<[Kind]>> {
        self.0.borrow().clone()
    }

    /// For whoever was refused, and may go on when there are others.
    pub(crate) fn changes(&self) -> Changes {
        Changes(self.0.subscribe())
    }

    /// Takes over what they are; whether that was news.
    pub(super) fn replace(&self, kinds: Vec<Kind>) -> bool {
        self.0.send_if_modified(|granted| {
            let news = granted.as_deref() != Some(&kinds[..]);
            if news {
                *granted = Some(kinds.into());
            }
            news
        })
    }
}

/// Changes of what sluice is meant to read.
pub(crate) struct Changes(watch::Receiver<Option<Arc<[Kind]>>>);

impl Changes {
    /// What has changed so far is no news any more.
    pub(crate) fn mark_seen(&mut self) {
        self.0.mark_unchanged();
    }

    /// Returns when something has changed since.
    pub(crate) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // The process ends.
            std::future::pending::<()>().await;
        }
    }
}
