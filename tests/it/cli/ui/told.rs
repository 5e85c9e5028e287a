//! Requests of the page beside the graph, and the drawing of an object that cannot start.

use super::shop::{deployment, pod, shop};
use super::{Ui, heard};
use serde_json::{Value, json};

/// The page reads the last line of a gate and the Events of an object when a user asks for the object.
#[test]
fn the_gates_last_line_and_the_events_are_told() {
    let api = shop();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "api-1"}});
    api.log(
        &pod,
        "sluice-gate: waiting 26s: Job/migrate is InProgress (JobNotComplete)\n",
    );
    let event = |name: &str, about: &Value, reason: &str, at: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "shop", "name": name}, "involvedObject": about,
            "type": "Warning", "reason": reason, "message": "it\u{1b}[31m failed", "lastTimestamp": at, "count": 3})
    };
    let about = json!({"kind": "Pod", "namespace": "shop", "name": "api-1"});
    let kubeconfig = api.kubeconfig(false);
    let ui = Ui::of(kubeconfig.path().to_str().unwrap(), &["-n", "shop"]);
    // An object can be changed once there are watches.
    let mut answers = heard(&ui);
    answers.next().unwrap();
    api.change(&[
        event("e1", &about, "Older", "2026-01-01T00:00:05Z"),
        event("e2", &about, "Newer", "2026-01-01T00:00:09Z"),
    ]);
    let news = |query: &str| ui.own(&format!("api/news?namespace=shop&{query}"));
    let told: Value = serde_json::from_str(&news("kind=Pod&name=api-1&pod=api-1").body).unwrap();
    assert!(
        told["gate"]
            .as_str()
            .is_some_and(|it| it.starts_with("waiting 26s: Job/migrate")),
        "{told}"
    );
    let reasons: Vec<_> = told["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["Newer", "Older"]);
    assert_eq!(told["events"][0]["message"], json!("it\\u{1b}[31m failed"));
    assert_eq!(told["events"][0]["count"], json!(3));
    api.hide("/api/v1/namespaces/shop/events");
    let told: Value = serde_json::from_str(&news("kind=Job&name=migrate").body).unwrap();
    let expected = "that takes the right to list Events in namespace shop";
    assert_eq!(told["unseen"], json!([expected]));
    for wrong in ["kind=Pod&name=..%2F..%2Fsecrets", "kind=P%2Cd&name=a"] {
        let answer = news(wrong);
        assert!(answer.head.starts_with("http/1.1 400"), "{}", answer.head);
    }
}

/// The page offers the graph for Mermaid as `graph -o mermaid` prints it.
#[test]
fn the_graph_is_told_for_mermaid() {
    let api = shop();
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    let args = ["graph", "-n", "shop", "-o", "mermaid", "--kubeconfig", path];
    let printed = crate::cli::run(&args, "").out;
    let told = Ui::of(path, &["-n", "shop"]).own("api/mermaid");
    assert!(told.head.starts_with("http/1.1 200"), "{}", told.head);
    assert_eq!(told.body, printed);
}

/// The graph marks a pod whose image cannot be pulled as broken, and not a pod that only takes its time.
#[test]
fn what_cannot_start_is_told_as_broken() {
    let api = shop();
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    let ui = Ui::of(path, &["-n", "shop"]);
    let mut answers = heard(&ui);
    answers.next().unwrap();
    let waits = |reason: &str| json!({"name": "app", "image": "example.com/app:9", "state": {"waiting": {"reason": reason, "message": "not found"}}});
    let stuck = |name: &str, container: Value| {
        let status = json!({"phase": "Pending", "containerStatuses": [container]});
        let containers = json!([{"name": "app", "image": "example.com/app:9"}]);
        pod(
            &format!("{name}-1"),
            name,
            &json!({"spec": {"containers": containers, "nodeName": "one"}, "status": status}),
        )
    };
    let mut objects = vec![
        stuck("pulls", waits("ImagePullBackOff")),
        stuck("starts", waits("ContainerCreating")),
    ];
    objects.extend(deployment("pulls", ""));
    objects.extend(deployment("starts", ""));
    api.change(&objects);
    let node = |answer: &Value, id: &str| {
        let mut nodes = answer["nodes"].as_array().unwrap().iter();
        nodes.find(|it| it["id"] == id).cloned()
    };
    let answer = answers
        .take(8)
        .find(|it| node(it, "Deployment/starts").is_some())
        .unwrap();
    let cause = &node(&answer, "Deployment/pulls").unwrap()["rootCause"];
    assert_eq!(
        (&cause["pod"], &cause["broken"]),
        (&json!("pulls-1"), &json!(true)),
        "{answer}"
    );
    let told = cause["message"].as_str().unwrap();
    assert!(
        told.starts_with("cannot pull image example.com/app:9"),
        "{told}"
    );
    assert_ne!(
        node(&answer, "Deployment/starts").unwrap()["rootCause"]["broken"],
        json!(true)
    );
}
