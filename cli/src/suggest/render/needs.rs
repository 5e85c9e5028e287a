//! Reads an error of Helm: the template that does not render, and the values that the template lacks.

use super::Values;
use crate::suggest::in_text::actions;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The text of a value that the command makes up so that a chart renders.
pub(in crate::suggest) const MADE_UP: &str = "sluice";

/// A port that is made up.
const MADE_UP_PORT: &str = "1";

/// An error of Helm, as far as it tells which values are missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RenderFault {
    /// The template, below the chart's folder.
    pub(super) template: Option<PathBuf>,
    /// The line of the template with the error, from 1.
    line: usize,
    /// Whether the text that the template gives is no YAML, so that any of its values may be missing.
    is_no_yaml: bool,
    /// The values that the error itself names.
    named: Vec<String>,
}

/// Reads an error.
pub(super) fn of(error: &str) -> RenderFault {
    let mut fault = RenderFault {
        is_no_yaml: error.contains("YAML parse error"),
        ..RenderFault::default()
    };
    let error = error.split_once("Error:").map_or(error, |(_, it)| it);
    let marks = |it: char| it.is_whitespace() || matches!(it, '(' | ')' | '"' | '<' | '>');
    for word in error.split(marks) {
        let Some((_, below)) = word.split_once("/templates/") else {
            continue;
        };
        let mut parts = below.split(':');
        let file = parts.next().unwrap_or_default();
        if fault.template.is_some()
            || Path::new(file).extension().is_some_and(|it| it == "tpl")
            || !file.contains('.')
        {
            continue;
        }
        fault.line = parts.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        // Sub-charts are below the chart too.
        let (before, _) = word.split_once("/templates/").unwrap_or_default();
        let within = before
            .split_once('/')
            .map_or(PathBuf::new(), |(_, it)| it.into());
        fault.template = Some(within.join("templates").join(file));
    }
    let words: Vec<&str> = error.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let requires =
            word.trim_matches(['.', '!', ',']) == "required" || word.starts_with("specified");
        if requires {
            let before = words[at.saturating_sub(5)..at].iter().rev();
            let skip = ["is", "entry", "value", "be", "must", "a", "valid", "are"];
            let mut before = before.filter(|it| !skip.contains(&it.to_lowercase().as_str()));
            fault.named.extend(before.next().and_then(|it| path(it)));
        }
    }
    if error.contains("nil pointer") {
        fault.named.extend(
            error
                .split(marks)
                .find_map(|it| path(it.strip_prefix(".Values.")?)),
        );
    }
    fault
}

/// The path of a value, where a word is one.
fn path(word: &str) -> Option<String> {
    let word = word.trim_matches(['\'', '"', '`', ':', ',', '(', ')']);
    let word = word
        .trim_start_matches('$')
        .trim_start_matches(".Values.")
        .trim_start_matches('.');
    let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_');
    (!word.is_empty() && word.chars().all(is_path)).then(|| word.to_owned())
}

impl RenderFault {
    /// The values that may be missing: the values that the error names, and the empty values on its line.
    pub(super) fn values(&self, chart: &Path, own: &Value, made_up: &[String]) -> Values {
        let mut paths = self.named.clone();
        if let Some(template) = &self.template {
            let text = fs::read_to_string(chart.join(template)).unwrap_or_default();
            let line = text
                .lines()
                .nth(self.line.saturating_sub(1))
                .unwrap_or_default();
            let printed = actions(&text).into_iter();
            let printed = printed.filter(|it| it.starts_with(".Values.") && !it.contains("toYaml"));
            let found: Vec<String> = if self.is_no_yaml {
                printed.collect()
            } else {
                line.split(".Values.")
                    .skip(1)
                    .map(|it| format!(".Values.{it}"))
                    .collect()
            };
            paths.extend(found.iter().filter_map(|it| {
                let it = it.strip_prefix(".Values.")?;
                let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_');
                let end = it.find(|it| !is_path(it)).unwrap_or(it.len());
                path(it[..end].trim_end_matches('.'))
            }));
        }
        let is_empty = |path: &String| {
            let value = path.split('.').try_fold(own, |value, key| value.get(key));
            matches!(value, None | Some(Value::Null)) || value.is_some_and(|it| it == "")
        };
        paths.retain(is_empty);
        paths.sort();
        paths.dedup();
        let pair = |path: String| {
            let value = if path.ends_with("enabled") {
                "false"
            } else if path.to_lowercase().ends_with("port") {
                MADE_UP_PORT
            } else {
                MADE_UP
            };
            format!("{path}={value}")
        };
        let pairs = paths.into_iter().map(pair);
        pairs.filter(|it| !made_up.contains(it)).collect()
    }
}

/// The last line that says something, short enough for a message.
pub(super) fn shown(error: &str) -> String {
    let error = error
        .split_once("Error:")
        .map_or(error, |(_, it)| it)
        .trim();
    let error = error.replace("Use --debug flag to render out invalid YAML", "");
    let joined = error.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_helm_says_what_is_lacking() {
        for (error, template, named) in [
            (
                "Error: execution error at (shop/templates/a.yaml:24:21): A valid .Values.redis.password entry required!",
                "templates/a.yaml",
                "redis.password",
            ),
            (
                "Error: execution error at (shop/charts/b/templates/a.yaml:7:2): ui.image.tag is required",
                "charts/b/templates/a.yaml",
                "ui.image.tag",
            ),
            (
                "Error: shop/templates/a.yaml:2:1\n  executing \"shop/templates/a.yaml\" at <.Values.redis.sentinel.enabled>:\n nil pointer evaluating",
                "templates/a.yaml",
                "redis.sentinel.enabled",
            ),
            (
                "Error: execution error at (shop/templates/a.yaml:1:1): 'cloud' value is required, e.g. 'x'",
                "templates/a.yaml",
                "cloud",
            ),
        ] {
            let fault = of(error);
            assert_eq!(fault.template, Some(template.into()), "{error}");
            assert_eq!(fault.named, [named], "{error}");
        }
        let fault = of("Error: YAML parse error on shop/templates/a.yaml: error converting");
        assert_eq!(fault.template, Some("templates/a.yaml".into()));
    }
}
