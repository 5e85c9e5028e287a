//! Who may run in each capped wave, as this replica knows it.
//!
//! Kept in one ConfigMap, which the chart makes and the controller patches on condition that nobody else has since:
//! [`rules::slots`] says why that is enough. A wave that nobody waits in costs next to nothing: its holders are struck out
//! when the next object asks for a slot, or when the watch begins again.

use super::Heard;
use super::waiters::{Subscription, Waiters};
use k8s_openapi::api::core::v1::ConfigMap;
use rules::holder::{Holder, Wave};
use rules::lookup::Unavailable;
use rules::slots::Entry;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The holders of every wave, and who waits to become one.
#[derive(Debug, Default)]
pub struct Slots {
    known: Mutex<Table>,
    waiters: Waiters<Wave>,
    pub(crate) wanted: Notify,
}

#[derive(Debug, Default)]
struct Table {
    /// The ConfigMap's `resourceVersion`; `None` until it has been read.
    version: Option<String>,
    heard: Heard,
    holders: BTreeMap<Wave, Vec<Holder>>,
}

impl Slots {
    /// The holders of a wave, and until when they are believed if nothing more is heard; `waiter` is woken when they change,
    /// and a slot is looked for.
    pub(crate) fn ask(
        &self,
        wave: &Wave,
        waiter: &Arc<Notify>,
    ) -> (Result<(Vec<Holder>, Instant), Unavailable>, Subscription) {
        let subscription = self.waiters.subscribe(wave.clone(), (), waiter);
        self.wanted.notify_one();
        (self.lock().holders(wave), subscription)
    }

    /// The API server gave a sign of the ConfigMap.
    pub(crate) fn heard(&self) {
        if self.lock().heard.note() {
            self.waiters.wake_all();
        }
    }

    /// Begins to follow the ConfigMap, whatever was known before.
    pub(crate) fn begin(&self, stored: &ConfigMap) {
        self.lock().take_over(stored, &self.waiters);
    }

    /// Takes over what the ConfigMap holds, unless something newer is known: the watch tells of a write later than the
    /// answer to it does, and of those before it too.
    pub(crate) fn learn(&self, stored: &ConfigMap) {
        let mut known = self.lock();
        if !is_older(
            stored.metadata.resource_version.as_deref(),
            known.version.as_deref(),
        ) {
            known.take_over(stored, &self.waiters);
        }
    }

    /// The waves with their holders, and the version that this is: those that somebody waits in, or all of them.
    pub(crate) fn waves(&self, all: bool) -> Option<(String, BTreeMap<Wave, Vec<Holder>>)> {
        let known = self.lock();
        let mut waves = BTreeMap::new();
        if all {
            waves.clone_from(&known.holders);
        }
        for wave in self.waiters.interests() {
            let holders = known.holders.get(&wave).cloned().unwrap_or_default();
            waves.insert(wave, holders);
        }
        Some((known.version.clone()?, waves))
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic while the lock was held leaves at worst a waiter that was not woken; it asks again within 30 s.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// The holders of a wave, and until when that is believed.
    fn holders(&self, wave: &Wave) -> Result<(Vec<Holder>, Instant), Unavailable> {
        if self.version.is_none() {
            return Err(Unavailable::Syncing);
        }
        let until = self.heard.believed_until().ok_or(Unavailable::Stale)?;
        Ok((self.holders.get(wave).cloned().unwrap_or_default(), until))
    }

    /// Wakes those whom it concerns.
    fn take_over(&mut self, stored: &ConfigMap, waiters: &Waiters<Wave>) {
        let entries = stored.data.iter().flatten();
        let read = |(_, text): (&String, &String)| serde_json::from_str::<Entry>(text).ok();
        let waves: BTreeMap<_, _> = entries
            .filter_map(read)
            .map(|entry| (entry.wave, entry.holders))
            .collect();
        // Those who were told that nobody can say have to ask again, whatever it says now.
        let unknown = self.heard.note() || self.version.is_none();
        self.version.clone_from(&stored.metadata.resource_version);
        let before = std::mem::replace(&mut self.holders, waves);
        for wave in waiters.interests() {
            if unknown || before.get(&wave) != self.holders.get(&wave) {
                waiters.wake(&wave, |()| true);
            }
        }
    }
}

/// Whether one `resourceVersion` is from before another: decimal numbers that grow (KEP-5504). Of anything else nobody
/// can say.
fn is_older(version: Option<&str>, than: Option<&str>) -> bool {
    let number = |version: Option<&str>| version?.parse::<u64>().ok();
    match (number(version), number(than)) {
        (Some(version), Some(than)) => version < than,
        _ => false,
    }
}

/// A key of a ConfigMap for a wave: short, and made of the letters that one may have, whatever a scope is called.
pub(crate) fn key(wave: &Wave) -> String {
    let text = serde_json::to_vec(wave).unwrap_or_default();
    let digest = Sha256::digest(text);
    let half = digest.iter().take(16);
    let number = half.fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    format!("{}.{number:032x}", wave.scope.namespace)
}

/// The value for a wave's key; `None`, which takes the key away, where nobody holds a slot.
pub(crate) fn value(wave: &Wave, holders: &[Holder]) -> serde_json::Result<Option<String>> {
    if holders.is_empty() {
        return Ok(None);
    }
    let entry = Entry {
        wave: wave.clone(),
        holders: holders.to_vec(),
    };
    serde_json::to_string(&entry).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use rules::scope::Scope;

    fn wave() -> Wave {
        let scope = Scope {
            namespace: "shop".to_owned(),
            name: "r".to_owned(),
            kept_in: None,
        };
        Wave { scope, weight: 0 }
    }

    fn holder(name: &str) -> Holder {
        Holder {
            group: "batch".to_owned(),
            kind: "Job".to_owned(),
            name: name.to_owned(),
            uid: name.to_owned(),
            revision: name.to_owned(),
            pods_of: name.to_owned(),
            most: 2,
        }
    }

    fn stored(version: &str, holders: &[Holder]) -> ConfigMap {
        let value = value(&wave(), holders)
            .unwrap()
            .map(|text| (key(&wave()), text));
        ConfigMap {
            metadata: ObjectMeta {
                resource_version: Some(version.to_owned()),
                ..ObjectMeta::default()
            },
            data: Some(value.into_iter().collect()),
            ..ConfigMap::default()
        }
    }

    #[test]
    fn what_the_watch_tells_late_changes_nothing() {
        let (slots, notify) = (Slots::default(), Arc::new(Notify::new()));
        let (_, _subscription) = slots.ask(&wave(), &notify);
        let ask = || slots.ask(&wave(), &notify).0.ok().map(|it| it.0);
        let woken = || notify.notified().now_or_never().is_some();
        assert_eq!(ask(), None);
        let (one, both) = ([holder("a")], [holder("a"), holder("b")]);
        slots.begin(&stored("99", &one));
        assert!(woken());
        slots.learn(&stored("101", &both));
        assert_eq!(ask(), Some(both.to_vec()));
        assert!(woken());
        slots.learn(&stored("100", &one));
        assert_eq!(ask(), Some(both.to_vec()));
        assert!(!woken());
        let other = Slots::default();
        other.begin(&stored("1", &one));
        let waves = |all| other.waves(all).map(|(_, waves)| waves.len());
        assert_eq!((waves(false), waves(true)), (Some(0), Some(1)));
        // What is followed anew may be an etcd that was restored.
        slots.begin(&stored("7", &one));
        assert_eq!(ask(), Some(one.to_vec()));
        assert!(woken());
    }
}
