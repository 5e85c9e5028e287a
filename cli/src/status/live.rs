//! `status -w`: the tree, shown again whenever something in it has changed, until nothing waits any more.

use super::screen::Screen;
use super::{Manner, Scene, Tree, hear, look};
use crate::installation::Basis;
use crate::reader::Reader;
use crate::watches::Watches;
use anyhow::Result;
use jiff::Timestamp;
use kube::Client;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Duration;

/// An API server that hiccups is asked again so often, with this pause between.
const PATIENCE: usize = 10;
const PAUSE: Duration = Duration::from_secs(2);

pub(super) async fn follow(
    client: &Client,
    mut reader: Reader,
    basis: &Basis,
    scene: &Scene,
    manner: Manner,
) -> Result<ExitCode> {
    let mut watches = Watches::new(client.clone());
    let mut screen = Screen::new(manner, Timestamp::now());
    // Those that waited are shown until the end, to see them start.
    let mut followed = BTreeSet::new();
    let mut words: BTreeMap<String, Option<String>> = BTreeMap::new();
    let (mut changed, mut failures) = (true, 0);
    loop {
        let now = Timestamp::now();
        let mut tree = match look(&mut reader, basis, scene, &followed, now).await {
            Ok(tree) => tree,
            Err(why) if followed.is_empty() || failures == PATIENCE => return Err(why),
            Err(_) => {
                failures += 1;
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        failures = 0;
        if changed {
            hear(client, &mut tree, manner.is_wide()).await;
            words = tree
                .pods()
                .map(|it| (it.uid.clone(), it.gate.clone()))
                .collect();
        } else {
            recall(&mut tree, &words);
        }
        let waiting = tree.pods().filter(|pod| pod.stage.waits());
        followed.extend(waiting.map(|pod| pod.uid.clone()));
        screen.show(&tree, now)?;
        if tree.waiting == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        watches.cover(&reader);
        changed = watches.changes(&mut reader).await;
    }
}

/// Only the time has gone on: no gate is asked again.
fn recall(tree: &mut Tree, words: &BTreeMap<String, Option<String>>) {
    for pod in tree.pods_mut() {
        pod.gate = words.get(&pod.uid).cloned().flatten();
    }
}
