//! The decision about a lost ConfigMap of the slots: its new content.

use super::claims::{Unclear, running};
use crate::known::slots::{WHOLE, key, value};
use crate::known::{Settings, View};
use jiff::Timestamp;
use rules::lookup::Lookup;
use rules::shards;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The longest wait for a running pod whose dependent cannot be resolved.
const PATIENCE: Duration = Duration::from_mins(5);

/// The changes that make a ConfigMap with these `keys` whole: they remove the keys and write the running objects of each wave, by their pods.
/// `None` while the gated pods are unknown, or, until [`PATIENCE`] after `since`, the dependent of a running pod cannot be resolved; later such a
/// pod is left out. An object that has got a slot and has not begun asks for the slot again.
pub(super) fn content(
    shard: usize,
    keys: &[String],
    since: Instant,
    settings: &Settings,
    view: &View,
    now: Timestamp,
) -> Option<BTreeMap<String, Option<String>>> {
    let Lookup::Found(mut pods) = view.gated_pods(None) else {
        return None;
    };
    pods.retain(|pod| {
        let namespace = pod["metadata"]["namespace"].as_str();
        shards::of(namespace.unwrap_or_default()) == shard
    });
    let mut waves = BTreeMap::<_, Vec<_>>::new();
    for pod in &pods {
        match running(pod, settings, view, now) {
            Err(Unclear) if since.elapsed() < PATIENCE => return None,
            Err(Unclear) | Ok(None) => {}
            Ok(Some(claim)) => {
                let holders = waves.entry(claim.wave).or_default();
                if !claim.holder.is_among(holders) {
                    holders.push(claim.holder);
                }
            }
        }
    }
    let mut data: BTreeMap<_, _> = keys.iter().map(|key| (key.clone(), None)).collect();
    data.insert(WHOLE.to_owned(), Some(now.to_string()));
    for (wave, holders) in waves {
        data.insert(key(&wave), value(&wave, &holders).ok()?);
    }
    Some(data)
}
