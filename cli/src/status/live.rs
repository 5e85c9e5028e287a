//! `status -w`: the tree, shown again whenever something in it has changed, until nothing waits any more.

use super::screen::Screen;
use super::{Manner, Scene, Tree, events, listen, look, stranded_in};
use crate::installation::Basis;
use crate::reader::Reader;
use crate::watches::Watches;
use anyhow::Result;
use jiff::Timestamp;
use kube::Client;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// The number of looks at the cluster, about one a second, that may fail in a row once a pod has waited; the next failure ends the command.
/// A look fails where the API server fails, or does not find the object that was asked for: a StatefulSet makes its pod anew under its
/// former name.
const PATIENCE: usize = 20;

pub(super) async fn follow(
    client: &Client,
    mut reader: Reader,
    basis: &Basis,
    scene: &Scene,
    manner: Manner,
) -> Result<ExitCode> {
    let mut watches = Watches::new(client.clone());
    let mut screen = Screen::new(manner, Timestamp::now());
    // The UIDs of the pods that have waited: they are shown until the end, so that the user sees them start.
    let mut followed = BTreeSet::new();
    let mut words = BTreeMap::new();
    let mut troubles = BTreeMap::new();
    let mut stranded = BTreeSet::new();
    let (mut changed, mut failures) = (true, 0);
    loop {
        let now = Timestamp::now();
        let mut tree = match look(&mut reader, basis, scene, &followed, now).await {
            Ok(tree) => tree,
            Err(why) if followed.is_empty() || failures == PATIENCE => return Err(why),
            Err(_) => {
                failures += 1;
                // An answer is kept, "not found" too, until a watch tells of a change.
                changed |= watches.changes(&mut reader).await;
                continue;
            }
        };
        failures = 0;
        if changed {
            words = listen(client, &tree, manner.is_wide()).await;
            troubles = events::read(client, tree.silent()).await;
            stranded = stranded_in(client, &tree, scene).await;
        } // else only the time has gone on: no gate is asked again
        tree.learn(&troubles);
        tree.strand(&stranded);
        tree.hear(&words);
        let waiting = tree.pods().filter(|pod| pod.stage.waits());
        followed.extend(waiting.map(|pod| pod.uid.clone()));
        screen.show(&tree, now)?;
        if is_over(&tree, !followed.is_empty(), screen.is_terminal()) {
            return Ok(ExitCode::SUCCESS);
        }
        watches.cover(&reader);
        changed = watches.changes(&mut reader).await;
    }
}

/// Whether the watch ends: no pod waits and, at a terminal, a pod is there or has waited. A user at a terminal may start the watch before an
/// installation and wants to see it begin; a script wants to go on as soon as nothing waits.
fn is_over(tree: &Tree, something_waited: bool, terminal: bool) -> bool {
    let begun = something_waited || tree.pods().next().is_some();
    tree.waiting == 0 && (begun || !terminal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_waits_for_the_first_that_waits() {
        let nothing = Tree::new("namespace shop".to_owned());
        assert!(!is_over(&nothing, false, true), "nothing is there yet");
        assert!(is_over(&nothing, true, true), "what waited is gone");
        assert!(is_over(&nothing, false, false), "a script");
        let waits = Tree {
            waiting: 1,
            ..nothing
        };
        assert!(!is_over(&waits, true, false));
    }
}
