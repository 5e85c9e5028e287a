//! The law of the patch: applied, it gives the intended object, and nothing else has changed.

use super::{annotated, policy};
use json_patch::PatchOperation;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use webhook::inject::{Action, Decision, Keys, Operation, Request, Skip, Subject, pod, workload};

const MARKER: &str = "sluice.dev/gated";
const EXCLUSIONS: [(&str, &str, &str); 2] = [
    (
        "istio-proxy",
        "istio-init",
        "traffic.sidecar.istio.io/excludeOutboundPorts",
    ),
    (
        "linkerd-proxy",
        "linkerd-init",
        "config.linkerd.io/skip-outbound-ports",
    ),
];

fn names<'a>(pod: &'a Value, list: &str) -> Vec<&'a str> {
    let items = pod["spec"][list].as_array().into_iter().flatten();
    items.filter_map(|item| item["name"].as_str()).collect()
}

/// A mapping or list that may be absent or null, made where it is not there.
fn made<'a>(parent: &'a mut Value, key: &str, empty: &Value) -> &'a mut Value {
    let child = &mut parent[key];
    if child.is_null() {
        *child = empty.clone();
    }
    child
}

/// The pod that is meant to come out, put together in place and without a patch.
pub(super) fn intended(pod: &Value) -> Value {
    let mut result = pod.clone();
    let mesh = EXCLUSIONS.iter().find(|(proxy, redirector, _)| {
        names(pod, "containers").contains(proxy)
            && !names(pod, "initContainers").contains(redirector)
    });
    if let Some((_, _, key)) = mesh {
        let ports = made(
            made(&mut result, "metadata", &json!({})),
            "annotations",
            &json!({}),
        );
        let listed = ports[key].as_str().unwrap_or_default().to_owned();
        let mut all: Vec<&str> = listed
            .split(',')
            .map(str::trim)
            .filter(|port| !port.is_empty())
            .collect();
        if !all.contains(&"9764") {
            all.push("9764");
            ports[key] = json!(all.join(","));
        }
    }
    made(&mut result["metadata"], "labels", &json!({}))[MARKER] = json!("true");
    let volumes = made(&mut result["spec"], "volumes", &json!([]))
        .as_array_mut()
        .unwrap();
    volumes.push(json!({"name": "sluice-token", "projected": {"sources": [
        {"serviceAccountToken": {"audience": "sluice", "expirationSeconds": 600, "path": "token"}},
    ]}}));
    volumes.push(json!({"name": "sluice-state", "emptyDir": {"sizeLimit": "1Mi"}}));
    let resources = intended_resources(pod);
    let init = made(&mut result["spec"], "initContainers", &json!([]))
        .as_array_mut()
        .unwrap();
    let native = |item: &Value| {
        item["restartPolicy"] == "Always"
            && (item["name"] == "istio-proxy" || item["name"] == "linkerd-proxy")
    };
    let place = init.iter().rposition(native).map_or(0, |last| last + 1);
    let mut gate = json!({
        "name": "sluice-gate",
        "image": "localhost/sluice-gate:dev",
        "env": [
            {"name": "SLUICE_ADDRESSES", "value": "10.96.0.7:9764,sluice.sluice-system.svc:9764"},
            {"name": "SLUICE_SERVER_NAME", "value": "sluice.sluice-system.svc"},
            {"name": "SLUICE_CA_BUNDLE", "value": "-----BEGIN CERTIFICATE-----\n"},
            {"name": "SLUICE_TOKEN_FILE", "value": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
            {"name": "SLUICE_STATE_DIR", "value": "/run/sluice"},
        ],
        "volumeMounts": [
            {"name": "sluice-token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true},
            {"name": "sluice-state", "mountPath": "/run/sluice"},
        ],
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": 65532,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "File",
    });
    if let Some(resources) = resources {
        gate["resources"] = resources;
    }
    init.insert(place, gate);
    result
}

/// The `qosClass` by the letter of the documentation, for amounts that have one spelling.
fn qos(pod: &Value) -> &'static str {
    let all: Vec<&Value> = ["containers", "initContainers"]
        .iter()
        .filter_map(|list| pod["spec"][list].as_array())
        .flatten()
        .collect();
    let empty = |value: &Value| value.as_object().is_none_or(Map::is_empty);
    let silent = |item: &&Value| {
        empty(&item["resources"]["requests"]) && empty(&item["resources"]["limits"])
    };
    let equal = |item: &&Value| {
        let (requests, limits) = (&item["resources"]["requests"], &item["resources"]["limits"]);
        ["cpu", "memory"]
            .iter()
            .all(|name| limits[name].is_string() && limits[name] == requests[name])
    };
    if all.iter().all(silent) {
        "BestEffort"
    } else if all.iter().all(equal) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

fn intended_resources(pod: &Value) -> Option<Value> {
    let limits = json!({"cpu": "50m", "memory": "32Mi"});
    match qos(pod) {
        "BestEffort" => None,
        "Guaranteed" => Some(json!({"requests": limits, "limits": limits})),
        _ => Some(json!({"requests": {"cpu": "5m", "memory": "8Mi"}, "limits": limits})),
    }
}

/// A pod without our parts, and without parents that are empty.
pub(super) fn without_additions(pod: &Value) -> Value {
    let mut pod = pod.clone();
    for (key, ours) in [
        ("volumes", &["sluice-token", "sluice-state"][..]),
        ("initContainers", &["sluice-gate"]),
    ] {
        if let Some(items) = pod["spec"][key].as_array_mut() {
            items.retain(|item| !ours.contains(&item["name"].as_str().unwrap_or_default()));
        }
    }
    for key in ["labels", "annotations"] {
        if let Some(map) = pod["metadata"][key].as_object_mut() {
            map.retain(|name, _| {
                !(key == "labels" && name == MARKER
                    || EXCLUSIONS.iter().any(|(.., own)| own == name))
            });
        }
    }
    for (parent, key) in [
        ("metadata", "labels"),
        ("metadata", "annotations"),
        ("spec", "volumes"),
        ("spec", "initContainers"),
    ] {
        let parent = pod[parent].as_object_mut().unwrap();
        let empty = |value: &Value| match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            other => other.is_null(),
        };
        if parent.get(key).is_some_and(empty) {
            parent.remove(key);
        }
    }
    pod
}

/// Any JSON, small.
fn json() -> impl Strategy<Value = Value> {
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

/// Absent, null, or a value.
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

/// Labels or annotations, with keys that need escapes.
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

/// As the API server hands it on: requests never exceed limits, and follow them where only limits are given.
fn resources() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(json!({})),
        3 => amounts().prop_map(|limits| json!({"limits": limits, "requests": limits})),
        1 => amounts().prop_map(|requests| json!({"requests": requests})),
        1 => Just(json!({"requests": {"cpu": "10m", "memory": "1Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}})),
    ]
}

fn container(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let restart = prop::option::of(select(&["Always", "Never"][..]).prop_map(Value::from));
    (select(names), restart, resources(), json()).prop_map(|(name, restart, resources, unknown)| {
        object([
            ("name", Some(json!(name))),
            ("restartPolicy", restart),
            ("resources", Some(resources)),
            ("fromTheFuture", Some(unknown)),
        ])
    })
}

fn any_pod() -> impl Strategy<Value = Value> {
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
    let metadata = (maybe(texts()), texts(), asked, ports, json());
    let spec = (
        maybe(init.prop_map(Value::from)),
        app,
        maybe(volumes.prop_map(Value::from)),
        json(),
    );
    (metadata, spec).prop_map(|((labels, mut annotations, asked, ports, unknown), (init, app, volumes, future))| {
        for key in asked {
            annotations[key] = json!(if key == MARKER { "true" } else { "" });
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

/// A template with or without the marker, and with parents present or not.
fn any_template() -> impl Strategy<Value = Value> {
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

fn subject(group: &str, kind: &str) -> Subject {
    Subject {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: "shop".to_owned(),
        name: "p".to_owned(),
    }
}

fn decide_pod(pod: &Value) -> Decision {
    let request = Request {
        operation: Operation::Create,
        subject: &subject("", "Pod"),
        object: pod,
        old: &Value::Null,
    };
    pod::decide(&request, Keys::default(), Some(&policy()))
}

fn decide_workload(kind: &str, new: &Value, old: &Value) -> Decision {
    let group = if kind == "Deployment" {
        "apps"
    } else {
        "batch"
    };
    let request = Request {
        operation: if old.is_null() {
            Operation::Create
        } else {
            Operation::Update
        },
        subject: &subject(group, kind),
        object: new,
        old,
    };
    workload::decide(&request, Keys::default())
}

fn apply(object: &Value, decision: &Decision) -> Value {
    let mut result = object.clone();
    if let Action::Patch(_, operations) = &decision.action {
        assert!(!operations.is_empty());
        assert!(
            operations
                .iter()
                .all(|operation| matches!(operation, PatchOperation::Add(_)))
        );
        json_patch::patch(&mut result, operations).unwrap();
    }
    result
}

/// A workload of a template.
fn holder(kind: &str, template: &Value, asked: bool) -> Value {
    let spec = json!({"replicas": 2, "template": template});
    let spec = if kind == "CronJob" {
        json!({"jobTemplate": {"spec": spec}})
    } else {
        spec
    };
    let plain = json!({"kind": kind, "metadata": {"name": "p", "annotations": {}}, "spec": spec});
    if asked {
        annotated(plain, "sluice.dev/depends-on", "")
    } else {
        plain
    }
}

fn template(workload: &Value) -> &Value {
    workload
        .pointer("/spec/jobTemplate/spec/template")
        .unwrap_or(&workload["spec"]["template"])
}

fn marker(workload: &Value) -> Option<&Value> {
    template(workload)
        .pointer("/metadata/annotations")?
        .get(MARKER)
}

/// A workload without the marker and without parents that are empty.
fn unmarked(workload: &Value) -> Value {
    let mut workload = workload.clone();
    let cron = workload["kind"] == "CronJob";
    let spec = if cron {
        &mut workload["spec"]["jobTemplate"]["spec"]
    } else {
        &mut workload["spec"]
    };
    let metadata = &mut spec["template"]["metadata"];
    if let Some(annotations) = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut)
    {
        annotations.remove(MARKER);
    }
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.retain(|_, value| !value.is_null() && value != &json!({}));
    }
    if metadata == &json!({}) {
        *metadata = Value::Null;
    }
    workload
}

fn kind() -> impl Strategy<Value = &'static str> {
    select(&["Deployment", "Job", "CronJob"][..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn a_gated_pod_is_the_intended_one_and_nothing_else(pod in any_pod()) {
        let result = apply(&pod, &decide_pod(&pod));
        prop_assert_eq!(&result, &intended(&pod));
        prop_assert_eq!(without_additions(&result), without_additions(&pod));
        prop_assert_eq!(qos(&result), qos(&pod));
        prop_assert_eq!(decide_pod(&result).action, Action::Skip(Skip::AlreadyInjected));
    }

    #[test]
    fn a_marker_follows_the_rule_and_nothing_else_changes(
        kind in kind(),
        (new, old) in (any_template(), any_template()),
        alike in any::<bool>(),
        (asked, asked_before, create) in any::<(bool, bool, bool)>(),
    ) {
        let new = holder(kind, &new, asked);
        // Half of the updates leave the template alone, but for the marker.
        let old_template = if alike { template(&new).clone() } else { old };
        let mut old = holder(kind, &old_template, asked_before);
        if alike && !asked_before {
            old = unmarked(&old);
        }
        if create {
            old = Value::Null;
        }
        let result = apply(&new, &decide_workload(kind, &new, &old));
        prop_assert_eq!(unmarked(&result), unmarked(&new));
        let kept = kind == "Job" || template(&unmarked(&new)) == template(&unmarked(&old));
        if create {
            prop_assert_eq!(marker(&result).is_some(), asked);
        } else if kept {
            prop_assert_eq!(marker(&result), marker(&old));
        } else {
            prop_assert_eq!(marker(&result).is_some(), asked);
        }
        let again = decide_workload(kind, &result, &old).action;
        prop_assert!(matches!(again, Action::Skip(_)), "{:?}", again);
    }

    /// No object, however broken, gets a patch that does not apply: the API server would answer with an internal error.
    #[test]
    fn a_broken_object_never_gets_a_broken_patch(
        pod in any_pod(),
        path in select(&["/metadata", "/metadata/labels", "/spec", "/spec/volumes", "/spec/initContainers",
            "/spec/containers", "/metadata/annotations"][..]),
        rubbish in json(),
    ) {
        let mut pod = pod;
        if let Some(place) = pod.pointer_mut(path) {
            *place = rubbish;
        }
        apply(&pod, &decide_pod(&pod));
        let mut workload = holder("Deployment", &pod, true);
        apply(&workload, &decide_workload("Deployment", &workload, &Value::Null));
        workload["metadata"] = pod["metadata"].clone();
        apply(&workload, &decide_workload("Deployment", &workload, &Value::Null));
    }
}
