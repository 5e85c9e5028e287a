//! Finds the switches of a chart: the values that decide whether a container of the chart waits, and for which thing. Each switch is also
//! tried with another value.

use super::comparison::Comparison;
use super::in_text::actions;
use super::switch::{ELSEWHERE, NAMED, OTHER};
pub(super) use super::switch::{Switch, Tested, is_made_up, is_override};
use super::template::word;
use super::tested::{self, Conditions, DEPTH, conditions_at, helper_of, push};
use super::texts::{Texts, value_at};
use super::wait::{For, Wait};
use serde_json::Value;

/// The most sets of one switch that are rendered. [`MOST_JOINED`] bounds the sets of several switches.
const MOST: usize = 60;
const MOST_JOINED: usize = 4;

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
            let all = around.iter().flat_map(|it| of_condition(it, &texts.values));
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
        for switch in of_condition(condition, &texts.values) {
            add(&mut sets, switch);
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
    // The set without any of the texts tells less than one with another text, and there may be more sets than are tried.
    sets.sort_by_key(|set| set.iter().any(Switch::is_other));
    let more = sets.split_off(sets.len().min(MOST));
    let mut joined: Vec<Vec<Switch>> = Vec::new();
    for all in together {
        let all = all.into_iter().filter(|it| may_be(it) && !it.is_other());
        let all = all.collect();
        push(&mut joined, dedup(all));
    }
    let joined = joined.into_iter().filter(|it| it.len() > 1);
    for all in joined.take(MOST_JOINED) {
        push(&mut sets, all);
    }
    (sets, more)
}

/// Adds the set of values with one switch, unless it is there: a value has one set for each of its texts, and one for none of them, however many
/// conditions compare it.
fn add(sets: &mut Vec<Vec<Switch>>, switch: Switch) {
    let known = sets.iter_mut().flatten();
    let mut known = known.filter(|it| it.path == switch.path && it.value == switch.value);
    match known.next() {
        Some(known) => {
            if let (Tested::Other(known), Tested::Other(more)) = (&mut known.tested, &switch.tested)
            {
                known.join(more);
            }
        }
        None => sets.push(vec![switch]),
    }
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

/// Whether a value names something, by its key, which ends in `Override` or `name`.
pub(super) fn is_name(path: &str) -> bool {
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

/// The actions that read values in the helpers that a condition includes, such as `if include "shop.domain" .`
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

/// Whether the path of a value says that the value is a part of a container's security context or of its resources, which do not change what
/// the container waits for.
fn is_of_the_runtime(path: &str) -> bool {
    let mut keys = path.split('.');
    keys.any(|it| it.ends_with("ecurityContext") || it.starts_with("resources"))
}

/// The switches that change the result of a condition: for each value that the condition tests, its other settings. Left out are values that only
/// describe how a container runs, and overrides of names.
pub(super) fn of_condition(condition: &str, values: &Value) -> Vec<Switch> {
    let mut found = Vec::new();
    for (at, _) in condition.match_indices(".Values.") {
        let rest = &condition[at + ".Values.".len()..];
        let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_');
        let end = rest.find(|it| !is_path(it)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.').to_owned();
        let now = value_at(values, &path);
        // Variations show what other names do.
        if is_of_the_runtime(&path) || is_override(&path) {
            continue;
        }
        let alone = || other(now, &path).map(|it| (it, Tested::IsSet));
        let settings = match Comparison::around(&condition[..at], &rest[end..]) {
            // `eq .Values.enabled true` compares with no text.
            Some(comparison) if !matches!(now, Some(Value::Bool(_))) => compared(now, &comparison),
            _ => alone().into_iter().collect(),
        };
        for (value, tested) in settings {
            let path = path.clone();
            push(
                &mut found,
                Switch {
                    path,
                    value,
                    tested,
                },
            );
        }
    }
    found
}

/// The setting of a value that changes the result of a condition which tests the value alone: `false` for `true` and the reverse, `true` or a
/// made-up name for a value that the chart does not have, and a made-up host for an empty one. `None` for any other value.
fn other(now: Option<&Value>, path: &str) -> Option<String> {
    match now {
        Some(Value::Bool(now)) => Some((!now).to_string()),
        // A value that the chart does not define is a name where its key says so, and otherwise most likely a switch.
        None | Some(Value::Null) if is_name(path) => Some(NAMED.to_owned()),
        None | Some(Value::Null) => Some("true".to_owned()),
        Some(Value::String(now)) if now.is_empty() && is_address(path) => {
            Some(ELSEWHERE.to_owned())
        }
        _ => None,
    }
}

/// The settings of a value that change the result of a comparison: each of its texts, and a made-up text that is none of them where the chart's
/// own value is one.
fn compared(now: Option<&Value>, comparison: &Comparison) -> Vec<(String, Tested)> {
    let now = now.and_then(Value::as_str);
    let others = comparison.texts.iter();
    let others = others.filter(|it| now != Some(it.as_str()));
    let mut settings: Vec<(String, Tested)> = Vec::new();
    for text in others {
        let tested = if comparison.is_of_list() {
            Tested::Among(comparison.clone())
        } else {
            Tested::Equals
        };
        settings.push((text.clone(), tested));
    }
    if now.is_some_and(|now| comparison.texts.iter().any(|it| it == now)) {
        settings.push((OTHER.to_owned(), Tested::Other(comparison.clone())));
    }
    settings
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
            of_condition(condition, &values)
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
        assert_eq!(told(listed), ["b.kind=y", "b.kind=z"]);
        assert_eq!(
            of_condition(listed, &values)[0].holds("$").as_deref(),
            Some("(has $.Values.b.kind (list \"y\" \"z\"))")
        );
        // The chart's own value is one of the texts, so the other branch is tried with none of them.
        let own = "if has .Values.b.kind (list \"x\")";
        assert_eq!(told(own), ["b.kind=sluice-other"]);
        let several = "if eq .Values.b.kind \"x\" \"y\"";
        assert_eq!(told(several), ["b.kind=y", "b.kind=sluice-other"]);
        let conditions = |it: &Switch| (it.holds(""), it.holds_not(""));
        let found = of_condition(several, &values);
        let [one, none] = [
            "(eq .Values.b.kind \"y\")",
            "(not (eq .Values.b.kind \"x\" \"y\"))",
        ];
        let [other, some] = [
            "(ne .Values.b.kind \"y\")",
            "(eq .Values.b.kind \"x\" \"y\")",
        ];
        let told = |a: &str, b: &str| (Some(a.to_owned()), Some(b.to_owned()));
        assert_eq!(conditions(&found[0]), told(one, other));
        assert_eq!(conditions(&found[1]), told(none, some));
        let mut sets = Vec::new();
        for switch in [
            &found[1],
            &found[1],
            &of_condition("if eq .Values.b.kind \"x\" \"z\"", &values)[1],
        ] {
            add(&mut sets, switch.clone());
        }
        let [joined] = sets.as_slice() else {
            panic!("{sets:?}")
        };
        let all = "(eq .Values.b.kind \"x\" \"y\" \"z\")";
        assert_eq!(joined[0].holds_not("").as_deref(), Some(all));
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
        let found = of_condition("if .Values.a.enabled", &values);
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
