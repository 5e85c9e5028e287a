//! The whole decision on one dependent: what its gate is told, and why. Whoever wants to know asks here, the status service
//! for the gate and the command line for a reader.

use super::patience::{self, Overdue};
use super::{JudgedEdge, Judgement, Policy, Ruling};
use crate::dependency::Edge;
use crate::dependent::{Dependent, Unknown};
use crate::judged::Reason;
use crate::keys;
use crate::lookup::{Lookup, Unavailable};
use crate::terms::Terms;
use crate::world::World;
use jiff::Timestamp;
use wire::{Answer, Decision};

/// What came of a dependent.
#[derive(Debug)]
pub struct Decided {
    /// What its gate is told. It has no digest yet.
    pub answer: Answer,
    /// What was found of each edge, in the order of the answer's dependencies.
    pub edges: Vec<JudgedEdge>,
    /// Why.
    pub ground: Ground,
    /// Whether it says no more than that something is still being read; a better answer is moments away.
    pub provisional: bool,
    /// When time alone may change it, at the earliest: its timeout passes, or what is old has stood for a moment.
    pub again: Option<Timestamp>,
}

/// On what ground a dependent is told what it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ground {
    /// [`keys::SKIP`] opens it.
    Skipped,
    /// A pod of its revision has passed before, and nothing is asked again.
    Passed,
    /// Its dependencies let it start.
    Satisfied,
    /// They let it start, and one of them by not being there.
    Absent,
    /// It is marked for a gate, and no list, plan, weight or cap is found for it.
    Unlisted,
    /// It is held back, and its terms say what becomes of that.
    Ruled(Ruling),
    /// Nobody can say what it depends on, and why.
    Unread(Unavailable),
}

/// What was found of a dependent, apart from its own time: for all pods that are alike ([`crate::dependent::alike`]) the same.
#[derive(Debug, Clone)]
pub struct Found {
    terms: Terms,
    what: What,
    /// Whether it rests on nothing that is a pod's own.
    pub of_all_alike: bool,
}

#[derive(Debug, Clone)]
enum What {
    /// [`keys::SKIP`] is there.
    Skipped(String),
    /// A pod of its revision has passed before, and nothing is asked again.
    Passed,
    /// Nobody can say what it waits for.
    Unknown(Unknown),
    Judged {
        judgement: Judgement,
        /// Nobody can say yet whether a pod of its revision has passed.
        unread: bool,
    },
    /// Nothing says what it waits for, though it is marked for a gate; what the user wrote.
    Unlisted(String),
}

/// Of whom and when it is asked; `patient` as in [`decide`].
#[derive(Debug, Clone, Copy)]
struct Asked {
    started: Option<Timestamp>,
    now: Timestamp,
    patient: bool,
}

/// Decides for a dependent.
///
/// `patient`: what is still being read gets its time before a timeout ends the wait. A controller that has just started
/// knows nothing yet, and to refuse for that would blame what may long be ready.
pub fn decide(
    dependent: &Dependent,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
    patient: bool,
) -> Decided {
    find(dependent, policy, world, now).decided(dependent.started, now, patient)
}

/// Looks at everything that a dependent waits for.
pub fn find(dependent: &Dependent, policy: &Policy, world: &dyn World, now: Timestamp) -> Found {
    let terms = dependent.terms().terms;
    // Who has no owner is called by the pod's name.
    let mut of_all_alike = !dependent.owners.is_empty();
    if let Some(place) = dependent.skipped_on() {
        let what = What::Skipped(place);
        return Found {
            terms,
            what,
            of_all_alike,
        };
    }
    let before = dependent.has_passed(world);
    let passed = before == Lookup::Found(true);
    let judgement = match dependent.asked_after(passed, policy.config_depends_on, world) {
        Ok(edges) => {
            of_all_alike &= edges.iter().all(Edge::is_of_all_alike);
            Ok(super::judge(dependent, edges, policy, world, now))
        }
        Err(_) if passed => Ok(Judgement::default()),
        Err(error) => Err(error),
    };
    let what = match judgement {
        Err(error) => What::Unknown(error),
        Ok(judgement) if passed && judgement.edges.is_empty() => What::Passed,
        Ok(judgement) if judgement.edges.is_empty() && dependent.is_marked_for_nothing(world) => {
            What::Unlisted(dependent.name())
        }
        Ok(judgement) => What::Judged {
            judgement,
            unread: before == Lookup::Unavailable(Unavailable::Syncing),
        },
    };
    Found {
        terms,
        what,
        of_all_alike,
    }
}

impl Found {
    /// What becomes of a dependent that was started then; `patient` as in [`decide`].
    pub fn decided(&self, started: Option<Timestamp>, now: Timestamp, patient: bool) -> Decided {
        let asked = Asked {
            started,
            now,
            patient,
        };
        match &self.what {
            What::Skipped(place) => skipped(place),
            What::Passed => {
                let note = "asking again: another pod of this revision has passed its gate before";
                Decided::on(bare(Decision::Open, note.to_owned()), Ground::Passed)
            }
            What::Unlisted(name) => {
                Decided::on(bare(Decision::Open, unlisted(name)), Ground::Unlisted)
            }
            What::Unknown(error) => self.unknown(error, asked),
            What::Judged { judgement, unread } => self.judged(judgement, *unread, asked),
        }
    }

    fn unknown(&self, error: &Unknown, asked: Asked) -> Decided {
        let provisional = *error == Unknown::Plans(Unavailable::Syncing);
        let ruling = self.ruling(asked, provisional, &[], &[]);
        let answer = ruling.over(bare(Decision::Wait, nothing_known(error)));
        Decided {
            provisional,
            again: self.deadline(asked),
            ..Decided::on(answer, Ground::Ruled(ruling))
        }
    }

    fn judged(&self, judgement: &Judgement, unread: bool, asked: Asked) -> Decided {
        let Asked { started, now, .. } = asked;
        let mut edges = judgement.edges.clone();
        let syncing = |edge: &JudgedEdge| edge.judged.reason == Reason::Syncing;
        let provisional = judgement.reading || edges.iter().any(syncing);
        let next = patience::next(&edges, started, now);
        let again = [self.deadline(asked), judgement.again, next];
        let unread = unread || provisional;
        let overdue = if asked.patient && unread {
            Vec::new()
        } else {
            patience::expire(&mut edges, started, now)
        };
        let is_absent = |edge: &JudgedEdge| edge.judged.reason == Reason::OptionalNotFound;
        let ground = if edges.iter().any(is_absent) {
            Ground::Absent
        } else {
            Ground::Satisfied
        };
        let mut decided = Decided {
            provisional,
            again: again.into_iter().flatten().min(),
            ..Decided::on(super::answer(&edges), ground)
        };
        let ruling = match decided.answer.verdict {
            Decision::Open if overdue.is_empty() => None,
            Decision::Open => Some(Ruling::GivenUp),
            Decision::Wait | Decision::Refuse => Some(self.ruling(asked, unread, &edges, &overdue)),
        };
        if let Some(ruling) = ruling {
            decided.answer.note = told(&overdue, &ruling);
            decided.answer = ruling.over(decided.answer);
            decided.ground = Ground::Ruled(ruling);
        }
        if decided.answer.verdict == Decision::Wait {
            decided.answer.probes.clone_from(&judgement.probes);
        }
        Decided { edges, ..decided }
    }

    fn ruling(
        &self,
        asked: Asked,
        unread: bool,
        edges: &[JudgedEdge],
        overdue: &[Overdue],
    ) -> Ruling {
        if asked.patient && unread {
            Ruling::Wait
        } else {
            super::rule(&self.terms, asked.started, edges, overdue, asked.now)
        }
    }

    /// When the whole wait has lasted for too long, where that is still to come.
    fn deadline(&self, asked: Asked) -> Option<Timestamp> {
        let deadline = self.terms.deadline(asked.started);
        deadline.filter(|deadline| asked.now < *deadline)
    }

    /// When time alone may change what was found, at the earliest.
    pub fn again(&self) -> Option<Timestamp> {
        match &self.what {
            What::Judged { judgement, .. } => judgement.again,
            What::Skipped(_) | What::Passed | What::Unlisted(_) | What::Unknown(_) => None,
        }
    }
}

/// What a gate is told where the glass is broken; `place` is where the annotation is.
pub fn skipped(place: &str) -> Decided {
    let note = format!("asking: {} is \"true\" on {place}", keys::SKIP);
    Decided::on(bare(Decision::Open, note), Ground::Skipped)
}

/// What a gate is told while something is on its way to sluice.
pub fn awaiting(note: &str) -> Decided {
    let ground = Ground::Unread(Unavailable::Syncing);
    Decided {
        provisional: true,
        ..Decided::on(bare(Decision::Wait, note.to_owned()), ground)
    }
}

/// What a gate is told while not even the terms of its wait are known.
pub fn unread(what: &str, why: Unavailable) -> Decided {
    Decided {
        provisional: why == Unavailable::Syncing,
        ..Decided::on(
            bare(Decision::Wait, reading(what, why)),
            Ground::Unread(why),
        )
    }
}

impl Decided {
    /// Without dependencies.
    fn on(answer: Answer, ground: Ground) -> Self {
        Self {
            answer,
            edges: Vec::new(),
            ground,
            provisional: false,
            again: None,
        }
    }
}

/// What is told of the entries whose own timeout has passed. Where something stands before it, as it does unless all the rest is
/// satisfied, that is what is waited for.
fn told(overdue: &[Overdue], ruling: &Ruling) -> Option<String> {
    let word = |it: &Overdue| match ruling {
        Ruling::GivenUp => it.to_string(),
        _ if it.is_given_up() => format!("without {it}"),
        _ => it.to_string(),
    };
    let told: Vec<String> = overdue.iter().map(word).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// What is waited for while something cannot be read. Worded as [`bare`] says.
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
        Unavailable::AwaitsTurn { places } => {
            format!("its turn to read {what}, since {places} objects are read whole at a time")
        }
        Unavailable::OverBudget { share } => format!(
            "room to look at {what}: the dependents of this namespace fill its share of {} KiB",
            share / 1024
        ),
        Unavailable::TooLarge => format!(
            "{what} to become smaller: something of it is longer than 8 MiB as JSON, more than sluice reads of one object"
        ),
        Unavailable::Hidden => format!("{what}, which you may not read"),
    }
}

/// What a gate opens without that finds nothing to wait for. Worded as [`bare`] says.
fn unlisted(name: &str) -> String {
    format!(
        "a list: its pod template is marked ({}), and no list, plan, weight or cap is found for {name}; write {} on {name} or on \
         its pod template",
        keys::GATED,
        keys::DEPENDS_ON
    )
}

/// What is waited for while nobody can say what that is. Worded as [`bare`] says.
fn nothing_known(error: &Unknown) -> String {
    match error {
        Unknown::Plans(why) => reading("the plans", *why),
        Unknown::Text(error) => format!("annotations that can be read; correct them: {error}"),
    }
}

/// An answer without dependencies. The note is worded to follow "waiting for", or "open without".
fn bare(verdict: Decision, note: String) -> Answer {
    Answer {
        verdict,
        digest: String::new(),
        dependencies: Vec::new(),
        note: Some(note),
        probes: Vec::new(),
    }
}
