//! The facts in every object's metadata.

use crate::keys;
use crate::path::get;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// The first moment of the year 9999. An object may claim any time, and a wait that ends near the end of time would overflow.
const TOO_LATE: Timestamp = Timestamp::constant(253_370_764_800, 0);

/// The labels by which controllers tell apart pods that are otherwise alike.
pub(crate) const OWN_LABELS: [&str; 3] = [
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "statefulset.kubernetes.io/pod-name",
];

/// The owner reference to the object's controller; `None` for an object that no controller owns.
pub fn controller_of(object: &Value) -> Option<&Value> {
    get(object, &["metadata", "ownerReferences"])?
        .as_array()?
        .iter()
        .find(|reference| reference["controller"] == Value::Bool(true))
}

/// `metadata.name` of an object.
pub fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// The identity of an object: its UID or, without one, its group, kind, namespace and name.
pub fn identity(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    match text("uid") {
        "" => {
            let (group, kind) = group_kind(object);
            [group, kind, text("namespace"), text("name")].join("/")
        }
        uid => uid.to_owned(),
    }
}

/// API group and kind of anything that carries `apiVersion` and `kind`.
pub fn group_kind(object: &Value) -> (&str, &str) {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    (group, object["kind"].as_str().unwrap_or_default())
}

/// The labels of an object.
pub fn labels(object: &Value) -> Map<String, Value> {
    let labels = object["metadata"]["labels"].as_object();
    labels.cloned().unwrap_or_default()
}

/// The value of one of sluice's annotations: on an object's pod template, else on the object itself.
pub fn said<'o>(object: &'o Value, key: &str) -> Option<&'o str> {
    let annotation = |object: &'o Value| object["metadata"]["annotations"][key].as_str();
    let template = template(object).and_then(annotation);
    template.or_else(|| annotation(object))
}

/// The template of the pods that an object makes, by itself or, for a CronJob, through its Jobs.
pub fn template(object: &Value) -> Option<&Value> {
    let spec = object.get("spec")?;
    spec.get("template")
        .or_else(|| get(spec, &["jobTemplate", "spec", "template"]))
}

/// The value of [`keys::REVISION`] that an object carries: its pod template's, else its own.
pub fn carried(object: &Value) -> Option<&str> {
    said(object, keys::REVISION)
}

/// `metadata.creationTimestamp` of the object.
pub fn created(object: &Value) -> Option<Timestamp> {
    time(object, &["metadata", "creationTimestamp"])
}

/// The time at which an object was last written, its status apart, as the API server noted in `metadata.managedFields`, or at which it was created
/// if that is later; in whole seconds. `None` where the object tells neither.
pub fn written(object: &Value) -> Option<Timestamp> {
    noted(object, "").chain(created(object)).max()
}

/// The time at which the status of an object was last written, as the API server noted in `metadata.managedFields`, in whole
/// seconds; `None` where no writer of the status is noted, as for a kind whose status is no subresource.
pub fn status_written(object: &Value) -> Option<Timestamp> {
    noted(object, "status").max()
}

/// The times at which each writer last wrote a subresource of an object or, for an empty name, the object itself.
fn noted(object: &Value, subresource: &str) -> impl Iterator<Item = Timestamp> {
    let writers = object["metadata"]["managedFields"].as_array();
    let writers = writers
        .into_iter()
        .flatten()
        .filter(move |writer| writer["subresource"].as_str().unwrap_or_default() == subresource);
    writers.filter_map(|writer| parsed(writer["time"].as_str()?))
}

/// The time at a path of an object, in RFC 3339; `None` where it is missing, no time, or [`TOO_LATE`].
pub(crate) fn time(object: &Value, path: &[&str]) -> Option<Timestamp> {
    parsed(get(object, path)?.as_str()?)
}

/// Reads a time in RFC 3339; `None` for any other text, and for a time that is not before [`TOO_LATE`].
fn parsed(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|at| *at < TOO_LATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_time_near_the_end_of_time_is_passed_over() {
        let at = |time: &str| json!({"metadata": {"creationTimestamp": time, "managedFields": [{"time": time}]}});
        for (time, counts) in [
            ("9998-12-31T23:59:59Z", true),
            ("9999-01-01T00:00:00Z", false),
            ("9999-12-30T22:00:00Z", false),
            ("10000-01-01T00:00:00Z", false),
        ] {
            let object = at(time);
            let told = [created(&object), written(&object)];
            assert_eq!(told.map(|it| it.is_some()), [counts; 2], "{time}");
        }
    }
}
