//! Pods and pod templates of every shape.

use super::intent::made;
use super::{EXCLUSIONS, MARKER};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// Generates small JSON values of every sort, with keys and texts that need escapes in a pointer.
pub(in crate::admission) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z/~.]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z/~]{1,4}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

/// Generates an absent field (`None`), a null, or a value.
fn maybe(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![1 => Just(None), 1 => Just(Some(Value::Null)), 4 => value.prop_map(Some)]
}

fn object(fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect::<Map<_, _>>()
        .into()
}

/// Generates labels or annotations, some with keys that need escapes in a JSON pointer.
fn texts() -> impl Strategy<Value = Value> {
    let key = prop_oneof!["[a-z]{1,5}", "[a-z]{1,4}\\.dev/[a-z~]{1,4}"];
    prop::collection::btree_map(key, "[a-z0-9]{0,5}", 0..4).prop_map(|map| json!(map))
}

fn amounts() -> impl Strategy<Value = Value> {
    (
        maybe_amount(&["100m", "1", "2"]),
        maybe_amount(&["64Mi", "1Gi"]),
    )
        .prop_map(|(cpu, memory)| object([("cpu", cpu), ("memory", memory)]))
}

fn maybe_amount(among: &'static [&'static str]) -> impl Strategy<Value = Option<Value>> {
    prop::option::weighted(0.8, select(among).prop_map(Value::from))
}

/// Generates the resources of a container in the form in which the API server stores them: requests never exceed limits, and equal them where only
/// limits are given.
fn resources() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(json!({})),
        3 => amounts().prop_map(|limits| json!({"limits": limits, "requests": limits})),
        1 => amounts().prop_map(|requests| json!({"requests": requests})),
        1 => Just(json!({"requests": {"cpu": "10m", "memory": "1Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}})),
    ]
}

/// Names of images, and texts that are no such name.
pub(super) const IMAGES: [&str; 6] = [
    "app:1",
    "r.example.com:5000/Team/side@sha256:0f",
    "localhost/sluice-gate:dev",
    "",
    "$(IMAGE)",
    "-x",
];

fn container(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let restart = prop::option::of(select(&["Always", "Never"][..]).prop_map(Value::from));
    let image = prop::option::of(select(&IMAGES[..]).prop_map(Value::from));
    let pull =
        prop::option::of(select(&["Always", "IfNotPresent", "Never"][..]).prop_map(Value::from));
    let image = (image, pull);
    (select(names), restart, resources(), image, json()).prop_map(
        |(name, restart, resources, (image, pull), unknown)| {
            object([
                ("name", Some(json!(name))),
                ("image", image),
                ("imagePullPolicy", pull),
                ("restartPolicy", restart),
                ("resources", Some(resources)),
                ("fromTheFuture", Some(unknown)),
            ])
        },
    )
}

pub(in crate::admission) fn any_pod() -> impl Strategy<Value = Value> {
    let init = prop::collection::vec(
        container(&[
            "istio-init",
            "istio-validation",
            "istio-proxy",
            "linkerd-init",
            "linkerd-proxy",
            "migrate",
            "log",
        ]),
        0..4,
    );
    let app = prop::collection::vec(
        container(&["app", "side", "istio-proxy", "linkerd-proxy"]),
        1..4,
    );
    let volumes = prop::collection::vec(
        json().prop_map(|source| json!({"name": "v", "source": source})),
        0..3,
    );
    let asked = subsequence(
        vec![
            MARKER,
            "sluice.dev/depends-on",
            "config.kubernetes.io/depends-on",
        ],
        1..=3,
    );
    let ports = prop::option::of(select(&["", "80", "80, 443", "9764", "80,9764"][..]));
    let position = prop::option::of(select(
        &["first", "last", "after=migrate", "after=gone"][..],
    ));
    let pulls = prop::option::of(select(&["true", "false"][..]));
    let metadata = (
        maybe(texts()),
        texts(),
        asked,
        (ports, position, pulls),
        json(),
    );
    let spec = (
        maybe(init.prop_map(Value::from)),
        app,
        maybe(volumes.prop_map(Value::from)),
        json(),
    );
    (metadata, spec).prop_map(|((labels, mut annotations, asked, (ports, position, pulls), unknown), (init, app, volumes, future))| {
        for key in asked {
            annotations[key] = json!(if key == MARKER { "true" } else { "" });
        }
        if let Some(position) = position {
            annotations["sluice.dev/gate-position"] = json!(position);
        }
        if let Some(pulls) = pulls {
            annotations["sluice.dev/prefetch"] = json!(pulls);
        }
        for (_, _, key) in EXCLUSIONS {
            if let Some(ports) = ports {
                annotations[key] = json!(ports);
            }
        }
        let metadata = object([
            ("name", Some(json!("p"))),
            ("labels", labels),
            ("annotations", Some(annotations)),
            ("managedFields", Some(unknown)),
        ]);
        let spec = object([
            ("initContainers", init),
            ("containers", Some(app.into())),
            ("volumes", volumes),
            ("future", Some(future)),
        ]);
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}})
    })
}

/// Generates a pod template with or without the marker, with its metadata and annotations present or not.
pub(super) fn any_template() -> impl Strategy<Value = Value> {
    let metadata = (maybe(texts()), maybe(texts())).prop_map(|(labels, annotations)| {
        object([("labels", labels), ("annotations", annotations)])
    });
    let metadata = (maybe(metadata), any::<bool>());
    (metadata, json()).prop_map(|((metadata, marked), spec)| {
        let mut template = object([("metadata", metadata), ("spec", Some(spec))]);
        if marked {
            made(
                made(&mut template, "metadata", &json!({})),
                "annotations",
                &json!({}),
            )[MARKER] = json!("true");
        }
        template
    })
}

pub(super) fn kind() -> impl Strategy<Value = &'static str> {
    select(&["Deployment", "Job", "CronJob"][..])
}
