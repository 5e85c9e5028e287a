//! Kinds that are not served are sought again when a definition changes, and now and then, since an aggregated API has none. One
//! task does that for all of them: anybody may name many, and each of them costs nothing in between.

use super::Catalog;
use crate::follow::discovery::LOOK_AGAIN;
use rules::kinds::{self, Kind};
use rules::selector::Selector;
use rules::world::Objects;
use std::time::Duration;
use tracing::debug;

/// After a change of a definition, so that who found a kind not served just then has ended, and a few changes are looked at together.
const GATHER: Duration = Duration::from_millis(50);

impl Catalog {
    /// Seeks them for as long as the process runs.
    pub(super) async fn seek_absent(self) {
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        loop {
            self.known.absent_noted().await;
            let view = self.known.view();
            // Which they are, each search looks at by itself.
            let _ = view.list(&definitions, None, &Selector::default());
            let changed = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
            tokio::time::sleep(GATHER).await;
            if changed.is_ok() {
                self.known.forget_absent();
            }
            let sought = self.known.seek_absent();
            debug!(sought, "Kinds that were not served are sought again");
        }
    }
}
