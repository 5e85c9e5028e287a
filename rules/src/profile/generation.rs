//! Whether an object says of which generation its status is.

use crate::world::World;
use serde_json::Value;

/// Whether anything in the status of an object names a generation, such as `status.observedGeneration` or that of a condition, or the
/// health rule for its kind reads one.
pub(crate) fn says_a_generation(object: &Value, world: &dyn World) -> bool {
    object.get("status").is_some_and(names_one) || world.rule_reads_a_generation(object)
}

fn names_one(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| is_generation(name) && is_said(value) || names_one(value)),
        Value::Array(items) => items.iter().any(names_one),
        _ => false,
    }
}

fn is_generation(field: &str) -> bool {
    field.to_ascii_lowercase().ends_with("generation")
}

/// Whether the value of a field for a generation is a number, or a text that is not empty, since some kinds write a number as a text.
fn is_said(value: &Value) -> bool {
    value.is_number() || value.as_str().is_some_and(|text| !text.is_empty())
}
