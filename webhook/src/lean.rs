//! Reads objects without the parts that sluice never uses.

use rules::keys;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The levels of an object's fields that are read. A tenant may nest an object deeper than a JSON reader bears, and
/// that object must not make its kind unreadable for others. Deeper values become null, so no expression holds for
/// them.
const DEEPEST: u8 = 100;

/// An object as it is read from JSON, without the names of the fields that each of its writers owns (`fieldsV1`): those are half of the text, and
/// nested deepest. The times of the writes stay.
#[derive(Debug, Clone)]
pub(crate) struct Lean(Value);

impl From<Lean> for Value {
    fn from(Lean(object): Lean) -> Self {
        object
    }
}

impl<'de> Deserialize<'de> for Lean {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        ReviewLevel::Object.deserialize(from).map(Self)
    }
}

/// Reads an AdmissionReview, with the fields alone that admission uses. Its objects lose the names of the fields that each writer owns; a pod also
/// loses the parts that [`About`] tells, but not its environments if its list may name their variables.
pub(crate) fn review(text: &str, about: About) -> serde_json::Result<Value> {
    let mut from = serde_json::Deserializer::from_str(text);
    // The variables that a list names stand in the environments of containers.
    let environments = text.contains("$(") && text.contains(keys::DEPENDS_ON);
    let about = match about {
        About::Pod if environments => About::PodWithVariables,
        about => about,
    };
    let review = ReviewLevel::Review(about).deserialize(&mut from)?;
    from.end()?;
    Ok(review)
}

/// The kind of object in an AdmissionReview: it decides which fields are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum About {
    /// A pod: of its volumes, and of its containers but not its init containers, only the fields in [`OF_A_PART`] are read. The others, mainly
    /// environments, are most of a long pod.
    Pod,
    /// A pod whose list may name variables: of its containers the environments are read too.
    PodWithVariables,
    /// Any other object. A workload's whole template counts, because a change of it rolls pods.
    Other,
}

/// The fields of a review that admission reads.
const OF_A_REVIEW: [&str; 3] = ["apiVersion", "kind", "request"];

/// The fields of a review's request that admission reads.
const OF_A_REQUEST: [&str; 8] = [
    "uid",
    "kind",
    "namespace",
    "name",
    "operation",
    "dryRun",
    "object",
    "oldObject",
];

/// The fields that admission reads of a pod's containers and volumes: names, the resources that decide the pod's
/// class, the images, and the sources of a gate's volumes, among them image volumes.
const OF_A_PART: [&str; 6] = [
    "name",
    "resources",
    "image",
    "imagePullPolicy",
    "projected",
    "emptyDir",
];

/// The field of a container that is read beside those of [`OF_A_PART`] where a list may name variables.
const ENVIRONMENT: &str = "env";

/// The place of a value in an object, or in a review of one: it decides which of the value's fields are read.
#[derive(Clone, Copy)]
enum ReviewLevel {
    Review(About),
    Request(About),
    Object,
    /// A pod. The flag of this place, and of the three places inside of it, tells whether the environments of containers are read.
    Pod(bool),
    PodSpec(bool),
    Parts(bool),
    Part(bool),
    Metadata,
    Managed,
    /// Any other value, and how many levels it lies below the places above; beyond [`DEEPEST`] a value becomes null.
    Elsewhere(u8),
}

impl ReviewLevel {
    fn of(self, field: &str) -> Self {
        match (self, field) {
            (Self::Review(about), "request") => Self::Request(about),
            (Self::Request(About::Pod), "object" | "oldObject") => Self::Pod(false),
            (Self::Request(About::PodWithVariables), "object" | "oldObject") => Self::Pod(true),
            (Self::Request(About::Other), "object" | "oldObject") => Self::Object,
            (Self::Pod(env), "spec") => Self::PodSpec(env),
            (Self::PodSpec(env), "containers") => Self::Parts(env),
            (Self::PodSpec(_), "volumes") => Self::Parts(false),
            (Self::Object | Self::Pod(_), "metadata") => Self::Metadata,
            (Self::Metadata, "managedFields") => Self::Managed,
            (Self::Elsewhere(depth), _) => Self::Elsewhere(depth + 1),
            _ => Self::Elsewhere(1),
        }
    }

    /// Returns whether a field of a mapping at this place is left out.
    fn lacks(self, field: &str) -> bool {
        match self {
            Self::Review(_) => !OF_A_REVIEW.contains(&field),
            Self::Request(_) => !OF_A_REQUEST.contains(&field),
            Self::Managed => field == "fieldsV1",
            Self::Part(env) => !(OF_A_PART.contains(&field) || env && field == ENVIRONMENT),
            _ => false,
        }
    }

    /// Returns the place of a list's items, for a list at this place.
    fn of_item(self) -> Self {
        match self {
            Self::Elsewhere(depth) => Self::Elsewhere(depth + 1),
            Self::Parts(env) => Self::Part(env),
            Self::Part(_) => Self::Elsewhere(1),
            place => place,
        }
    }
}

impl<'de> DeserializeSeed<'de> for ReviewLevel {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        match self {
            Self::Elsewhere(depth) if depth > DEEPEST => {
                IgnoredAny::deserialize(from)?;
                Ok(Value::Null)
            }
            _ => from.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for ReviewLevel {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(self.of_item())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(field) = from.next_key::<String>()? {
            if self.lacks(&field) {
                from.next_value::<IgnoredAny>()?;
            } else {
                let value = from.next_value_seed(self.of(&field))?;
                fields.insert(field, value);
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::kept::trim_object;
    use rules::kinds::{Kind, by_word};
    use serde_json::json;

    #[test]
    fn only_the_names_of_owned_fields_are_missing() {
        let writer = |fields: Value| json!({"manager": "m", "time": "2026-01-02T03:04:05Z", "fieldsV1": fields});
        let elsewhere = json!({"fieldsV1": {"a": 1}, "managedFields": [writer(json!(1))]});
        let mut object = json!({
            "apiVersion": "v1", "managedFields": [writer(json!(2))],
            "metadata": {
                "labels": elsewhere, "managedFields": [writer(json!({"f:spec": {"f:a": {}}})), 1, null], "fieldsV1": "kept",
                "name": "a\"b\u{1F980}",
            },
            "spec": {"metadata": elsewhere, "numbers": [0, -1, u64::MAX, 1.5, -0.0], "flags": [true, false, null, "", {}, []]},
        });
        let lean: Lean = serde_json::from_str(&object.to_string()).unwrap();
        let writers = &mut object["metadata"]["managedFields"];
        writers[0].as_object_mut().unwrap().remove("fieldsV1");
        assert_eq!(Value::from(lean), object);
        for scalar in ["1", "null", "\"text\"", "true", "-2", "0.5", "[]"] {
            let lean: Lean = serde_json::from_str(scalar).unwrap();
            assert_eq!(Value::from(lean).to_string(), scalar);
        }
    }

    #[test]
    fn of_a_review_the_used_fields_are_read_and_both_objects_are_lean() {
        let object = |fields: &str| json!({"metadata": {"managedFields": [{"manager": "m", fields: {"f:spec": {}}}]}});
        let (whole, lean) = (
            object("fieldsV1"),
            json!({"metadata": {"managedFields": [{"manager": "m"}]}}),
        );
        let review = json!({
            "kind": "AdmissionReview", "object": whole, "metadata": whole["metadata"],
            "request": {
                "uid": "u", "object": whole, "oldObject": whole, "options": whole, "userInfo": {"groups": ["a"]}, "dryRun": true,
            },
        });
        let used = json!({
            "kind": "AdmissionReview",
            "request": {"uid": "u", "object": lean, "oldObject": lean, "dryRun": true},
        });
        for about in [About::Pod, About::Other] {
            let read = super::review(&review.to_string(), about);
            assert_eq!(read.unwrap(), used);
        }
    }

    #[test]
    fn of_a_pods_parts_only_names_images_and_resources_are_read() {
        let whole = json!({
            "name": "app", "image": "app", "env": [{"name": "A"}], "resources": {"a": {}}, "configMap": {"name": "a"},
            "projected": {"sources": []}, "emptyDir": {},
        });
        let lean = json!({"name": "app", "image": "app", "resources": {"a": {}}, "projected": {"sources": []}, "emptyDir": {}});
        let pod = |container: &Value| {
            json!({
                "containers": [whole],
                "spec": {"containers": [container, 1, null], "volumes": [container], "initContainers": [whole], "image": "kept"},
                "metadata": {"containers": [whole]},
            })
        };
        let review = |it: &Value| json!({"request": {"object": it, "oldObject": it}});
        let read = |about| super::review(&review(&pod(&whole)).to_string(), about).unwrap();
        assert_eq!(read(About::Pod), review(&pod(&lean)));
        assert_eq!(read(About::Other), review(&pod(&whole)));
    }

    /// A JSON value within so many nested lists, or mappings.
    fn nested(levels: usize, open: &str, close: &str) -> String {
        format!("{}1{}", open.repeat(levels), close.repeat(levels))
    }

    #[test]
    fn an_object_that_is_nested_too_deep_lacks_only_what_is_deepest() {
        for (open, close, step) in [("[", "]", "/0"), ("{\"a\":", "}", "/a")] {
            let text = |levels| {
                format!(
                    "{{\"spec\":{},\"kind\":\"X\"}}",
                    nested(levels, open, close)
                )
            };
            let read = |levels| Value::from(serde_json::from_str::<Lean>(&text(levels)).unwrap());
            let there = |levels: usize| format!("/spec{}", step.repeat(levels));
            assert_eq!(read(99).pointer(&there(99)), Some(&json!(1)));
            for levels in [130, 9_000] {
                let object = read(levels);
                assert_eq!(object["kind"], "X");
                assert_eq!(object.pointer(&there(100)), Some(&Value::Null));
                let review = format!("{{\"request\":{{\"object\":{}}}}}", text(levels));
                assert_eq!(
                    super::review(&review, About::Other).unwrap()["request"]["object"],
                    object
                );
            }
        }
    }

    #[test]
    fn what_is_kept_of_an_object_is_the_same() {
        let kind = by_word("deployment").map(Kind::Builtin).unwrap();
        let writer = |time: &str, part: &str| json!({"time": time, "subresource": part, "fieldsV1": {"f:spec": {}}});
        let text = json!({"metadata": {"name": "x", "managedFields": [
            writer("2026-01-02T03:04:05Z", ""), writer("2026-01-03T03:04:05Z", "status"), writer("2026-01-01T03:04:05Z", ""),
        ]}});
        let kept = |mut object: Value| {
            trim_object(&kind, &mut object);
            object
        };
        let lean: Lean = serde_json::from_str(&text.to_string()).unwrap();
        assert_eq!(kept(lean.into()), kept(text));
    }
}
