//! Reads from the logs of gates the findings that only a gate can tell: the outcome of an address outside of the cluster, and the verdict on a
//! dependency that the caller may not read.

use crate::access::AT_ONCE;
use crate::gate_log::{self, GateWord};
use crate::installation::Unseen;
use crate::output::listed;
use futures::{StreamExt, stream};
use kube::Client;
use rules::judged::{Judged, Reason};
use rules::kstatus::Status;
use std::collections::{BTreeMap, BTreeSet};
use wire::said::{About, FURTHER, Said};
use wire::{Answer, Decision, Report};

/// The most gates whose logs a command reads: each is a request.
const MOST_WORDS: usize = 20;

/// Reads the last line of each pod's gate about its wait, of the first [`MOST_WORDS`] pods only. A pod comes as a key, a namespace and a name;
/// the result goes by the key.
pub(crate) async fn listen<'p>(
    client: &Client,
    pods: impl Iterator<Item = (&'p str, &'p str, &'p str)>,
) -> BTreeMap<String, GateWord> {
    let asked = pods.take(MOST_WORDS).map(async |(key, namespace, name)| {
        let word = gate_log::last(client, namespace, name).await;
        (key.to_owned(), word)
    });
    stream::iter(asked).buffered(AT_ONCE).collect().await
}

/// A dependency that the caller lacks a right to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unjudged {
    /// The dependency, as [`Report::dependency`] names it.
    pub(crate) dependency: String,
    /// The right that is missing: `you may not read Namespace objects`.
    pub(crate) why: String,
}

/// The outcome of a dependency in the log of a gate.
enum GateOutcome<'s> {
    Satisfied,
    Unmet(&'s About),
}

/// The outcome of a dependency that the gate alone can judge; `None` where the log does not tell. A gate that waits names all unmet
/// dependencies, up to a limit, so a dependency that it does not name is satisfied.
fn outcome<'s>(said: &'s Said, dependency: &str) -> Option<GateOutcome<'s>> {
    let is_past = said.decision == Decision::Open;
    if is_past || said.unmet.is_empty() || said.unmet.len() > FURTHER {
        return None;
    }
    let mut unmet = said.unmet.iter();
    let named = unmet.find(|it| it.dependency == dependency);
    Some(named.map_or(GateOutcome::Satisfied, GateOutcome::Unmet))
}

/// The finding about a dependency as the log of the gate has it; `None` where `judged` is satisfied or needs no gate, and where the log does not
/// tell.
pub(crate) fn judged(judged: &Judged, dependency: &str, said: &Said) -> Option<Judged> {
    let is_of_the_gate = match judged.reason {
        Reason::NotProbed => true,
        // The caller may not read what sluice remembers, or the holders of slots.
        Reason::NotFound | Reason::NoSlot => judged.status == Status::Unknown,
        _ => judged.hidden().is_some(),
    };
    if judged.satisfied || !is_of_the_gate {
        return None;
    }
    Some(match outcome(said, dependency)? {
        GateOutcome::Satisfied => Judged {
            satisfied: true,
            status: Status::Current,
            reason: Reason::Satisfied,
            message: "its gate is satisfied with it".to_owned(),
        },
        GateOutcome::Unmet(about) => Judged {
            satisfied: false,
            status: about.status.parse().ok()?,
            reason: about.reason.parse().ok()?,
            message: about.message.clone().unwrap_or_default(),
        },
    })
}

/// Whether the answer has an unsatisfied dependency that the gate alone can judge: an address, or one of `unjudged`.
pub(crate) fn needs(answer: &Answer, unjudged: &[Unjudged]) -> bool {
    let mut reports = answer.dependencies.iter();
    reports.any(|report| is_of_the_gate(report, unjudged))
}

fn is_of_the_gate(report: &Report, unjudged: &[Unjudged]) -> bool {
    let is_unjudged = || {
        let mut unjudged = unjudged.iter();
        unjudged.any(|it| it.dependency == report.dependency)
    };
    !report.satisfied && (report.reason == Reason::NotProbed.label() || is_unjudged())
}

/// Replaces in the answer the findings about dependencies that the gate alone can judge by those in the log of the gate. Returns those of
/// `unjudged` that the log tells about.
pub(crate) fn fill(answer: &mut Answer, unjudged: &[Unjudged], said: &Said) -> Vec<Unjudged> {
    let mut told = BTreeSet::new();
    let reports = answer.dependencies.iter_mut();
    for report in reports.filter(|it| is_of_the_gate(it, unjudged)) {
        match outcome(said, &report.dependency) {
            Some(GateOutcome::Unmet(about)) => {
                report.status.clone_from(&about.status);
                report.reason.clone_from(&about.reason);
                report.message.clone_from(&about.message);
            }
            Some(GateOutcome::Satisfied) => {
                report.satisfied = true;
                Status::Current.word().clone_into(&mut report.status);
                Reason::Satisfied.label().clone_into(&mut report.reason);
                report.message = None;
            }
            None => continue,
        }
        told.insert(report.dependency.clone());
    }
    let unjudged = unjudged.iter().filter(|it| told.contains(&it.dependency));
    unjudged.cloned().collect()
}

/// A line for each right that is missing, about the dependencies that are shown in the words of their gates for lack of it.
pub(crate) fn unseen(told: Vec<Unjudged>) -> Vec<Unseen> {
    let mut by_right: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Unjudged { dependency, why } in told {
        by_right.entry(why).or_default().insert(dependency);
    }
    let lines = by_right.into_iter().map(|(why, dependencies)| {
        let dependencies = listed(dependencies.into_iter().collect());
        Unseen {
            part: None,
            told: format!(
                "{why}, so the word of the gate is shown for {dependencies}; the ClusterRole sluice-viewer gives the right"
            ),
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::said;

    fn report(dependency: &str, reason: Reason) -> Report {
        Report {
            dependency: dependency.to_owned(),
            name: dependency.to_owned(),
            satisfied: false,
            status: "Unknown".to_owned(),
            reason: reason.label().to_owned(),
            message: None,
            turns: Vec::new(),
        }
    }

    #[test]
    fn the_log_of_the_gate_says_what_came_of_an_address() {
        let mut answer = Answer {
            verdict: Decision::Wait,
            digest: String::new(),
            dependencies: vec![
                report("Job/migrate", Reason::NotFound),
                report("tcp://a:1", Reason::NotProbed),
                report("tcp://b:1", Reason::NotProbed),
            ],
            note: None,
            probes: Vec::new(),
            for_good: false,
        };
        assert!(needs(&answer, &[]));
        let log = "sluice-gate: waiting 0s for tcp://b:1: Unknown (NotProbed: so)\n\
                   sluice-gate: waiting 1s for Job/migrate: NotFound (NotFound), and 1 other\n\
                   sluice-gate:   tcp://b:1: InProgress (ConnectionRefused: nothing (x))\n\
                   sluice-gate: waiting 1m01s for Job/migrate: NotFound (NotFound), and 1 other\n";
        fill(&mut answer, &[], &said::last(log).unwrap());
        let told: Vec<_> = answer
            .dependencies
            .iter()
            .map(|it| (it.satisfied, it.reason.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (false, "NotFound"),
                (true, "Satisfied"),
                (false, "ConnectionRefused")
            ]
        );
        assert_eq!(
            answer.dependencies[2].message.as_deref(),
            Some("nothing (x)")
        );
        assert!(!needs(&answer, &[]));
    }

    #[test]
    fn the_gate_judges_what_the_caller_may_not_read() {
        let why = "you may not read Namespace objects";
        let names = ["data/Job/a", "data/Job/b", "Job/c"];
        let unjudged = ["data/Job/a", "data/Job/b"].map(|dependency| Unjudged {
            dependency: dependency.to_owned(),
            why: why.to_owned(),
        });
        let answer = Answer {
            verdict: Decision::Wait,
            digest: String::new(),
            dependencies: names.map(|it| report(it, Reason::Unjudgeable)).into(),
            note: None,
            probes: Vec::new(),
            for_good: false,
        };
        assert!(needs(&answer, &unjudged) && !needs(&answer, &[]));
        let told = |line: &str| {
            let mut answer = answer.clone();
            let said = said::last(&format!("sluice-gate: {line}\n")).unwrap();
            let told = unseen(fill(&mut answer, &unjudged, &said));
            let reasons = answer.dependencies.into_iter().map(|it| it.reason);
            (reasons.collect::<Vec<_>>(), told)
        };
        let (reasons, lines) = told("waiting 1s for data/Job/b: Unknown (NotPermitted: so)");
        assert_eq!(reasons, ["Satisfied", "NotPermitted", "Unjudgeable"]);
        let [line] = &lines[..] else {
            panic!("{lines:?}");
        };
        assert!(
            line.told.starts_with(
                "you may not read Namespace objects, so the word of the gate is shown for data/Job/a, data/Job/b; "
            ),
            "{line:?}"
        );
        for silent in [
            "open after 1s, without data/Job/b: Unknown (NotPermitted: so)",
            "waiting 1s for the status service: connection refused",
        ] {
            let (reasons, lines) = told(silent);
            assert_eq!(reasons, ["Unjudgeable"; 3], "{silent}");
            assert_eq!(lines, [], "{silent}");
        }
    }
}
