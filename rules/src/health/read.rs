//! Reads an administrator's text into health rules. The text is a YAML list of Flux's entries, or an object that holds such a list
//! under `healthCheckExprs` or `spec.healthCheckExprs`, as a Kustomization does; several documents are several lists.

use super::{Rule, Rules};
use serde_json::{Map, Value};
use std::fmt;

/// The most health rules of an administrator.
pub const MOST_RULES: usize = 1000;

const FIELDS: [&str; 5] = ["apiVersion", "kind", "current", "inProgress", "failed"];

/// A fault of a health rule, the place of the rule, and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    /// The text with the fault: the key of a ConfigMap, or a file.
    pub text: String,
    /// The rule, from 1; `None` where the text cannot be read at all.
    pub rule: Option<usize>,
    /// The fault of the health rule, and the way out.
    pub message: String,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            Some(rule) => write!(out, "{}: rule {rule}: {}", self.text, self.message),
            None => write!(out, "{}: {}", self.text, self.message),
        }
    }
}

/// Adds the rules of one text, with its name, to `rules` until there are `most` of them, and each fault to `problems`. A faulty rule, or a second one
/// for a kind, makes that kind unreadable. Where a fault leaves unknown which kind a rule is for, all of `rules` counts as unreadable.
pub(super) fn text(
    rules: &mut Rules,
    most: usize,
    (name, text): (&str, &str),
    problems: &mut Vec<RuleProblem>,
) {
    let mut tell = |rule, message: String| {
        problems.push(RuleProblem {
            text: name.to_owned(),
            rule,
            message,
        });
    };
    let documents = match documents(text) {
        Ok(documents) => documents,
        Err(why) => {
            rules.unreadable = Some(format!("{name}: {why}"));
            return tell(None, why);
        }
    };
    for (at, entry) in documents.iter().enumerate() {
        let rule = Some(at + 1);
        let (key, made) = match subject(entry) {
            Ok(key) => (key, make(entry)),
            Err(why) => {
                rules.unreadable = Some(format!("{name}: rule {}: {why}", at + 1));
                tell(rule, why);
                continue;
            }
        };
        if rules.entries.len() >= most {
            let why = format!("there are more than {most} rules");
            rules.unreadable = Some(format!("{name}: {why}"));
            return tell(rule, why);
        }
        let entry = if rules.entries.contains_key(&key) {
            let kind = key.1.as_deref().unwrap_or("every kind");
            let group = &key.0;
            Err(format!(
                "there is another rule for {kind} of group {group:?}; remove one"
            ))
        } else {
            made.map(Box::new)
        };
        if let Err(why) = &entry {
            tell(rule, why.clone());
        }
        rules.entries.insert(key, entry);
    }
}

fn documents(text: &str) -> Result<Vec<Value>, String> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|error| {
        let error = error.to_string();
        let first = error.lines().next().unwrap_or_default();
        format!("is no YAML: {first}")
    })?;
    let mut entries = Vec::new();
    for document in documents {
        let list = match document {
            Value::Null => continue,
            Value::Array(list) => list,
            mut other => {
                let pointers = ["/healthCheckExprs", "/spec/healthCheckExprs"];
                let found = pointers.iter().find_map(|pointer| {
                    other
                        .pointer_mut(pointer)
                        .and_then(Value::as_array_mut)
                        .map(std::mem::take)
                });
                found.ok_or("is no list of rules, nor a healthCheckExprs that holds one")?
            }
        };
        entries.extend(list);
    }
    Ok(entries)
}

/// Reads the group and the kind that an entry of an administrator's text judges; no kind stands for every kind of the group.
pub(super) fn subject(entry: &Value) -> Result<(String, Option<String>), String> {
    let fields = entry.as_object().ok_or("is no mapping")?;
    let version = text_of(fields, "apiVersion")?.ok_or("lacks apiVersion, as group/version")?;
    let group = match version.split_once('/') {
        Some((_, rest)) if rest.contains('/') => {
            return Err(format!("apiVersion {version:?} is no group/version"));
        }
        Some((group, _)) => group,
        None => "",
    };
    Ok((
        group.to_owned(),
        text_of(fields, "kind")?.map(str::to_owned),
    ))
}

fn make(entry: &Value) -> Result<Rule, String> {
    let fields = entry.as_object().ok_or("is no mapping")?;
    if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        let known = FIELDS.join(", ");
        return Err(format!(
            "has the unknown field {unknown:?}; it may have {known}"
        ));
    }
    let current =
        text_of(fields, "current")?.ok_or("lacks current, the expression of a healthy object")?;
    let rule = Rule::new(
        current,
        text_of(fields, "inProgress")?,
        text_of(fields, "failed")?,
    );
    rule.check()
        .map_err(|(field, broken)| format!("{field}: {broken}"))?;
    Ok(rule)
}

fn text_of<'a>(fields: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, String> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{field} is no text; put it in quotes")),
    }
}
