//! Applies the table of [`super`] to one object: removes the fields that the table does not keep.

use super::{
    ANNOTATIONS, Cut, EACH, TEMPLATE_ANNOTATIONS, cuts, mark_cut, requests, says_its_health,
};
use crate::definition;
use crate::keys;
use crate::kinds::Kind;
use crate::object::{status_written, written};
use crate::rollout;
use serde_json::{Map, Value, json};

/// The annotation in which kubectl keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The longest object that is kept whole because its annotations ask for it, in bytes.
const LARGEST_WHOLE: usize = 64 * 1024;

/// Removes the fields that no rule reads.
///
/// A custom resource loses only its bookkeeping, because only its author knows which field tells its health. An object whose
/// annotations name such fields is kept whole too, unless it is so large that a few would fill the memory: that object is read
/// whole while a dependent waits for it ([`super::is_cut`]).
pub fn trim_object(kind: &Kind, object: &mut Value) {
    trim_object_within(kind, object, |_| true);
}

/// Removes the fields that no rule reads, where an object that asks to be kept whole may find no room: `has_room` gets its length
/// in bytes, and on `false` the object is trimmed like a large one. [`trim_object`] has room for every object.
pub fn trim_object_within(kind: &Kind, object: &mut Value, has_room: impl FnOnce(usize) -> bool) {
    trim_bookkeeping(object, matches!(kind, Kind::Custom { .. }));
    shorten(object.pointer_mut("/metadata/annotations"));
    let Kind::Builtin(builtin) = kind else { return };
    if says_its_health(object) {
        let bytes = length(object);
        if bytes <= LARGEST_WHOLE && has_room(bytes) {
            return;
        }
        mark_cut(object);
    }
    if rollout::is_unasked(object) {
        object["metadata"][rollout::UNASKED] = Value::Bool(true);
    }
    trim_annotations(object);
    for cut in cuts(builtin) {
        cut.apply(object);
    }
    shorten(object.get_mut("data"));
}

/// Cuts, in a map of annotations or data, each value that a rule reads and that is longer than any rule accepts, to one byte more than that. So
/// every reader still refuses it.
fn shorten(values: Option<&mut Value>) {
    let values = values.and_then(Value::as_object_mut);
    for (key, value) in values.into_iter().flatten() {
        let ours = key.starts_with(keys::PREFIX) || key == keys::ORDER;
        if let Value::String(text) = value
            && (ours || ANNOTATIONS.contains(&key.as_str()))
        {
            text.truncate(text.ceil_char_boundary(keys::LONGEST_VALUE + 1));
            text.shrink_to_fit();
        }
    }
}

/// The approximate length of an object as JSON text, in bytes. The kept form of the object is never longer.
pub fn length(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(length).sum(),
        Value::Object(fields) => fields.iter().map(|(key, it)| key.len() + length(it)).sum(),
    }
}

impl Cut {
    fn apply(&self, object: &mut Value) {
        match self {
            Self::But(path, fields) => each(object, path, &mut |map| {
                map.retain(|key, _| fields.contains(&key.as_str()));
            }),
            Self::Only(path, fields) => each(object, path, &mut |map| {
                map.retain(|key, _| !fields.contains(&key.as_str()));
            }),
            Self::Template(of) => each(object, of, &mut trim_template),
            Self::Version(of) => each(object, of, &mut definition::shorten),
            Self::Containers => requests::trim_containers(object),
        }
    }
}

/// Calls `change` with every mapping that a path leads to.
fn each(value: &mut Value, path: &[&str], change: &mut impl FnMut(&mut Map<String, Value>)) {
    match path {
        [] => {
            if let Some(map) = value.as_object_mut() {
                change(map);
            }
        }
        [EACH, rest @ ..] => {
            for item in value.as_array_mut().into_iter().flatten() {
                each(item, rest, change);
            }
        }
        [field, rest @ ..] => {
            if let Some(value) = value.get_mut(field) {
                each(value, rest, change);
            }
        }
    }
}

/// Removes the bookkeeping from the metadata of an object, such as `managedFields`, whose times alone are read. `custom`: a rule also
/// reads the time at which the status was written.
fn trim_bookkeeping(object: &mut Value, custom: bool) {
    let last = written(object).map(|at| json!({"time": at.to_string()}));
    let status = status_written(object).filter(|_| custom);
    let status = status.map(|at| json!({"subresource": "status", "time": at.to_string()}));
    let Some(metadata) = metadata(object) else {
        return;
    };
    // Only the times of `managedFields` are read.
    let times: Vec<Value> = last.into_iter().chain(status).collect();
    if metadata.remove("managedFields").is_some() && !times.is_empty() {
        metadata.insert("managedFields".to_owned(), times.into());
    }
    metadata.remove("resourceVersion");
    metadata.remove("selfLink");
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
}

fn trim_annotations(object: &mut Value) {
    let Some(metadata) = metadata(object) else {
        return;
    };
    let annotations = metadata.get_mut("annotations");
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations
            .retain(|key, _| key.starts_with(keys::PREFIX) || ANNOTATIONS.contains(&key.as_str()));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn trim_template(spec: &mut Map<String, Value>) {
    let mut template = spec.remove("template").unwrap_or_default();
    let Some(metadata) = metadata(&mut template) else {
        return;
    };
    metadata.retain(|field, _| ["annotations", "labels"].contains(&field.as_str()));
    shorten(metadata.get_mut("annotations"));
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.retain(|key, _| TEMPLATE_ANNOTATIONS.contains(&key.as_str()));
    }
    metadata.retain(|_, said| said.as_object().is_some_and(|it| !it.is_empty()));
    if !metadata.is_empty() {
        let template = json!({"metadata": metadata});
        spec.insert("template".to_owned(), template);
    }
}

fn metadata(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata")?.as_object_mut()
}
