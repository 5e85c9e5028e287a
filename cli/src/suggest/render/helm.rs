//! Runs Helm, and reads the objects that it prints.

use super::{Copy, Values};
use crate::manifest::Entries;
use crate::suggest::object::{ChartObject, ObjectList};
use crate::suggest::release::{NAMESPACE, RELEASE, RELEASE_NAME};
use anyhow::{Context, Result};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// The comment that Helm prints before each object, with the path of its template.
const SOURCE: &str = "# Source: ";

impl Copy {
    /// Renders the chart, or returns the former answer where Helm has rendered the same texts with the same values. While a file is edited, only
    /// objects with pods are returned. The outer error says that Helm cannot be run; the inner one is Helm's.
    pub(super) fn helm(&self, values: &[String]) -> Result<Result<ObjectList, String>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = Arc::clone(answers.entry((self.state, question(values))).or_default());
        drop(answers);
        let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*answer {
            return Ok(known.clone());
        }
        self.renders.fetch_add(1, Ordering::Relaxed);
        let release = values
            .iter()
            .find_map(|it| release_of(it))
            .unwrap_or(RELEASE);
        let mut helm = Command::new("helm");
        // Helm lives for a tenth of a second, and collects less garbage in a quarter less time.
        helm.env("GOGC", "400");
        let mut edited = self.states[self.state].keys();
        let is_short = self.state != 0 && edited.all(|it| it.starts_with("templates"));
        let chart = if is_short { &self.short } else { &self.chart };
        helm.arg("template").arg(release).arg(chart);
        helm.args(["--namespace", NAMESPACE]).args(&self.given);
        let values = values.iter().filter(|it| release_of(it).is_none());
        for pair in self.needed.iter().chain(values) {
            helm.args(["--set", pair]);
        }
        let output = helm.output().context("there is no helm on the PATH")?;
        let found: Result<ObjectList, String> = if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout);
            // An edited chart only tells whether its lists are right, so its other objects are not read.
            let found = if self.state == 0 {
                objects(&text)
            } else {
                objects(&with_pods(&text))
            };
            Ok(found.into())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        };
        *answer = Some(found.clone());
        Ok(found)
    }
}

/// The name of the release that a pair of a set says; `None` for a pair with a value of the chart.
fn release_of(pair: &str) -> Option<&str> {
    pair.strip_prefix(RELEASE_NAME)?.strip_prefix('=')
}

/// A set of values in a fixed order, since Helm answers every order alike. The order stays where the path of one value is a part of
/// another's path, because then the order counts.
fn question(values: &[String]) -> Values {
    let paths = values.iter().filter_map(|it| it.split('=').next());
    let paths: Vec<&str> = paths.collect();
    let is_within = |path: &str, other: &str| {
        let behind = path.strip_prefix(other);
        behind.is_some_and(|it| it.is_empty() || it.starts_with('.'))
    };
    let within = |path: &&str| paths.iter().filter(|it| is_within(path, it)).count();
    // A path is within itself, so a count of 1 means that it is within no other.
    let are_apart = paths.iter().all(|it| within(it) == 1);
    let mut question = values.to_vec();
    if are_apart {
        question.sort();
    }
    question
}

/// The documents in Helm's output that have containers of a pod. Only the beginning of a document has `---` at the beginning of a line.
fn with_pods(text: &str) -> String {
    let documents = text.split("\n---");
    let with_pods = documents.filter(|it| it.contains("containers:"));
    with_pods.collect::<Vec<_>>().join("\n---")
}

/// The objects in Helm's output, each with the path of its template below the chart. A document that cannot be read is left out.
fn objects(whole: &str) -> Vec<ChartObject> {
    let entries = Entries::new(whole.as_bytes()).filter_map(Result::ok);
    entries
        .map(|entry| {
            let head = &whole[..entry.origin.at];
            let source = head
                .rfind(SOURCE)
                .map_or("", |at| &head[at + SOURCE.len()..]);
            let source = source.lines().next().unwrap_or_default();
            // Helm begins each path with a folder that has the chart's name.
            let source = source.split_once('/').map_or("", |(_, below)| below);
            ChartObject {
                source: source.into(),
                value: entry.object,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn of_an_edited_chart_the_workloads_are_read() {
        let text = "---\n# Source: shop/templates/a.yaml\nkind: Service\n---\n# Source: shop/templates/b.yaml\nkind: Deployment\n\
                    spec: {template: {spec: {containers: []}}}\n---\n# Source: shop/templates/c.yaml\nkind: Secret\n";
        let found = objects(&with_pods(text));
        let [only] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(only.source, Path::new("templates/b.yaml"));
        assert_eq!(only.value["kind"], "Deployment");
        assert_eq!(objects(text).len(), 3);
    }

    #[test]
    fn the_order_of_values_makes_another_question_only_where_one_is_within_another() {
        for (one, other, is_same) in [
            (["a.b=1", "c=2"], ["c=2", "a.b=1"], true),
            (["a=1", "ab=2"], ["ab=2", "a=1"], true),
            (["a=1", "a.b=2"], ["a.b=2", "a=1"], false),
            (["a=1", "a=2"], ["a=2", "a=1"], false),
        ] {
            let [one, other] = [one, other].map(|it| question(&it.map(str::to_owned)));
            assert_eq!(one == other, is_same, "{one:?}");
        }
    }
}
