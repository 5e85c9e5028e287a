//! Measures how often a gate opens too early or too late, against Argo CD's judgement of the same objects, in `argo-health.jsonl` of the corpus.
//!
//! An object is *falsely ready* where Argo CD says Progressing, Degraded or Missing and sluice is satisfied, and *falsely waiting* where Argo CD says
//! Healthy and sluice is not. Suspended is counted by itself: whether an object that is paused on purpose is ready is a matter of taste. The cases
//! come without their cluster: each Service has an endpoint here, and each kind a status.

#![expect(
    clippy::unwrap_used,
    reason = "a file of the wrong shape fails its test"
)]

use crate::corpus;
use jiff::Timestamp;
use rules::definition::Declared;
use rules::dependency::State;
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::profile;
use rules::selector::Selector;
use rules::world::{Objects, Only};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The largest part of the unhealthy objects that may open a gate.
const MOST_FALSELY_READY: f64 = 0.04;

/// The largest part of the healthy objects that may hold a gate.
const MOST_FALSELY_WAITING: f64 = 0.01;

/// The largest part of the unhealthy objects that may open a gate when sluice has no library of health rules.
const MOST_FALSELY_READY_UNKNOWN: f64 = 0.20;

/// A cluster that answers every question with one endpoint that serves.
struct Endpoint;

impl Objects for Endpoint {
    fn object(&self, _: &Kind, _: Option<&str>, _: &str) -> Lookup<Value> {
        Lookup::NotFound
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(&self, _: &Kind, _: Option<&str>, _: &Selector) -> Lookup<Vec<Value>> {
        Lookup::Found(vec![
            json!({ "endpoints": [{ "conditions": { "ready": true } }] }),
        ])
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

fn alone(with_library: bool) -> Only<Endpoint> {
    Only {
        declared: Lookup::Found(Declared::unseen()),
        health: Box::new(move |object, statusless| {
            with_library.then(|| rules::health::builtin(object, statusless))?
        }),
        ..Only::of(Endpoint)
    }
}

#[derive(Debug, Default)]
struct Tally {
    wrong: u32,
    all: u32,
}

impl Tally {
    fn count(&mut self, wrong: bool) {
        self.all += 1;
        self.wrong += u32::from(wrong);
    }

    fn part(&self) -> f64 {
        f64::from(self.wrong) / f64::from(self.all.max(1))
    }
}

#[derive(Debug, Default)]
struct Score {
    falsely_ready: Tally,
    falsely_waiting: Tally,
    suspended_open: Tally,
    errors: Vec<String>,
    /// The cases in which sluice and Argo CD differ, each with both judgements.
    wrong: Vec<String>,
}

#[test]
fn few_gates_open_too_early_or_too_late() {
    let Some(cases) = corpus::cases("argo-health.jsonl") else {
        return;
    };
    let with = measure(&cases, &alone(true));
    let without = measure(&cases, &alone(false));
    let is_known = |case: &Value| rules::health::is_builtin(&case["manifest"]);
    let (known, unknown): (Vec<_>, Vec<_>) = cases.iter().cloned().partition(is_known);
    for (name, score) in [
        ("with the library", &with),
        ("kinds with a rule", &measure(&known, &alone(true))),
        ("kinds without one", &measure(&unknown, &alone(true))),
        ("without it", &without),
    ] {
        for (what, tally) in [
            ("falsely ready", &score.falsely_ready),
            ("falsely waiting", &score.falsely_waiting),
            ("suspended and open", &score.suspended_open),
        ] {
            let percent = tally.part() * 100.0;
            println!(
                "{name:17} {what:18} {:3} of {:3} = {percent:4.1} %",
                tally.wrong, tally.all
            );
        }
    }
    println!("{}", with.wrong.join("\n"));
    assert_eq!(with.errors, [""; 0], "rules that cannot be evaluated");
    assert!(with.falsely_ready.part() <= MOST_FALSELY_READY);
    assert!(with.falsely_waiting.part() <= MOST_FALSELY_WAITING);
    assert!(without.falsely_ready.part() <= MOST_FALSELY_READY_UNKNOWN);
}

fn measure(cases: &[Value], world: &Only<Endpoint>) -> Score {
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut score = Score::default();
    for case in cases {
        let judged = profile::judge(&kind_of(case), &case["manifest"], State::Ready, world, now);
        if judged.reason.label() == "RuleError" {
            score
                .errors
                .push(format!("{}: {}", case["input"], judged.message));
        }
        let (tally, wrong) = match case["argo_health"].as_str().unwrap() {
            "Progressing" | "Degraded" | "Missing" => (&mut score.falsely_ready, judged.satisfied),
            "Healthy" => (&mut score.falsely_waiting, !judged.satisfied),
            "Suspended" => (&mut score.suspended_open, judged.satisfied),
            _ => continue,
        };
        tally.count(wrong);
        if wrong {
            let (argo, input) = (&case["argo_health"], &case["input"]);
            score
                .wrong
                .push(format!("{argo} {input}: {}", judged.message));
        }
    }
    score
}

fn kind_of(case: &Value) -> Kind {
    let version = case["manifest"]["apiVersion"].as_str().unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let word = case["manifest"]["kind"].as_str().unwrap_or_default();
    kinds::builtin(group, word).map_or_else(
        || Kind::Custom {
            group: group.to_owned(),
            word: word.to_owned(),
        },
        Kind::Builtin,
    )
}
