//! Watches for changes without reading them: after a change the reader reads everything anew.

use crate::watches::changes;
use futures::stream::{LocalBoxStream, SelectAll};
use futures::{FutureExt, StreamExt};
use kube::Client;
use std::collections::BTreeMap;

/// Watches of lists, each for as long as this lives.
pub(super) struct Changes {
    client: Client,
    /// The label selector of each by its path.
    lists: BTreeMap<String, String>,
    heard: SelectAll<LocalBoxStream<'static, ()>>,
}

impl Changes {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            lists: BTreeMap::new(),
            heard: SelectAll::new(),
        }
    }

    /// Watches these lists as well: label selectors by path.
    pub(super) fn follow(&mut self, lists: BTreeMap<String, String>) {
        for (path, selector) in lists {
            if self.lists.get(&path) != Some(&selector) {
                let watch = changes(self.client.clone(), path.clone(), selector.clone());
                self.heard.push(watch.boxed_local());
                self.lists.insert(path, selector);
            }
        }
    }

    /// Returns once a watched list has changed.
    pub(super) async fn next(&mut self) {
        if self.heard.next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Forgets the changes until now, because the next reading will show them.
    pub(super) fn forget(&mut self) {
        while let Some(Some(())) = self.heard.next().now_or_never() {}
    }
}
