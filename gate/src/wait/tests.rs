//! Tests the loop, with the test's own answers and clock.

mod log;

use super::*;
use crate::config::Address;
use crate::trouble::Failure;
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wire::Report;
use wire::probe::{self, Probe};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The time that a request takes, and its result.
type Step = (Duration, Result<Reply, Trouble>);

/// A service that follows a script, on the clock that it shares with the loop.
struct Script {
    time: Rc<Cell<Duration>>,
    steps: VecDeque<Step>,
    asked: Vec<(Duration, Option<String>, Duration)>,
    told: Vec<String>,
}

impl Source for Script {
    fn ask(
        &mut self,
        question: &Question<'_>,
        aside: &mut dyn Aside,
    ) -> Result<Option<Reply>, Trouble> {
        let Question { seen, hold, probed } = *question;
        self.asked
            .push((self.time.get(), seen.map(str::to_owned), hold));
        self.told.push(probed.to_owned());
        let (took, reply) = self
            .steps
            .pop_front()
            .expect("the script must end in a decision");
        let end = self.time.get() + took;
        let mut sign = self.time.get() + wire::SIGN;
        loop {
            let due = aside.due().map(|due| self.time.get() + due);
            let due = due.filter(|due| *due < sign.min(end));
            if let Some(due) = due {
                self.time.set(due);
                if aside.work() {
                    self.steps.push_front((end.saturating_sub(due), reply));
                    return Ok(None);
                }
            } else if sign < end {
                self.time.set(sign);
                sign += wire::SIGN;
                aside.sign();
            } else {
                break;
            }
        }
        self.time.set(end);
        reply.map(Some)
    }
}

struct FakeClock {
    time: Rc<Cell<Duration>>,
    pauses: Vec<Duration>,
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        self.time.get()
    }

    fn sleep(&mut self, pause: Duration) {
        self.pauses.push(pause);
        self.time.set(self.time.get() + pause);
    }
}

/// The record of one run of the loop: its outcome, its log, and the questions that it asked.
struct Run {
    outcome: Outcome,
    log: Vec<String>,
    pauses: Vec<Duration>,
    asked: Vec<(Duration, Option<String>, Duration)>,
    /// The outcomes that came with each question.
    told: Vec<String>,
}

/// An address that refuses `times` connections, and then accepts.
#[derive(Default)]
struct Refuses {
    times: usize,
    tried: AtomicUsize,
}

impl Try for Refuses {
    fn outcome(&self, _: &Probe) -> probe::Outcome {
        if self.tried.fetch_add(1, Ordering::Relaxed) < self.times {
            probe::Outcome::Refused
        } else {
            probe::Outcome::Connected
        }
    }
}

fn run(steps: Vec<Step>) -> Run {
    run_beside(steps, Refuses::default())
}

fn run_beside(steps: Vec<Step>, address: Refuses) -> Run {
    let time = Rc::new(Cell::new(Duration::ZERO));
    let mut source = Script {
        time: Rc::clone(&time),
        steps: steps.into(),
        asked: vec![],
        told: vec![],
    };
    let mut clock = FakeClock {
        time,
        pauses: vec![],
    };
    let mut log = vec![];
    let mut say = |line: &str| log.push(line.to_owned());
    // Chance 0 makes every pause the shortest; `backs_off_with_jitter` tests the others.
    let mut prober = Prober::new(address);
    let outcome = until_decided(&mut source, &mut prober, &mut clock, &mut || 0.0, &mut say);
    assert!(source.steps.is_empty(), "the loop ended before the script");
    Run {
        outcome,
        log,
        pauses: clock.pauses,
        asked: source.asked,
        told: source.told,
    }
}

fn answer(verdict: Decision, digest: &str, unsatisfied: &[&str]) -> Answer {
    let report = |name: &&str| Report {
        dependency: format!("Job/{name}"),
        name: (*name).to_owned(),
        satisfied: false,
        status: "InProgress".to_owned(),
        reason: "JobNotComplete".to_owned(),
        message: None,
        turns: Vec::new(),
    };
    let dependencies = unsatisfied.iter().map(report).collect();
    Answer {
        verdict,
        digest: digest.to_owned(),
        dependencies,
        note: None,
        probes: Vec::new(),
        for_good: false,
    }
}

fn says(took: Duration, answer: Answer) -> Step {
    (
        took,
        Ok(Reply {
            answer,
            passed_over: vec![],
        }),
    )
}

fn wait(took: Duration, digest: &str, unsatisfied: &[&str]) -> Step {
    says(took, answer(Decision::Wait, digest, unsatisfied))
}

fn open() -> Step {
    says(ms(1), answer(Decision::Open, "end", &[]))
}

fn attempt(host: &str, failure: Failure) -> Attempt {
    Attempt {
        address: Address {
            host: host.to_owned(),
            port: 1,
        },
        failure,
    }
}

fn fails(took: Duration, failure: Failure) -> Step {
    (took, Err(Trouble::NoAnswer(vec![attempt("a", failure)])))
}

#[test]
fn opens_at_once() {
    let run = run(vec![open()]);
    assert_eq!(run.outcome, Outcome::Open { for_good: false });
    assert_eq!(run.log, ["open after 0s"]);
    assert_eq!(run.asked, [(Duration::ZERO, None, HOLD)]);
    assert!(run.pauses.is_empty());
}

#[test]
fn waits_out_every_trouble() {
    let refused = || fails(ms(1), Failure::Refused);
    let run = run(vec![
        refused(),
        refused(),
        wait(ms(1), "1", &["a"]),
        refused(),
        open(),
    ]);
    assert_eq!(run.outcome, Outcome::Open { for_good: false });
    let line = "for the status service: a:1: connection refused; check that the sluice pods are running and ready";
    assert_eq!(
        run.log,
        [
            format!("waiting 0s {line}"),
            "waiting 0s for Job/a: InProgress (JobNotComplete)".to_owned(),
            format!("waiting 0s {line}"),
            "open after 0s".to_owned(),
        ]
    );
    assert_eq!(run.pauses, [SHORTEST; 3]);
    let asked = run
        .asked
        .iter()
        .map(|(_, seen, hold)| (seen.as_deref(), *hold));
    let seen = Some("1");
    assert_eq!(
        asked.collect::<Vec<_>>(),
        [
            (None, HOLD),
            (None, HOLD),
            (None, HOLD),
            (seen, HOLD),
            (seen, BACK)
        ],
        "after trouble it asks for an answer soon, and says still that it has waited"
    );
}

#[test]
fn does_not_spin_on_quick_answers() {
    let quick = |count| {
        (0..count)
            .map(|_| wait(ms(1), "1", &["a"]))
            .collect::<Vec<_>>()
    };
    assert!(
        run([quick(5), vec![open()]].concat_steps())
            .pauses
            .is_empty()
    );
    assert_eq!(run([quick(8), vec![open()]].concat_steps()).pauses.len(), 3);
    let held = vec![wait(ms(500), "1", &["a"])];
    assert!(
        run([quick(5), held, quick(5), vec![open()]].concat_steps())
            .pauses
            .is_empty()
    );
}

/// Concatenates steps. `concat` would clone them, and a step may hold an error, which cannot be cloned.
trait ConcatSteps {
    fn concat_steps(self) -> Vec<Step>;
}

impl<const N: usize> ConcatSteps for [Vec<Step>; N] {
    fn concat_steps(self) -> Vec<Step> {
        self.into_iter().flatten().collect()
    }
}

#[test]
fn backs_off_with_jitter() {
    for (failures, chance, expected) in [
        (1, 0.0, ms(200)),
        (1, 0.5, ms(300)),
        (2, 0.5, ms(500)),
        (3, 0.5, ms(900)),
        (4, 0.5, ms(1700)),
        (5, 0.5, ms(2600)),
        (6, 0.0, ms(200)),
        (u32::MAX, 0.999_999, Duration::from_nanos(4_999_995_200)),
    ] {
        assert_eq!(backoff(failures, chance), expected);
    }
}

#[test]
fn spreads_the_holds() {
    assert_eq!(hold(0.0), HOLD);
    assert_eq!(hold(0.5), HOLD.mul_f64(0.875));
    assert!(hold(1.0) > HOLD / 2);
}

/// An answer that names addresses to try.
fn tries(digest: &str, to: &[&str]) -> Step {
    let mut answer = answer(Decision::Wait, digest, &["a"]);
    let probe = |to: &&str| Probe {
        id: (*to).to_owned(),
        what: probe::what::TCP.to_owned(),
        to: (*to).to_owned(),
    };
    answer.probes = to.iter().map(probe).collect();
    says(ms(1), answer)
}

#[test]
fn tells_what_came_of_an_address_and_again_only_when_that_changes() {
    let address = Refuses {
        times: 3,
        ..Refuses::default()
    };
    // The second question is left for the third when the fourth try, after 1, 2 and 4 s, comes out otherwise.
    let held = wait(Duration::from_secs(200), "2", &["a"]);
    let run = run_beside(vec![tries("1", &["db"]), held, open()], address);
    assert_eq!(run.outcome, Outcome::Open { for_good: false });
    assert_eq!(run.told, ["", "db=refused", "db=connected", ""]);
    let times: Vec<_> = run.asked.iter().map(|(at, ..)| at.as_secs()).collect();
    assert_eq!(
        times,
        [0, 0, 7, 200],
        "it is asked at once when there is news"
    );
    assert!(run.pauses.is_empty());
}

#[test]
fn tries_nothing_any_more_that_is_wanted_no_more() {
    let run = run_beside(
        vec![
            tries("1", &["db"]),
            tries("2", &["web"]),
            wait(ms(1), "3", &["a"]),
            open(),
        ],
        Refuses::default(),
    );
    assert_eq!(run.told, ["", "db=connected", "web=connected", ""]);
}
