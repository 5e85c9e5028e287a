//! The values that decide whether a chart waits, and for what: each is tried the other way too.

use super::in_text::actions;
use super::template::word;
use super::texts::{File, Texts};
use super::waits;
use serde_json::Value;

/// The most sets of one switch, and the most of several together.
const MOST: usize = 60;
const MOST_JOINED: usize = 4;
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
    pub(super) tested: Tested,
}

/// The test of a value by a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tested {
    /// Whether the value is set.
    IsSet,
    /// Whether the value is equal to that of the switch.
    Equals,
    /// Whether the value is in this list, as the template writes it: `(list "a" "b")`.
    Among { list: String },
    /// None: the value of the switch is a mark, by which a rendered address tells the value that it came from. The chart's own value
    /// is `own`.
    Follows { own: String },
}

impl Switch {
    /// The pair that `--set` takes.
    pub(super) fn pair(&self) -> String {
        format!("{}={}", self.path, self.value)
    }

    /// Whether the value is a text, which stands for one of the user.
    pub(super) fn is_text(&self) -> bool {
        !matches!(self.value.as_str(), "true" | "false")
    }

    /// Whether the value is a mark.
    pub(super) fn follows(&self) -> bool {
        matches!(self.tested, Tested::Follows { .. })
    }

    /// The condition that holds in a template while the value is as this switch has it. `None` where the value decides nothing.
    pub(super) fn holds(&self, root: &str) -> Option<String> {
        self.condition(root, true)
    }

    /// The condition that holds while the value is as the chart has it. `None` where the value decides nothing.
    pub(super) fn holds_not(&self, root: &str) -> Option<String> {
        self.condition(root, false)
    }

    fn condition(&self, root: &str, on: bool) -> Option<String> {
        let path = format!("{root}.Values.{}", self.path);
        let is_set = |on: bool| {
            if on {
                path.clone()
            } else {
                format!("(not {path})")
            }
        };
        let equals = |word: &str, text: &str| format!("({word} {path} \"{text}\")");
        Some(match (&self.tested, on) {
            (Tested::Equals, true) => equals("eq", &self.value),
            (Tested::Equals, false) => equals("ne", &self.value),
            (Tested::Among { list }, true) => format!("(has {path} {list})"),
            (Tested::Among { list }, false) => format!("(not (has {path} {list}))"),
            (Tested::IsSet, on) => is_set(on == (self.value != "false")),
            (Tested::Follows { own }, on) if own.is_empty() => is_set(on),
            // Every port is as good as the chart's own.
            (Tested::Follows { own }, _) if own.parse::<u16>().is_ok() => return None,
            (Tested::Follows { own }, true) => equals("ne", own),
            (Tested::Follows { own }, false) => equals("eq", own),
        })
    }
}

/// Whether a text has a name or an address in it that is made up for a value.
pub(super) fn is_made_up(text: &str) -> bool {
    text.contains(NAMED) || text.contains(ELSEWHERE)
}

/// The sets of values to render with, beside the chart's own: single switches first, then what brings a container in sight. Behind
/// these the switches that are too many to be tried.
pub(super) fn of(texts: &Texts) -> (Vec<Vec<Switch>>, Vec<Vec<Switch>>) {
    let mut conditions: Vec<String> = Vec::new();
    let mut together: Vec<Vec<Switch>> = Vec::new();
    for file in texts.files.iter().filter(|it| !it.is_values()) {
        for block in &file.blocks {
            let readings = || block.branches.iter().map(waits::of);
            if !readings().any(|it| it.looks || it.pauses) {
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
                around.extend(around_uses(texts, &helper, 2));
            }
            around.extend(of_helpers(texts, &text.join("\n"), 2));
            let all: Vec<Switch> = around
                .iter()
                .flat_map(|it| switches(it, &texts.values))
                .filter(|it| it.value != "false")
                .collect();
            push(&mut together, dedup(all));
            for condition in around {
                let of_helpers = included(texts, &condition);
                push(&mut conditions, condition);
                for action in of_helpers {
                    push(&mut conditions, action);
                }
            }
        }
    }
    let mut sets: Vec<Vec<Switch>> = Vec::new();
    for condition in &conditions {
        for switch in switches(condition, &texts.values) {
            push(&mut sets, vec![switch]);
        }
    }
    let more = sets.split_off(sets.len().min(MOST));
    let together = together.into_iter().filter(|it| it.len() > 1);
    for all in together.take(MOST_JOINED) {
        push(&mut sets, all);
    }
    (sets, more)
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
pub(super) fn helper_of(file: &File, line: usize) -> Option<String> {
    let open = file.template.open.get(line)?;
    let define = open.iter().flatten().find(|it| word(it) == "define")?;
    Some(define.split('"').nth(1)?.to_owned())
}

/// The conditions around the places where a helper is used, and in the helpers that its arguments include there.
fn around_uses(texts: &Texts, helper: &str, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    for (file, at, line) in uses(texts, helper) {
        found.extend(conditions_at(file, at));
        found.extend(of_helpers(texts, line, 2));
        // A helper may be used by another.
        let outer = helper_of(file, at).filter(|it| depth > 0 && it != helper);
        found.extend(
            outer
                .iter()
                .flat_map(|it| around_uses(texts, it, depth - 1)),
        );
    }
    found
}

/// The lines on which a helper is used, with their numbers.
pub(super) fn uses<'t>(
    texts: &'t Texts,
    helper: &str,
) -> impl Iterator<Item = (&'t File, usize, &'t str)> {
    let named = format!("\"{helper}\"");
    let lines = texts.files.iter().flat_map(|file| {
        let lines = file.text.lines().enumerate();
        lines.map(move |(at, line)| (file, at, line))
    });
    lines.filter(move |(_, _, line)| line.contains(&named) && !line.contains("define"))
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

/// The actions of the helpers in a condition, such as `if include "shop.domain" .`
fn included(texts: &Texts, condition: &str) -> Vec<String> {
    let names = condition.split("include \"").skip(1);
    let bodies = names.filter_map(|it| texts.helper(it.split('"').next()?));
    let all = bodies.flat_map(actions);
    all.filter(|it| it.contains(".Values.")).collect()
}

/// Whether a value is called as an address is.
fn is_address(path: &str) -> bool {
    let path = path.to_lowercase();
    ["host", "domain", "url"].iter().any(|it| path.contains(it))
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
        let list = list_of(&condition[..at], &rest[end..]);
        let (value, tested) = match (now, literal) {
            (Some(Value::String(now)), Some(literal)) if now == literal => continue,
            (Some(Value::String(now)), _) if list.is_some_and(|it| has(it, now)) => continue,
            (_, None) if list.is_some() => {
                let list = list.unwrap_or_default();
                let value = list.split('"').nth(1).unwrap_or_default().to_owned();
                let list = list.to_owned();
                (value, Tested::Among { list })
            }
            (_, Some(literal)) if !literal.is_empty() => (literal.to_owned(), Tested::Equals),
            (Some(Value::Bool(now)), _) => ((!now).to_string(), Tested::IsSet),
            // A value that the chart does not have is a text where it is called like one, else most likely a switch.
            (None | Some(Value::Null), _) if is_name(&path) => (NAMED.to_owned(), Tested::IsSet),
            (None | Some(Value::Null), _) => ("true".to_owned(), Tested::IsSet),
            (Some(Value::String(now)), _) if now.is_empty() && is_address(&path) => {
                (ELSEWHERE.to_owned(), Tested::IsSet)
            }
            _ => continue,
        };
        push(
            &mut found,
            Switch {
                path,
                value,
                tested,
            },
        );
    }
    found
}

/// The list, `(list "a" "b")`, in which a template looks for a value: `before` and `behind` are the texts around the value's path.
fn list_of<'c>(before: &str, behind: &'c str) -> Option<&'c str> {
    let looks = before.trim_end_matches(['$', ' ']).ends_with("has");
    let behind = behind.trim_start();
    let end = behind.find(')')? + 1;
    let is_list = looks && behind.starts_with("(list \"");
    is_list.then(|| &behind[..end])
}

/// Whether such a list has a text.
fn has(list: &str, text: &str) -> bool {
    list.split('"').skip(1).step_by(2).any(|it| it == text)
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
        let listed = "if has .Values.b.kind (list \"y\" \"z\")";
        assert_eq!(told(listed), ["b.kind=y"]);
        assert_eq!(
            switches(listed, &values)[0].holds("$").as_deref(),
            Some("(has $.Values.b.kind (list \"y\" \"z\"))")
        );
        assert_eq!(told("if has .Values.b.kind (list \"x\")"), [""; 0]);
        let follows = |own: &str| Switch {
            path: "b.host".to_owned(),
            value: "sluice-1.example.com".to_owned(),
            tested: Tested::Follows {
                own: own.to_owned(),
            },
        };
        for (own, expected) in [
            ("", Some(".Values.b.host")),
            ("localhost", Some("(ne .Values.b.host \"localhost\")")),
            ("5432", None),
        ] {
            assert_eq!(follows(own).holds("").as_deref(), expected, "{own}");
        }
        let found = switches("if .Values.a.enabled", &values);
        let [off] = found.as_slice() else {
            panic!("one")
        };
        assert_eq!(
            (off.holds(""), off.holds_not("$")),
            (
                Some("(not .Values.a.enabled)".to_owned()),
                Some("$.Values.a.enabled".to_owned())
            )
        );
    }
}
