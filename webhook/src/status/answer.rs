//! The decision: from the pod that asks to the answer that its gate gets. Reads the cluster through a view, does no I/O.

use super::rounds::{Judged, Round, Rounds};
use super::wait_registry::Waiter;
use crate::digest::short;
use crate::known::View;
use jiff::Timestamp;
use rules::annotation;
use rules::dependent;
use rules::gate;
use rules::lookup::{Lookup, Unavailable};
use rules::probed::Probed;
use rules::verdict::{self, Decided, Ground, Ruling};
use serde_json::Value;
use std::sync::Arc;
use wire::Answer;

/// What came of one question.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) outcome: Outcome,
    /// When the pod was started, where that is known.
    pub(super) started: Option<Timestamp>,
    /// Whether it has waited before its gate asked.
    pub(super) was_held: bool,
    /// What it rests on, beside the pod itself.
    pub(super) round: Option<Arc<Round>>,
}

impl From<Outcome> for Answered {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            started: None,
            was_held: false,
            round: None,
        }
    }
}

/// What its gate is told.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The answer: wait.
    Wait(Waiting),
    /// The answer: open.
    Open(Answer, Opened),
    /// The answer: refuse, and on whose account.
    Refuse(Answer, Cut),
    /// The pod of that name is another one now.
    AnotherPod,
}

/// A gate that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) answer: Answer,
    /// It says no more than that something is still being read; a better answer is moments away.
    pub(super) provisional: bool,
    /// Its timeout has passed, or that of an entry.
    pub(super) late: bool,
    /// When time alone may change it, at the earliest: its timeout has passed, or what is old has stood for a moment.
    pub(super) again: Option<Timestamp>,
}

/// Why a gate opens.
#[derive(Debug)]
pub(super) enum Opened {
    /// Its dependencies let it, and so they do for every pod of this dependent's revision.
    Satisfied(Arc<Judged>),
    /// They let it, and one of them by not being there, which may be otherwise for the next pod.
    Absent,
    /// A pod of its revision has passed before.
    Passed,
    /// Nothing says what it waits for, though it is marked for a gate.
    Unlisted,
    /// Something cut the wait short. It says nothing about the revision.
    Cut(Cut),
}

impl Opened {
    /// How the wait ended, for metrics, conditions and the log.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Self::Satisfied(_) | Self::Absent | Self::Unlisted => "Satisfied",
            Self::Passed => "Passed",
            Self::Cut(Cut::Skip) => "Skipped",
            Self::Cut(Cut::Timeout | Cut::Failure) => "Proceeded",
        }
    }
}

/// What ends a wait that the dependencies would not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// `sluice.dev/skip`
    Skip,
    /// `sluice.dev/timeout`, or the timeout of an entry.
    Timeout,
    /// `sluice.dev/on-failure`
    Failure,
}

impl Cut {
    /// The word for metrics.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Timeout => "timeout",
            Self::Failure => "failure",
        }
    }

    /// How a wait ended that it refused, for the same.
    pub(super) fn refusal(self) -> &'static str {
        match self {
            Self::Skip => "Skipped",
            Self::Timeout => "TimedOut",
            Self::Failure => "DependencyFailed",
        }
    }
}

/// Decides for the pod `waiter`, which is read through `view`, by the outcomes that its gate has `probed`; `patient` as in
/// [`verdict::decide`].
pub(super) fn answer(
    waiter: &Waiter,
    rounds: &Rounds,
    view: &View,
    probed: &Probed,
    now: Timestamp,
    patient: bool,
) -> Answered {
    // Read first: who has read nothing is not woken when what is silent is heard again.
    let pod = view.gated_pod(&waiter.namespace, &waiter.name);
    if let Some(what) = view.silent() {
        return outcome(verdict::unread(what, Unavailable::Stale), None).into();
    }
    let pod = match pod {
        Lookup::Found(pod) if pod["metadata"]["uid"] == waiter.uid.as_str() => pod,
        Lookup::Found(_) => return Outcome::AnotherPod.into(),
        Lookup::NotFound => {
            let note =
                "sluice to see this pod, which must carry the label sluice.dev/gated: \"true\"";
            return outcome(verdict::awaiting(note), None).into();
        }
        Lookup::Unavailable(why) => {
            return outcome(verdict::unread("the gated pods", why), None).into();
        }
    };
    // Its gate runs, so this is of before: and of a pod that is held, not everything is judged.
    if gate::is_held(&pod) && !dependent::is_skipped(&pod) {
        return outcome(
            verdict::awaiting("sluice to see that the pod was let go"),
            None,
        )
        .into();
    }
    answer_of(&pod, rounds, probed, now, patient)
}

/// The same for a pod that was read, or that is yet to be made.
pub(super) fn answer_of(
    pod: &Value,
    rounds: &Rounds,
    probed: &Probed,
    now: Timestamp,
    patient: bool,
) -> Answered {
    if dependent::is_skipped(pod) {
        return outcome(verdict::skipped("the pod"), None).into();
    }
    let round = rounds.of(pod, probed, now);
    let started = match &round.judged {
        Lookup::Found(judged) => judged.dependent.wait_began(pod),
        Lookup::NotFound | Lookup::Unavailable(_) => dependent::started(pod),
    };
    let ownerless = |decided| outcome(on_its_own_terms(decided, pod, started, now, patient), None);
    let outcome = match &round.judged {
        Lookup::Found(judged) => {
            let decided = judged.found.decided(started, now, patient);
            outcome(decided, Some(judged))
        }
        Lookup::NotFound => ownerless(verdict::awaiting("sluice to see the pod's owner")),
        Lookup::Unavailable(why) => ownerless(verdict::unread("the pod's owner", *why)),
    };
    Answered {
        outcome,
        started,
        was_held: gate::comes_of_a_hold(pod),
        round: Some(round),
    }
}

/// What becomes of a pod whose owner nobody can read. What it waits for is not known, but the terms of the wait are that stand on the
/// pod itself: they count before its owner's.
fn on_its_own_terms(
    decided: Decided,
    pod: &Value,
    started: Option<Timestamp>,
    now: Timestamp,
    patient: bool,
) -> Decided {
    if patient && decided.provisional {
        return decided;
    }
    let annotations = pod["metadata"]["annotations"].as_object();
    let terms = annotations.map(|it| annotation::terms(it).terms);
    let terms = terms.unwrap_or_default();
    let again = terms.deadline(started).filter(|deadline| now < *deadline);
    match verdict::rule(&terms, started, &[], &[], now) {
        Ruling::Wait => Decided { again, ..decided },
        ruling => Decided {
            answer: ruling.over(decided.answer),
            ground: Ground::Ruled(ruling),
            again,
            ..decided
        },
    }
}

/// What it comes to for the one who asks.
pub(super) fn outcome(decided: Decided, judged: Option<&Arc<Judged>>) -> Outcome {
    let Decided {
        answer,
        ground,
        provisional,
        again,
        ..
    } = decided;
    let answer = sealed(answer);
    let wait = |answer, late| {
        Outcome::Wait(Waiting {
            answer,
            provisional,
            late,
            again,
        })
    };
    match (ground, judged) {
        (Ground::Skipped, _) => Outcome::Open(answer, Opened::Cut(Cut::Skip)),
        (Ground::Satisfied, Some(judged)) => {
            Outcome::Open(answer, Opened::Satisfied(Arc::clone(judged)))
        }
        (Ground::Absent, _) => Outcome::Open(answer, Opened::Absent),
        (Ground::Unlisted, _) => Outcome::Open(answer, Opened::Unlisted),
        (Ground::Passed | Ground::Satisfied, _) => Outcome::Open(answer, Opened::Passed),
        (Ground::Ruled(Ruling::Proceed(_) | Ruling::GivenUp), _) => {
            Outcome::Open(answer, Opened::Cut(Cut::Timeout))
        }
        (Ground::Ruled(Ruling::TimedOut(_) | Ruling::EntryTimedOut), _) => {
            Outcome::Refuse(answer, Cut::Timeout)
        }
        (Ground::Ruled(Ruling::DependencyFailed(_)), _) => Outcome::Refuse(answer, Cut::Failure),
        (Ground::Ruled(Ruling::Late(_) | Ruling::Overdue), _) => wait(answer, true),
        (Ground::Ruled(Ruling::Wait) | Ground::Unread(_), _) => wait(answer, false),
    }
}

/// Gives the answer the digest that names it.
fn sealed(mut answer: Answer) -> Answer {
    answer.digest = short(serde_json::to_vec(&answer).unwrap_or_default()).to_string();
    answer
}

#[cfg(test)]
mod tests;
