//! The custom kinds that sluice may read, as the administrator has granted.

use rules::kinds::Kind;
use std::sync::Arc;
use tokio::sync::watch;

/// The custom kinds that the administrator has granted. A granted kind is watched as soon as a list names a wave, a group or a release,
/// which may contain objects of the kind.
#[derive(Debug)]
pub(crate) struct Granted(watch::Sender<Option<Arc<[Kind]>>>);

impl Granted {
    /// The state before the first reading: no kind is granted, or with `awaited` the kinds are unknown until the ClusterRole has been
    /// read.
    pub(super) fn new(awaited: bool) -> Self {
        Self(watch::Sender::new((!awaited).then(Arc::default)))
    }

    /// The granted kinds; `None` before the ClusterRole has been read. Empty in an installation without such a ClusterRole.
    pub(crate) fn kinds(&self) -> Option<Arc<[Kind]>> {
        self.0.borrow().clone()
    }

    /// The changes of the granted kinds, for a follower that was refused and may try again.
    pub(crate) fn changes(&self) -> GrantedChanges {
        GrantedChanges(self.0.subscribe())
    }

    /// Replaces the granted kinds. Returns whether the kinds have changed.
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

/// The changes of the custom kinds that sluice may read.
pub(crate) struct GrantedChanges(watch::Receiver<Option<Arc<[Kind]>>>);

impl GrantedChanges {
    /// Marks all changes of the granted kinds so far as seen.
    pub(crate) fn mark_seen(&mut self) {
        self.0.mark_unchanged();
    }

    /// Returns when the granted kinds have changed since the last mark.
    pub(crate) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // The process ends.
            std::future::pending::<()>().await;
        }
    }
}
