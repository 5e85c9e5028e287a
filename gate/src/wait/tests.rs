use super::*;
use crate::config::Address;
use crate::trouble::Failure;
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use wire::Report;

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// What one request takes, and what it brings.
type Step = (Duration, Result<Reply, Trouble>);

/// A service that follows a script, on the clock that it shares with the loop.
struct Script {
    time: Rc<Cell<Duration>>,
    steps: VecDeque<Step>,
    asked: Vec<(Duration, Option<String>, Duration)>,
}

impl Source for Script {
    fn ask(
        &mut self,
        seen: Option<&str>,
        hold: Duration,
        sign: &mut dyn FnMut(),
    ) -> Result<Reply, Trouble> {
        self.asked
            .push((self.time.get(), seen.map(str::to_owned), hold));
        let (took, reply) = self
            .steps
            .pop_front()
            .expect("the script must end in a decision");
        let end = self.time.get() + took;
        while self.time.get() + wire::SIGN < end {
            self.time.set(self.time.get() + wire::SIGN);
            sign();
        }
        self.time.set(end);
        reply
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

/// What the loop did.
struct Run {
    outcome: Outcome,
    log: Vec<String>,
    pauses: Vec<Duration>,
    asked: Vec<(Duration, Option<String>, Duration)>,
}

fn run(steps: Vec<Step>) -> Run {
    let time = Rc::new(Cell::new(Duration::ZERO));
    let mut source = Script {
        time: Rc::clone(&time),
        steps: steps.into(),
        asked: vec![],
    };
    let mut clock = FakeClock {
        time,
        pauses: vec![],
    };
    let mut log = vec![];
    let mut say = |line: &str| log.push(line.to_owned());
    // Chance 0 makes every pause the shortest; `backs_off_with_jitter` has the others.
    let outcome = until_decided(&mut source, &mut clock, &mut || 0.0, &mut say);
    assert!(source.steps.is_empty(), "the loop ended before the script");
    Run {
        outcome,
        log,
        pauses: clock.pauses,
        asked: source.asked,
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
    assert_eq!(run.outcome, Outcome::Open);
    assert_eq!(run.log, ["open after 0s"]);
    assert_eq!(run.asked, [(Duration::ZERO, None, HOLD)]);
    assert!(run.pauses.is_empty());
}

#[test]
fn says_every_change_and_nothing_else() {
    let run = run(vec![
        wait(ms(2), "1", &["a", "b"]),
        wait(ms(4000), "2", &["b"]),
        wait(ms(25_000), "2", &["b"]),
        wait(ms(5000), "3", &["b"]),
        open(),
    ]);
    assert_eq!(
        run.log,
        [
            "waiting 0s for Job/a: InProgress (JobNotComplete), and 1 other",
            "  Job/b: InProgress (JobNotComplete)",
            "waiting 4s for Job/b: InProgress (JobNotComplete)",
            "open after 34s",
        ]
    );
    let seen: Vec<_> = run
        .asked
        .iter()
        .map(|(_, seen, _)| seen.as_deref())
        .collect();
    assert_eq!(seen, [None, Some("1"), Some("2"), Some("2"), Some("3")]);
    assert!(run.pauses.is_empty());
}

#[test]
fn names_what_else_it_waits_for_once() {
    let names: Vec<String> = (10..35).map(|number| format!("j{number}")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut last = all.clone();
    last[24] = "j99";
    let run = run(vec![
        wait(ms(2), "1", &all),
        wait(ms(70_000), "1", &all),
        wait(ms(2), "2", &[last[0], last[24]]),
        wait(ms(2), "3", &[all[0], all[24]]),
        open(),
    ]);
    let first = "for Job/j10: InProgress (JobNotComplete), and";
    let other = |name: &str| format!("  Job/{name}: InProgress (JobNotComplete)");
    let mut lines = vec![format!("waiting 0s {first} 24 others")];
    lines.extend(all[1..21].iter().map(|name| other(name)));
    lines.push(format!("waiting 1m00s {first} 24 others"));
    // Which one is the other has changed, though the first has not.
    for name in ["j99", "j34"] {
        lines.push(format!("waiting 1m10s {first} 1 other"));
        lines.push(other(name));
    }
    lines.push("open after 1m10s".to_owned());
    assert_eq!(run.log, lines);
}

#[test]
fn says_something_every_minute_however_long_it_is_held() {
    let run = run(vec![
        wait(ms(2), "1", &["a"]),
        wait(ms(150_000), "1", &["a"]),
        wait(ms(25_000), "1", &["a"]),
        wait(ms(25_000), "1", &["a"]),
        open(),
    ]);
    let line = "for Job/a: InProgress (JobNotComplete)";
    assert_eq!(
        run.log,
        [
            format!("waiting 0s {line}"),
            format!("waiting 1m00s {line}"),
            format!("waiting 2m00s {line}"),
            format!("waiting 2m50s {line}"),
            "open after 3m20s".to_owned()
        ]
    );
    assert!(run.asked.iter().all(|(_, _, hold)| *hold == HOLD));
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
    assert_eq!(run.outcome, Outcome::Open);
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
    assert_eq!(
        run.asked[4].1, None,
        "after trouble it asks for the answer at once"
    );
}

#[test]
fn suspects_an_uninstall_after_ten_minutes() {
    let mut steps: Vec<_> = (0..13)
        .map(|_| fails(ms(59_800), Failure::ConnectTimeout))
        .collect();
    steps.insert(1, fails(ms(0), Failure::Status(503, String::new())));
    steps.push(open());
    let run = run(steps);
    let hint = |line: &&String| {
        line.ends_with("no sign of it for 10 minutes: if sluice was uninstalled, delete this pod")
    };
    let hinted: Vec<_> = run.log.iter().filter(hint).collect();
    assert_eq!(hinted.len(), 2);
    // The service spoke at 1m00s, so silence is counted from 2m00s on.
    assert!(
        hinted[0].starts_with("waiting 12m00s for the status service: a:1: connection timed out; "),
        "{hinted:?}"
    );
}

#[test]
fn says_for_how_long_there_was_no_sign() {
    for (seconds, told) in [
        (600, "10 minutes"),
        (3_599, "50 minutes"),
        (3_600, "1 hour"),
        (7_199, "1 hour"),
        (260_000, "72 hours"),
    ] {
        assert_eq!(roughly(Duration::from_secs(seconds)), told);
    }
}

#[test]
fn refuses_with_the_reason() {
    let mut policy = answer(Decision::Refuse, "1", &["b", "a"]);
    policy.note = Some("waited longer\nthan 10m".to_owned());
    let reason = "refused after 0s: Job/a: InProgress (JobNotComplete), and 1 other; waited longer\\nthan 10m";
    for (answer, expected) in [
        (policy, reason),
        (
            answer(Decision::Refuse, "1", &[]),
            "refused after 0s: the status service gives no reason",
        ),
    ] {
        let run = run(vec![says(ms(1), answer)]);
        assert_eq!(run.outcome, Outcome::Refused(expected.to_owned()));
        assert_eq!(run.log, [expected]);
    }
}

#[test]
fn says_what_it_opens_without() {
    let run = run(vec![says(ms(1), answer(Decision::Open, "1", &["a"]))]);
    assert_eq!(
        run.log,
        ["open after 0s, without Job/a: InProgress (JobNotComplete)"]
    );
}

#[test]
fn waits_without_a_reason() {
    let mut note = answer(Decision::Wait, "2", &[]);
    note.note = Some("the list cannot be read".to_owned());
    let run = run(vec![wait(ms(1), "1", &[]), says(ms(1), note), open()]);
    assert_eq!(
        run.log[0],
        "waiting 0s for the status service, which gives no reason"
    );
    assert_eq!(run.log[1], "waiting 0s for the list cannot be read");
}

#[test]
fn says_which_address_was_passed_over() {
    let over = |digest: &str, failures: Vec<Failure>| {
        let passed_over = failures
            .into_iter()
            .map(|failure| attempt("a", failure))
            .collect();
        (
            ms(600),
            Ok(Reply {
                answer: answer(Decision::Wait, digest, &["x"]),
                passed_over,
            }),
        )
    };
    let run = run(vec![
        over("1", vec![Failure::Refused]),
        over("1", vec![Failure::Refused]),
        over("1", vec![]),
        over("1", vec![Failure::Lookup(io::Error::other("no such name"))]),
        open(),
    ]);
    assert_eq!(
        run.log,
        [
            "a:1: connection refused; the next address answers",
            "waiting 0s for Job/x: InProgress (JobNotComplete)",
            "a:1: no such name; the next address answers",
            "open after 2s",
        ]
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

/// Steps hold errors, which cannot be cloned as `concat` wants.
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
