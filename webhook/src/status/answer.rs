//! The decision: from the pod that asks to the answer that its gate gets. Reads the cluster through a view, does no I/O.

use super::Identity;
use crate::digest::short;
use crate::event::Target;
use crate::known::{Settings, View};
use jiff::Timestamp;
use rules::dependent::{self, Dependent, Unknown};
use rules::judged::Reason;
use rules::keys;
use rules::lookup::{Lookup, Unavailable};
use rules::verdict::{self, Edge, Judgement, Ruling};
use wire::{Answer, Decision};

/// What came of one question, and the workload above the pod that asked.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) outcome: Outcome,
    pub(super) above: Option<Target>,
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

/// Decides for the pod that `identity` names.
///
/// `patient`: what is still being read gets its time before a timeout ends the wait. A controller that has just started
/// knows nothing yet, and to refuse for that would blame what may long be ready.
pub(super) fn answer(
    identity: &Identity,
    settings: &Settings,
    view: &View,
    now: Timestamp,
    patient: bool,
) -> Answered {
    if let Some(what) = view.silent() {
        return unread(what, Unavailable::Stale).into();
    }
    let pod = match view.gated_pod(&identity.namespace, &identity.pod) {
        Lookup::Found(pod) if pod["metadata"]["uid"] == identity.uid.as_str() => pod,
        Lookup::Found(_) => return Outcome::AnotherPod.into(),
        Lookup::NotFound => {
            let note =
                "sluice to see this pod, which must carry the label sluice.dev/gated: \"true\"";
            return provisional(note).into();
        }
        Lookup::Unavailable(why) => return unread("the gated pods", why).into(),
    };
    if dependent::is_skipped(&pod) {
        return skipped("the pod").into();
    }
    let dependent = match Dependent::resolve(&pod, &settings.workloads, view) {
        Lookup::Found(dependent) => dependent,
        Lookup::NotFound => return provisional("sluice to see the pod's owner").into(),
        Lookup::Unavailable(why) => return unread("the pod's owner", why).into(),
    };
    let above = above(&dependent);
    let outcome = match dependent.skipped_on() {
        Some(place) => skipped(&place),
        None => decide(dependent, settings, view, now, patient),
    };
    Answered { outcome, above }
}

/// What the user wrote, where that is not the pod itself.
fn above(dependent: &Dependent) -> Option<Target> {
    let owner = dependent.owners.last()?;
    Some(Target {
        api_version: owner.kind.api_version(),
        kind: owner.kind.word().to_owned(),
        namespace: dependent.namespace.clone(),
        name: owner.name.clone(),
        uid: Some(owner.uid.clone()),
    })
}

fn decide(
    dependent: Dependent,
    settings: &Settings,
    view: &View,
    now: Timestamp,
    patient: bool,
) -> Outcome {
    let terms = dependent.terms();
    let passed = view.has_passed(&dependent, &terms);
    let deadline = terms.terms.deadline(dependent.started);
    let deadline = deadline.filter(|deadline| now < *deadline);
    let listed = dependent.dependencies(settings.policy.config_depends_on, view);
    let Judgement { edges, again } = match listed {
        Ok(mut dependencies) => {
            if passed {
                dependencies.retain(|dependency| dependent.asks_again(dependency));
            }
            verdict::judge(&dependent, dependencies, &settings.policy, view, now)
        }
        Err(_) if passed => Judgement::default(),
        Err(error) => {
            let provisional = error == Unknown::Plans(Unavailable::Syncing);
            let note = match error {
                Unknown::Plans(why) => reading("the plans", why),
                Unknown::Text(error) => {
                    format!("annotations that can be read; correct them: {error}")
                }
            };
            let ruling = if patient && provisional {
                Ruling::Wait
            } else {
                verdict::rule(&terms.terms, dependent.started, &[], now)
            };
            return ruled(&ruling, bare(Decision::Wait, &note), provisional, deadline);
        }
    };
    if passed && edges.is_empty() {
        let note = "asking again: another pod of this revision has passed its gate before";
        return Outcome::Open(told(Decision::Open, note), Opened::Passed);
    }
    let answer = verdict::answer(&edges);
    if answer.verdict == Decision::Open {
        return Outcome::Open(sealed(answer), Opened::Satisfied(Box::new(dependent)));
    }
    let syncing = |edge: &Edge| edge.judged.reason == Reason::Syncing;
    let provisional = edges.iter().any(syncing);
    // A Job that is not there may be one that is remembered.
    let early = patient && (provisional || !view.memory().is_loaded());
    let ruling = if early {
        Ruling::Wait
    } else {
        verdict::rule(&terms.terms, dependent.started, &edges, now)
    };
    let again = [deadline, again].into_iter().flatten().min();
    ruled(&ruling, answer, provisional, again)
}

/// The outcome of a ruling on a wait.
fn ruled(ruling: &Ruling, answer: Answer, provisional: bool, again: Option<Timestamp>) -> Outcome {
    let answer = sealed(ruling.over(answer));
    match ruling {
        Ruling::Proceed(_) => Outcome::Open(answer, Opened::Cut(Cut::Timeout)),
        Ruling::TimedOut(_) => Outcome::Refuse(answer, Cut::Timeout),
        Ruling::DependencyFailed(_) => Outcome::Refuse(answer, Cut::Failure),
        Ruling::Wait | Ruling::Late(_) => Outcome::Wait(Waiting {
            answer,
            provisional,
            late: *ruling != Ruling::Wait,
            again,
        }),
    }
}

/// `place` is where the annotation is.
fn skipped(place: &str) -> Outcome {
    let note = format!("asking: {} is \"true\" on {place}", keys::SKIP);
    Outcome::Open(told(Decision::Open, &note), Opened::Cut(Cut::Skip))
}

/// A wait for something that will be known in a moment.
fn provisional(note: &str) -> Outcome {
    undecided(note, true)
}

/// A wait while not even the terms are known.
fn undecided(note: &str, provisional: bool) -> Outcome {
    Outcome::Wait(Waiting {
        answer: told(Decision::Wait, note),
        provisional,
        late: false,
        again: None,
    })
}

/// An answer without dependencies. The note is worded to follow "waiting for", or "open without".
fn told(verdict: Decision, note: &str) -> Answer {
    sealed(bare(verdict, note))
}

/// The same before it has its digest.
fn bare(verdict: Decision, note: &str) -> Answer {
    Answer {
        verdict,
        digest: String::new(),
        dependencies: Vec::new(),
        note: Some(note.to_owned()),
    }
}

fn unread(what: &str, why: Unavailable) -> Outcome {
    undecided(&reading(what, why), why == Unavailable::Syncing)
}

/// What is waited for while something cannot be read. Worded as [`told`] says.
fn reading(what: &str, why: Unavailable) -> String {
    match why {
        Unavailable::Syncing => format!("sluice to read {what}"),
        Unavailable::NotServed => format!("the API server to serve the kind of {what}"),
        Unavailable::Forbidden => {
            format!("the right to watch {what}: sluice's ClusterRole lacks it")
        }
        Unavailable::Stale => format!("sluice to reach the API server again, to read {what}"),
        Unavailable::Undiscovered => {
            format!("the API server to tell whether it serves the kind of {what}")
        }
    }
}

/// Gives the answer the digest that names it.
fn sealed(mut answer: Answer) -> Answer {
    answer.digest = short(serde_json::to_vec(&answer).unwrap_or_default()).to_string();
    answer
}

#[cfg(test)]
mod tests;
