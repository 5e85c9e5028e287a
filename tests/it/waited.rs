//! Measures sluice's verdicts on custom resources against the waits of operators. Each case is an object, and whether the authors of its operator
//! would go on with it: `ready` or `waiting`. The cases come without their cluster, so no definition is at hand. Those of the second round are hard
//! on purpose: half-written statuses and odd names. A case that its author calls doubtful does not count.

use crate::corpus;
use jiff::Timestamp;
use rules::definition::Declared;
use rules::dependency::State;
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::object::group_kind;
use rules::profile;
use rules::selector::Selector;
use rules::world::{Objects, Only};
use serde_json::Value;
use std::borrow::Cow;

/// The largest part of the unready objects that may open a gate: in all, and in the second round.
const MOST_FALSELY_READY: [f64; 2] = [0.01, 0.03];

/// The largest part of the ready objects that may hold a gate.
const MOST_FALSELY_WAITING: f64 = 0.02;

/// A cluster in which nothing is beside the judged object.
struct Nothing;

impl Objects for Nothing {
    fn object(&self, _: &Kind, _: Option<&str>, _: &str) -> Lookup<Value> {
        Lookup::NotFound
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(&self, _: &Kind, _: Option<&str>, _: &Selector) -> Lookup<Vec<Value>> {
        Lookup::Found(Vec::new())
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

/// The number of cases of one sort, and of those that are judged wrongly.
#[derive(Debug, Default)]
struct Part {
    wrong: Vec<String>,
    all: u32,
}

impl Part {
    fn share(&self) -> f64 {
        let wrong = u32::try_from(self.wrong.len()).expect("a few hundred");
        f64::from(wrong) / f64::from(self.all.max(1))
    }
}

/// Judges the cases of one round, or of all rounds where `round` is `None`, without the doubtful ones. Returns the unready cases that open a gate,
/// and the ready ones that hold it.
fn measure(cases: &[Value], round: Option<i64>) -> [Part; 2] {
    let now: Timestamp = "2026-11-20T09:00:00Z".parse().expect("a time");
    let world = Only {
        declared: Lookup::Found(Declared::unseen()),
        health: Box::new(rules::health::builtin),
        ..Only::of(Nothing)
    };
    let mut parts: [Part; 2] = Default::default();
    for case in cases {
        let counts = case["doubtful"] == false && round.is_none_or(|round| case["round"] == round);
        if !counts {
            continue;
        }
        let object = &case["manifest"];
        let judged = profile::judge(&kind_of(object), object, State::Ready, &world, now);
        let ready = case["expected"] == "ready";
        let [early, late] = &mut parts;
        let part = if ready { late } else { early };
        part.all += 1;
        if judged.satisfied != ready {
            let message = judged.message;
            part.wrong
                .push(format!("{} {}: {message}", case["gk"], case["expected"]));
        }
    }
    parts
}

fn kind_of(object: &Value) -> Kind {
    let (group, word) = group_kind(object);
    kinds::builtin(group, word).map_or_else(
        || Kind::Custom {
            group: group.to_owned(),
            word: word.to_owned(),
        },
        Kind::Builtin,
    )
}

#[test]
fn few_gates_open_before_what_operators_wait_for() {
    let Some(cases) = corpus::cases("waited-for.jsonl") else {
        return;
    };
    let rounds = [
        (None, MOST_FALSELY_READY[0]),
        (Some(2), MOST_FALSELY_READY[1]),
    ];
    for (round, most) in rounds {
        let [early, late] = measure(&cases, round);
        println!("round {round:?}: too early {early:?}, too late {late:?}");
        assert!(early.all > 50 && late.all > 20, "the corpus has shrunk");
        assert!(early.share() <= most, "round {round:?}: {early:?}");
        assert!(
            late.share() <= MOST_FALSELY_WAITING,
            "round {round:?}: {late:?}"
        );
    }
}
