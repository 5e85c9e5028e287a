//! A fault of the replicas' clock, which is set wrong.

use crate::trial::{Admission, Broken, Trial};
use harness::cluster::sluice;
use std::time::Duration;
use tokio::time::sleep;

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::of(
        "the clock is wrong by +10 s, +2 h, -2 h",
        Admission::Open,
        |_| Box::pin(wrong()),
    )]
}

async fn wrong() -> Broken {
    const OFFSETS: [i64; 3] = [10, 7200, -7200];
    for offset in OFFSETS {
        let argument = format!("--clock-offset={offset}");
        sluice::with_argument(&argument, async || sleep(Duration::from_secs(5)).await).await;
    }
    Broken::times(OFFSETS.len())
}
