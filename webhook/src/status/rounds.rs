//! Rounds of judging: a round is one judgement that serves all pods of a workload that are alike, so these pods get the same verdict and
//! wait together.
//!
//! A round never tells a pod what another pod's rights revealed: the key of a round is the common part of its pods, which holds their
//! namespace and their workload, and the judgement reads nothing that one pod has alone.

use super::gate_report::GateReport;
use crate::event::Regarding;
use crate::known::{Known, View};
use jiff::{SignedDuration, Timestamp};
use rules::dependent::{self, Dependent};
use rules::lookup::Lookup;
use rules::verdict::{self, Found};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::time::Instant;

/// The time for which a round serves further pods: about as long as a crowd takes to ask. So findings are at most this old.
const SERVES: SignedDuration = SignedDuration::from_secs(1);

/// The digest of the common part of pods that are alike, by which their round is found. The part itself may be some kilobytes.
type Alike = [u8; 32];

/// The rounds that waiting gates share, by the common part of their pods.
#[derive(Debug)]
pub(crate) struct Rounds {
    known: Arc<Known>,
    shared: Mutex<HashMap<Alike, Weak<Round>>>,
}

/// One judgement, and the view that wakes the gates which were told of it.
#[derive(Debug)]
pub(super) struct Round {
    view: Arc<View>,
    at: Timestamp,
    /// Whether other pods of the same workload may be told this round's verdict.
    shared: bool,
    pub(super) judged: Lookup<Arc<Judged>>,
}

/// The part of a round that a waiting gate keeps: the view that wakes the gate. The judgement itself is kept only for other pods.
pub(super) struct Rest {
    view: Arc<View>,
    _for_others: Option<Arc<Round>>,
}

/// A dependent, and the findings about its dependencies.
#[derive(Debug)]
pub(super) struct Judged {
    /// The dependent. In a shared round it has only the common part of its pods.
    pub(super) dependent: Dependent,
    pub(super) found: Found,
    pub(super) above: Option<Above>,
}

/// The topmost workload above a pod, which the user wrote.
#[derive(Debug)]
pub(super) struct Above {
    pub(super) object: Regarding,
    /// The revision of the pods; `None` where it is unknown.
    pub(super) revision: Option<String>,
}

impl Rounds {
    /// Makes the table of rounds over the known objects, without a round yet.
    pub(crate) fn new(known: Arc<Known>) -> Self {
        let shared = Mutex::default();
        Self { known, shared }
    }

    /// The round for a pod: the shared round of pods like it while that serves, else a new one. `report` holds the facts that only the
    /// pod's gate can tell, so a round that takes it into account serves this pod alone.
    pub(super) fn of(&self, pod: &Value, report: &GateReport, now: Timestamp) -> Arc<Round> {
        // The boot of one node is nothing to the pods on others.
        let alike = dependent::alike(pod).filter(|_| report.rebooted.is_none());
        let shared = alike.and_then(|alike| self.shared(&alike, now));
        shared.unwrap_or_else(|| Arc::new(self.judge(pod, report, now)))
    }

    /// The round that pods alike share; `None` if the pod needs a round of its own.
    fn shared(&self, alike: &Value, now: Timestamp) -> Option<Arc<Round>> {
        let key: Alike = Sha256::digest(serde_json::to_vec(alike).ok()?).into();
        let before = self.lock().get(&key).and_then(Weak::upgrade);
        if let Some(round) = before.filter(|round| round.serves(now)) {
            return Some(round);
        }
        let mut round = self.judge(alike, &GateReport::default(), now);
        round.shared = match &round.judged {
            Lookup::Found(judged) => judged.found.of_all_alike,
            Lookup::NotFound | Lookup::Unavailable(_) => true,
        };
        if !round.shared {
            return None;
        }
        let round = Arc::new(round);
        let mut shared = self.lock();
        // Drops the rounds on which no gate waits before the table grows.
        if shared.len() == shared.capacity() {
            shared.retain(|_, round| round.strong_count() > 0);
        }
        shared.insert(key, Arc::downgrade(&round));
        Some(round)
    }

    /// The round for an object whose creation is held.
    pub(super) fn of_creation(&self, dependent: &Dependent, now: Timestamp) -> Arc<Round> {
        let view = self.known.view_of(&dependent.namespace);
        let found = verdict::find(dependent, &self.known.settings().policy, &view, now);
        let judged = Judged {
            found,
            above: None,
            dependent: dependent.clone(),
        };
        Arc::new(Round {
            view: Arc::new(view),
            at: now,
            shared: false,
            judged: Lookup::Found(Arc::new(judged)),
        })
    }

    fn judge(&self, pod: &Value, report: &GateReport, now: Timestamp) -> Round {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
        let (view, settings) = (self.known.view_of(namespace), self.known.settings());
        let resolved = Dependent::resolve(pod, &settings.workloads, &view);
        let judged = resolved.map(|mut dependent| {
            report.tell(&mut dependent);
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
    /// Whether the round may serve a gate that asks now, because the gate would get the same verdict.
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

    /// The topmost workload above the pods of the round.
    pub(super) fn above(&self) -> Option<&Above> {
        match &self.judged {
            Lookup::Found(judged) => judged.above.as_ref(),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    /// The dependent that was judged. In a shared round it has only the common part of its pods.
    pub(super) fn dependent(&self) -> Option<&Dependent> {
        match &self.judged {
            Lookup::Found(judged) => Some(&judged.dependent),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    /// Keeps only the view of the round, which is all that a waiting gate needs.
    pub(super) fn rest(self: Arc<Self>) -> Rest {
        Rest {
            view: Arc::clone(&self.view),
            _for_others: self.shared.then_some(self),
        }
    }
}

impl Rest {
    /// Returns when a finding of the round may have changed, or is no longer believed.
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
