//! Chooses the values and the names that change before a list is proposed. A literal in an entry may come from a value, or from a helper that
//! makes names. With another value, another override or another release the loop then waits for something else, and so must the list.

use super::release::{NAMESPACE, RELEASE, RELEASE_NAME};
use super::render::ChartNames;
use super::switches::{self, Switch, Tested};
use super::texts::{Texts, value_at};
use super::traces;
use super::tried_sets::TriedSets;
use serde_json::Value;
use std::collections::BTreeSet;

/// The most sets of values that are varied.
const MOST_BASES: usize = 5;
/// The most sub-charts whose names come into the name of a release.
const MOST_PARTS: usize = 3;
/// The longest name of a chart that comes into the name of a release. Helm takes 53 letters.
const LONGEST_CHART: usize = 40;
/// The most values that change at once.
const MOST_VALUES: usize = 40;
/// The number of the first mark that is a host: those of the values that are followed have lower numbers.
const FIRST: usize = 500;
/// The lowest port that becomes the number of another port. A lower number may count something.
const LOWEST_PORT: u64 = 80;
const FIRST_PORT: usize = 62_000;
/// The largest number that may count the pods of a set.
const MOST_PODS: u64 = 20;

/// A set of values that is rendered once more, with further switches.
#[derive(Debug, Clone)]
pub(super) struct Variation {
    /// The number of the set.
    pub(super) base: usize,
    pub(super) switches: Vec<Switch>,
}

impl Variation {
    /// The variation in two halves, for one that does not render; `None` where it has one switch alone.
    pub(super) fn halves(&self) -> Option<[Self; 2]> {
        let (first, second) = self.switches.split_at(self.switches.len() / 2);
        let half = |switches: &[Switch]| Self {
            base: self.base,
            switches: switches.to_vec(),
        };
        (!first.is_empty()).then(|| [half(first), half(second)])
    }
}

/// The variations of a chart: of the sets that show all waits, each with another release and other texts, with the names of the chart and of
/// its sub-charts overridden, and with a text in each empty value that names something. The second list has the numbers of the sets with
/// further entries, which are not varied.
pub(super) fn of(
    texts: &Texts,
    tried: &TriedSets<'_>,
    names: &ChartNames,
) -> (Vec<Variation>, Vec<usize>) {
    let values = VariedValues::of(texts, tried, names);
    let mut all = Vec::new();
    let mut bases = bases(tried);
    let others = bases.split_off(bases.len().min(MOST_BASES));
    for (number, base) in bases.into_iter().enumerate() {
        let literals = literals(tried, base);
        let set = &tried.sets[base];
        let is_free = |it: &Switch| set.iter().all(|own| own.path != it.path);
        let own = release(&names.chart).into_iter();
        let mut kinds = vec![
            own.chain(values.within(&literals)).collect(),
            overrides(texts, names, "fullnameOverride"),
        ];
        // A helper that follows one override follows the other, and a release of another name, so the first set shows enough of these.
        if number == 0 {
            kinds.push(overrides(texts, names, "nameOverride"));
            kinds.push(values.empty(texts));
            let parts = names.parts.iter().filter(|it| **it != names.chart);
            let parts = parts.filter(|part| literals.iter().any(|it| is_within(it, part)));
            let releases = parts.filter_map(|it| release(it)).take(MOST_PARTS);
            kinds.extend(releases.map(|it| vec![it]));
        }
        for mut switches in kinds {
            switches.retain(is_free);
            all.extend(switches.chunks(MOST_VALUES).map(|it| Variation {
                base,
                switches: it.to_vec(),
            }));
        }
    }
    (all, others)
}

/// The sets that together show each entry of each container. The set with the most entries that no other set has shown comes next.
fn bases(tried: &TriedSets<'_>) -> Vec<usize> {
    let shown = |set: usize| {
        let seen = tried.seen.iter().filter(move |it| it.set == set);
        let entries = seen.flat_map(|it| {
            let targets = it.found.iter();
            let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
            targets.map(move |target| {
                let entry = traces::shown(&target.plain().text, &tried.sets[it.set]);
                (it.source.as_path(), it.container.name.as_str(), entry)
            })
        });
        entries.collect::<BTreeSet<_>>()
    };
    let all: Vec<_> = (0..tried.sets.len()).map(shown).collect();
    let mut covered = BTreeSet::new();
    let mut bases: Vec<usize> = Vec::new();
    loop {
        let new = |set: &usize| all[*set].difference(&covered).count();
        let sets = (0..all.len()).rev();
        let Some(best) = sets.max_by_key(new).filter(|it| new(it) > 0) else {
            return bases;
        };
        covered.extend(all[best].iter().cloned());
        bases.push(best);
    }
}

/// The entries of a set without the words that come from no value: the kind of an object, and the names of the release and its namespace.
fn literals(tried: &TriedSets<'_>, base: usize) -> Vec<String> {
    let seen = tried.seen.iter().filter(|it| it.set == base);
    let targets = seen.flat_map(|it| &it.found);
    let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
    let mut literals: Vec<String> = Vec::new();
    for target in targets {
        let text = target.plain().text;
        let text = text.replace(RELEASE, "/").replace(NAMESPACE, "/");
        if !literals.contains(&text) {
            literals.push(text);
        }
    }
    literals
}

/// A release whose name has that of a chart in it: the usual helper for a name then leaves out the chart's.
fn release(chart: &str) -> Option<Switch> {
    let is_letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let is_fit = !chart.is_empty() && chart.len() < LONGEST_CHART && chart.chars().all(is_letter);
    is_fit.then(|| varied(RELEASE_NAME, format!("zq{chart}"), true))
}

/// The overrides of the names of the chart and of its sub-charts, where a template reads such an override.
fn overrides(texts: &Texts, names: &ChartNames, key: &str) -> Vec<Switch> {
    // The helper that reads an override may be in a library that stands elsewhere, and then the values have its key.
    if !texts.files.iter().any(|it| it.text.contains(key)) {
        return Vec::new();
    }
    let own = std::iter::once(key.to_owned());
    let of_parts = names.parts.iter().map(|it| format!("{it}.{key}"));
    let paths = own.chain(of_parts).enumerate();
    paths
        .map(|(number, path)| varied(&path, label(number), true))
        .collect()
}

fn varied(path: &str, value: String, is_name: bool) -> Switch {
    Switch {
        path: path.to_owned(),
        value,
        tested: Tested::Varied { is_name },
    }
}

/// A made-up text that may be a name, and that no other such text contains.
fn label(number: usize) -> String {
    format!("zqv{number}v")
}

/// The values of a chart that may change.
struct VariedValues {
    /// The scalars, and the lists of scalars, each with its path.
    leaves: Vec<(String, Value)>,
    /// The paths that a template compares with texts. A set of its own changes each of them.
    compared: BTreeSet<String>,
    /// The paths that the sets have changed already.
    changed: BTreeSet<String>,
}

impl VariedValues {
    fn of(texts: &Texts, tried: &TriedSets<'_>, names: &ChartNames) -> Self {
        let mut leaves = Vec::new();
        add_leaves(&texts.values, "", &mut leaves);
        // A template may read the values of a sub-chart, too.
        for (part, values) in &names.values {
            let mut own = Vec::new();
            add_leaves(values, part, &mut own);
            own.retain(|(path, _)| value_at(&texts.values, path).is_none());
            leaves.append(&mut own);
        }
        let path = |it: &Switch| it.path.clone();
        let changed = tried.sets.iter().flatten();
        Self {
            leaves,
            compared: tried.compared.iter().map(path).collect(),
            changed: changed.map(path).collect(),
        }
    }

    /// The values whose texts the literals contain, each with another text. A value that a template compares with texts chooses a branch.
    fn within(&self, literals: &[String]) -> Vec<Switch> {
        let counts = literals.iter().any(|it| is_counted(it));
        let mut changed: Vec<Switch> = Vec::new();
        for (path, own) in &self.leaves {
            if self.compared.contains(path) {
                continue;
            }
            let counted = || counted(path, own).filter(|_| counts);
            if let Some(value) = other(own, changed.len(), literals).or_else(counted) {
                changed.push(varied(path, value, false));
            }
        }
        changed
    }

    /// The empty values that the texts of the waiting containers read and that name something, each with a text.
    fn empty(&self, texts: &Texts) -> Vec<Switch> {
        let mut named: Vec<Switch> = Vec::new();
        for path in traces::paths(texts) {
            let own = value_at(&texts.values, &path);
            let is_empty = own.is_none_or(|it| it.is_null() || it == "");
            if !is_empty || self.changed.contains(&path) || switches::is_override(&path) {
                continue;
            }
            let number = named.len();
            let host = traces::mark(FIRST + number, &path, &Value::Null, false);
            let is_name = switches::is_name(&path) && names_a_server(&path);
            let is_name = is_name || path.ends_with("amespace");
            let name = || is_name.then(|| label(number));
            if let Some(value) = host.map(|it| it.0).or_else(name) {
                named.push(varied(&path, value, false));
            }
        }
        named
    }
}

/// Whether the name at a path may be that of a server, and not that of an account, a Secret or a database.
fn names_a_server(path: &str) -> bool {
    const OTHERS: [&str; 14] = [
        "secret", "user", "database", "class", "account", "password", "key", "cert", "storage",
        "bucket", "db", "claim", "config", "queue",
    ];
    let key = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    !OTHERS.iter().any(|it| key.contains(it))
}

/// Adds the scalars within a value, and the lists of scalars, with their paths. The path of a key with a dot cannot be set.
fn add_leaves(value: &Value, path: &str, leaves: &mut Vec<(String, Value)>) {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                // These are texts of the chart's author: a script, and the list that `kubernetes-entrypoint` waits for.
                let is_script = matches!(key.as_str(), "command" | "args" | "dependencies");
                if is_script || !key.chars().all(is_letter) {
                    continue;
                }
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                add_leaves(value, &path, leaves);
            }
        }
        Value::Array(items) if items.iter().all(|it| it.is_string() || it.is_number()) => {
            leaves.push((path.to_owned(), value.clone()));
        }
        Value::String(_) | Value::Number(_) => leaves.push((path.to_owned(), value.clone())),
        _ => {}
    }
}

/// Another text in the form of a value; `None` where no literal contains the value's own.
fn other(own: &Value, number: usize, literals: &[String]) -> Option<String> {
    match own {
        Value::String(text) => other_text(text, number, literals),
        Value::Number(own) => other_number(own.as_u64()?, number, literals),
        Value::Array(items) => {
            let others: Vec<Option<String>> =
                items.iter().map(|it| other(it, number, literals)).collect();
            let is_plain = |it: &Value| it.as_str().is_none_or(|it| !it.contains(is_unfit));
            if others.iter().all(Option::is_none) || !items.iter().all(is_plain) {
                return None;
            }
            let own = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            let all = others.into_iter().zip(items);
            let all: Vec<String> = all
                .map(|(it, item)| it.unwrap_or_else(|| own(item)))
                .collect();
            Some(format!("{{{}}}", all.join(",")))
        }
        _ => None,
    }
}

fn other_text(own: &str, number: usize, literals: &[String]) -> Option<String> {
    if let Ok(own) = own.parse() {
        return other_number(own, number, literals);
    }
    let is_unfit = own.len() < 2 || own.contains(is_unfit);
    if is_unfit || !literals.iter().any(|it| is_within(it, own)) {
        return None;
    }
    let is_letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    Some(match own {
        "http" => "https".to_owned(),
        "https" => "http".to_owned(),
        own if own.chars().all(is_letter) => label(number),
        own if own.starts_with('/') => format!("/{}", label(number)),
        own => traces::mark_like(own, FIRST + number)?,
    })
}

fn other_number(own: u64, number: usize, literals: &[String]) -> Option<String> {
    let is_own = |literal: &String| {
        let mut numbers = literal.split(|it: char| !it.is_ascii_digit());
        numbers.any(|it| it.parse() == Ok(own))
    };
    let other = || match own {
        LOWEST_PORT.. => (FIRST_PORT + number).to_string(),
        _ => (own + 1).to_string(),
    };
    literals.iter().any(is_own).then(other)
}

/// One more than the number of pods that a value counts by its name; `None` for a value that counts none.
fn counted(path: &str, own: &Value) -> Option<String> {
    let key = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let named = ["replica", "count", "nodes", "members", "size", "brokers"];
    let own = own.as_u64().filter(|it| (1..=MOST_PODS).contains(it))?;
    let is_named = named.iter().any(|it| key.contains(it));
    is_named.then(|| (own + 1).to_string())
}

/// Whether an entry may name one of as many pods as a value says, or the set of all of them.
fn is_counted(entry: &str) -> bool {
    let names = entry.split(['.', ':', '/']);
    let mut numbers = names.filter_map(|it| it.rsplit_once('-')?.1.parse::<u64>().ok());
    numbers.any(|it| it <= MOST_PODS) || entry.contains("statefulset/")
}

/// Whether a text with this letter cannot be set as a value, or is no name.
fn is_unfit(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ',' | '{' | '}' | '"' | '\\' | '=' | '[' | ']')
}

/// Whether an entry contains a text as a word of its own, or a text that is so long that it is no accident.
fn is_within(entry: &str, text: &str) -> bool {
    const LONG: usize = 5;
    // The kind of an object comes from the loop, and not from a value.
    let scheme = entry.contains("://");
    let entry = entry
        .split_once('/')
        .filter(|_| !scheme)
        .map_or(entry, |it| it.1);
    let is_letter = |it: char| it.is_ascii_alphanumeric();
    entry.match_indices(text).any(|(at, _)| {
        let before = entry[..at].ends_with(is_letter);
        let behind = entry[at + text.len()..].starts_with(is_letter);
        text.len() >= LONG || !before && !behind
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_changes_whose_text_an_entry_contains() {
        let literals = [
            "service//-zoo".to_owned(),
            "http://search.example.com:9200/ready".to_owned(),
            "pod/queue-0".to_owned(),
        ];
        for (own, expected) in [
            (json!("zoo"), Some("zqv7v")),
            (json!("zo"), None),
            (json!("service"), None),
            (
                json!("search.example.com"),
                Some("sluice-507.sluice.example.com"),
            ),
            (json!(9200), Some("62007")),
            (json!("9200"), Some("62007")),
            (json!(0), Some("1")),
            (json!("http"), Some("https")),
            (json!("/ready"), Some("/zqv7v")),
            (json!(["zoo", "a"]), Some("{zqv7v,a}")),
            (json!(true), None),
        ] {
            assert_eq!(other(&own, 7, &literals).as_deref(), expected, "{own}");
        }
        assert!(is_counted(&literals[2]) && !is_counted(&literals[0]));
        assert_eq!(
            counted("queue.replicaCount", &json!(2)).as_deref(),
            Some("3")
        );
        assert_eq!(counted("queue.port", &json!(2)), None);
    }

    #[test]
    fn the_values_are_found_by_their_paths() {
        let mut leaves = Vec::new();
        let values =
            json!({"a": {"b": "x", "c.d": "y", "args": "z"}, "e": [1, 2], "f": [{"g": 1}]});
        add_leaves(&values, "", &mut leaves);
        assert_eq!(
            leaves,
            [
                ("a.b".to_owned(), json!("x")),
                ("e".to_owned(), json!([1, 2]))
            ]
        );
    }
}
