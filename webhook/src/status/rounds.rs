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

/// The time for which a round serves further pods: about as long as a crowd of gates takes to ask. So findings are at most this old.
const SERVES: SignedDuration = SignedDuration::from_secs(1);

/// The digest of the common part of pods that are alike, by which their round is found. The part itself may be some kilobytes.
type Alike = [u8; 32];

/// The rounds that serve several pods, each by the digest of the common part of its pods. A round is dropped with the last gate that waits on it.
#[derive(Debug)]
pub(crate) struct Rounds {
    known: Arc<Known>,
    shared: Mutex<HashMap<Alike, Weak<Round>>>,
}

/// One judgement of a pod or of all pods like it, and the view that wakes the gates which were told of it.
#[derive(Debug)]
pub(super) struct Round {
    view: Arc<View>,
    at: Timestamp,
    /// Whether the round serves further pods of the workload that are alike.
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
    /// The revision (version of the pod template) of the pods; `None` where it is unknown.
    pub(super) revision: Option<String>,
}

impl Rounds {
    /// Makes the table of rounds over the known objects, without a round yet.
    pub(crate) fn new(known: Arc<Known>) -> Self {
        let shared = Mutex::default();
        Self { known, shared }
    }

    /// The round for a pod: the shared round of pods like it while that serves, else a new one. `report` holds the facts that only the pod's gate
    /// can tell; where it tells of a boot of the node, the round serves this pod alone.
    pub(super) fn of(&self, pod: &Value, report: &GateReport, now: Timestamp) -> Arc<Round> {
        // The boot of one node is nothing to the pods on others.
        let alike = dependent::alike(pod).filter(|_| report.rebooted.is_none());
        let shared = alike.and_then(|alike| self.shared(&alike, now));
        shared.unwrap_or_else(|| Arc::new(self.judge(pod, report, now)))
    }

    /// The round that all pods with the common part `alike` share, made anew where the last one serves no more; `None` if each of the pods needs a
    /// round of its own.
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

    /// A new round for an object whose creation is held, which serves that object alone.
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
    /// Whether the round may serve a gate that asks now: it is less than [`SERVES`] old, and nothing that it has read has changed, is due, or is no
    /// longer believed.
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

    /// The topmost workload above the pods of the round; `None` where there is none, or where it cannot be read.
    pub(super) fn above(&self) -> Option<&Above> {
        match &self.judged {
            Lookup::Found(judged) => judged.above.as_ref(),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    /// The dependent that was judged; `None` where the pod's owner could not be read. In a shared round it has only the common part of its pods.
    pub(super) fn dependent(&self) -> Option<&Dependent> {
        match &self.judged {
            Lookup::Found(judged) => Some(&judged.dependent),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    /// Keeps the view of the round, which is all that a waiting gate needs; and, if the round is shared, the round for other pods.
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
