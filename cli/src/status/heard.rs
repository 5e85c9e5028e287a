//! The outcome of an address outside of the cluster, read from the gate's log: only the gate tries such an address.

use rules::judged::Reason;
use wire::Answer;
use wire::said::{About, FURTHER, Said};

/// Whether a dependency of the answer can be judged by the gate alone.
pub(super) fn needs(answer: &Answer) -> bool {
    let reason = Reason::NotProbed.label();
    let mut unmet = answer.dependencies.iter().filter(|it| !it.satisfied);
    unmet.any(|report| report.reason == reason)
}

/// Takes the reasons of the dependencies that the gate alone can judge from the log of the gate. A gate names all unmet
/// dependencies, up to a limit, so a dependency that it does not name is satisfied.
pub(super) fn fill(answer: &mut Answer, said: &Said) {
    if said.unmet.is_empty() || said.unmet.len() > FURTHER {
        return;
    }
    let of_gates = |reason: &str| reason == Reason::NotProbed.label();
    let reports = answer.dependencies.iter_mut();
    for report in reports.filter(|it| !it.satisfied && of_gates(&it.reason)) {
        let named = said
            .unmet
            .iter()
            .find(|it| it.dependency == report.dependency);
        if let Some(About {
            status,
            reason,
            message,
            ..
        }) = named
        {
            report.status.clone_from(status);
            report.reason.clone_from(reason);
            report.message.clone_from(message);
        } else {
            report.satisfied = true;
            "Current".clone_into(&mut report.status);
            Reason::Satisfied.label().clone_into(&mut report.reason);
            report.message = None;
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
