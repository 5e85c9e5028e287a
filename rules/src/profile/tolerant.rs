//! A reading of the object under which kstatus does not stumble.
//!
//! kstatus answers `Unknown` for ever where a controller writes `status.observedGeneration` as a text (Argo Rollouts) or a
//! condition's status as a boolean. Here a numeric text is a number, any other text is dropped, a status that is one word becomes
//! a mapping of that word, a value of the wrong type is dropped, and so is a generation of another object. An object without such
//! fields is not copied.

use crate::kinds::Kind;
use crate::object::group_kind;
use crate::path::get;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Kinds whose `status.observedGeneration` counts the changes of another object: KServe copies that of a Deployment or of a
/// Knative Service that it has made (`PropagateRawStatus` and `PropagateStatus`; `raw_ig.go`), and a status pod kind of
/// Gatekeeper holds that of the reported object (`apis/status`).
const OBSERVED_ELSEWHERE: [(&str, &str); 9] = [
    ("serving.kserve.io", "InferenceService"),
    ("serving.kserve.io", "InferenceGraph"),
    ("status.gatekeeper.sh", "ConfigPodStatus"),
    ("status.gatekeeper.sh", "ConnectionPodStatus"),
    ("status.gatekeeper.sh", "ConstraintPodStatus"),
    ("status.gatekeeper.sh", "ConstraintTemplatePodStatus"),
    ("status.gatekeeper.sh", "ExpansionTemplatePodStatus"),
    ("status.gatekeeper.sh", "MutatorPodStatus"),
    ("status.gatekeeper.sh", "ProviderPodStatus"),
];

const FIELDS: [&str; 4] = ["type", "status", "reason", "message"];

/// Returns the object, repaired where its fields are not as kstatus expects them. One of a built-in kind that does not name its kind gets `kind` and
/// `apiVersion`.
pub(super) fn read<'a>(kind: &Kind, object: &'a Value) -> Cow<'a, Value> {
    let named = object.get("kind").is_some_and(Value::is_string);
    let named = named || matches!(kind, Kind::Custom { .. });
    if named && is_clean(object) {
        return Cow::Borrowed(object);
    }
    let is_of_another = OBSERVED_ELSEWHERE.contains(&group_kind(object));
    let mut object = object.clone();
    if let Value::Object(fields) = &mut object {
        if !named {
            name(kind, fields);
        }
        repair(fields);
        if is_of_another && let Some(Value::Object(status)) = fields.get_mut("status") {
            status.remove("observedGeneration");
        }
    }
    Cow::Owned(object)
}

fn is_clean(object: &Value) -> bool {
    if OBSERVED_ELSEWHERE.contains(&group_kind(object)) {
        return false;
    }
    let fine = |path: &[&str], right: fn(&Value) -> bool| get(object, path).is_none_or(right);
    fine(&["metadata"], Value::is_object)
        && fine(&["status"], Value::is_object)
        && fine(&["metadata", "deletionTimestamp"], Value::is_string)
        && fine(&["metadata", "generation"], Value::is_i64)
        && fine(&["status", "observedGeneration"], Value::is_i64)
        && get(object, &["status", "conditions"]).is_none_or(|conditions| {
            conditions
                .as_array()
                .is_some_and(|list| list.iter().all(is_clean_condition))
        })
}

fn is_clean_condition(condition: &Value) -> bool {
    condition.is_object()
        && FIELDS
            .iter()
            .all(|field| condition.get(field).is_none_or(Value::is_string))
}

/// Adds `apiVersion` and `kind` to an object of a built-in kind: entries of a list carry neither, and kstatus would take them for a kind without
/// a rule.
fn name(kind: &Kind, fields: &mut Map<String, Value>) {
    let Kind::Builtin(builtin) = kind else { return };
    let version = match builtin.group {
        "" => builtin.version.to_owned(),
        group => format!("{group}/{}", builtin.version),
    };
    fields.insert("apiVersion".to_owned(), Value::String(version));
    fields.insert("kind".to_owned(), Value::from(builtin.kind));
}

fn repair(fields: &mut Map<String, Value>) {
    if let Some(Value::String(word)) = fields.get("status") {
        let word = json!({ "status": word });
        fields.insert("status".to_owned(), word);
    }
    for field in ["metadata", "status"] {
        drop_unless(fields, field, Value::is_object);
    }
    let mut generation = None;
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        drop_unless(metadata, "deletionTimestamp", Value::is_string);
        generation = metadata.get("generation").and_then(number);
        set(metadata, "generation", generation);
    }
    if let Some(Value::Object(status)) = fields.get_mut("status") {
        let observed = status
            .get("observedGeneration")
            .and_then(|observed| observed_generation(observed, generation));
        set(status, "observedGeneration", observed);
        drop_unless(status, "conditions", Value::is_array);
        if let Some(Value::Array(conditions)) = status.get_mut("conditions") {
            conditions.retain(Value::is_object);
            conditions.iter_mut().for_each(repair_condition);
        }
    }
}

/// Reads `status.observedGeneration` from a number, or from a text of digits. A text above the object's generation counts as the generation: some
/// controllers put a hash there, which may be all digits and must not hold the object back for ever. `None` for any other value.
fn observed_generation(value: &Value, generation: Option<i64>) -> Option<i64> {
    match value {
        Value::String(text) => {
            let observed: i64 = text.trim().parse().ok()?;
            Some(generation.map_or(observed, |generation| observed.min(generation)))
        }
        other => number(other),
    }
}

/// Reads an integer, also one written `2.0`; `None` for any other value.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        // Up to 2^53 a float is exact; a generation is a small number.
        let whole = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        whole.then_some(float as i64)
    })
}

fn repair_condition(condition: &mut Value) {
    let Value::Object(fields) = condition else {
        return;
    };
    if let Some(Value::Bool(flag)) = fields.get("status") {
        let word = if *flag { "True" } else { "False" };
        fields.insert("status".to_owned(), Value::from(word));
    }
    for field in FIELDS {
        drop_unless(fields, field, Value::is_string);
    }
}

fn set(fields: &mut Map<String, Value>, key: &str, value: Option<i64>) {
    match value {
        Some(value) => fields.insert(key.to_owned(), Value::from(value)),
        None => fields.remove(key),
    };
}

fn drop_unless(fields: &mut Map<String, Value>, key: &str, right: fn(&Value) -> bool) {
    if fields.get(key).is_some_and(|value| !right(value)) {
        fields.remove(key);
    }
}
