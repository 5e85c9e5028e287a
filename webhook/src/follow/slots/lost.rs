//! Sheets that are gone, or say nothing that can be believed, are made anew.

use super::{LOOK_AGAIN, Shared, TRY_AGAIN, restored};
use crate::known::View;
use crate::known::slots::Loss;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{info, warn};

/// For so long after a loss nobody is given a slot: by then no replica believes any more what was written before (30 s), and a
/// gate that was told to open has been seen to have (a few seconds).
const NO_SLOTS_FOR: Duration = Duration::from_secs(35);

/// Mends what is lost for as long as the process runs.
pub(super) async fn mend(shared: &Shared) {
    // An error of one sheet is no affair of the others.
    let mut failed = HashMap::<usize, Instant>::new();
    loop {
        let view = shared.known.view();
        failed.retain(|_, when| when.elapsed() < TRY_AGAIN);
        for (sheet, loss) in shared.known.slots().losses() {
            if !failed.contains_key(&sheet) && !shared.mend(sheet, loss, &view).await {
                failed.insert(sheet, Instant::now());
            }
        }
        tokio::select! {
            biased;
            // Each arm is cancel-safe: what is not taken here comes again.
            () = view.changed() => tokio::time::sleep(TRY_AGAIN).await,
            () = shared.known.slots().lost.notified() => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
    }
}

impl Shared {
    /// Makes a sheet that is gone, and writes onto one that says nothing what runs; `false` where the API server refuses that.
    async fn mend(&self, sheet: usize, loss: Loss, view: &View) -> bool {
        let name = self.sheets.name(sheet);
        let mended = match loss {
            Loss::Absent => self.sheets.create(sheet).await,
            Loss::Broken { since, .. } if since.elapsed() < NO_SLOTS_FOR => return true,
            Loss::Broken {
                version,
                keys,
                since,
            } => {
                let now = self.clock.now();
                let settings = self.known.settings();
                let Some(data) = restored::content(sheet, &keys, since, settings, view, now) else {
                    return true;
                };
                info!(name, "Wrote down who runs: it was not to be seen there");
                self.sheets.patch(sheet, Some(&version), &data).await
            }
        };
        match mended {
            Ok(stored) => self.known.slots().learn(sheet, &stored),
            Err(error) => {
                warn!(%error, name, "Cannot make anew what says who may run");
                self.losses.count("slots", "refused", 1);
                return false;
            }
        }
        true
    }
}
