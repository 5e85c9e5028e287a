use super::*;
use serde_json::json;

fn unpacked(value: &Value) -> Option<Value> {
    let bytes = pack(value);
    let mut packed = Packed(&bytes);
    let value = packed.value();
    assert!(packed.0.is_empty(), "something is left");
    value
}

#[test]
fn no_word_is_there_twice_and_a_byte_is_enough_for_each() {
    assert_eq!(CODES.len(), WORDS.len());
}

#[test]
fn whatever_is_packed_is_unpacked() {
    let texts = [
        "",
        "ready",
        "Ready",
        "READY",
        "metadatas",
        "a\0b",
        "\u{1F980}",
        &"x".repeat(127),
        &"x".repeat(128),
        &"x".repeat(40_000),
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05z",
        "2026-01-02t03:04:05Z",
        "2026-02-30T00:00:00Z",
        "2026-01-02T23:59:60Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00Z",
        "9999-12-30T22:00:00Z",
        "-026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.6Z",
        "2026-01-02 03:04:05Z",
        "2026-01-02T03:04:0+Z",
        "705ab4f5-6393-11e8-b7cc-42010a800002",
        "00000000-0000-0000-0000-000000000000",
        "705AB4F5-6393-11e8-b7cc-42010a800002",
        "705ab4f56393-11e8-b7cc-42010a800002--",
        "705ab4f-56393-11e8-b7cc-42010a800002",
        "------------------------------------",
        "+05ab4f5-6393-11e8-b7cc-42010a800002",
    ];
    let numbers = [
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1.0),
        json!(-0.0),
        json!(1e300),
        json!(0.1),
    ];
    let leaves = texts.iter().map(|text| json!(text)).chain(numbers);
    let leaves: Vec<Value> = leaves
        .chain([json!(null), json!(true), json!(false), json!([]), json!({})])
        .collect();
    for leaf in &leaves {
        assert_eq!(unpacked(leaf).as_ref(), Some(leaf));
    }
    let fields: Map<String, Value> = texts
        .iter()
        .zip(&leaves)
        .map(|(key, leaf)| ((*key).to_owned(), leaf.clone()))
        .collect();
    let many: Vec<Value> = (0..200)
        .map(|number| json!({"name": number, "in": [fields, [leaves, null]]}))
        .collect();
    let tree = json!({"status": many, "spec": fields, "": leaves});
    assert_eq!(unpacked(&tree), Some(tree));
}

#[test]
fn what_differs_is_packed_otherwise() {
    let trees = [
        json!(1),
        json!(1.0),
        json!("1"),
        json!([1]),
        json!(["1"]),
        json!([[1], 1]),
        json!([[1, 1]]),
        json!({"a": 1}),
        json!({"b": 1}),
        json!(null),
        json!("null"),
        json!(false),
        json!("False"),
    ];
    for (one, other) in trees
        .iter()
        .flat_map(|one| trees.iter().map(move |other| (one, other)))
    {
        assert_eq!(one == other, pack(one) == pack(other), "{one} {other}");
    }
}

#[test]
fn a_text_is_found_beside_all_others() {
    let object = json!({
        "apiVersion": "v1", "flags": [true, null, 12, {"uid": "no"}], "kind": {"metadata": "no"},
        "metadata": {"creationTimestamp": "2026-01-02T03:04:05Z", "name": "x", "uid": "705ab4f5-6393-11e8-b7cc-42010a800002"},
    });
    let bytes = pack(&object);
    let at = |path: &[&str]| Packed(&bytes).text_at(path).map(Cow::into_owned);
    assert_eq!(
        at(&["metadata", "uid"]).as_deref(),
        Some("705ab4f5-6393-11e8-b7cc-42010a800002")
    );
    assert_eq!(at(&["metadata", "name"]).as_deref(), Some("x"));
    for nothing in [
        &["metadata", "labels"][..],
        &["metadata"],
        &["kind", "uid"],
        &["flags", "uid"],
        &[],
    ] {
        assert_eq!(at(nothing), None, "{nothing:?}");
    }
}

#[test]
fn what_was_not_packed_is_nothing() {
    let bytes =
        pack(&json!({"metadata": {"name": "x", "labels": ["2026-01-02T03:04:05Z", 1, "text"]}}));
    for end in 0..bytes.len() {
        assert_eq!(Packed(&bytes[..end]).value(), None, "{end}");
    }
    for what in u8::MIN..=u8::MAX {
        let _ = Packed(&[
            what, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        ])
        .value();
    }
}

/// The kept fields of a Deployment that `kubectl create` made and that is rolled out.
#[test]
fn an_object_takes_less_than_a_third_of_its_text() {
    let now = "2026-01-02T03:04:05Z";
    let freshness = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now, "lastUpdateTime": now});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "checkout", "namespace": "shop", "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "generation": 3,
            "creationTimestamp": now, "annotations": {"deployment.kubernetes.io/revision": "3"},
            "labels": {"app.kubernetes.io/name": "checkout", "app.kubernetes.io/instance": "shop", "app.kubernetes.io/managed-by": "Helm"},
            "managedFields": [{"time": now}],
        },
        "spec": {
            "replicas": 3, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "selector": {"matchLabels": {"app.kubernetes.io/name": "checkout", "app.kubernetes.io/instance": "shop"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"metadata": {"labels": {"app.kubernetes.io/name": "checkout", "app.kubernetes.io/instance": "shop"}}},
        },
        "status": {
            "observedGeneration": 3, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
            "conditions": [
                freshness("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
                freshness("Progressing", "NewReplicaSetAvailable", "ReplicaSet \"checkout-7d9c5b8f6c\" has successfully progressed."),
            ],
        },
    });
    let (packed, text) = (pack(&deployment).len(), deployment.to_string().len());
    assert!(packed * 3 < text, "{packed} of {text}");
}
