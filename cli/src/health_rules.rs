//! Health rules of a file: a list of them, or the ConfigMap that the status service follows.

use crate::input;
use crate::manifest::{Entries, Entry};
use anyhow::{Context, Result, bail};
use rules::health::{RuleProblem, Rules};
use serde_json::Value;
use std::path::Path;

/// The rules of a file, to judge with. A broken rule is an error: without it the verdict would differ from the status
/// service's.
pub(crate) fn load(path: &Path) -> Result<Rules> {
    let (_, rules, problems) = read(path)?;
    if problems.is_empty() {
        return Ok(rules);
    }
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    bail!("broken health rules:\n  {}", lines.join("\n  "))
}

/// Reads a file of health rules, `-` for standard input: its name in messages, the rules that are in order, and the problems of the others. A
/// file that cannot be read, or is not UTF-8, is an error.
pub(crate) fn read(path: &Path) -> Result<(String, Rules, Vec<RuleProblem>)> {
    let (name, text) = input::read(path)?;
    let text = String::from_utf8(text).with_context(|| format!("{name} is not UTF-8"))?;
    let (rules, problems) = parse(&name, &text);
    Ok((name, rules, problems))
}

/// The rules of a text and their problems: the text is a list of rules, or holds ConfigMaps, each value of which is a list of rules. In a text
/// with a ConfigMap all other objects are passed over.
fn parse(name: &str, text: &str) -> (Rules, Vec<RuleProblem>) {
    let mut broken = None;
    let entries = Entries::new(text.as_bytes());
    let entries = entries.map_while(|it| it.map_err(|error| broken = Some(error)).ok());
    let maps: Vec<Entry> = entries
        .filter(|entry| entry.object["kind"] == "ConfigMap")
        .collect();
    if maps.is_empty() {
        return Rules::read([(name, text)]);
    }
    let flaws = maps
        .iter()
        .flat_map(|map| map.problem.iter().chain(&map.twice));
    let flaws = flaws.map(|flaw| unreadable(name, &flaw.to_string()));
    let mut problems: Vec<_> = flaws.collect();
    problems.extend(broken.map(|it| unreadable(name, &it.to_string())));
    let (rules, found) = of_config_maps(name, maps.iter().map(|map| &map.object));
    problems.extend(found);
    (rules, problems)
}

/// The rules in the values of a ConfigMap, and their problems, which call the ConfigMap `name`.
pub(crate) fn of_config_map(name: &str, map: &Value) -> (Rules, Vec<RuleProblem>) {
    of_config_maps(name, std::iter::once(map))
}

fn of_config_maps<'a>(
    name: &str,
    maps: impl Iterator<Item = &'a Value>,
) -> (Rules, Vec<RuleProblem>) {
    let mut texts = Vec::new();
    let mut flaws = Vec::new();
    for (key, value) in maps.filter_map(|map| map["data"].as_object()).flatten() {
        let place = format!("{name}, {key}");
        match value {
            Value::String(text) => texts.push((place, text.as_str())),
            _ => flaws.push(unreadable(&place, "is no text; begin it with `|`")),
        }
    }
    let texts = texts.iter().map(|(place, text)| (place.as_str(), *text));
    let (rules, problems) = Rules::read(texts);
    flaws.extend(problems);
    (rules, flaws)
}

fn unreadable(place: &str, why: &str) -> RuleProblem {
    RuleProblem {
        text: place.to_owned(),
        rule: None,
        message: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (usize, Vec<String>) {
        let (rules, problems) = parse("f", text);
        let problems = problems.iter().map(ToString::to_string);
        (rules.len(), problems.collect())
    }

    fn map(value: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  a.yaml: {value}\n")
    }

    #[test]
    fn rules_stand_alone_or_in_a_config_map() {
        let good = "- {apiVersion: example.com/v1, current: status.ok}";
        let bad = "- {apiVersion: example.com/v1}";
        let lacks = "rule 1: lacks current, the expression of a healthy object";
        assert_eq!(found(good), (1, vec![]));
        assert_eq!(found(bad), (1, vec![format!("f: {lacks}")]));
        let literal = |rules: &str| map(&format!("|\n    {rules}"));
        assert_eq!(found(&literal(good)), (1, vec![]));
        assert_eq!(
            found(&literal(bad)),
            (1, vec![format!("f, a.yaml: {lacks}")])
        );
    }

    #[test]
    fn a_config_map_that_is_no_text_is_told() {
        let told = ["f, a.yaml: is no text; begin it with `|`".to_owned()];
        assert_eq!(found(&map("[{apiVersion: v1}]")), (0, told.to_vec()));
        let twice = format!("{}data: {{}}\n", map("''"));
        let told = [
            "f: line 5, column 1: the key \"data\" is there twice; the last one counts".to_owned(),
        ];
        assert_eq!(found(&twice), (0, told.to_vec()));
        let behind = format!("{}---\na: [\n", map("''"));
        let (_, told) = found(&behind);
        assert!(
            matches!(told.as_slice(), [it] if it.starts_with("f: ")),
            "{told:?}"
        );
        let empty = "kind: ConfigMap\napiVersion: v1\n";
        assert_eq!(found(empty), (0, vec![]), "no rules are fine");
    }
}
