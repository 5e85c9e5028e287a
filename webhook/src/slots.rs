//! Who may run in each capped wave, as this replica knows it.
//!
//! Kept in one ConfigMap, which the chart makes and the controller patches on condition that nobody else has since:
//! [`rules::slots`] says why that is enough. A wave that nobody waits in costs nothing: its holders are struck out when
//! the next object asks for a slot.

mod claims;
mod keeper;

pub use keeper::{Config, keep};

use k8s_openapi::api::core::v1::ConfigMap;
use rules::slots::{Holder, Wave};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The holders of every wave, and who waits to become one.
#[derive(Debug, Default)]
pub struct Slots {
    known: Mutex<Known>,
    wanted: Notify,
}

#[derive(Debug, Default)]
struct Known {
    /// The ConfigMap's `resourceVersion`; `None` until it has been read.
    version: Option<String>,
    waves: BTreeMap<Wave, Vec<Holder>>,
    waiters: HashMap<Wave, HashMap<u64, Arc<Notify>>>,
}

/// What there is to look at.
#[derive(Debug)]
struct Waiting {
    version: String,
    waves: Vec<(Wave, Vec<Holder>)>,
}

/// One entry of the ConfigMap.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    wave: Wave,
    holders: Vec<Holder>,
}

impl Slots {
    /// The holders of a wave; `waiter` is woken when they change, and a slot is looked for.
    pub(crate) fn ask(
        &self,
        wave: &Wave,
        (id, notify): (u64, &Arc<Notify>),
    ) -> Option<Vec<Holder>> {
        let mut known = self.lock();
        let waiters = known.waiters.entry(wave.clone()).or_default();
        if waiters.insert(id, Arc::clone(notify)).is_none() {
            self.wanted.notify_one();
        }
        known.version.as_ref()?;
        Some(known.waves.get(wave).cloned().unwrap_or_default())
    }

    /// The waiter is gone.
    pub(crate) fn forget(&self, wave: &Wave, id: u64) {
        let mut known = self.lock();
        if let Some(waiters) = known.waiters.get_mut(wave) {
            waiters.remove(&id);
            if waiters.is_empty() {
                known.waiters.remove(wave);
            }
        }
    }

    /// Takes over what the ConfigMap holds, and wakes those whom it concerns.
    fn learn(&self, stored: &ConfigMap) {
        let entries = stored.data.iter().flatten();
        let read = |(_, text): (&String, &String)| serde_json::from_str::<Entry>(text).ok();
        let waves: BTreeMap<_, _> = entries
            .filter_map(read)
            .map(|entry| (entry.wave, entry.holders))
            .collect();
        let known = &mut *self.lock();
        let first = known.version.is_none();
        known.version.clone_from(&stored.metadata.resource_version);
        for (wave, waiters) in &known.waiters {
            if first || known.waves.get(wave) != waves.get(wave) {
                for waiter in waiters.values() {
                    waiter.notify_one();
                }
            }
        }
        known.waves = waves;
    }

    /// The waves that somebody waits in, with their holders, and the version that this is.
    fn waiting(&self) -> Option<Waiting> {
        let known = self.lock();
        let waves = known.waiters.keys().map(|wave| {
            let holders = known.waves.get(wave).cloned().unwrap_or_default();
            (wave.clone(), holders)
        });
        Some(Waiting {
            version: known.version.clone()?,
            waves: waves.collect(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // A panic while the lock was held leaves at worst a waiter that was not woken; it asks again within 30 s.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key of a ConfigMap for a wave: short, and made of the letters that one may have, whatever a scope is called.
fn key(wave: &Wave) -> String {
    let text = serde_json::to_vec(wave).unwrap_or_default();
    let digest = Sha256::digest(text);
    let half = digest.iter().take(16);
    let number = half.fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    format!("{}.{number:032x}", wave.scope.namespace)
}

/// The value for a wave's key; `None` takes the key away.
fn value(wave: &Wave, holders: &[Holder]) -> Option<String> {
    let entry = Entry {
        wave: wave.clone(),
        holders: holders.to_vec(),
    };
    (!holders.is_empty()).then(|| serde_json::to_string(&entry).ok())?
}
