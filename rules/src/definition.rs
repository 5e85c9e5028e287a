//! What a CustomResourceDefinition says of the kind that it defines.

use crate::path::get;
use serde_json::{Map, Value, json};

/// Kubernetes' word for a schema that takes fields which it does not name.
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// Whether objects of this version have a status that their controller writes: it is a subresource, and there is room for anything
/// in it. Of a status whose schema names no field the API server keeps nothing, whoever writes it.
pub fn declares_status(version: &Value) -> bool {
    let subresource = get(version, &["subresources", "status"]);
    let schema = get(version, &["schema", "openAPIV3Schema"]);
    // Where there is no schema nobody has looked at it.
    subresource.is_some_and(|it| !it.is_null()) && schema.is_none_or(has_room)
}

/// Puts the shortest schema that says as much of the status in the place of a version's own.
pub(crate) fn shorten(version: &mut Map<String, Value>) {
    if let Some(schema) = version.get_mut("schema") {
        let has_room = schema.get("openAPIV3Schema").is_none_or(has_room);
        *schema = json!({"openAPIV3Schema": {PRESERVE: has_room}});
    }
}

fn has_room(schema: &Value) -> bool {
    let takes_anything = |schema: &Value| schema[PRESERVE] == true;
    let Some(status) = get(schema, &["properties", "status"]) else {
        return takes_anything(schema);
    };
    let named = status.get("properties").and_then(Value::as_object);
    let others = status.get("additionalProperties");
    takes_anything(status)
        || named.is_some_and(|named| !named.is_empty())
        || others.is_some_and(|others| *others != Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shortened(schema: &Value) -> Value {
        let mut version =
            Map::from_iter([("schema".to_owned(), json!({"openAPIV3Schema": schema}))]);
        shorten(&mut version);
        version["schema"]["openAPIV3Schema"].take()
    }

    #[test]
    fn a_status_that_can_say_nothing_is_none() {
        let declares = |schema: Value| {
            declares_status(
                &json!({"subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}),
            )
        };
        let status = |status: Value| json!({"type": "object", "properties": {"status": status}});
        for written in [
            status(json!({"properties": {"phase": {"type": "string"}}})),
            status(json!({"additionalProperties": {"type": "string"}})),
            status(json!({PRESERVE: true})),
            json!({PRESERVE: true}),
        ] {
            assert!(declares(written.clone()), "{written}");
            assert!(declares(shortened(&written)), "{written}");
        }
        for empty in [
            status(json!({"type": "object"})),
            status(json!({"type": "object", "properties": {}})),
            status(json!({"additionalProperties": false, PRESERVE: false})),
            json!({"properties": {"spec": {PRESERVE: true}}}),
        ] {
            assert!(!declares(empty.clone()), "{empty}");
            assert!(!declares(shortened(&empty)), "{empty}");
        }
        assert!(declares_status(&json!({"subresources": {"status": {}}})));
        assert!(!declares_status(&json!({"subresources": {}})));
        assert!(!declares_status(&json!({"schema": {}})));
    }
}
