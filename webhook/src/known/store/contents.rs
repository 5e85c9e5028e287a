//! What a store holds, and who hears of a change of it.

use super::snapshot::{Key, Snapshot};
use super::{Freshness, Interest};
use crate::known::heard::Heard;
use crate::known::lookers::Lookers;
use crate::known::scopes::Scopes;
use crate::known::waiters::{Fingerprint, Waiters, Woken};
use rules::selector::Selector;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use tracing::warn;

#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) condition: Freshness,
    pub(super) heard: Heard,
    /// Since when the API server answers with nothing but refusals, and what the last one comes to.
    pub(super) refused: Option<(Instant, Freshness)>,
    pub(super) objects: BTreeMap<Key, Snapshot>,
    /// How many of them are too large to be read.
    pub(super) too_large: usize,
    told: Told,
    pub(super) scopes: Scopes,
    /// The selector narrows a list down.
    pub(super) waiters: Waiters<Fingerprint, Selector>,
    /// Who looks over all kinds, where this is one of those.
    pub(super) lookers: Option<Lookers>,
    /// Whether they are concerned even while it cannot be read: it is built in, or granted.
    pub(super) counts: bool,
}

/// How many objects the log names in each stretch of time: tenants make them, and change them as often as they like.
#[derive(Debug, Default)]
struct Told {
    since: Option<Instant>,
    times: u32,
}

impl Told {
    const STRETCH: Duration = Duration::from_mins(1);
    const MOST: u32 = 20;

    fn may_tell(&mut self) -> bool {
        let now = Instant::now();
        if self.since.is_none_or(|since| now - since >= Self::STRETCH) {
            (self.since, self.times) = (Some(now), 0);
        }
        self.times += 1;
        self.times <= Self::MOST
    }
}

impl Contents {
    pub(super) fn forget(&mut self, why: Freshness, woken: &mut Woken) {
        self.find_all(woken);
        self.objects.clear();
        self.too_large = 0;
        self.scopes.clear();
        self.condition = why;
    }

    pub(super) fn insert(&mut self, key: &Key, snapshot: Snapshot, woken: &mut Woken) {
        if self.objects.get(key) == Some(&snapshot) {
            return; // most writes change nothing that a rule reads
        }
        let before = self.objects.remove(key);
        self.count(key, before.as_ref(), Some(&snapshot));
        let left = before.as_ref().and_then(|before| before.place.as_deref());
        match (&snapshot.place, left) {
            (Some(place), left) => self.scopes.insert(place, left),
            (None, Some(left)) => self.scopes.remove(left),
            (None, None) => {}
        }
        self.find(key, &snapshot, woken);
        if let Some(before) = before.filter(|before| before.differs_in_place(&snapshot)) {
            self.find(key, &before, woken);
        }
        self.objects.insert(key.clone(), snapshot);
    }

    pub(super) fn remove(&mut self, key: &Key, woken: &mut Woken) {
        if let Some(before) = self.objects.remove(key) {
            self.count(key, Some(&before), None);
            if let Some(place) = &before.place {
                self.scopes.remove(place);
            }
            self.find(key, &before, woken);
        }
    }

    /// Counts the objects that are too large, and names each in the log as it comes to be.
    fn count(&mut self, key: &Key, before: Option<&Snapshot>, now: Option<&Snapshot>) {
        match [before, now].map(|it| it.is_some_and(|it| it.too_large)) {
            [true, false] => self.too_large = self.too_large.saturating_sub(1),
            [false, true] => {
                self.too_large += 1;
                if self.told.may_tell() {
                    let (namespace, name) = (&*key.0, &*key.1);
                    warn!(
                        namespace,
                        name,
                        "An object is longer than 8 MiB as JSON: sluice reads its metadata alone, and whatever depends on it waits. Make it smaller"
                    );
                }
            }
            _ => {}
        }
    }

    /// Adds who waits for anything here. Of what cannot be read they hear elsewhere who look over all kinds: anybody may name a custom
    /// kind that there is not.
    pub(super) fn find_all(&self, woken: &mut Woken) {
        self.waiters.find_all(woken);
        let concerned = self.counts || self.condition == Freshness::Live;
        if let Some(lookers) = self.lookers.as_ref().filter(|_| concerned) {
            lookers.find_all(woken);
        }
    }

    /// Adds who waits for an object like this one.
    fn find(&self, key: &Key, snapshot: &Snapshot, woken: &mut Woken) {
        if let (Some(lookers), Some(place)) = (&self.lookers, &snapshot.place) {
            lookers.find(&key.0, place, woken);
        }
        if self.waiters.is_empty() {
            return;
        }
        let selects = |selector: &Selector| selector.matches(|key| snapshot.labels.get(key));
        let mut find = |interest: Interest<'_>| {
            let interest = self.waiters.fingerprint(interest);
            self.waiters.find(&interest, selects, woken);
        };
        find(Interest::Object(&key.0, &key.1));
        for namespace in [None, Some(&*key.0)] {
            let labels = snapshot.labels.iter().map(Some).chain([None]);
            for label in labels {
                find(Interest::List { namespace, label });
            }
        }
    }
}
