//! The fields that trimming keeps are enough for every rule.

mod cluster;
mod reads;
mod source;

use super::*;
use crate::annotation::{self, Problem};
use serde_json::json;

fn trimmed(kind: &str, mut object: Value) -> Value {
    let kind = crate::kinds::by_word(kind).map(Kind::Builtin);
    trim_object(&kind.expect("built in"), &mut object);
    object
}

#[test]
fn of_a_pod_template_only_what_it_says_of_the_object_stays() {
    let with = |annotations: Value| {
        json!({"spec": {"replicas": 1, "template": {
            "metadata": {"annotations": annotations, "name": "a"}, "spec": {"containers": []},
        }}})
    };
    let labels = json!({"template": {"metadata": {"labels": {"app": "a"}}}});
    assert_eq!(
        trimmed("deployment", json!({"spec": labels.clone()})),
        json!({"spec": labels}),
        "Services select by them"
    );
    assert_eq!(
        trimmed(
            "deployment",
            with(json!({"a": "b", "sluice.dev/revision": "2"}))
        ),
        json!({"spec": {"replicas": 1, "template": {"metadata": {"annotations": {"sluice.dev/revision": "2"}}}}})
    );
    assert_eq!(
        trimmed("deployment", with(json!({"a": "b"}))),
        json!({"spec": {"replicas": 1}})
    );
}

/// A workload without a readiness probe is marked when it is trimmed: admission warns of it, and its pod template is not kept.
#[test]
fn a_workload_whose_pods_nothing_asks_is_marked() {
    let of = |container: Value| {
        let pods = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
        trimmed("deployment", pods)
    };
    assert_eq!(
        of(json!({})),
        json!({"metadata": {"unasked": true}, "spec": {}})
    );
    assert_eq!(of(json!({"readinessProbe": {}})), json!({"spec": {}}));
}

#[test]
fn a_pod_keeps_what_tells_its_node_its_owner_and_its_revision() {
    let pod = json!({
        "metadata": {
            "labels": {"controller-revision-hash": "77c9"},
            "ownerReferences": [{"kind": "DaemonSet", "name": "csi", "uid": "u"}],
            "creationTimestamp": "2024-01-01T00:00:00Z",
        },
        "spec": {"nodeName": "one"},
    });
    assert_eq!(trimmed("pod", pod.clone()), pod);
}

/// Whether the field of an expression's path is still there after trimming.
fn survives(kind: &Kind, path: &str) -> bool {
    let steps: Vec<&str> = path.split('/').skip(1).collect();
    let mut object = json!("leaf");
    for step in steps.iter().rev() {
        object = match *step {
            "each" => json!([object]),
            step => json!({step.replace("_s", "/"): object}),
        };
    }
    if detail(kind) == Detail::Metadata && steps[0] != "metadata" {
        return false;
    }
    trim_object(kind, &mut object);
    let found = steps.iter().try_fold(&object, |value, step| match *step {
        "each" => value.get(0),
        step => value.get(step.replace("_s", "/")),
    });
    found.is_some()
}

#[test]
fn an_expression_that_a_list_may_have_finds_what_it_names() {
    let paths = [
        "/metadata/labels/app",
        "/metadata/annotations/a",
        "/metadata/annotations/sluice.dev_srevision",
        "/metadata/managedFields/each/manager",
        "/metadata/resourceVersion",
        "/spec/template/spec/hostNetwork",
        "/spec/jobTemplate/spec",
        "/spec/volumeClaimTemplates/each/spec",
        "/spec/replicas",
        "/spec/nodeName",
        "/spec/hostNetwork",
        "/spec/group",
        "/spec/conversion/strategy",
        "/spec/versions/each/schema/openAPIV3Schema/type",
        "/status/phase",
        "/status/podIP",
        "/status/images/each/names",
        "/status/containerStatuses/each/imageID",
        "/status/containerStatuses/each/ready",
        "/status/initContainerStatuses/each/volumeMounts",
        "/status/conditions/each/status",
        "/status/uncountedTerminatedPods/failed",
        "/endpoints/each/conditions/ready",
        "/endpoints/each/addresses",
        "/data/a",
    ];
    let kept = |kind: &Kind, path: &str| {
        let expression = crate::expression::Expression::parse(&format!("{path} == 1"));
        !crate::kept::looks_beyond(kind, &expression.expect("legal"))
    };
    for kind in crate::kinds::all().iter().map(Kind::Builtin) {
        for path in paths {
            assert_eq!(kept(&kind, path), survives(&kind, path), "{kind} {path}");
        }
    }
}

#[test]
fn a_replica_set_keeps_the_number_of_its_rollout() {
    let annotations = json!({"deployment.kubernetes.io/revision": "3", "a": "b"});
    let set = json!({"metadata": {"annotations": annotations}});
    assert_eq!(
        trimmed("replicaset", set),
        json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "3"}}})
    );
}

#[test]
fn an_object_that_names_its_fields_keeps_them() {
    let kept = |health: &str| {
        let kind = Kind::Builtin(crate::kinds::builtin("apps", "Deployment").unwrap());
        let mut object = json!({
            "metadata": {
                "managedFields": [],
                "annotations": {
                    health: "/spec/template/spec/hostNetwork != true",
                    "example.com/phase": "Serving",
                    "kubectl.kubernetes.io/last-applied-configuration": "{}",
                },
            },
            "spec": { "template": { "spec": { "hostNetwork": false } } },
        });
        trim_object(&kind, &mut object);
        object
    };
    assert_eq!(
        kept("sluice.dev/health"),
        json!({
            "metadata": { "annotations": {
                "sluice.dev/health": "/spec/template/spec/hostNetwork != true",
                "example.com/phase": "Serving",
            } },
            "spec": { "template": { "spec": { "hostNetwork": false } } },
        })
    );
    assert_eq!(
        kept("example.com/health"),
        json!({ "metadata": {}, "spec": {} })
    );
}

#[test]
fn an_object_says_whether_it_says_its_health() {
    for (annotations, custom) in [
        (json!(null), false),
        (json!({}), false),
        (json!({ "sluice.dev/depends-on": "job/x" }), false),
        (json!({ keys::HEALTH: "" }), true),
        (json!({ "sluice.dev/health.status.phase": "" }), true),
        (json!({ keys::READINESS_SUCCESS: "[]" }), true),
        (json!({ keys::READINESS_FAILURE: "[]" }), true),
    ] {
        let object = json!({ "metadata": { "annotations": annotations } });
        assert_eq!(says_its_health(&object), custom, "{object}");
    }
}

#[test]
fn what_is_too_long_to_be_read_is_cut_and_still_refused() {
    let long = |key: &str| json!({key: "\u{fc}".repeat(100_000), "other": "x".repeat(100_000)});
    let declared = |annotations: &Value| annotation::declared(annotations.as_object().unwrap());
    let deployment = trimmed(
        "deployment",
        json!({"metadata": {"annotations": long(keys::DEPENDS_ON)}}),
    );
    let annotations = &deployment["metadata"]["annotations"];
    let problem = declared(annotations).unwrap_err().problem;
    assert!(
        matches!(problem, Problem::TooLong(length) if length < 9_000),
        "{problem}"
    );

    let template =
        json!({"spec": {"template": {"metadata": {"annotations": long(keys::DEPENDS_ON)}}}});
    let template = trimmed("deployment", template);
    assert!(template.to_string().len() < 9_000);

    let plan = trimmed(
        "configmap",
        json!({"metadata": {}, "data": long(keys::ORDER)}),
    );
    let text = plan["data"][keys::ORDER].as_str().unwrap();
    assert!(text.len() < 9_000 && plan["data"]["other"].is_null());
    assert!(matches!(
        annotation::order(text).unwrap_err().problem,
        Problem::TooLong(_)
    ));

    let saying = |length: usize| {
        let annotations = json!({"sluice.dev/health.current": "status.ok"});
        let spec = json!({"template": {"spec": {"containers": ["x".repeat(length)]}}});
        let job = json!({"metadata": {"annotations": annotations}, "spec": spec});
        trimmed("job", job).to_string().len()
    };
    assert!(saying(50_000) > 50_000 && saying(1_400_000) < 1_000);
}
