//! An object that a template renders, or that a manifest holds.

use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// The objects of one render. Several sets of values may share them.
pub(super) type ObjectList = Arc<[ChartObject]>;

/// An object, with the file from which it comes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChartObject {
    /// The path of the template or of the manifest, below the folder.
    pub(super) source: PathBuf,
    pub(super) value: Value,
}

/// The pod template of an object, or the object itself if it is a pod; `None` for an object without pods.
pub(super) fn own_pods(object: &ChartObject) -> Option<&Value> {
    let pointers = ["/spec/jobTemplate/spec/template", "/spec/template"];
    let mut templates = pointers.iter().filter_map(|it| object.value.pointer(it));
    let template = templates.find(|it| it.pointer("/spec/containers").is_some());
    template.or_else(|| (object.value["kind"] == "Pod").then_some(&object.value))
}

/// The text at a JSON pointer; empty where no text is there.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
