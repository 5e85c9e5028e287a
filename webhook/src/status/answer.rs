//! The decision: from the pod that asks to the answer that its gate gets. Reads the cluster through a view, does no I/O.

use super::Identity;
use crate::digest::short;
use crate::event::Regarding;
use crate::known::{Settings, View};
use jiff::Timestamp;
use rules::dependent::{self, Dependent};
use rules::lookup::{Lookup, Unavailable};
use rules::verdict::{self, Decided, Ground, Ruling};
use wire::Answer;

/// What came of one question, and the workload above the pod that asked.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) outcome: Outcome,
    pub(super) above: Option<Regarding>,
}

impl From<Outcome> for Answered {
    fn from(outcome: Outcome) -> Self {
        let above = None;
        Self { outcome, above }
    }
}

/// What came of one question.
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
    /// Its timeout has passed.
    pub(super) late: bool,
    /// When time alone may change it, at the earliest: its timeout has passed, or what is old has stood for a moment.
    pub(super) again: Option<Timestamp>,
}

/// Why a gate opens.
#[derive(Debug)]
pub(super) enum Opened {
    /// Its dependencies let it, and so they do for every pod of this dependent's revision.
    Satisfied(Box<Dependent>),
    /// A pod of its revision has passed before.
    Passed,
    /// Something cut the wait short. It says nothing about the revision.
    Cut(Cut),
}

/// What ends a wait that the dependencies would not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// `sluice.dev/skip`
    Skip,
    /// `sluice.dev/timeout`
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
}

/// Decides for the pod that `identity` names; `patient` as in [`verdict::decide`].
pub(super) fn answer(
    identity: &Identity,
    settings: &Settings,
    view: &View,
    now: Timestamp,
    patient: bool,
) -> Answered {
    // Read first: who has read nothing is not woken when what is silent is heard again.
    let pod = view.gated_pod(&identity.namespace, &identity.pod);
    if let Some(what) = view.silent() {
        return outcome(verdict::unread(what, Unavailable::Stale), None).into();
    }
    let pod = match pod {
        Lookup::Found(pod) if pod["metadata"]["uid"] == identity.uid.as_str() => pod,
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
    if dependent::is_skipped(&pod) {
        return outcome(verdict::skipped("the pod"), None).into();
    }
    let dependent = match Dependent::resolve(&pod, &settings.workloads, view) {
        Lookup::Found(dependent) => dependent,
        Lookup::NotFound => {
            return outcome(verdict::awaiting("sluice to see the pod's owner"), None).into();
        }
        Lookup::Unavailable(why) => {
            return outcome(verdict::unread("the pod's owner", why), None).into();
        }
    };
    let above = above(&dependent);
    let decided = verdict::decide(&dependent, &settings.policy, view, now, patient);
    let outcome = outcome(decided, Some(dependent));
    Answered { outcome, above }
}

/// What the user wrote, where that is not the pod itself.
fn above(dependent: &Dependent) -> Option<Regarding> {
    let owner = dependent.owners.last()?;
    Some(Regarding {
        api_version: owner.kind.api_version(),
        kind: owner.kind.word().to_owned(),
        namespace: dependent.namespace.clone(),
        name: owner.name.clone(),
        uid: Some(owner.uid.clone()),
    })
}

/// What it comes to for the one who asks.
fn outcome(decided: Decided, dependent: Option<Dependent>) -> Outcome {
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
    match (ground, dependent) {
        (Ground::Skipped, _) => Outcome::Open(answer, Opened::Cut(Cut::Skip)),
        (Ground::Satisfied, Some(dependent)) => {
            Outcome::Open(answer, Opened::Satisfied(Box::new(dependent)))
        }
        (Ground::Passed | Ground::Satisfied, _) => Outcome::Open(answer, Opened::Passed),
        (Ground::Ruled(Ruling::Proceed(_)), _) => Outcome::Open(answer, Opened::Cut(Cut::Timeout)),
        (Ground::Ruled(Ruling::TimedOut(_)), _) => Outcome::Refuse(answer, Cut::Timeout),
        (Ground::Ruled(Ruling::DependencyFailed(_)), _) => Outcome::Refuse(answer, Cut::Failure),
        (Ground::Ruled(Ruling::Late(_)), _) => wait(answer, true),
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
