//! A column that `kubectl get` shows of the status of an object.
//!
//! The path of a column is a JSONPath of Kubernetes. Only the shapes that point into a status are read; a column of any other
//! shape is dropped.

use serde_json::{Value, json};

/// The longest path and heading of a column, in bytes: a column with a longer path is not read, and a longer heading is cut.
const LONGEST: usize = 200;

/// A printer column of a CustomResourceDefinition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading of the printer column.
    pub name: String,
    /// The part of the object's status that the printer column shows.
    pub shown: Shown,
}

/// The part of a status that a column shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// The condition of this type, by any of its fields: `.status.conditions[?(@.type=="Ready")].status`.
    Condition(String),
    /// The column shows a condition of any type: `.status.conditions[0].status`.
    Conditions,
    /// The field below `status` to which these names lead: `.status.health.state`.
    Field(Vec<String>),
}

impl Column {
    /// Reads an entry of `additionalPrinterColumns`; `None` where it shows nothing of the status, or by a path of another shape.
    pub(super) fn read(column: &Value) -> Option<Self> {
        let path = ["jsonPath", "JSONPath"]
            .iter()
            .find_map(|field| column.get(field)?.as_str())?;
        let name = column.get("name").and_then(Value::as_str);
        Some(Self {
            shown: shown(path)?,
            name: cut(name.unwrap_or_default()),
        })
    }
}

/// Reduces an entry of `additionalPrinterColumns` to its heading, which is cut, and its path.
pub(super) fn shorten(column: &mut Value) {
    let path = ["jsonPath", "JSONPath"]
        .iter()
        .find_map(|field| column.get(field)?.as_str())
        .unwrap_or_default();
    let name = column.get("name").and_then(Value::as_str);
    *column = json!({ "name": cut(name.unwrap_or_default()), "jsonPath": path });
}

fn cut(name: &str) -> String {
    name[..name.floor_char_boundary(LONGEST)].to_owned()
}

fn shown(path: &str) -> Option<Shown> {
    if path.len() > LONGEST {
        return None;
    }
    let path = path.trim().trim_start_matches('{').trim_end_matches('}');
    let path = path.trim_start_matches(['$', '@', '.']);
    let below = path.strip_prefix("status")?.strip_prefix('.')?;
    match below.strip_prefix("conditions") {
        Some("") => Some(Shown::Conditions),
        Some(rest) if rest.starts_with('[') => Some(condition(&rest[1..])),
        _ => field(below),
    }
}

/// The condition that a filter by the type names, such as `?(@.type=="Ready")].status`. An index, a wildcard or a filter by another field shows a
/// condition of any type.
fn condition(filter: &str) -> Shown {
    let named = || {
        let filter = filter.strip_prefix('?')?;
        let (_, after) = filter.split_once("type")?;
        // Some write one sign, for which the API server does not care and kubectl shows nothing.
        let value = after.trim_start().trim_start_matches('=').trim_start();
        let quote = value.chars().next().filter(|it| ['"', '\''].contains(it))?;
        value[1..].split(quote).next()
    };
    named().map_or(Shown::Conditions, |kind| Shown::Condition(kind.to_owned()))
}

fn field(path: &str) -> Option<Shown> {
    let is_name = |name: &&str| {
        let plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
        !name.is_empty() && name.bytes().all(plain)
    };
    let names: Vec<&str> = path.split('.').collect();
    let all = names.iter().all(is_name);
    all.then(|| Shown::Field(names.into_iter().map(str::to_owned).collect()))
}
