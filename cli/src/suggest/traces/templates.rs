//! Finds how the templates read a value: with which default, and whether as a template.

use super::paths::is_of_path;
use crate::suggest::texts::{Texts, value_at};
use std::collections::BTreeSet;

/// The number that the templates take for a value that is empty in the chart: `5432` of `default 5432 .Values.db.port`. An empty text where
/// they take no number, or the chart has a value. `None` where they take several, or something else than a number.
pub(super) fn default_of(texts: &Texts, path: &str) -> Option<String> {
    let own = value_at(&texts.values, path);
    let is_empty = own.is_none_or(|it| it.is_null() || it == "");
    let value = format!(".Values.{path}");
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for file in texts.files.iter().filter(|_| is_empty) {
        for (at, _) in file.text.match_indices(&value) {
            let behind = &file.text[at + value.len()..];
            if behind.starts_with(is_of_path) {
                continue;
            }
            let piped = behind.trim_start().strip_prefix('|');
            let piped = piped.and_then(|it| it.trim_start().strip_prefix("default "));
            let before = file.text[..at].trim_end_matches('$').trim_end();
            let mut words = before.rsplit([' ', '(', '{', '\n']);
            let given = match piped {
                Some(it) => it.trim_start().split([' ', ')', '}']).next(),
                None => words.next().filter(|_| words.next() == Some("default")),
            };
            found.extend(given.map(|it| it.trim_matches('"')));
        }
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (None, _) => Some(String::new()),
        (Some(one), None) if one.parse::<u16>().is_ok() => Some(one.to_owned()),
        _ => None,
    }
}

/// Whether a chart renders a value as a template of its own, by `tpl` or as the `value` of a helper.
pub(super) fn is_a_template(texts: &Texts, path: &str) -> bool {
    let value = format!(".Values.{path}");
    texts.files.iter().any(|file| {
        file.text.match_indices(&value).any(|(at, _)| {
            let ends = !file.text[at + value.len()..].starts_with(is_of_path);
            let before = file.text[..at].trim_end_matches(['$', '(', ' ']);
            ends && ["tpl", "tpl (toString", "\"value\""]
                .iter()
                .any(|it| before.ends_with(it))
        })
    })
}
