//! Reads an error of Helm: which template does not render, and which values the template lacks.

use super::Values;
use crate::suggest::in_text::actions;
use crate::suggest::texts::{Texts, value_at};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The text that the command makes up for a value so that a chart renders.
pub(in crate::suggest) const MADE_UP: &str = "sluice";

/// The number that the command makes up for a value that holds a port.
const MADE_UP_PORT: &str = "1";

/// An error of Helm, with the facts that tell which values are missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RenderFault {
    /// The path of the template, below the chart's folder; `None` where the error names none.
    pub(super) template: Option<PathBuf>,
    /// The line of the template with the error, from 1.
    line: usize,
    /// Whether the rendered text of the template is no YAML, so that any of its values may be missing.
    pub(super) is_no_yaml: bool,
    /// The paths of the values that the error names.
    named: Vec<String>,
}

/// Reads an error that Helm has printed.
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
        // The templates of sub-charts are below the chart's folder too.
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

/// The path of the chart's value that a word of an error names; `None` for any other word.
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
    /// The made-up values for the empty values that may be missing: those that the error names, and those on the error's line, or all that the
    /// template prints where its text is no YAML. Left out are those in `made_up`.
    pub(super) fn values(&self, chart: &Path, own: &Value, made_up: &[String]) -> Values {
        let mut paths = self.named.clone();
        let text = self.text(chart);
        if self.is_no_yaml {
            paths.extend(printed(&text));
        } else {
            let line = text.lines().nth(self.line.saturating_sub(1));
            let found = line.unwrap_or_default().split(".Values.").skip(1);
            paths.extend(found.filter_map(first_path));
        }
        let is_empty = |path: &String| {
            let value = value_at(own, path);
            matches!(value, None | Some(Value::Null)) || value.is_some_and(|it| it == "")
        };
        paths.retain(is_empty);
        made_of(paths, made_up)
    }

    /// The made-up values for the values that the helpers of a template print and that the chart has as null: because of them the text of the
    /// template may be no YAML. Empty for any other error. Left out are those in `made_up`.
    pub(super) fn values_of_helpers(
        &self,
        chart: &Path,
        own: &Value,
        made_up: &[String],
    ) -> Values {
        let text = self.text(chart);
        if !self.is_no_yaml || !text.contains("include ") && !text.contains("template ") {
            return Values::new();
        }
        let texts = Texts::read(chart, &[]).unwrap_or_default();
        let mut paths = printed(&texts.reach(&text)[text.len()..]);
        // A value that overrides a name is usually empty, and the helper makes a name in its place.
        let is_empty =
            |it: &String| value_at(own, it) == Some(&Value::Null) && !it.ends_with("Override");
        paths.retain(is_empty);
        made_of(paths, made_up)
    }

    /// The text of the template; empty where the error names no template.
    fn text(&self, chart: &Path) -> String {
        let read = |it: &PathBuf| fs::read_to_string(chart.join(it)).ok();
        self.template.as_ref().and_then(read).unwrap_or_default()
    }
}

/// The paths of the values that a template prints.
fn printed(template: &str) -> Vec<String> {
    let printed = actions(template).into_iter();
    let printed = printed.filter(|it| !it.contains("toYaml"));
    printed
        .filter_map(|it| first_path(it.strip_prefix(".Values.")?))
        .collect()
}

/// The path of a value with which a text begins; `None` where it begins with none.
fn first_path(text: &str) -> Option<String> {
    let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_');
    let end = text.find(|it| !is_path(it)).unwrap_or(text.len());
    path(text[..end].trim_end_matches('.'))
}

/// The made-up values for these paths, without those that were made up before: `false` for a path that ends in `enabled`, a number for a port, or
/// else a text.
fn made_of(mut paths: Vec<String>, made_up: &[String]) -> Values {
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

/// An error of Helm for a message: the text behind `Error:` on one line, cut after 300 characters.
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
