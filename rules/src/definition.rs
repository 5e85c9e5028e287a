//! The facts that a CustomResourceDefinition states about the kind that it defines.

mod column;

pub use column::{Column, Shown};

use crate::path::get;
use serde_json::{Map, Value, json};

/// Kubernetes' word for a schema that takes fields which it does not name.
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// The field of a version that lists its printer columns.
pub(crate) const COLUMNS: &str = "additionalPrinterColumns";

/// The most columns of one version that are read and kept. The definitions of all kinds are kept at once, and there may be
/// thousands.
const MOST: usize = 12;

/// The most fields of one status that are read and kept.
const MOST_FIELDS: usize = 40;

/// The longest name of a field of the status that is kept, in bytes.
const LONGEST: usize = 40;

/// The name of a field that stands in a shortened schema for the fields of the status where all their names are too long to be kept.
const OTHERS: &str = "x-others";

/// The facts that a kind's definition states about the status of its objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared {
    /// Whether the kind's definition declares a status, which a controller writes.
    pub status: bool,
    /// The fields that tell whether an object is ready; `None` where the definition is missing.
    pub summary: Option<Summary>,
}

/// The fields of a status that tell whether its object is ready.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The parts of the status that `kubectl get` shows, in the order of the definition.
    pub columns: Vec<Column>,
    /// The fields of the status that the schema names, but for those with a long name; the first forty.
    pub fields: Vec<String>,
}

impl Declared {
    /// The assumption where the definition cannot be read: there is a status. To open for an object that its controller has not
    /// seen is worse than to wait for an object that never has a status.
    pub fn unseen() -> Self {
        Self {
            status: true,
            summary: None,
        }
    }

    /// The facts of one version of a definition (an entry of `spec.versions`).
    ///
    /// There is a status where the version has the subresource, or where the schema or a printer column names a field of the
    /// status, and only if the schema leaves room for one: the API server drops every field of a status whose schema names none.
    pub fn of(version: &Value) -> Self {
        let subresource = get(version, &["subresources", "status"]);
        let schema = get(version, &["schema", "openAPIV3Schema"]);
        let columns = columns(version);
        // Without a schema the API server drops nothing.
        let has_room = schema.is_none_or(has_room);
        let named = schema.and_then(named);
        let shown = !columns.is_empty() || named.is_some();
        let fields = named.into_iter().flat_map(short).map(str::to_owned);
        Self {
            status: has_room && (subresource.is_some_and(|it| !it.is_null()) || shown),
            summary: Some(Summary {
                columns,
                fields: fields.filter(|field| field != OTHERS).collect(),
            }),
        }
    }

    /// Joins the facts of two versions, for an object that may be of either: a status if one has it, and the columns and fields of both.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.status |= other.status;
        let of = self.summary.get_or_insert_default();
        let more = other.summary.unwrap_or_default();
        of.columns.extend(more.columns);
        of.fields.extend(more.fields);
        self
    }
}

fn columns(version: &Value) -> Vec<Column> {
    let all = version.get(COLUMNS).and_then(Value::as_array);
    let of_status = all.into_iter().flatten().filter_map(Column::read);
    of_status.take(MOST).collect()
}

/// Shortens an entry of a definition's `spec.versions` to the schema and the printer columns from which [`Declared::of`] reads the same facts.
pub(crate) fn shorten(version: &mut Map<String, Value>) {
    if let Some(schema) = version.get_mut("schema") {
        let shortest = schema.get("openAPIV3Schema").map(shortest);
        *schema = json!({ "openAPIV3Schema": shortest.unwrap_or_else(|| json!({PRESERVE: true})) });
    }
    if let Some(Value::Array(columns)) = version.get_mut(COLUMNS) {
        columns.retain(|column| Column::read(column).is_some());
        columns.truncate(MOST);
        columns.iter_mut().for_each(column::shorten);
        columns.shrink_to_fit();
    }
}

fn shortest(schema: &Value) -> Value {
    let Some(fields) = named(schema) else {
        return json!({ PRESERVE: has_room(schema) });
    };
    let mut kept: Map<String, Value> = short(fields)
        .map(|field| (field.to_owned(), json!({})))
        .collect();
    if kept.is_empty() {
        kept.insert(OTHERS.to_owned(), json!({}));
    }
    json!({ "properties": { "status": { "properties": kept } } })
}

/// The names of the first [`MOST_FIELDS`] of a schema's fields whose names have at most [`LONGEST`] bytes.
fn short(fields: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = fields.keys().map(String::as_str);
    names.filter(|name| name.len() <= LONGEST).take(MOST_FIELDS)
}

/// The fields of the status that the schema names; `None` where it names none.
fn named(schema: &Value) -> Option<&Map<String, Value>> {
    let fields = get(schema, &["properties", "status", "properties"])?.as_object()?;
    (!fields.is_empty()).then_some(fields)
}

fn has_room(schema: &Value) -> bool {
    let takes_anything = |schema: &Value| schema[PRESERVE] == true;
    let Some(status) = get(schema, &["properties", "status"]) else {
        return takes_anything(schema);
    };
    let others = status.get("additionalProperties");
    takes_anything(status)
        || named(schema).is_some()
        || others.is_some_and(|others| *others != Value::Bool(false))
}

#[cfg(test)]
mod tests;
