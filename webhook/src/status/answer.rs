//! The verdict on one pod: from the pod that asks to the answer that its gate gets. Reads the cluster through a view (the reader for one
//! verdict), and does no I/O.

use super::gate_report::GateReport;
use super::rounds::{Round, Rounds};
use super::unidentified::Unidentified;
use super::wait_registry::Waiter;
use crate::digest::short;
use crate::known::View;
use jiff::Timestamp;
use rules::annotation;
use rules::dependent;
use rules::gate;
use rules::lookup::{Lookup, Unavailable};
use rules::verdict::Verdict;
use serde_json::Value;
use std::sync::Arc;

/// The verdict on one pod, with the facts about the pod that metrics and Events need.
#[derive(Debug)]
pub(super) struct PodVerdict {
    /// The verdict. A digest of its answer is set, and its edges are left out, since a gate is told the answer alone.
    pub(super) verdict: Verdict,
    /// The time from which the pod's wait counts, mostly its start (after a boot of its node the moment at which its gate asked anew); `None` where
    /// that is not known yet.
    pub(super) started: Option<Timestamp>,
    /// Whether the pod was held (kept from every node by a scheduling gate of sluice) before its gate asked, and its gate has not restarted since.
    pub(super) was_held: bool,
    /// The round of judging (one judgement for all pods that are alike) that the verdict comes from; `None` where the pod was not judged.
    pub(super) round: Option<Arc<Round>>,
}

impl From<Verdict> for PodVerdict {
    fn from(mut verdict: Verdict) -> Self {
        let text = serde_json::to_vec(&verdict.answer).unwrap_or_default();
        verdict.answer.digest = short(text).to_string();
        verdict.edges = Vec::new();
        Self {
            verdict,
            started: None,
            was_held: false,
            round: None,
        }
    }
}

/// Decides whether the gate of the pod `waiter` waits, opens or is refused. `report` holds the facts that only its gate can tell. `patient`: no
/// timeout ends the wait while a kind is still being read. The gate waits while the pod cannot be read, is not seen, or is still held.
///
/// # Errors
///
/// [`Unidentified::AnotherPod`]: the pod of that name has another UID now.
pub(super) fn answer(
    waiter: &Waiter,
    rounds: &Rounds,
    view: &View,
    report: &GateReport,
    now: Timestamp,
    patient: bool,
) -> Result<PodVerdict, Unidentified> {
    // Read first: a view that has read nothing is not woken when a silent watch is heard again.
    let pod = view.gated_pod(&waiter.namespace, &waiter.name);
    if let Some(what) = view.silent() {
        return Ok(Verdict::unread(what, Unavailable::Stale).into());
    }
    let pod = match pod {
        Lookup::Found(pod) if pod["metadata"]["uid"] == waiter.uid.as_str() => pod,
        Lookup::Found(_) => return Err(Unidentified::AnotherPod),
        Lookup::NotFound => {
            let note =
                "sluice to see this pod, which must carry the label sluice.dev/gated: \"true\"";
            return Ok(Verdict::awaiting(note).into());
        }
        Lookup::Unavailable(why) => return Ok(Verdict::unread("the gated pods", why).into()),
    };
    // Its gate runs, so this pod is older than its release: and of a held pod, not everything is judged.
    if gate::is_held(&pod) && !dependent::is_skipped(&pod) {
        return Ok(Verdict::awaiting("sluice to see that the pod was let go").into());
    }
    Ok(answer_of(&pod, rounds, report, now, patient))
}

/// Decides whether the gate of a pod that exists, or of one that is yet to be made, waits, opens or is refused. A pod with a skip of its own opens.
/// While the pod's owner cannot be read, only the terms on the pod itself can end the wait. `patient`: no timeout ends the wait while a kind is still
/// being read.
pub(super) fn answer_of(
    pod: &Value,
    rounds: &Rounds,
    report: &GateReport,
    now: Timestamp,
    patient: bool,
) -> PodVerdict {
    if dependent::is_skipped(pod) {
        return Verdict::skipped("the pod").into();
    }
    let round = rounds.of(pod, report, now);
    let started = match &round.judged {
        Lookup::Found(judged) => judged.dependent.wait_began(pod),
        Lookup::NotFound | Lookup::Unavailable(_) => {
            report.asked().or_else(|| dependent::started(pod))
        }
    };
    // While the owner cannot be read, its list is unknown; but the terms on the pod itself apply, and come before the owner's.
    let ownerless = |verdict: Verdict| {
        let annotations = pod["metadata"]["annotations"].as_object();
        let terms = annotations.map(|it| annotation::terms(it).terms);
        verdict.under(&terms.unwrap_or_default(), started, now, patient)
    };
    let verdict = match &round.judged {
        Lookup::Found(judged) => judged.found.decided(started, now, patient),
        Lookup::NotFound => ownerless(Verdict::awaiting("sluice to see the pod's owner")),
        Lookup::Unavailable(why) => ownerless(Verdict::unread("the pod's owner", *why)),
    };
    PodVerdict {
        started,
        was_held: gate::comes_of_a_hold(pod),
        round: Some(round),
        ..verdict.into()
    }
}

#[cfg(test)]
mod tests;
