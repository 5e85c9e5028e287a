//! Finds the switches of a chart: the values that decide whether a container of the chart waits, and for which thing. Each switch is also
//! tried with another value.

use super::host_list::HostList;
use super::in_text::actions;
use super::template::word;
use super::tested::{self, Conditions, DEPTH, conditions_at, helper_of, push};
use super::texts::{Texts, value_at};
use super::wait::{For, Wait};
use serde_json::Value;

/// The most sets of one switch that are rendered. [`MOST_JOINED`] bounds the sets of several switches.
const MOST: usize = 60;
const MOST_JOINED: usize = 4;
/// The made-up name for a value by which a user names an object of the chart.
const NAMED: &str = "sluice-named";
/// The made-up address for a value that holds a host: no object of the chart has it.
const ELSEWHERE: &str = "sluice.example.com";

/// A switch: one value of the chart, with another setting than the chart's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Switch {
    /// The path of the value in the chart's values, such as `postgresql.enabled`.
    pub(super) path: String,
    pub(super) value: String,
    pub(super) tested: Tested,
}

/// The way in which a template tests the value of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tested {
    /// The template tests whether the value is set.
    IsSet,
    /// The template tests whether the value is equal to the switch's.
    Equals,
    /// The template tests whether the value is in this list: `(list "a" "b")`.
    Among { list: String },
    /// The template tests nothing. The value of the switch is a mark, which is a made-up host or port: an address with the mark comes from
    /// this value. `own` is the chart's own value.
    Follows { own: String },
    /// The template walks through the value, a list. Each element has marks of its own; the value of the switch is empty.
    Each(HostList),
}

impl Switch {
    /// The path and the value of the switch, in the form that Helm's `--set` takes.
    pub(super) fn pair(&self) -> String {
        match &self.tested {
            Tested::Each(list) => list.pairs(&self.path),
            _ => format!("{}={}", self.path, self.value),
        }
    }

    /// The marks of the switch: its value, or those of the elements of its list.
    pub(super) fn marks(&self) -> Vec<&str> {
        match &self.tested {
            Tested::Each(list) => list.marks().map(|it| it.0).collect(),
            _ => vec![self.value.as_str()],
        }
    }

    /// The list whose elements the switch marks.
    pub(super) fn list(&self) -> Option<&HostList> {
        match &self.tested {
            Tested::Each(list) => Some(list),
            _ => None,
        }
    }

    /// Whether the switch sets a text, which a user would choose, and not `true` or `false`.
    pub(super) fn is_text(&self) -> bool {
        !matches!(self.value.as_str(), "true" | "false")
    }

    /// Whether the switch sets a mark, a made-up host or port that shows which addresses come from the value.
    pub(super) fn follows(&self) -> bool {
        matches!(self.tested, Tested::Follows { .. } | Tested::Each(_))
    }

    /// The condition, for a template, that holds while the value is as the switch sets it. `None` where no condition tells.
    pub(super) fn holds(&self, root: &str) -> Option<String> {
        self.condition(root, true)
    }

    /// The condition, for a template, that holds while the value is as the chart has it. `None` where no condition tells.
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
            // The `range` over a list says when its entries are there.
            (Tested::Each(_), _) => return None,
            // Every port is as good as the chart's own.
            (Tested::Follows { own }, _) if own.parse::<u16>().is_ok() => return None,
            (Tested::Follows { own }, true) => equals("ne", own),
            (Tested::Follows { own }, false) => equals("eq", own),
        })
    }
}

/// Whether a rendered text contains the made-up name or address that a switch sets.
pub(super) fn is_made_up(text: &str) -> bool {
    text.contains(NAMED) || text.contains(ELSEWHERE)
}

/// The sets of switches with which the chart is rendered: first single switches, and then sets of several that only together render a
/// container. The second list has the sets beyond the limits, which are not rendered.
pub(super) fn of(texts: &Texts) -> (Vec<Vec<Switch>>, Vec<Vec<Switch>>) {
    let mut conditions: Vec<String> = Vec::new();
    let mut together: Vec<Vec<Switch>> = Vec::new();
    for file in texts.files.iter().filter(|it| !it.is_values()) {
        for block in &file.blocks {
            if !block.read().any(|it| it.1.looks || it.1.pauses) {
                continue;
            }
            let lines = block.first..block.first + block.length;
            let mut around: Vec<String> = lines
                .clone()
                .flat_map(|at| conditions_at(file, at))
                .collect();
            let text = file.lines_of(block).join("\n");
            around.extend(actions(&text).into_iter().filter(|it| chooses(it)));
            // The conditions that decide whether it is there come first: there may be more than can be tried.
            if let Some(helper) = helper_of(file, block.first) {
                around.extend(tested::around_uses(texts, &helper));
            }
            let mut read = Conditions::default();
            read.of_helpers(texts, &text, DEPTH);
            around.extend(read.found);
            let all = around.iter().flat_map(|it| switches(it, &texts.values));
            together.push(all.filter(|it| it.value != "false").collect());
            for condition in around {
                let of_helpers = included(texts, &condition);
                push(&mut conditions, condition);
                for action in of_helpers {
                    push(&mut conditions, action);
                }
            }
        }
    }
    for condition in around_migrations(texts) {
        push(&mut conditions, condition);
    }
    let mut sets: Vec<Vec<Switch>> = Vec::new();
    for condition in &conditions {
        for switch in switches(condition, &texts.values) {
            push(&mut sets, vec![switch]);
        }
    }
    // A value that a template compares with texts is never `true`.
    let compared = sets.iter().flatten();
    let compared = compared.filter(|it| it.tested != Tested::IsSet);
    let compared: Vec<String> = compared.map(|it| it.path.clone()).collect();
    let may_be = |it: &Switch| {
        let is_true = it.tested == Tested::IsSet && it.value == "true";
        !is_true || !compared.contains(&it.path)
    };
    sets.retain(|set| set.iter().all(may_be));
    let more = sets.split_off(sets.len().min(MOST));
    let mut joined: Vec<Vec<Switch>> = Vec::new();
    for all in together {
        let all = all.into_iter().filter(may_be).collect();
        push(&mut joined, dedup(all));
    }
    let joined = joined.into_iter().filter(|it| it.len() > 1);
    for all in joined.take(MOST_JOINED) {
        push(&mut sets, all);
    }
    (sets, more)
}

/// Whether an action within a container's text chooses between two texts, such as `ternary "deployment" "statefulset" .Values.x`. The flag
/// of a program is no such text.
fn chooses(action: &str) -> bool {
    let is_flag = ["ternary \"true\" \"false\"", "ternary \"false\" \"true\""];
    let is_choice = action.contains("ternary ") && !is_flag.iter().any(|it| action.contains(it));
    matches!(word(action), "if" | "else") || is_choice
}

/// The conditions around the workloads that migrate, where a container waits for the migration: another workload may migrate without them.
fn around_migrations(texts: &Texts) -> Vec<String> {
    let waits = |it: &Wait| matches!(it.for_what, For::Migration | For::Data(_));
    let mut blocks = texts.files.iter().flat_map(|it| &it.blocks);
    if !blocks.any(|it| it.read().any(|it| it.1.waits.iter().any(waits))) {
        return Vec::new();
    }
    let conditions = texts.files.iter().flat_map(|file| {
        let documents = file
            .documents()
            .filter(|it| it.is_workload() && it.migrates());
        let lines = documents.filter_map(|it| Some(it.first + it.line_of("kind")?));
        lines
            .flat_map(|line| conditions_at(file, line))
            .collect::<Vec<_>>()
    });
    conditions.collect()
}

/// Whether a value names something, by its own name.
fn is_name(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or_default();
    key.ends_with("Override") || key.to_lowercase().ends_with("name")
}

/// The switches without those whose value an earlier one sets.
pub(super) fn dedup(switches: Vec<Switch>) -> Vec<Switch> {
    let mut once: Vec<Switch> = Vec::new();
    for switch in switches {
        if once.iter().all(|it| it.path != switch.path) {
            once.push(switch);
        }
    }
    once
}

/// The actions of the helpers in a condition, such as `if include "shop.domain" .`
fn included(texts: &Texts, condition: &str) -> Vec<String> {
    let names = condition.split("include \"").skip(1);
    let bodies = names.filter_map(|it| texts.helper(it.split('"').next()?));
    let all = bodies.flat_map(actions);
    all.filter(|it| it.contains(".Values.")).collect()
}

/// Whether the path of a value says that the value is an address: a host, a domain or a URL.
fn is_address(path: &str) -> bool {
    let path = path.to_lowercase();
    ["host", "domain", "url"].iter().any(|it| path.contains(it))
}

/// The switches that change the result of a condition: one for each value that the condition tests.
fn switches(condition: &str, values: &Value) -> Vec<Switch> {
    let mut found = Vec::new();
    for (at, _) in condition.match_indices(".Values.") {
        let rest = &condition[at + ".Values.".len()..];
        let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_');
        let end = rest.find(|it| !is_path(it)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.').to_owned();
        let now = value_at(values, &path);
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
            // A value that the chart does not define is a name where its key says so, and otherwise most likely a switch.
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

/// The list, `(list "a" "b")`, in which a condition looks for a value. `before` and `behind` are the texts of the condition around the
/// value's path.
fn list_of<'c>(before: &str, behind: &'c str) -> Option<&'c str> {
    let looks = before.trim_end_matches(['$', ' ']).ends_with("has");
    let behind = behind.trim_start();
    let end = behind.find(')')? + 1;
    let is_list = looks && behind.starts_with("(list \"");
    is_list.then(|| &behind[..end])
}

/// Whether a list such as `(list "a" "b")` holds a text.
fn has(list: &str, text: &str) -> bool {
    list.split('"').skip(1).step_by(2).any(|it| it == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The switches that are tried for a chart with one template and these values.
    fn tried(template: &str, values: Value) -> Vec<String> {
        let mut texts = Texts {
            values,
            ..Texts::default()
        };
        texts.add("templates/web.yaml".into(), template.to_owned());
        let (sets, _) = of(&texts);
        sets.iter().flatten().map(Switch::pair).collect()
    }

    #[test]
    fn the_value_that_chooses_a_scheme_is_tried() {
        let template = "initContainers:\n  - name: wait\n    image: x\n    \
                        command: [curl, '{{ ternary \"https\" \"http\" .Values.api.secure }}://api']\n";
        let tried = tried(template, json!({"api": {"secure": false}}));
        assert_eq!(tried, ["api.secure=true"]);
    }

    #[test]
    fn a_value_that_is_compared_with_texts_is_never_true() {
        let template = "initContainers:\n  {{- if .Values.db.type }}\n  {{- if eq .Values.db.type \"mysql\" }}\n  - name: wait\n    image: x\n    \
                        command: [nc, -z, db, '1']\n  {{- end }}\n  {{- end }}\n";
        let tried = tried(template, json!({"db": {"type": null}}));
        assert_eq!(tried, ["db.type=mysql"]);
    }

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
