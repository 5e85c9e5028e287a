//! The pods of a StatefulSet, by their names: `minio-0`, `minio-1`.

use serde_json::Value;
use std::ops::Range;

/// The name of the StatefulSet and the ordinal in it that a pod of this name has, if a StatefulSet made the pod: `minio` and 0 of `minio-0`. `None`
/// for a name that no StatefulSet gives.
pub fn of(pod: &str) -> Option<(&str, u64)> {
    let (set, written) = pod.rsplit_once('-')?;
    let ordinal: u64 = written.parse().ok()?;
    // No controller writes `minio-00` or `minio-+1`.
    (ordinal.to_string() == written && !set.is_empty()).then_some((set, ordinal))
}

/// The ordinals of the pods that a StatefulSet makes, by its `spec.ordinals.start` (0 where it is missing) and `spec.replicas` (1 where it is
/// missing).
pub fn made_by(set: &Value) -> Range<u64> {
    let number = |pointer: &str| set.pointer(pointer).and_then(Value::as_u64);
    let start = number("/spec/ordinals/start").unwrap_or(0);
    let replicas = number("/spec/replicas").unwrap_or(1);
    start..start.saturating_add(replicas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_has_an_ordinal_as_the_controller_writes_it() {
        for (pod, expected) in [
            ("minio-0", Some(("minio", 0))),
            ("my-minio-12", Some(("my-minio", 12))),
            ("minio-00", None),
            ("minio-+1", None),
            ("minio", None),
            ("minio-a", None),
            ("-0", None),
            ("minio-99999999999999999999", None),
        ] {
            assert_eq!(of(pod), expected, "{pod}");
        }
    }

    #[test]
    fn a_set_makes_its_replicas_from_its_start() {
        for (spec, expected) in [
            (json!({}), 0..1),
            (json!({"replicas": 3}), 0..3),
            (json!({"replicas": 3, "ordinals": {"start": 5}}), 5..8),
            (json!({"replicas": 0}), 0..0),
        ] {
            assert_eq!(made_by(&json!({ "spec": spec })), expected);
        }
    }
}
