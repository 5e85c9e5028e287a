//! Builds patches from `add` operations alone.
//!
//! `json_patch::diff` does not fit: for one element at the head of a list it renames every element after it.
//! `replace` and `test` are not needed: an `add` on an existing key replaces its value and cannot fail.

use rules::path::get;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One `add` operation of a JSON patch, as RFC 6902 writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename = "add")]
pub struct Edit {
    path: String,
    value: EditValue,
}

/// The value of an operation.
#[derive(Debug, Clone)]
pub(super) enum EditValue {
    /// A value that was made for one object.
    Own(Value),
    /// The text of a value that many patches share: to copy the value and to write it anew for each patch would be a quarter of an
    /// admission.
    Shared(Arc<RawValue>),
    /// A mapping by key, each value in one of these forms.
    Mapping(BTreeMap<&'static str, EditValue>),
}

impl EditValue {
    /// Makes the form of a value that many patches share: its JSON text, written once. A value that cannot be written keeps its own form.
    pub(super) fn shared(value: &Value) -> Self {
        match to_raw_value(value) {
            Ok(text) => Self::Shared(text.into()),
            Err(_) => Self::Own(value.clone()),
        }
    }
}

impl From<Value> for EditValue {
    fn from(value: Value) -> Self {
        Self::Own(value)
    }
}

impl Serialize for EditValue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(value) => value.serialize(to),
            Self::Shared(text) => text.as_ref().serialize(to),
            Self::Mapping(fields) => fields.serialize(to),
        }
    }
}

/// Compares the values, and not the forms in which they are kept.
impl PartialEq for EditValue {
    fn eq(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|it| serde_json::to_value(it).ok());
        one == other
    }
}

/// Collects the operations on one object. Missing parents are created first, each once: a second `add` of an absent
/// list would replace the first one.
pub(super) struct Edits<'a> {
    object: &'a Value,
    operations: Vec<Edit>,
}

/// A parent that exists with another type than the patch needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misshapen {
    pub(super) path: String,
    pub(super) expected: &'static str,
}

impl<'a> Edits<'a> {
    pub(super) fn new(object: &'a Value) -> Self {
        Self {
            object,
            operations: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> Vec<Edit> {
        self.operations
    }

    /// Sets one key of the mapping at `path`. Creates the mappings on the way that are missing or null; an error where another type stands there.
    pub(super) fn set(
        &mut self,
        path: &[&str],
        key: &str,
        value: impl Into<Value>,
    ) -> Result<(), Misshapen> {
        self.parents(path)?;
        self.ensure(path, "mapping", Value::is_object, || {
            Value::Object(Map::new())
        })?;
        self.add(path, key, EditValue::Own(value.into()));
        Ok(())
    }

    /// Sets one key of the mapping at `index` of the list at `path`. The element must exist.
    pub(super) fn set_in(
        &mut self,
        path: &[&str],
        index: usize,
        key: &str,
        value: impl Into<Value>,
    ) {
        self.set_below(path, index, &[], key, value);
    }

    /// Sets one key of the mapping at `below` in the element at `index` of the list at `path`. The mapping must exist.
    pub(super) fn set_below(
        &mut self,
        path: &[&str],
        index: usize,
        below: &[&str],
        key: &str,
        value: impl Into<Value>,
    ) {
        let index = index.to_string();
        let parent = [path, &[&index], below].concat();
        self.add(&parent, key, EditValue::Own(value.into()));
    }

    /// Removes one key of the mapping at `path` by writing the mapping without it. Does nothing where the key is absent.
    pub(super) fn unset(&mut self, path: &[&str], key: &str) {
        let Some(mut map) = self.find(path).and_then(Value::as_object).cloned() else {
            return;
        };
        if let (Some(_), Some((last, parent))) = (map.remove(key), path.split_last()) {
            self.add(parent, last, Value::Object(map).into());
        }
    }

    /// Inserts a value into the list at `path`: before the element at `index`, or at the end for `None`. Creates a missing list and missing
    /// mappings on the way; an error where another type stands there.
    pub(super) fn insert(
        &mut self,
        path: &[&str],
        index: Option<usize>,
        value: impl Into<EditValue>,
    ) -> Result<(), Misshapen> {
        self.parents(path)?;
        self.ensure(path, "list", Value::is_array, || Value::Array(Vec::new()))?;
        let place = index.map_or_else(|| "-".to_owned(), |index| index.to_string());
        self.add(path, &place, value.into());
        Ok(())
    }

    fn parents(&mut self, path: &[&str]) -> Result<(), Misshapen> {
        (1..path.len()).try_for_each(|end| {
            self.ensure(&path[..end], "mapping", Value::is_object, || {
                Value::Object(Map::new())
            })
        })
    }

    fn ensure(
        &mut self,
        path: &[&str],
        expected: &'static str,
        fits: fn(&Value) -> bool,
        empty: fn() -> Value,
    ) -> Result<(), Misshapen> {
        match self.find(path) {
            Some(value) if fits(value) => return Ok(()),
            None | Some(Value::Null) => {}
            Some(_) => {
                return Err(Misshapen {
                    path: pointer(path),
                    expected,
                });
            }
        }
        let path = pointer(path);
        let is_made = |operation: &Edit| operation.path == path;
        if !self.operations.iter().any(is_made) {
            let value = empty().into();
            self.operations.push(Edit { path, value });
        }
        Ok(())
    }

    fn find(&self, path: &[&str]) -> Option<&'a Value> {
        get(self.object, path)
    }

    fn add(&mut self, parent: &[&str], key: &str, value: EditValue) {
        let mut path = pointer(parent);
        push(&mut path, key);
        self.operations.push(Edit { path, value });
    }
}

/// Returns a JSON pointer, RFC 6901.
fn pointer(path: &[&str]) -> String {
    let mut pointer = String::with_capacity(64);
    for name in path {
        push(&mut pointer, name);
    }
    pointer
}

/// Appends one step to the pointer; `/` and `~` in the name are escaped.
fn push(pointer: &mut String, name: &str) {
    pointer.push('/');
    if name.contains(['~', '/']) {
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(object: &Value, edit: impl FnOnce(&mut Edits<'_>)) -> Value {
        let mut edits = Edits::new(object);
        edit(&mut edits);
        let text = serde_json::to_string(&edits.finish()).unwrap();
        let operations: json_patch::Patch = serde_json::from_str(&text).unwrap();
        let mut result = object.clone();
        json_patch::patch(&mut result, &operations).unwrap();
        result
    }

    #[test]
    fn a_shared_value_is_written_like_one_of_its_own() {
        let tree = json!({"b": [1, "\n"], "a": {"c": null}});
        let own = EditValue::from(tree.clone());
        let shared = EditValue::shared(&tree);
        let both = [("own", own.clone()), ("shared", shared.clone())];
        let mapping = EditValue::Mapping(both.into());
        let text = format!("{{\"own\":{tree},\"shared\":{tree}}}");
        assert_eq!(serde_json::to_string(&mapping).unwrap(), text);
        assert_eq!(own, shared);
        assert_ne!(shared, EditValue::shared(&json!({"b": 1})));
    }

    #[test]
    fn an_absent_list_takes_two() {
        let result = applied(&json!({}), |edits| {
            edits
                .insert(&["spec", "volumes"], None, json!("a"))
                .unwrap();
            edits
                .insert(&["spec", "volumes"], None, json!("b"))
                .unwrap();
        });
        assert_eq!(result, json!({"spec": {"volumes": ["a", "b"]}}));
    }

    #[test]
    fn null_counts_as_absent() {
        let result = applied(&json!({"metadata": {"labels": null}}), |edits| {
            edits
                .set(&["metadata", "labels"], "a/b~c", json!("x"))
                .unwrap();
        });
        assert_eq!(result, json!({"metadata": {"labels": {"a/b~c": "x"}}}));
    }

    #[test]
    fn a_key_goes_without_its_neighbours() {
        let object = json!({"annotations": {"a": "1", "b": "2"}, "c": 3});
        let result = applied(&object, |edits| edits.unset(&["annotations"], "a"));
        assert_eq!(result, json!({"annotations": {"b": "2"}, "c": 3}));
        assert!(applied(&object, |edits| edits.unset(&["absent"], "a")) == object);
    }

    #[test]
    fn a_parent_of_another_shape_is_an_error() {
        let object = json!({"metadata": {"labels": 5}, "spec": []});
        let mut edits = Edits::new(&object);
        let error = edits
            .set(&["metadata", "labels"], "a", json!("x"))
            .unwrap_err();
        assert_eq!(
            (error.path.as_str(), error.expected),
            ("/metadata/labels", "mapping")
        );
        assert!(edits.insert(&["spec", "volumes"], None, json!(1)).is_err());
    }
}
