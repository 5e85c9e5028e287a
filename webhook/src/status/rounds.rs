//! Rounds of judging. What is found for one pod is found for all that are alike, so they are judged at once and wait together.
//!
//! Nothing is told to a pod that was found by another one's rights: a round is found by what the alike have in common, their
//! namespace and their workload among it, and what is a pod's own is not there to be read.

use crate::event::Regarding;
use crate::known::{Known, View};
use jiff::{SignedDuration, Timestamp};
use rules::dependent::{self, Dependent};
use rules::lookup::Lookup;
use rules::probed::Probed;
use rules::verdict::{self, Found};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::time::Instant;

/// So long a round serves those who are alike: as long as a crowd takes. What rests on the time is no older then.
const SERVES: SignedDuration = SignedDuration::from_secs(1);

/// A digest of what pods have in common, which alone may be some kilobytes.
type Alike = [u8; 32];

/// The rounds that waiting gates share, by the common part of their pods.
#[derive(Debug)]
pub(crate) struct Rounds {
    known: Arc<Known>,
    shared: Mutex<HashMap<Alike, Weak<Round>>>,
}

/// What was found at a moment, and what wakes those who were told.
#[derive(Debug)]
pub(super) struct Round {
    view: Arc<View>,
    at: Timestamp,
    /// Whether other pods of the same workload may be told this round's verdict.
    shared: bool,
    pub(super) judged: Lookup<Arc<Judged>>,
}

/// What is kept of a round while a gate waits. What was found is kept for others alone.
pub(super) struct Rest {
    view: Arc<View>,
    _for_others: Option<Arc<Round>>,
}

/// A dependent, and the verdict on its dependencies.
#[derive(Debug)]
pub(super) struct Judged {
    /// In a round that is shared it has nothing of a pod's own.
    pub(super) dependent: Dependent,
    pub(super) found: Found,
    pub(super) above: Option<Above>,
}

/// What the user wrote, where that is not the pod itself.
#[derive(Debug)]
pub(super) struct Above {
    pub(super) object: Regarding,
    /// The revision of the object that waits; `None` where it is unknown.
    pub(super) revision: Option<String>,
}

impl Rounds {
    /// Makes the table of rounds over the known objects, without a round yet.
    pub(crate) fn new(known: Arc<Known>) -> Self {
        let shared = Mutex::default();
        Self { known, shared }
    }

    /// A round for a pod: that of one like it, while it serves. The outcomes that its gate has `probed` are the pod's own.
    pub(super) fn of(&self, pod: &Value, probed: &Probed, now: Timestamp) -> Arc<Round> {
        let shared = dependent::alike(pod).and_then(|alike| self.shared(&alike, now));
        shared.unwrap_or_else(|| Arc::new(self.judge(pod, probed, now)))
    }

    /// The round that pods alike share; `None` if the pod needs a round of its own.
    fn shared(&self, alike: &Value, now: Timestamp) -> Option<Arc<Round>> {
        let key: Alike = Sha256::digest(serde_json::to_vec(alike).ok()?).into();
        let before = self.lock().get(&key).and_then(Weak::upgrade);
        if let Some(round) = before.filter(|round| round.serves(now)) {
            return Some(round);
        }
        let mut round = self.judge(alike, &Probed::Unheard, now);
        round.shared = match &round.judged {
            Lookup::Found(judged) => judged.found.of_all_alike,
            Lookup::NotFound | Lookup::Unavailable(_) => true,
        };
        if !round.shared {
            return None;
        }
        let round = Arc::new(round);
        let mut shared = self.lock();
        // Before it grows, those go that nobody waits on.
        if shared.len() == shared.capacity() {
            shared.retain(|_, round| round.strong_count() > 0);
        }
        shared.insert(key, Arc::downgrade(&round));
        Some(round)
    }

    fn judge(&self, pod: &Value, probed: &Probed, now: Timestamp) -> Round {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
        let (view, settings) = (self.known.view_of(namespace), self.known.settings());
        let resolved = Dependent::resolve(pod, &settings.workloads, &view);
        let judged = resolved.map(|mut dependent| {
            dependent.probed = probed.clone();
            Arc::new(Judged {
                found: verdict::find(&dependent, &settings.policy, &view, now),
                above: above(&dependent),
                dependent,
            })
        });
        Round {
            view: Arc::new(view),
            at: now,
            shared: false,
            judged,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Alike, Weak<Round>>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    /// Whether a gate that asks now would be told the same.
    fn serves(&self, now: Timestamp) -> bool {
        let again = match &self.judged {
            Lookup::Found(judged) => judged.found.again(),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        };
        let believed = self.view.believed_until();
        !self.view.has_changed()
            && (self.at..self.at + SERVES).contains(&now)
            && again.is_none_or(|again| now < again)
            && believed.is_none_or(|until| Instant::now() < until)
    }

    /// The workload above the pods that it is for.
    pub(super) fn above(&self) -> Option<&Above> {
        match &self.judged {
            Lookup::Found(judged) => judged.above.as_ref(),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    /// The dependent that was judged; in a shared round without what is one pod's own.
    pub(super) fn dependent(&self) -> Option<&Dependent> {
        match &self.judged {
            Lookup::Found(judged) => Some(&judged.dependent),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    /// What is kept of it while a gate waits.
    pub(super) fn rest(self: Arc<Self>) -> Rest {
        Rest {
            view: Arc::clone(&self.view),
            _for_others: self.shared.then_some(self),
        }
    }
}

impl Rest {
    /// Returns when something that was found may have changed, or is no longer believed.
    pub(super) async fn over(&self) {
        tokio::select! {
            biased;
            () = self.view.changed_for_each() => {}
            () = self.view.doubted() => {}
        }
    }
}

fn above(dependent: &Dependent) -> Option<Above> {
    let owner = dependent.owners.last()?;
    let object = Regarding {
        api_version: owner.kind.api_version(),
        kind: owner.kind.word().to_owned(),
        namespace: dependent.namespace.clone(),
        name: owner.name.clone(),
        uid: Some(owner.uid.clone()),
    };
    let revision = dependent.revision();
    Some(Above { object, revision })
}

#[cfg(test)]
mod tests;
