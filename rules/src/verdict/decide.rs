//! The whole decision on one dependent: whether its gate waits, opens or refuses, and why. The status service decides for a gate, the
//! command line for its user.

use super::judge::{self, JudgedEdge, Judgement, Overdue, Policy};
use super::why::Why;
use super::{explain, report};
use crate::dependency::Edge;
use crate::dependent::{Dependent, Unknown};
use crate::judged::Reason;
use crate::keys;
use crate::lookup::{Lookup, Unavailable};
use crate::terms::Terms;
use crate::world::World;
use jiff::Timestamp;
use wire::{Answer, Decision};

/// The answer to a gate, with its reason and the findings that it rests on.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The reason for the verdict. [`Why::decision`] is the answer's decision.
    pub why: Why,
    /// The answer to the gate. Its digest is empty: the status service fills it in.
    pub answer: Answer,
    /// Each edge with its finding, in the order of the answer's dependencies.
    pub edges: Vec<JudgedEdge>,
    /// Whether the answer only says that something is still being read. A better answer follows in a moment, so the service does not send
    /// this one at once.
    pub provisional: bool,
    /// The earliest time at which time alone may change the verdict, such as the end of a timeout; `None` where time changes nothing.
    pub again: Option<Timestamp>,
}

/// The findings about a dependent, before its timeouts are applied. Pods that are alike ([`crate::dependent::alike`]) share them, except
/// where `of_all_alike` is false.
#[derive(Debug, Clone)]
pub struct Found {
    terms: Terms,
    judgement: Judgement,
    /// Whether the memory that tells whether a pod of the revision has passed is still being read.
    unread: bool,
    /// The verdict where no edge decides: the gate is skipped, has passed, or is marked without a list, or the list cannot be read. `None` where
    /// the edges decide.
    without_edges: Option<Verdict>,
    /// Whether the gate, once open, need not ask again after a boot of the node.
    for_good: bool,
    /// Whether these findings hold for every pod that is alike: none is about one pod alone.
    pub of_all_alike: bool,
}

/// Judges every edge of a dependent and decides whether its gate waits, opens or refuses.
///
/// `patient`: no timeout ends the wait while a kind, the memory, or the cause of a dependency's own wait is still being read. A controller that has
/// just started knows nothing yet, and a refusal would blame a dependency that may long be ready.
pub fn decide(
    dependent: &Dependent,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
    patient: bool,
) -> Verdict {
    find(dependent, policy, world, now).decided(dependent.started, now, patient)
}

/// Judges every edge of a dependent, without its timeouts. Where `sluice.dev/skip` is set, or the list cannot be read, no edge is judged, and the
/// verdict is found at once. It is found at once too where no edge is left: the revision has passed, or nothing asks for a gate any more.
pub fn find(dependent: &Dependent, policy: &Policy, world: &dyn World, now: Timestamp) -> Found {
    // The findings about a dependent without an owner name its pod, so they hold for that pod alone.
    let mut found = Found {
        terms: dependent.terms().terms,
        judgement: Judgement::default(),
        unread: false,
        without_edges: None,
        for_good: false,
        of_all_alike: !dependent.owners.is_empty(),
    };
    if let Some(place) = dependent.skipped_on() {
        found.without_edges = Some(Verdict::skipped(&place));
        return found;
    }
    found.for_good = dependent.opens_for_good(policy.regate, policy.edge_sources(), world);
    let before = dependent.has_passed(policy.regate, world);
    let passed = before == Lookup::Found(true);
    found.unread = before == Lookup::Unavailable(Unavailable::Syncing);
    match dependent.asked_after(passed, policy.edge_sources(), world) {
        Ok(edges) => {
            found.of_all_alike &= edges.iter().all(Edge::is_of_all_alike);
            found.judgement = explain::judge(dependent, edges, policy, world, now);
        }
        Err(error) => {
            found.without_edges = Some(Verdict::without_list(&error));
            return found;
        }
    }
    if found.judgement.edges.is_empty() {
        found.without_edges = if passed {
            Some(Verdict::passed(dependent))
        } else {
            let unlisted = dependent.is_marked_for_nothing(world);
            unlisted.then(|| Verdict::unlisted(&dependent.name()))
        };
    }
    found
}

impl Found {
    /// The verdict on a dependent whose pod was started at `started`; `patient` as in [`decide`].
    pub fn decided(&self, started: Option<Timestamp>, now: Timestamp, patient: bool) -> Verdict {
        let mut verdict = match &self.without_edges {
            Some(verdict) if verdict.why == Why::Unread => {
                verdict.clone().under(&self.terms, started, now, patient)
            }
            Some(verdict) => verdict.clone(),
            None => self.judged(started, now, patient),
        };
        verdict.answer.for_good = self.for_good && verdict.why.decision() == Decision::Open;
        verdict
    }

    fn judged(&self, started: Option<Timestamp>, now: Timestamp, patient: bool) -> Verdict {
        let mut edges = self.judgement.edges.clone();
        let syncing = |edge: &JudgedEdge| edge.judged.reason == Reason::Syncing;
        let provisional = self.judgement.reading || edges.iter().any(syncing);
        let again = [
            deadline(&self.terms, started, now),
            self.judgement.again,
            judge::next_timeout(&edges, started, now),
        ];
        let spared = patient && (self.unread || provisional);
        let overdue = if spared {
            Vec::new()
        } else {
            judge::expire(&mut edges, started, now)
        };
        let mut answer = report::answer(&edges);
        let is_absent = |edge: &JudgedEdge| edge.judged.reason == Reason::OptionalNotFound;
        let why = match answer.verdict {
            Decision::Open if !overdue.is_empty() => Why::GivenUp,
            Decision::Open if edges.iter().any(is_absent) => Why::Absent,
            Decision::Open => Why::Satisfied,
            Decision::Wait | Decision::Refuse if spared => Why::Unmet,
            Decision::Wait | Decision::Refuse => {
                Why::of_a_wait(&self.terms, started, &edges, &overdue, now)
            }
        };
        answer.note = told(&overdue, &why);
        if why.decision() == Decision::Wait {
            answer.probes.clone_from(&self.judgement.probes);
        }
        Verdict {
            answer: why.over(answer),
            why,
            edges,
            provisional,
            again: again.into_iter().flatten().min(),
        }
    }

    /// The earliest time at which time alone may change these findings, timeouts apart; `None` where time changes nothing.
    pub fn again(&self) -> Option<Timestamp> {
        let again = self.judgement.again;
        again.filter(|_| self.without_edges.is_none())
    }
}

impl Verdict {
    /// The verdict on a dependent that carries [`keys::SKIP`]; `place` is where the annotation is.
    pub fn skipped(place: &str) -> Self {
        let note = format!("asking: {} is \"true\" on {place}", keys::SKIP);
        Self::without_edges(Why::Skipped, note)
    }

    /// The verdict to wait until something has reached sluice, such as a pod that its watch has not seen; `note` follows "waiting for". It is
    /// provisional.
    pub fn awaiting(note: &str) -> Self {
        Self {
            provisional: true,
            ..Self::without_edges(Why::Unread, note.to_owned())
        }
    }

    /// The verdict to wait while `what` cannot be read, without regard to the terms of the wait. It is provisional while `what` is still being
    /// read.
    pub fn unread(what: &str, why: Unavailable) -> Self {
        Self {
            provisional: why == Unavailable::Syncing,
            ..Self::without_edges(Why::Unread, reading(what, why))
        }
    }

    fn passed(dependent: &Dependent) -> Self {
        let note = match &dependent.rebooted {
            Some(_) => {
                "asking again after the boot of its node: this revision has passed its gate before"
            }
            None => "asking again: a pod of this revision has passed its gate before",
        };
        Self::without_edges(Why::Passed, note.to_owned())
    }

    /// The verdict to open for a dependent that is marked for a gate and has no edge; the note names the annotation that `name` lacks.
    fn unlisted(name: &str) -> Self {
        let note = format!(
            "a list: its pod template is marked ({}), and no list, plan, weight or cap is found for {name}; write {} on {name} or on \
             its pod template",
            keys::GATED,
            keys::DEPENDS_ON
        );
        Self::without_edges(Why::Unlisted, note)
    }

    /// The verdict to wait while the edges of a dependent are unknown, because a list, a plan or the Namespace cannot be read.
    fn without_list(error: &Unknown) -> Self {
        match error {
            Unknown::Plans(why) => Self::unread("the plans", *why),
            Unknown::Namespace(why) => Self::unread("the Namespace of the pod", *why),
            Unknown::Text(error) => {
                let note = format!("annotations that can be read; correct them: {error}");
                Self::without_edges(Why::Unread, note)
            }
        }
    }

    /// A verdict for this reason without any edge. The words of `note` follow "waiting for", or "open without".
    fn without_edges(why: Why, note: String) -> Self {
        Self {
            answer: Answer {
                verdict: why.decision(),
                digest: String::new(),
                dependencies: Vec::new(),
                note: Some(note),
                probes: Vec::new(),
                for_good: false,
            },
            why,
            edges: Vec::new(),
            provisional: false,
            again: None,
        }
    }

    /// Applies the timeout of the wait to a verdict without edges: before the timeout the verdict stays, and then `on-timeout` decides.
    /// `patient`: a provisional verdict stays in any case.
    #[must_use]
    pub fn under(
        self,
        terms: &Terms,
        started: Option<Timestamp>,
        now: Timestamp,
        patient: bool,
    ) -> Self {
        let again = deadline(terms, started, now);
        if patient && self.provisional {
            return Self { again, ..self };
        }
        match Why::of_a_wait(terms, started, &[], &[], now) {
            Why::Unmet => Self { again, ..self },
            why => Self {
                answer: why.over(self.answer),
                why,
                again,
                ..self
            },
        }
    }
}

/// The time at which the timeout of the whole wait passes; `None` where it has passed, or there is none.
fn deadline(terms: &Terms, started: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let deadline = terms.deadline(started);
    deadline.filter(|deadline| now < *deadline)
}

/// The note about the entries whose own timeout has passed. Unless all other entries are satisfied, the unmet entries follow this note.
fn told(overdue: &[Overdue], why: &Why) -> Option<String> {
    let word = |it: &Overdue| match why {
        Why::GivenUp => it.to_string(),
        _ if it.is_given_up() => format!("without {it}"),
        _ => it.to_string(),
    };
    let told: Vec<String> = overdue.iter().map(word).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Writes the note of a gate that waits because `what` cannot be read. The words follow "waiting for".
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
            "{what} to become smaller: something of it is longer than 8 MiB as JSON, or the large objects of its namespace fill their share of \
             sluice's memory"
        ),
        Unavailable::Hidden => format!("{what}, which you may not read"),
    }
}
