//! The outcome of an address outside of the cluster, read from the gate's log: only the gate tries such an address.

use crate::access::AT_ONCE;
use crate::gate_log::{self, GateWord};
use futures::{StreamExt, stream};
use kube::Client;
use rules::judged::{Judged, Reason};
use rules::kstatus::Status;
use std::collections::BTreeMap;
use wire::Answer;
use wire::said::{About, FURTHER, Said};

/// The most gates whose logs a command reads: each is a request.
const MOST_WORDS: usize = 20;

/// Reads the last lines of gates, by the key of each pod, of [`MOST_WORDS`] pods at most. A pod has a key, a namespace and a name.
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

/// The outcome of an address in the log of a gate.
enum GateOutcome<'s> {
    Satisfied,
    Unmet(&'s About),
}

/// The outcome of a dependency that the gate alone can judge; `None` where the log does not tell. A gate names all unmet
/// dependencies, up to a limit, so a dependency that it does not name is satisfied.
fn outcome<'s>(said: &'s Said, dependency: &str) -> Option<GateOutcome<'s>> {
    if said.unmet.is_empty() || said.unmet.len() > FURTHER {
        return None;
    }
    let mut unmet = said.unmet.iter();
    let named = unmet.find(|it| it.dependency == dependency);
    Some(named.map_or(GateOutcome::Satisfied, GateOutcome::Unmet))
}

/// The finding about a dependency, by the log of the gate where only the gate can tell.
pub(crate) fn judged(judged: &Judged, dependency: &str, said: &Said) -> Option<Judged> {
    if judged.satisfied || judged.reason != Reason::NotProbed {
        return None;
    }
    Some(match outcome(said, dependency)? {
        GateOutcome::Satisfied => Judged {
            satisfied: true,
            status: Status::Current,
            reason: Reason::Satisfied,
            message: "the gate has reached it".to_owned(),
        },
        GateOutcome::Unmet(about) => Judged {
            satisfied: false,
            status: about.status.parse().ok()?,
            reason: about.reason.parse().ok()?,
            message: about.message.clone().unwrap_or_default(),
        },
    })
}

/// Whether a dependency of the answer can be judged by the gate alone.
pub(crate) fn needs(answer: &Answer) -> bool {
    let reason = Reason::NotProbed.label();
    let mut unmet = answer.dependencies.iter().filter(|it| !it.satisfied);
    unmet.any(|report| report.reason == reason)
}

/// Takes the reasons of the dependencies that the gate alone can judge from the log of the gate.
pub(crate) fn fill(answer: &mut Answer, said: &Said) {
    let of_gates = |reason: &str| reason == Reason::NotProbed.label();
    let reports = answer.dependencies.iter_mut();
    for report in reports.filter(|it| !it.satisfied && of_gates(&it.reason)) {
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
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Decision, Report, said};

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
        assert!(needs(&answer));
        let log = "sluice-gate: waiting 0s for tcp://b:1: Unknown (NotProbed: so)\n\
                   sluice-gate: waiting 1s for Job/migrate: NotFound (NotFound), and 1 other\n\
                   sluice-gate:   tcp://b:1: InProgress (ConnectionRefused: nothing (x))\n\
                   sluice-gate: waiting 1m01s for Job/migrate: NotFound (NotFound), and 1 other\n";
        fill(&mut answer, &said::last(log).unwrap());
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
        assert!(!needs(&answer));
    }
}
