//! `check --health-rules FILE`: what the status service would find wrong with an administrator's health rules.

use crate::manifest::Entries;
use anyhow::{Context, Result};
use rules::health::{Problem, Rules};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

/// The exit code for "something is not as it has to be".
const BROKEN: u8 = 3;

pub(crate) fn run(path: &Path) -> Result<ExitCode> {
    let (name, text) = read(path)?;
    let (count, problems) = check(&name, &text);
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        eprintln!("{name}: {count} rules are in order");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(BROKEN))
}

fn read(path: &Path) -> Result<(String, String)> {
    if path == Path::new("-") {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        return Ok(("standard input".to_owned(), text));
    }
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    Ok((name, text))
}

/// A file with a ConfigMap holds rules in the values of it, any other file is the rules.
fn check(name: &str, text: &str) -> (usize, Vec<Problem>) {
    let maps = Entries::new(text.as_bytes())
        .map_while(Result::ok)
        .filter(|entry| entry.object["kind"] == "ConfigMap" && entry.problem.is_none());
    let texts: BTreeMap<String, String> = maps
        .filter_map(|entry| entry.object["data"].as_object().cloned())
        .flatten()
        .filter_map(|(key, value)| match value {
            Value::String(text) => Some((key, text)),
            _ => None,
        })
        .collect();
    let (rules, problems) = if texts.is_empty() {
        Rules::read([(name, text)])
    } else {
        Rules::read(
            texts
                .iter()
                .map(|(key, text)| (key.as_str(), text.as_str())),
        )
    };
    (rules.len(), problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_stand_alone_or_in_a_config_map() {
        let found = |text: &str| {
            let (count, problems) = check("f", text);
            (
                count,
                problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
        };
        let good = "- {apiVersion: example.com/v1, current: status.ok}";
        let bad = "- {apiVersion: example.com/v1}";
        let lacks = "rule 1: lacks current, the expression of a healthy object";
        assert_eq!(found(good), (1, vec![]));
        assert_eq!(found(bad), (1, vec![format!("f: {lacks}")]));
        let map = |rules: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  a.yaml: |\n    {rules}\n")
        };
        assert_eq!(found(&map(good)), (1, vec![]));
        assert_eq!(found(&map(bad)), (1, vec![format!("a.yaml: {lacks}")]));
    }
}
