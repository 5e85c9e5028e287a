//! An object as a template or a manifest makes it.

use serde_json::Value;
use std::path::PathBuf;

/// An object that was rendered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChartObject {
    /// The path of the template below the chart's folder, or of the manifest's file.
    pub(super) source: PathBuf,
    pub(super) value: Value,
}

/// The pods that an object makes, or is.
pub(super) fn own_pods(object: &ChartObject) -> Option<&Value> {
    let pointers = ["/spec/jobTemplate/spec/template", "/spec/template"];
    let mut templates = pointers.iter().filter_map(|it| object.value.pointer(it));
    let template = templates.find(|it| it.pointer("/spec/containers").is_some());
    template.or_else(|| (object.value["kind"] == "Pod").then_some(&object.value))
}

/// The text at a pointer; empty where there is none.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
