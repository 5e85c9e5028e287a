//! Compares our JSONPath with client-go's `util/jsonpath`: the printed text of a template, and whether it is an error.
//!
//! The cases leave out the forms that [`rules::jsonpath`] leaves out on purpose:
//! * no `range` and `end`, no braces, and no text or number in the place of a step: a path of HIP-0025 ends at its first
//!   brace, and is one path;
//! * no text under `.*`, of which client-go takes the bytes;
//! * in `[?(path)]` only names: of a step that does not fit, client-go keeps some elements;
//! * a path that lacks a name, has a step of a slice that is not above 0, or a filter that makes no sense, is refused when
//!   it is read; client-go may print something while no element leads it there.
//!
//! client-go walks maps in any order, so several printed values are compared as a bag of words. A slice that is empty ends the walk in the library
//! too, at a place that depends on that order, so such a slice comes first or not at all.

use super::random::Random;
use super::{library, run};
use crate::settle;
use rules::jsonpath::{self, Effort, Path, PathError, PathProblem};
use serde_json::{Map, Value, json};

const NAMES: [&str; 7] = ["a", "b", "c", "type", "status", "x.y", "é"];
const TEXTS: [&str; 9] = [
    "True",
    "False",
    "Ready",
    "",
    "a b",
    "10",
    "é",
    "it's",
    "<&>\u{2028}",
];
/// Letters that are inserted into a path as typing mistakes; braces and quotes would make another template of it.
const SLIPS: [&str; 16] = [
    ".", "..", "[", "]", "*", "@", "$", ":", ",", " ", "=", "a", "?", "(", ")", "-",
];

/// A random path, with two facts about its steps.
#[derive(Default)]
struct Made {
    text: String,
    /// Whether the path walks maps, whose order is open.
    unordered: bool,
    /// Whether the path holds `.*`.
    wild: bool,
}

impl Random {
    /// Returns a random value of lists and maps, at most `depth` levels deep.
    fn data(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 12 }) {
            0 => Value::Null,
            1 => json!(self.percent(50)),
            2 => json!(i64::try_from(self.below(12)).unwrap_or_default() - 4),
            3 => json!([0.5, 1.0, -2.25, 1e21, 1e20, 0.00001, 1e-7, 100.0][self.below(8)]),
            4 => json!(self.pick(&TEXTS)),
            5..=7 => {
                let length = self.below(4);
                Value::Array((0..length).map(|_| self.data(depth - 1)).collect())
            }
            8 => {
                // A list of conditions, for filters.
                let length = self.below(4);
                let condition =
                    |random: &mut Self| json!({"type": random.data(0), "a": random.data(0)});
                Value::Array((0..length).map(|_| condition(self)).collect())
            }
            _ => {
                let length = 1 + self.below(4);
                let fields = (0..length).map(|_| {
                    let name = self.pick(&NAMES).to_owned();
                    (name, self.data(depth - 1))
                });
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns a random path, most of whose steps exist in this value; one in twelve has a stray character somewhere.
    fn path(&mut self, data: &Value) -> Made {
        let mut made = Made::default();
        let mut at = Some(data);
        for _ in 0..=self.below(4) {
            let ends = at.is_some_and(|value| !value.is_array() && !value.is_object());
            if ends && self.percent(85) {
                break;
            }
            let known = at.filter(|_| self.percent(75));
            let step = if let Some((step, next)) = known.and_then(|it| self.step_into(it)) {
                at = Some(next);
                step
            } else {
                at = None;
                self.step(&mut made)
            };
            made.text.push_str(&step);
        }
        if self.percent(8) {
            let slip = self.pick(&SLIPS);
            let places: Vec<_> = made.text.char_indices().map(|(at, _)| at).collect();
            let at = places[self.below(places.len())];
            made.text.insert_str(at, slip);
            // It may have become anything.
            made.unordered = true;
            made.wild |= made.text.contains('*');
        }
        made
    }

    /// Returns a random step into a value, and the value that it reaches; `None` where the value is empty or neither a map nor a list.
    fn step_into<'v>(&mut self, value: &'v Value) -> Option<(String, &'v Value)> {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                let (name, next) = fields.iter().nth(self.below(fields.len()))?;
                let name = name.replace('.', "\\.");
                let step = match self.below(3) {
                    0 => format!("['{name}']"),
                    _ => format!(".{name}"),
                };
                Some((step, next))
            }
            Value::Array(items) if !items.is_empty() => {
                let at = self.below(items.len());
                let step = match self.below(5) {
                    0 => "[*]".to_owned(),
                    1 => format!("[-{}]", items.len() - at),
                    2 => self.filter(),
                    _ => format!("[{at}]"),
                };
                Some((step, &items[at]))
            }
            _ => None,
        }
    }

    fn name(&mut self) -> String {
        self.pick(&NAMES).replace('.', "\\.")
    }

    fn step(&mut self, made: &mut Made) -> String {
        match self.below(14) {
            0 => {
                (made.unordered, made.wild) = (true, true);
                ".*".to_owned()
            }
            1 => {
                made.unordered = true;
                format!("..{}", self.pick(&["a", "b", "type", "status"]))
            }
            2 => self.slice(made),
            3 => format!("['{}']", self.name()),
            4 => {
                let (one, other) = (self.name(), self.name());
                format!("['{one}','{other}']")
            }
            5 => format!("[{},{}]", self.below(3), self.below(3)),
            6 | 7 => self.filter(),
            8 => format!("[{}]", i64::try_from(self.below(6)).unwrap_or_default() - 3),
            _ => format!(".{}", self.name()),
        }
    }

    /// Returns a random slice or index; behind a path that walks maps an index only.
    fn slice(&mut self, made: &Made) -> String {
        if made.unordered {
            return format!("[{}]", self.below(3));
        }
        let mut number = |percent| {
            let number = i64::try_from(self.below(7)).unwrap_or_default() - 3;
            if self.percent(percent) {
                number.to_string()
            } else {
                String::new()
            }
        };
        match number(100).as_str() {
            "-3" => "[*]".to_owned(),
            "-2" => format!("[{}:{}:{}]", number(70), number(70), number(60)),
            _ => format!("[{}:{}]", number(70), number(70)),
        }
    }

    fn filter(&mut self) -> String {
        let name = self.pick(&["type", "a", "b"]);
        if self.percent(20) {
            return format!("[?(@.{name})]");
        }
        let sign = self.pick(&["==", "==", "!=", "<", "<=", ">", ">=", "=", "<>"]);
        let literal = self.pick(&[
            "\"True\"",
            "'False'",
            "\"Ready\"",
            "\"it's\"",
            "1",
            "-2",
            "0.5",
            "1.0",
            "true",
            "false",
            "@.a",
            "@.b",
            "$.a",
            "nil",
            "1x",
            "",
        ]);
        let space = self.pick(&["", " "]);
        format!("[?(@.{name}{space}{sign}{space}{literal})]")
    }
}

/// Returns our result for a path: the printed text, as the library prints it, or the error of the walk. The outer error is that of an unreadable
/// path.
fn ours(path: &str, data: &Value) -> Result<Result<String, String>, PathError> {
    let path = Path::parse(path)?;
    let found = path.find(data, &mut Effort::new());
    Ok(found
        .map(|found| jsonpath::print(&found).unwrap_or_default())
        .map_err(|error| error.to_string()))
}

/// Whether our refusal of a path is one of those that are stricter than client-go, which reads a filter only when it has an element for it.
fn is_narrower(path: &str, error: &PathError) -> bool {
    let before: String = path.chars().take(error.column).collect();
    matches!(error.problem, PathProblem::NoName | PathProblem::ZeroStep) || before.contains("[?(")
}

fn without_texts(value: Value) -> Value {
    match value {
        Value::String(text) => json!(text.len()),
        Value::Array(items) => items.into_iter().map(without_texts).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, without_texts(value)))
            .collect(),
        other => other,
    }
}

fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<_> = text.split(' ').collect();
    words.sort_unstable();
    words
}

#[test]
fn paths_reach_what_they_reach_in_client_go() {
    let (mut random, cases) = run(20_000);
    let made: Vec<_> = (0..cases)
        .map(|_| {
            let data = json!({"status": random.data(4), "a": random.data(3)});
            let made = random.path(&data);
            // Bytes of texts are not walked.
            let data = if made.wild { without_texts(data) } else { data };
            (made, data)
        })
        .collect();
    let asked: Vec<_> = made
        .iter()
        .map(|(made, data)| json!({"template": format!("{{{}}}", made.text), "data": data}))
        .collect();
    let Some(answers) = library::ask("jsonpath", &asked) else {
        return;
    };
    let mut differences = Vec::new();
    let (mut printed, mut failed, mut narrower, mut panics) = (0, 0, 0, 0);
    for (((made, data), answer), asked) in made.iter().zip(&answers).zip(&asked) {
        if answer["panic"].is_string() {
            panics += 1;
            continue;
        }
        let found = match ours(&made.text, data) {
            Err(error) if is_narrower(&made.text, &error) && answer["error"].is_null() => {
                narrower += 1;
                continue;
            }
            Err(error) => Err(error.to_string()),
            Ok(found) => found,
        };
        let expected = answer["text"].as_str().unwrap_or_default();
        let same = match (&found, answer["error"].as_str()) {
            (Err(_), Some(_)) => {
                failed += 1;
                true
            }
            (Ok(found), None) => {
                printed += 1;
                found == expected || made.unordered && words(found) == words(expected)
            }
            _ => false,
        };
        if !same {
            differences.push(format!("{asked}\n  library {answer}\n  ours    {found:?}"));
        }
    }
    eprintln!(
        "{printed} printed, {failed} errors; {narrower} narrower and {panics} panics of the library left out"
    );
    settle(cases, &differences);
    assert!(
        cases < 1_000 || printed * 4 > cases,
        "too few reach anything"
    );
    assert!((narrower + panics) * 20 <= cases, "too few cases are left");
}
