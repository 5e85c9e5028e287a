//! Compares health rules in CEL with Flux's evaluator: the status, or whether an expression is refused or fails.
//!
//! Two things are narrower than in Flux. A call of a function that does not exist is refused when a rule is read, so that an administrator learns of
//! it; cel-go refuses some, and fails at the other ones when it evaluates them. And `has(a.b)` where `a` is neither a map nor absent is an error,
//! where cel-go answers false; no case asks for that.

use super::random::Random;
use super::{library, run};
use crate::settle;
use rules::health::Rule;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const WORDS: [&str; 6] = ["Ready", "True", "False", "Failed", "", "é"];
/// Fields that most of the generated objects have.
const FIELDS: [&str; 8] = [
    "status.phase",
    "status.replicas",
    "status.ready",
    "spec.replicas",
    "status.ratio",
    "status.conditions",
    "status.names",
    "metadata.generation",
];
/// Expressions with functions of CEL's extensions, and with calls of functions that do not exist.
const CALLS: [&str; 12] = [
    "status.phase.trim().lowerAscii() == 'ready'",
    "optional.none().hasValue()",
    "base64.encode(b'a') == 'YQ=='",
    "status.names.join(',').split(',').size() > 1",
    "sets.contains(status.names, ['Ready'])",
    "status.phase.substring(1) == 'eady'",
    "has(status.?phase)",
    "nothing()",
    "status.phase.startWith('R')",
    "sizes(status.names) > 1",
    "status.phase.contains()",
    "base64.encod(b'a') == ''",
];
const SLIPS: [&str; 12] = ["(", ")", "!", "=", "&&", "||", "'", ".", "[", "]", "?", "1"];

impl Random {
    fn object(&mut self) -> Value {
        let mut object =
            json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}});
        if self.percent(70) {
            object["metadata"]["generation"] = json!(1 + self.below(2));
        }
        if self.percent(80) {
            object["spec"] = json!({"replicas": self.below(4)});
        }
        if self.percent(90) {
            let mut status = json!({});
            for field in [
                "phase",
                "replicas",
                "ready",
                "ratio",
                "conditions",
                "names",
                "observedGeneration",
            ] {
                if self.percent(75) {
                    status[field] = self.status_field(field);
                }
            }
            object["status"] = status;
        }
        object
    }

    fn status_field(&mut self, field: &str) -> Value {
        if self.percent(5) {
            let odd = [
                json!(null),
                json!("odd"),
                json!(1.5),
                json!([]),
                json!({"a": 1}),
            ];
            // The texts in a map of conditions would be asked for fields.
            let most = if field == "conditions" { 4 } else { 5 };
            return odd[self.below(most)].clone();
        }
        match field {
            "phase" => json!(self.pick(&WORDS)),
            "ready" => json!(self.percent(50)),
            "ratio" => json!([0.5, 1.25, -3.5][self.below(3)]),
            "names" => {
                let length = self.below(4);
                json!((0..length).map(|_| self.pick(&WORDS)).collect::<Vec<_>>())
            }
            "conditions" => {
                let length = self.below(4);
                let mut conditions = Vec::new();
                for _ in 0..length {
                    let mut condition = json!({"type": self.pick(&WORDS)});
                    if self.percent(85) {
                        condition["status"] = json!(self.pick(&WORDS));
                    }
                    conditions.push(condition);
                }
                Value::Array(conditions)
            }
            _ => json!(self.below(4)),
        }
    }

    /// Returns a random expression that is true or false, or looks as if it were, at most `depth` operators deep.
    fn holds(&mut self, depth: usize) -> String {
        if depth > 0 {
            match self.below(8) {
                0 => return format!("{} && {}", self.holds(depth - 1), self.holds(depth - 1)),
                1 => return format!("{} || {}", self.holds(depth - 1), self.holds(depth - 1)),
                2 => return format!("!({})", self.holds(depth - 1)),
                3 => return format!("({})", self.holds(depth - 1)),
                4 => {
                    let (test, then, or) = (
                        self.holds(depth - 1),
                        self.holds(depth - 1),
                        self.holds(depth - 1),
                    );
                    return format!("({test} ? {then} : {or})");
                }
                _ => {}
            }
        }
        let word = self.pick(&WORDS);
        let sign = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
        match self.below(14) {
            0 => format!("status.phase {} '{word}'", self.pick(&["==", "!="])),
            1 => format!("{} {sign} {}", self.number(), self.number()),
            2 => self
                .pick(&[
                    "status.ready",
                    "true",
                    "false",
                    "status.ready == true",
                    "status.ready != false",
                ])
                .to_owned(),
            3 => format!(
                "has({})",
                self.pick(&[
                    "status.phase",
                    "status.ready",
                    "status.none.deep",
                    "spec.replicas",
                    "metadata.generation"
                ])
            ),
            4 => {
                let each = self.pick(&["exists", "all", "exists_one"]);
                format!("status.conditions.{each}(c, {})", self.of_condition())
            }
            5 => format!(
                "status.conditions.filter(c, {}).{}(d, d.status {} 'True')",
                self.of_condition(),
                self.pick(&["all", "exists"]),
                self.pick(&["==", "!="])
            ),
            6 => format!("'{word}' in status.names"),
            7 => format!("status.phase in ['Ready', '{word}']"),
            8 => format!(
                "status.phase.{}('{}')",
                self.pick(&["contains", "startsWith", "endsWith"]),
                self.pick(&["R", "e", "", "ed"])
            ),
            9 => format!("status.?phase.orValue('{word}') == 'Ready'"),
            10 => format!(
                "status.conditions.map(c, c.{}).{}",
                self.pick(&["type", "status"]),
                self.pick(&[
                    "exists(t, t == 'Ready')",
                    "size() > 1",
                    "all(t, t != 'Failed')"
                ])
            ),
            11 => format!(
                "size({}) {sign} {}",
                self.pick(&[
                    "status.names",
                    "status.conditions",
                    "status.phase",
                    "status"
                ]),
                self.below(3)
            ),
            12 => format!("{} == {}", self.pick(&FIELDS), self.pick(&FIELDS)),
            _ if self.percent(80) => format!(
                "status.?{}.hasValue()",
                self.pick(&["phase", "ready", "none"])
            ),
            _ => self.pick(&CALLS).to_owned(),
        }
    }

    fn of_condition(&mut self) -> String {
        let word = self.pick(&WORDS);
        match self.below(4) {
            0 => format!("c.type == '{word}'"),
            1 => format!("c.type == '{word}' && c.status == 'True'"),
            2 => "has(c.status) && c.status == 'False'".to_owned(),
            _ => format!("c.status != '{word}'"),
        }
    }

    fn number(&mut self) -> String {
        match self.below(9) {
            0 | 1 => self.below(4).to_string(),
            2 => "status.replicas".to_owned(),
            3 => "spec.replicas".to_owned(),
            4 => "metadata.generation".to_owned(),
            5 => format!(
                "status.replicas {} {}",
                self.pick(&["+", "-", "*", "/", "%"]),
                self.below(3)
            ),
            6 => "status.ratio".to_owned(),
            7 => "int(status.ratio)".to_owned(),
            _ => "size(status.names)".to_owned(),
        }
    }

    fn expression(&mut self) -> String {
        let mut text = self.holds(2);
        if self.percent(4) {
            let slip = self.pick(&SLIPS);
            let places: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
            text.insert_str(places[self.below(places.len())], slip);
        }
        text
    }
}

/// Returns our result for a case in the form of the library's answer: `status`, `refused` or `error`, with the status or the reason.
fn ours(case: &Value) -> (&'static str, String) {
    let text = |field: &str| case[field].as_str().filter(|text| !text.is_empty());
    let rule = Rule::new(
        text("current").unwrap_or_default(),
        text("inProgress"),
        text("failed"),
    );
    match rule.check() {
        Err((field, broken)) => ("refused", format!("{field}: {broken}")),
        Ok(()) => match rule.evaluate(&case["object"]) {
            Ok(status) => ("status", status.word().to_owned()),
            Err(error) => ("error", error),
        },
    }
}

fn theirs(answer: &Value) -> (&'static str, String) {
    let found = ["refused", "error", "status"]
        .into_iter()
        .find_map(|kind| Some((kind, answer[kind].as_str()?.to_owned())));
    found.unwrap_or(("panic", answer.to_string()))
}

#[test]
fn rules_say_what_flux_says() {
    let (mut random, cases) = run(20_000);
    let asked: Vec<_> = (0..cases)
        .map(|_| {
            let mut optional = |percent| if random.percent(percent) { random.expression() } else { String::new() };
            let (failed, in_progress, current) = (optional(30), optional(30), optional(100));
            json!({"current": current, "failed": failed, "inProgress": in_progress, "object": random.object()})
        })
        .collect();
    let Some(answers) = library::ask("fluxcel", &asked) else {
        return;
    };
    let mut told = BTreeMap::<String, usize>::new();
    let mut differences = Vec::new();
    for (case, answer) in asked.iter().zip(&answers) {
        let (kind, text) = theirs(answer);
        let (our_kind, our_text) = ours(case);
        let word = if kind == "status" {
            text.clone()
        } else {
            kind.to_owned()
        };
        *told.entry(word).or_default() += 1;
        let narrower = our_kind == "refused" && our_text.contains(": there is no function ");
        if kind != "refused" && narrower {
            *told.entry("narrower".to_owned()).or_default() += 1;
            continue;
        }
        if kind != our_kind || kind == "status" && text != our_text {
            differences.push(format!(
                "{case}\n  library {answer}\n  ours    {our_kind} {our_text}"
            ));
        }
    }
    eprintln!("{cases} compared {told:?}");
    settle(cases, &differences);
    for word in ["Current", "InProgress", "Failed", "error", "refused"] {
        assert!(
            cases < 1_000 || told.contains_key(word),
            "{word} is never reached"
        );
    }
}
