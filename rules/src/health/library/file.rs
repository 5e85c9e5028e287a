//! One file of `rules/library`: the health rules of one API group, each with objects that show what the rule says.
//!
//! `build.rs` compiles this file too, so the file uses nothing else of the crate.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The content of one file of `rules/library`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The place at which the author of the file read how the kinds work: `OWNER/NAME VERSION FILE` of a public project, or a list of
    /// such texts.
    read: Value,
    /// The kinds of one rule, separated by commas (`*`: every other kind of the group), and the rule.
    kinds: BTreeMap<String, Written>,
}

/// A rule in the form in which a file states it, before [`read`] turns the rule into CEL.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Written {
    exists: Option<bool>,
    ready: Option<Value>,
    field: Option<String>,
    is: Option<Value>,
    current: Option<Value>,
    in_progress: Option<Value>,
    failed: Option<Value>,
    cases: Value,
}

/// A rule as three CEL expressions, with the kinds that the rule judges.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Kinds of the group; `None`: every kind without a rule of its own.
    pub kinds: Vec<Option<String>>,
    /// The CEL expression that holds for a healthy object.
    pub current: String,
    /// The CEL expression that holds for an object on its way.
    pub in_progress: Option<String>,
    /// The CEL expression that holds for an object that failed.
    pub failed: Option<String>,
    /// The example objects of the rule, by the outcome that the rule has to give.
    pub cases: Value,
}

/// The API group whose rules a file holds. A file name has `_` where the group has `*`: `_.example.com.yaml` is for every group below
/// `example.com`.
pub(crate) fn group(stem: &str) -> String {
    stem.replace('_', "*")
}

/// Reads one file of the library: returns the place at which its author read how the kinds work, and its rules in CEL. An error is a sentence that
/// names the kind and the field.
pub(crate) fn read(text: &str) -> Result<(Value, Vec<Entry>), String> {
    let file: File = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    let entry = |(kinds, written): (String, Written)| {
        entry(&kinds, written).map_err(|why| format!("kind {kinds}: {why}"))
    };
    let entries: Result<Vec<Entry>, String> = file.kinds.into_iter().map(entry).collect();
    Ok((file.read, entries?))
}

fn entry(kinds: &str, written: Written) -> Result<Entry, String> {
    let kind = |word: &str| match word.trim() {
        "" => Err("has an empty word among the kinds; separate kinds by one comma".to_owned()),
        "*" => Ok(None),
        word => Ok(Some(word.to_owned())),
    };
    let path = written.field.as_deref();
    let told = |name: &str, test: Option<&Value>| {
        test.map(|test| expression(test, path).map_err(|why| format!("{name}: {why}")))
            .transpose()
    };
    Ok(Entry {
        kinds: kinds.split(',').map(kind).collect::<Result<_, _>>()?,
        current: healthy(&written)?,
        in_progress: told("inProgress", written.in_progress.as_ref())?,
        failed: told("failed", written.failed.as_ref())?,
        cases: written.cases,
    })
}

/// The CEL expression that holds for a healthy object, from one of the four forms in which a file states it.
fn healthy(written: &Written) -> Result<String, String> {
    let Written {
        exists,
        ready,
        field,
        is,
        current,
        ..
    } = written;
    match (exists, ready, field, is, current) {
        (Some(true), None, None, None, None) => Ok("true".to_owned()),
        (None, Some(types), None, None, None) => condition(types, true),
        (None, None, Some(path), Some(values), None) => compared(path, values, true),
        (None, None, None, None, Some(test)) => {
            expression(test, None).map_err(|why| format!("current: {why}"))
        }
        _ => Err("says when an object is healthy in no form or in two: write one of `exists: true`, `ready: CONDITION`, \
                  `field: PATH` with `is: WORD`, and `current: CEL`"
            .to_owned()),
    }
}

/// The CEL expression for one test of an object. A file writes a test as CEL, as the words that the rule's `field` may have, as
/// `{condition, is}`, or as `{field, is}`.
fn expression(test: &Value, path: Option<&str>) -> Result<String, String> {
    match test {
        Value::String(cel) => return Ok(cel.clone()),
        Value::Array(_) => {
            let path = path.ok_or("a list of words needs the `field` of the rule")?;
            return compared(path, test, true);
        }
        _ => {}
    }
    let fields = test.as_object().into_iter().flatten();
    let fields: BTreeMap<&str, &Value> = fields.map(|(key, it)| (key.as_str(), it)).collect();
    let of = |key: &str| fields.get(key).copied();
    match (of("condition"), of("field"), of("is"), of("isNot"), fields.len()) {
        (Some(types), None, None, None, 1) => condition(types, true),
        (Some(types), None, Some(Value::Bool(is)), None, 2) => condition(types, *is),
        (None, Some(Value::String(path)), Some(values), None, 2) => compared(path, values, true),
        (None, Some(Value::String(path)), None, Some(values), 2) => compared(path, values, false),
        _ => Err("is no test: write CEL, a list of words for `field`, `{condition: TYPE}`, `{condition: TYPE, is: false}`, \
                  `{field: PATH, is: WORD}` or `{field: PATH, isNot: WORD}`"
            .to_owned()),
    }
}

/// The CEL expression that holds where one of these conditions has the status True, or with `is: false` the status False.
fn condition(types: &Value, is: bool) -> Result<String, String> {
    let types = one_of(types)?;
    let status = if is { "True" } else { "False" };
    Ok(format!(
        "status.?conditions.orValue([]).exists(c, c.type {types} && c.status == '{status}')"
    ))
}

/// The CEL expression that holds where the field at a path has one of the values, or with `is: false` none of them. A missing field
/// counts as the empty text, or as the opposite of a flag.
fn compared(path: &str, values: &Value, is: bool) -> Result<String, String> {
    let steps: Vec<&str> = path.split('.').collect();
    let (true, Some((root, steps))) = (steps.iter().all(|it| !it.is_empty()), steps.split_first())
    else {
        return Err(format!("field {path:?} is no path such as status.phase"));
    };
    if steps.is_empty() {
        return Err(format!("field {path:?} is no path such as status.phase"));
    }
    let (missing, test) = match (values, is) {
        (Value::Bool(flag), true) => ((!flag).to_string(), format!("== {flag}")),
        (Value::String(word), false) => ("''".to_owned(), format!("!= {}", quoted(word)?)),
        (values, true) => ("''".to_owned(), one_of(values)?),
        _ => return Err("isNot takes one word".to_owned()),
    };
    let steps = steps.join(".?");
    Ok(format!("{root}.?{steps}.orValue({missing}) {test}"))
}

/// The CEL comparison with one value (`== 'A'`), or with several (`in ['A', 'B']`).
fn one_of(values: &Value) -> Result<String, String> {
    match values {
        Value::String(word) => Ok(format!("== {}", quoted(word)?)),
        Value::Array(all) if all.len() == 1 => one_of(&all[0]),
        Value::Array(all) if !all.is_empty() => {
            let words = all.iter().map(|word| match word {
                Value::String(word) => quoted(word),
                other => Err(format!("{other} is no text; put it in quotes")),
            });
            let words: Result<Vec<String>, String> = words.collect();
            Ok(format!("in [{}]", words?.join(", ")))
        }
        other => Err(format!("{other} is no text, nor a list of texts")),
    }
}

fn quoted(word: &str) -> Result<String, String> {
    if word.contains(['\'', '\\', '\n']) {
        return Err(format!(
            "{word:?} has a sign that a named form cannot carry; write the test in CEL"
        ));
    }
    Ok(format!("'{word}'"))
}
