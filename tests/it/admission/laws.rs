//! The law of the patch: applied, it gives the intended object, and nothing else has changed.

pub(super) mod any;
pub(super) mod intent;
mod many;

use super::{annotated, answer, operations, patch, policy, review, running_as};
use any::{any_pod, any_template, json, kind};
use intent::{intended, qos, without_additions};
use json_patch::PatchOperation;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use webhook::{Action, Decision, Operation, Options, Request, Skip, Subject, pod, workload};

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
    pod::decide(&request, Options::default(), Some(&policy().into()))
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
    workload::decide(&request, Options::default())
}

fn apply(object: &Value, decision: &Decision) -> Value {
    let mut result = object.clone();
    if let Action::Patch(_, edits) = &decision.action {
        let operations = patch(edits);
        assert!(!operations.is_empty());
        assert!(
            operations
                .iter()
                .all(|operation| matches!(operation, PatchOperation::Add(_)))
        );
        json_patch::patch(&mut result, &operations).unwrap();
    }
    result
}

/// Returns a workload of this kind with this pod template, and with a list if `asked`.
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

/// Returns a workload without the marker on its template, and without fields of the template's metadata that are null or empty then. Metadata without
/// a field becomes null.
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

    /// Admission reads a pod without the fields that decide nothing. Its answer must be the decision on the whole pod.
    #[test]
    fn a_review_is_answered_by_the_whole_of_its_pod(pod in any_pod()) {
        let mut pod = pod;
        (pod["apiVersion"], pod["kind"]) = (json!("v1"), json!("Pod"));
        let admission = running_as(Options::default(), policy());
        let review = review("CREATE", &pod, &Value::Null);
        let answered = Runtime::new().unwrap().block_on(answer(&admission, &review));
        let decided = match decide_pod(&pod).action {
            Action::Patch(_, edits) => patch(&edits),
            _ => json_patch::Patch::default(),
        };
        prop_assert_eq!(operations(&answered), decided);
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
