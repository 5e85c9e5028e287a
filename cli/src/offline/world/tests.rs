use super::*;
use crate::manifest::{Entry, Origin};
use crate::offline::judge::sluice;
use serde_json::json;

/// The status and the reason of each object of a manifest, by the rules of sluice, without an administrator's health rules.
fn judge(objects: &[Value]) -> Vec<(&'static str, String)> {
    judge_by("", objects)
}

fn judge_by(rules: &str, objects: &[Value]) -> Vec<(&'static str, String)> {
    let (rules, problems) = Rules::read([("rules.yaml", rules)]);
    assert_eq!(problems, []);
    let world = Manifest::new(objects.iter(), &rules);
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let lines = objects.iter().map(|object| {
        let entry = Entry {
            object: object.clone(),
            problem: None,
            document: 1,
            twice: Vec::new(),
            origin: Origin::default(),
        };
        sluice(&entry, &world, now)
    });
    lines.map(|line| (line.status, line.reason)).collect()
}

fn first(objects: &[Value]) -> (&'static str, String) {
    judge(objects).remove(0)
}

fn service(namespace: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "db", "namespace": namespace},
        "spec": {"selector": {"app": "db"}}})
}

fn slice(namespace: &str, serving: bool) -> Value {
    json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "db-x", "namespace": namespace, "labels": {"kubernetes.io/service-name": "db"}},
        "endpoints": [{"conditions": {"serving": serving}}]})
}

#[test]
fn a_service_is_judged_by_the_slices_of_its_namespace() {
    let current = ("Current", "Satisfied".to_owned());
    let waits = ("InProgress", "NoEndpoints".to_owned());
    assert_eq!(first(&[service("a"), slice("a", true)]), current);
    assert_eq!(first(&[service("a"), slice("a", false)]), waits);
    assert_eq!(first(&[service("a"), slice("b", true)]), waits);
    assert_eq!(first(&[service("a")]), waits);
    // A chart names no namespace.
    let mut bare = [service("a"), slice("a", true)];
    for object in &mut bare {
        object["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("namespace");
    }
    assert_eq!(first(&bare), current);
}

#[test]
fn a_claim_is_judged_by_the_classes_if_there_are_any() {
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "a"},
        "spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"}});
    let class = |name: &str, mode: &str| {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "volumeBindingMode": mode})
    };
    let current = ("Current", "Satisfied".to_owned());
    let waits = ("InProgress", "ClaimNotBound".to_owned());
    let judged = |class| first(&[claim.clone(), class]);
    assert_eq!(judged(class("fast", "WaitForFirstConsumer")), current);
    assert_eq!(judged(class("fast", "Immediate")), waits);
    assert_eq!(judged(class("slow", "WaitForFirstConsumer")), waits);
    assert_eq!(first(&[claim]), current, "nobody provisions it");
}

#[test]
fn a_custom_resource_is_judged_by_its_definition() {
    let resource = json!({"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}});
    let definition = |subresources: Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.x.io"},
            "spec": {"group": "x.io", "names": {"kind": "Thing"},
                "versions": [{"name": "v1", "subresources": subresources}]}})
    };
    let waits = ("InProgress", "NoStatusYet".to_owned());
    let judged = |subresources| first(&[resource.clone(), definition(subresources)]);
    assert_eq!(judged(json!({"status": {}})), waits);
    assert_eq!(
        judged(json!({"scale": {}})),
        ("Current", "Satisfied".to_owned())
    );
    assert_eq!(first(&[resource]), waits);
}

/// An object waits while it lacks the condition that its definition shows as a column: a controller writes a status before it knows whether the
/// object is ready.
#[test]
fn what_a_definition_shows_has_to_be_written() {
    let resource = json!({"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}, "status": {"node": "a"}});
    let definition = |version: Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.x.io"},
            "spec": {"group": "x.io", "names": {"kind": "Thing"}, "versions": [version]}})
    };
    let waits = ("InProgress", "NoStatusYet".to_owned());
    let ready = ("Current", "Satisfied".to_owned());
    let column =
        json!([{"name": "Ready", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}]);
    let shown =
        definition(json!({"additionalPrinterColumns": column, "subresources": {"status": {}}}));
    assert_eq!(first(&[resource.clone(), shown]), waits);
    let silent = definition(json!({"subresources": {"status": {}}}));
    assert_eq!(first(&[resource.clone(), silent]), ready);
    assert_eq!(first(&[resource]), waits, "no definition is at hand");
}

#[test]
fn who_rests_on_common_words_alone_is_told() {
    let message = |object: &Value| {
        let rules = Rules::default();
        let world = Manifest::new(std::iter::once(object), &rules);
        let entry = Entry {
            object: object.clone(),
            problem: None,
            document: 1,
            twice: Vec::new(),
            origin: Origin::default(),
        };
        sluice(&entry, &world, "2026-01-01T00:00:00Z".parse().unwrap()).message
    };
    let of = |group: &str, status: Value| {
        message(
            &json!({"apiVersion": format!("{group}/v1"), "kind": "Thing", "metadata": {"name": "t"}, "status": status}),
        )
    };
    let hinted = |text: String| text.contains("write sluice.dev/health");
    assert!(hinted(of("x.io", json!({"phase": "Fine"}))));
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    assert!(!hinted(of("x.io", ready.clone())));
    assert!(!hinted(of("x.io", json!({"phase": "Pending"}))));
    assert!(!hinted(of("cert-manager.io", ready)));
}

#[test]
fn an_object_without_a_kind_is_unknown() {
    for object in [
        json!({}),
        json!({"kind": "Pod"}),
        json!({"apiVersion": "v1", "kind": 5}),
        json!({"apiVersion": "v1", "kind": "Nothing"}),
        json!({"apiVersion": "a/b/c", "kind": "Pod"}),
    ] {
        let unknown = ("Unknown", "Unjudgeable".to_owned());
        assert_eq!(first(std::slice::from_ref(&object)), unknown, "{object}");
    }
}

#[test]
fn the_administrators_rules_come_before_the_library() {
    let of = |group: &str| {
        let version = format!("{group}/v1");
        json!({"apiVersion": version, "kind": "Issuer", "status": {"phase": "Settled"}})
    };
    let rule =
        "- {apiVersion: cert-manager.io/v1, kind: Issuer, current: status.phase == 'Settled'}";
    let objects = [of("cert-manager.io"), of("example.com")];
    let found = |rules| {
        let judged = judge_by(rules, &objects);
        judged.into_iter().map(|it| it.0).collect::<Vec<_>>()
    };
    assert_eq!(found(""), ["InProgress", "Current"]);
    assert_eq!(found(rule), ["Current", "Current"]);
    let other = "- {apiVersion: example.com/v1, current: status.phase == 'Else'}";
    assert_eq!(found(other), ["InProgress", "InProgress"]);
}

/// A Cluster as CloudNativePG wrote it in an upgrade: the seconds since the last write of the spec and of the status, the phase,
/// and the condition `Ready`, which names no generation.
fn postgres(spec: i64, status: i64, phase: &str, ready: &str) -> Value {
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let ago = |seconds: i64| (now - jiff::SignedDuration::from_secs(seconds)).to_string();
    json!({
        "apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
        "metadata": {
            "name": "orders", "namespace": "shop", "generation": 2, "creationTimestamp": ago(70),
            "managedFields": [
                {"manager": "kubectl-client-side-apply", "operation": "Update", "time": ago(70)},
                {"manager": "kubectl-client-side-apply", "operation": "Update", "time": ago(spec)},
                {"manager": "cnpg", "operation": "Update", "subresource": "status", "time": ago(status)},
            ],
        },
        "spec": {"instances": 1},
        "status": {"phase": phase, "readyInstances": 1, "instances": 1, "conditions": [{"type": "Ready", "status": ready}]},
    })
}

#[test]
fn a_status_that_is_older_than_the_spec_is_not_believed_for_half_a_minute() {
    let healthy = "Cluster in healthy state";
    for (object, expected) in [
        (postgres(70, 50, healthy, "True"), "Current"),
        (postgres(0, 50, healthy, "True"), "InProgress"),
        (postgres(29, 79, healthy, "True"), "InProgress"),
        (postgres(30, 80, healthy, "True"), "Current"),
        (
            postgres(0, 0, "Applying configuration", "False"),
            "InProgress",
        ),
        (postgres(5, 0, healthy, "True"), "Current"),
    ] {
        assert_eq!(
            first(std::slice::from_ref(&object)).0,
            expected,
            "{object:#}"
        );
    }
    let (_, reason) = first(&[postgres(0, 50, healthy, "True")]);
    assert_eq!(reason, "NotObserved");
    // Most files have no `managedFields`.
    let mut file = postgres(0, 50, healthy, "True");
    file["metadata"]["managedFields"] = Value::Null;
    assert_eq!(first(&[file]).0, "Current");
}
