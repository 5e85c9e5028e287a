//! The namespace of an object that names none.

use super::judge::kind_of;
use rules::kinds::Kind;
use serde_json::Value;

/// Puts an object that names no namespace into `namespace`, as `kubectl apply --namespace` does. An object of a built-in
/// cluster-scoped kind stays without a namespace.
pub(crate) fn put_into(object: &mut Value, namespace: &str) {
    let of_cluster = matches!(kind_of(object), Ok(Kind::Builtin(it)) if !it.namespaced);
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    if let (Some(metadata), false) = (metadata, of_cluster) {
        let own = metadata.entry("namespace");
        own.or_insert_with(|| namespace.into());
    }
}
