//! The values that decide whether a chart waits, and for what: each is tried the other way too.

use super::in_text::actions;
use super::template::word;
use super::texts::{File, Texts};
use super::waits;
use serde_json::Value;

/// The most sets of values beside the chart's own.
const MOST: usize = 32;
/// A name that is given to what a chart lets its user name.
const NAMED: &str = "sluice-named";
/// An address that is no object of the chart.
const ELSEWHERE: &str = "sluice.example.com";

/// A switch: one value of the chart, changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Switch {
    /// The path of the value in the chart's values, such as `postgresql.enabled`.
    pub(super) path: String,
    pub(super) value: String,
    /// Whether the template compares the value with `text`; otherwise it tests whether the value is set.
    pub(super) equals: bool,
}

impl Switch {
    /// The pair that `--set` takes.
    pub(super) fn pair(&self) -> String {
        format!("{}={}", self.path, self.value)
    }

    /// The condition that holds in a template while the value is as this switch has it.
    pub(super) fn holds(&self, root: &str) -> String {
        self.condition(root, true)
    }

    /// The condition that holds while the value is as the chart has it.
    pub(super) fn holds_not(&self, root: &str) -> String {
        self.condition(root, false)
    }

    fn condition(&self, root: &str, on: bool) -> String {
        let path = format!("{root}.Values.{}", self.path);
        let on_if_true = self.value != "false";
        match (self.equals, on) {
            (true, true) => format!("(eq {path} \"{}\")", self.value),
            (true, false) => format!("(ne {path} \"{}\")", self.value),
            (false, on) if on == on_if_true => path,
            (false, _) => format!("(not {path})"),
        }
    }
}

/// The sets of values to render with, beside the chart's own: single switches first, then what brings a container in sight.
pub(super) fn of(texts: &Texts) -> Vec<Vec<Switch>> {
    let mut conditions: Vec<String> = Vec::new();
    let mut together: Vec<Vec<Switch>> = Vec::new();
    for file in texts.files.iter().filter(|it| !it.is_values()) {
        for block in &file.blocks {
            if !block.branches.iter().any(|it| waits::of(it).looks) {
                continue;
            }
            let lines = block.first..block.first + block.length;
            let mut around: Vec<String> = lines
                .clone()
                .flat_map(|at| conditions_at(file, at))
                .collect();
            let text: Vec<&str> = file
                .text
                .lines()
                .skip(block.first)
                .take(block.length)
                .collect();
            // The conditions that decide whether it is there come first: there may be more than can be tried.
            if let Some(helper) = helper_of(file, block.first) {
                around.extend(around_uses(texts, &helper));
            }
            around.extend(of_helpers(texts, &text.join("\n"), 2));
            let all: Vec<Switch> = around
                .iter()
                .flat_map(|it| switches(it, &texts.values))
                .filter(|it| it.value != "false")
                .collect();
            push(&mut together, dedup(all));
            for condition in around {
                push(&mut conditions, condition);
            }
        }
    }
    let mut sets: Vec<Vec<Switch>> = Vec::new();
    for condition in &conditions {
        for switch in switches(condition, &texts.values) {
            push(&mut sets, vec![switch]);
        }
    }
    sets.truncate(MOST - 4);
    for all in together.into_iter().filter(|it| it.len() > 1) {
        push(&mut sets, all);
    }
    sets.truncate(MOST);
    sets
}

fn push<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

/// Whether a value names something, by its own name.
fn is_name(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or_default();
    key.ends_with("Override") || key.to_lowercase().ends_with("name")
}

fn dedup(switches: Vec<Switch>) -> Vec<Switch> {
    let mut once: Vec<Switch> = Vec::new();
    for switch in switches {
        if once.iter().all(|it| it.path != switch.path) {
            once.push(switch);
        }
    }
    once
}

/// The conditions that are open around a line.
fn conditions_at(file: &File, line: usize) -> Vec<String> {
    let open = file.template.open.get(line).map_or(&[][..], Vec::as_slice);
    let decides = |it: &&String| matches!(word(it), "if" | "else" | "with");
    open.iter().flatten().filter(decides).cloned().collect()
}

/// The helper that a line is in.
fn helper_of(file: &File, line: usize) -> Option<String> {
    let open = file.template.open.get(line)?;
    let define = open.iter().flatten().find(|it| word(it) == "define")?;
    Some(define.split('"').nth(1)?.to_owned())
}

/// The conditions around the places where a helper is used.
fn around_uses(texts: &Texts, helper: &str) -> Vec<String> {
    let named = format!("\"{helper}\"");
    let mut found = Vec::new();
    for file in &texts.files {
        for (at, line) in file.text.lines().enumerate() {
            if line.contains(&named) && !line.contains("define") {
                found.extend(conditions_at(file, at));
            }
        }
    }
    found
}

/// The conditions in the helpers that a text includes.
fn of_helpers(texts: &Texts, text: &str, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    for action in actions(text) {
        for name in action
            .split("include \"")
            .chain(action.split("template \""))
            .skip(1)
        {
            let Some(body) = name.split('"').next().and_then(|it| texts.helper(it)) else {
                continue;
            };
            for action in actions(body) {
                if matches!(word(&action), "if" | "else") || action.contains(".enabled") {
                    push(&mut found, action);
                }
            }
            if depth > 0 {
                found.extend(of_helpers(texts, body, depth - 1));
            }
        }
    }
    found
}

/// The values that a condition tests, the other way.
fn switches(condition: &str, values: &Value) -> Vec<Switch> {
    let mut found = Vec::new();
    for (at, _) in condition.match_indices(".Values.") {
        let rest = &condition[at + ".Values.".len()..];
        let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_');
        let end = rest.find(|it| !is_path(it)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.').to_owned();
        let now = path
            .split('.')
            .try_fold(values, |value, key| value.get(key));
        let compared = condition[..at].trim_end().ends_with("eq")
            || condition[..at].trim_end_matches(['$', ' ']).ends_with("eq");
        let literal = rest[end..].split('"').nth(1).filter(|_| compared);
        let (value, equals) = match (now, literal) {
            (Some(Value::String(now)), Some(literal)) if now == literal => continue,
            (_, Some(literal)) if !literal.is_empty() => (literal.to_owned(), true),
            (Some(Value::Bool(now)), _) => ((!now).to_string(), false),
            // A value that the chart does not have is a text where it is called like one, else most likely a switch.
            (None | Some(Value::Null), _) if is_name(&path) => (NAMED.to_owned(), false),
            (None | Some(Value::Null), _) => ("true".to_owned(), false),
            (Some(Value::String(now)), _)
                if now.is_empty() && path.to_lowercase().contains("host") =>
            {
                (ELSEWHERE.to_owned(), false)
            }
            _ => continue,
        };
        push(
            &mut found,
            Switch {
                path,
                value,
                equals,
            },
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_is_tried_the_other_way() {
        let values = json!({"a": {"enabled": true}, "b": {"host": "", "kind": "x"}});
        let told = |condition: &str| -> Vec<String> {
            switches(condition, &values)
                .iter()
                .map(Switch::pair)
                .collect()
        };
        assert_eq!(
            told("if and .Values.a.enabled (not .Values.c)"),
            ["a.enabled=false", "c=true"]
        );
        assert_eq!(told("if eq .Values.b.kind \"y\""), ["b.kind=y"]);
        assert_eq!(told("if .Values.b.host"), ["b.host=sluice.example.com"]);
        let found = switches("if .Values.a.enabled", &values);
        let [off] = found.as_slice() else {
            panic!("one")
        };
        assert_eq!(
            (off.holds(""), off.holds_not("$")),
            (
                "(not .Values.a.enabled)".to_owned(),
                "$.Values.a.enabled".to_owned()
            )
        );
    }
}
