//! Makes another value in the form of one of the chart's own, where an entry contains that one.

use super::{FIRST, label};
use crate::suggest::traces;
use serde_json::Value;

/// The lowest number that counts as a port and becomes another port. A lower number may count something, and becomes one more.
const LOWEST_PORT: u64 = 80;
const FIRST_PORT: usize = 62_000;
/// The largest number that may count the pods of a set.
const MOST_PODS: u64 = 20;

/// Another text in the form of a value, as Helm's `--set` takes it; `None` where no text in `literals` contains the value's own, and for a value
/// that cannot be set.
pub(super) fn other(own: &Value, number: usize, literals: &[String]) -> Option<String> {
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
pub(super) fn counted(path: &str, own: &Value) -> Option<String> {
    let key = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let named = ["replica", "count", "nodes", "members", "size", "brokers"];
    let own = own.as_u64().filter(|it| (1..=MOST_PODS).contains(it))?;
    let is_named = named.iter().any(|it| key.contains(it));
    is_named.then(|| (own + 1).to_string())
}

/// Whether an entry names a pod by a small number, or a StatefulSet, so that a value which counts pods may change the wait.
pub(super) fn is_counted(entry: &str) -> bool {
    let names = entry.split(['.', ':', '/']);
    let mut numbers = names.filter_map(|it| it.rsplit_once('-')?.1.parse::<u64>().ok());
    numbers.any(|it| it <= MOST_PODS) || entry.contains("statefulset/")
}

/// Whether a text with this letter cannot be set as a value, or is no name.
fn is_unfit(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ',' | '{' | '}' | '"' | '\\' | '=' | '[' | ']')
}

/// Whether an entry, without the kind of its object, contains a text as a word of its own, or anywhere a text of five letters or more, which is no
/// accident.
pub(super) fn is_within(entry: &str, text: &str) -> bool {
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
}
