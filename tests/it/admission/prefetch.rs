//! Tests of early pulls: admission gives a pod image volumes by which its images are pulled before its gate begins.

use super::{annotated, answer, answer_at, applied, policy, review, running_as, workload};
use serde_json::{Value, json};
use std::sync::Arc;
use webhook::{Admission, Options, Prefetch};

const PREFETCH: &str = "sluice.dev/prefetch";
const TOLD: &str =
    "sluice.dev/prefetch has no effect, because this Kubernetes has no image volumes";

fn with(prefetch: Prefetch) -> Arc<Admission> {
    let options = Options {
        prefetch,
        ..Options::default()
    };
    running_as(options, policy())
}

/// Returns an admission service with this setting of early pulls, for a Kubernetes without image volumes.
fn old(prefetch: Prefetch) -> Arc<Admission> {
    let mut spec = policy();
    spec.image_volumes = false;
    let options = Options {
        prefetch,
        ..Options::default()
    };
    running_as(options, spec)
}

fn pod(annotations: &Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {"sluice.dev/gated": "true"}},
        "spec": {
            "initContainers": [{"name": "fetch", "image": "tool:1"}, {"name": "migrate", "image": "app:1"}],
            "containers": [
                {"name": "app", "image": "app:1", "imagePullPolicy": "Always"},
                {"name": "side", "image": "side:2"},
                {"name": "local", "image": "local:3", "imagePullPolicy": "Never"},
            ],
        },
    });
    for (key, value) in annotations.as_object().unwrap() {
        pod["metadata"]["annotations"][key] = value.clone();
    }
    pod
}

fn asks() -> Value {
    pod(&json!({ PREFETCH: "true" }))
}

async fn stored(admission: &Arc<Admission>, pod: &Value) -> Value {
    let response = answer(admission, &review("CREATE", pod, &Value::Null)).await;
    applied(pod, &response)
}

/// Returns the images of the image volumes that sluice has added to a pod.
fn pulled(pod: &Value) -> Vec<&str> {
    rules::gate::prefetched(pod).collect()
}

#[tokio::test]
async fn whose_images_are_pulled_the_pod_and_the_installation_say() {
    let says = |word: &str| pod(&json!({ PREFETCH: word }));
    let silent = pod(&json!({}));
    for (prefetch, pod, expected) in [
        (Prefetch::Asked, &silent, false),
        (Prefetch::Asked, &says("true"), true),
        (Prefetch::Asked, &says("false"), false),
        (Prefetch::All, &silent, true),
        (Prefetch::All, &says("true"), true),
        (Prefetch::All, &says("false"), false),
    ] {
        let made = stored(&with(prefetch), pod).await;
        assert_eq!(!pulled(&made).is_empty(), expected, "{prefetch:?} {pod}");
        let without = stored(&old(prefetch), pod).await;
        assert!(pulled(&without).is_empty(), "{prefetch:?} {pod}");
        assert_eq!(without["spec"]["initContainers"][0]["name"], "sluice-gate");
    }
}

#[tokio::test]
async fn each_image_behind_the_gate_has_a_volume_that_nothing_mounts() {
    let made = stored(&with(Prefetch::Asked), &asks()).await;
    let volume = |number: usize, image: &str| {
        let source = json!({"reference": image, "pullPolicy": "IfNotPresent"});
        json!({"name": format!("sluice-prefetch-{number}"), "image": source})
    };
    let volumes = made["spec"]["volumes"].as_array().unwrap();
    let expected = [volume(0, "tool:1"), volume(1, "app:1"), volume(2, "side:2")];
    assert_eq!(volumes[2..], expected);
    let containers = [&made["spec"]["initContainers"], &made["spec"]["containers"]];
    let mounts = containers.map(|list| list.to_string().contains("sluice-prefetch"));
    assert_eq!(mounts, [false, false]);

    let after = pod(&json!({ PREFETCH: "true", "sluice.dev/gate-position": "after=fetch" }));
    let made = stored(&with(Prefetch::Asked), &after).await;
    assert_eq!(pulled(&made), ["app:1", "side:2"], "the first one has run");
}

#[tokio::test]
async fn a_second_call_changes_nothing_unless_an_image_has_changed() {
    let admission = with(Prefetch::Asked);
    let mut made = stored(&admission, &asks()).await;
    for path in ["/admit/pods", "/admit/every-pod", "/admit/held-pods"] {
        let again = review("CREATE", &made, &Value::Null);
        let response = answer_at(&admission, path, &again).await;
        assert_eq!(response.get("patch"), None, "{path}");
    }
    // The admission plugin AlwaysPullImages comes after webhooks, and refuses another policy.
    for at in 2..5 {
        made["spec"]["volumes"][at]["image"]["pullPolicy"] = json!("Always");
    }
    made["spec"]["containers"][1]["image"] = json!("mirror:5000/side:2");
    let response = answer(&admission, &review("CREATE", &made, &Value::Null)).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "prefetched");
    let renewed = applied(&made, &response);
    assert_eq!(pulled(&renewed), ["tool:1", "app:1", "mirror:5000/side:2"]);
    made["spec"]["volumes"][4]["image"]["reference"] = json!("mirror:5000/side:2");
    assert_eq!(renewed, made, "nothing else has changed");
}

/// A pod was gated where early pulls are off, and is restored where they are on: it gets its image volumes.
#[tokio::test]
async fn a_gated_pod_gets_what_it_lacks() {
    let plain = stored(&with(Prefetch::Asked), &pod(&json!({}))).await;
    let response = answer(
        &with(Prefetch::All),
        &review("CREATE", &plain, &Value::Null),
    )
    .await;
    assert_eq!(response["auditAnnotations"]["outcome"], "prefetched");
    let made = applied(&plain, &response);
    assert_eq!(pulled(&made), ["tool:1", "app:1", "side:2"]);
    assert_eq!(made, stored(&with(Prefetch::All), &pod(&json!({}))).await);
}

#[tokio::test]
async fn a_volume_of_that_name_is_refused_with_the_way_out() {
    let mut taken = asks();
    taken["spec"]["volumes"] = json!([{"name": "sluice-prefetch-3", "emptyDir": {}}]);
    let review = review("CREATE", &taken, &Value::Null);
    let response = answer(&with(Prefetch::Asked), &review).await;
    let message = response["status"]["message"].as_str().unwrap();
    let told = "has a volume named \"sluice-prefetch-3\", a name that sluice needs for its gate";
    assert!(message.contains(told), "{message}");
}

#[tokio::test]
async fn who_asks_where_kubernetes_is_too_old_is_warned_once() {
    let mut deployment = annotated(
        workload("apps/v1", "Deployment"),
        "sluice.dev/depends-on",
        "svc/db",
    );
    let template = &mut deployment["spec"]["template"]["metadata"];
    template["annotations"] = json!({ PREFETCH: "true" });
    for object in [&deployment, &asks()] {
        let create = review("CREATE", object, &Value::Null);
        let warned = answer(&old(Prefetch::Asked), &create).await["warnings"].to_string();
        assert!(warned.contains(TOLD), "{warned}");
        assert!(warned.contains("1.35 and newer have them"), "{warned}");
        let new = answer(&with(Prefetch::Asked), &create).await["warnings"].to_string();
        assert!(!new.contains(TOLD), "{new}");
    }
    let create = review("CREATE", &deployment, &Value::Null);
    let marked = applied(&deployment, &answer(&old(Prefetch::Asked), &create).await);
    let update = answer(&old(Prefetch::Asked), &review("UPDATE", &marked, &marked)).await;
    assert!(!update["warnings"].to_string().contains(TOLD));
    // The administrator's default is no mistake of the object's author.
    let silent = review("CREATE", &pod(&json!({})), &Value::Null);
    let silent = answer(&old(Prefetch::All), &silent).await;
    assert_eq!(silent.get("warnings"), None);
}

#[tokio::test]
async fn any_other_value_is_refused_with_the_way_out() {
    let response = answer(
        &with(Prefetch::Asked),
        &review("CREATE", &pod(&json!({ PREFETCH: "yes" })), &Value::Null),
    )
    .await;
    let message = response["status"]["message"].to_string();
    let told = "sluice.dev/prefetch: line 1, column 1: unknown word \\\"yes\\\"; the words are true, false";
    assert!(message.contains(told), "{message}");
}
