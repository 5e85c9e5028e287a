//! Reads why a chart refuses a set of values by `fail`, and finds the value with which the chart takes the set.

use crate::suggest::in_text::actions;
use crate::suggest::switches::{Switch, dedup, of_condition};
use crate::suggest::tested::conditions_at;
use crate::suggest::texts::{File, Texts};
use serde_json::Value;
use std::path::Path;

/// The fewest letters of a message by which its `fail` is found.
const FEWEST: usize = 12;

/// The value, as `PATH=VALUE`, without which the chart in a folder refuses the set `given`: `db.type=postgres`, where the set has
/// `postgres.deploy=true`. `error` is Helm's. `None` where the conditions around the `fail` test several further values, because each of them
/// would make another set.
pub(super) fn further(error: &str, chart: &Path, own: &Value, given: &[String]) -> Option<String> {
    if !error.contains("execution error") {
        return None;
    }
    let error = words(error);
    let texts = Texts::read(chart, &[]).ok()?;
    let (file, line) = texts.files.iter().find_map(|file| {
        let lines = file.lines.iter().enumerate();
        let mut failing = lines.filter(|it| it.1.contains("fail"));
        let (line, _) = failing.find(|it| says(it.1, &error))?;
        Some((file, line))
    })?;
    let further = around(file, line, own);
    let is_given = |it: &Switch| {
        given
            .iter()
            .any(|pair| pair.split('=').next() == Some(&it.path))
    };
    let mut further = further.iter().filter(|it| !is_given(it));
    let only = further.next().filter(|_| further.next().is_none());
    only.map(Switch::pair)
}

/// The switches of the conditions around a line, one for each value.
fn around(file: &File, line: usize, own: &Value) -> Vec<Switch> {
    let conditions = conditions_at(file, line);
    dedup(
        conditions
            .iter()
            .flat_map(|it| of_condition(it, own))
            .collect(),
    )
}

/// Whether a line has a `fail` that gave this message: its longest quoted piece between `%` words has at least [`FEWEST`] letters and is a part of
/// the message.
fn says(line: &str, error: &str) -> bool {
    let fails = |it: &String| it.starts_with("fail ") || it.ends_with("| fail");
    let mut failing = actions(line).into_iter().filter(fails);
    failing.any(|action| {
        let quoted = action.split('"').skip(1).step_by(2);
        let parts = quoted.flat_map(|it| it.split('%'));
        let parts = parts.map(|it| words(it.get(1..).unwrap_or_default()));
        let longest = parts.max_by_key(String::len).unwrap_or_default();
        longest.len() >= FEWEST && error.contains(&longest)
    })
}

/// The words of a text with one blank between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
