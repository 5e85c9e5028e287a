//! The image volumes of pods: the policies and the webhook add the same.

use rules::gate::prefetched;
use serde_json::{Value, json};
use webhook::Holds;

use super::super::cluster::object;
use super::{ELSEWHERE, NAMESPACE, applied, decided, essence, in_namespace, would_create};

/// Returns a pod with this word as its `sluice.dev/prefetch`, this position of the gate, and a container for each of these images.
fn pod(word: &str, position: &str, init: &[&str], app: &[&str]) -> Value {
    let annotations = json!({
        "sluice.dev/depends-on": "job/x", "sluice.dev/prefetch": word, "sluice.dev/gate-position": position,
    });
    let mut pod = object("Pod", "p", &annotations, &json!({}));
    let containers = |kind: &str, images: &[&str]| -> Vec<Value> {
        let images = images.iter().enumerate();
        images
            .map(|(number, image)| json!({"name": format!("{kind}-{number}"), "image": image}))
            .collect()
    };
    pod["spec"] = json!({
        "serviceAccountName": "default", "automountServiceAccountToken": false,
        "initContainers": containers("init", init), "containers": containers("app", app),
    });
    pod
}

fn with(mut pod: Value, pointer: &str, value: Value) -> Value {
    let place = pod.pointer_mut(pointer).expect("a place in the pod");
    *place = value;
    pod
}

/// Returns pods, each with the images that its image volumes must have.
fn pods() -> Vec<(Value, Vec<String>)> {
    let many: Vec<String> = (0..20).map(|number| format!("a:{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (longest, longer) = ("a".repeat(512), "a".repeat(513));
    let odd = [
        "$(IMAGE)",
        "-a",
        "a b",
        "a\u{e9}",
        &longer,
        &longest,
        "R.io:5/B_c@sha256:0f",
    ];
    let two = |word| pod(word, "first", &["i:1"], &["a:1", "i:1"]);
    let never = with(
        pod("true", "last", &[], &["a:1", "b:1"]),
        "/spec/containers/0",
        json!({"name": "app-0", "image": "a:1", "imagePullPolicy": "Never"}),
    );
    let cases = [
        (two("false"), vec![]),
        (two("true"), vec!["i:1", "a:1"]),
        (
            pod(
                "true",
                "after=init-0",
                &["i:1", "j:1"],
                &["i:1", "j:1", "localhost/sluice-gate:dev"],
            ),
            vec!["j:1"],
        ),
        (pod("true", "last", &["i:1"], &many), many[..16].to_vec()),
        (
            pod("true", "first", &[], &odd),
            vec![longest.as_str(), odd[6]],
        ),
        (never, vec!["b:1"]),
    ];
    let owned = |images: Vec<&str>| images.into_iter().map(str::to_owned).collect();
    let cases = cases.into_iter();
    cases.map(|(pod, images)| (pod, owned(images))).collect()
}

/// Returns the pod that the policies make of this one. Fails unless the webhook makes a pod with equal labels, annotations and spec.
fn compared(pod: &Value) -> Value {
    let plain = would_create(&in_namespace(ELSEWHERE, pod.clone())).expect("a pod");
    let action = decided(("", "Pod"), &plain, &Value::Null, Holds::Off);
    let expected = would_create(&applied(&plain, &action)).expect("a pod of the webhook");
    let made = would_create(&in_namespace(NAMESPACE, pod.clone())).expect("a pod of the policy");
    assert_eq!(essence(&made), essence(&expected), "{pod:#}");
    made
}

pub(super) fn compare() {
    for (pod, images) in pods() {
        let made = compared(&pod);
        assert_eq!(prefetched(&made).collect::<Vec<_>>(), images, "{pod:#}");
        assert_eq!(essence(&compared(&made)), essence(&made), "a second time");
        // Another webhook rewrites an image, or takes a volume away.
        let volumes = made["spec"]["volumes"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let last = made["spec"]["containers"].as_array().map_or(0, Vec::len) - 1;
        let image = format!("/spec/containers/{last}/image");
        compared(&with(made.clone(), &image, json!("mirror:5000/b:1")));
        let others = volumes
            .into_iter()
            .filter(|it| it["name"] != "sluice-prefetch-0");
        compared(&with(made, "/spec/volumes", others.collect()));
    }
}
