//! A pod that an Event of the controller calls stranded: `status`, `graph` and `ui` tell that its gate never opens, and name no dependency
//! as what it waits for.

use super::{ask, deployment, namespace, object, pod};
use crate::cli::api::Api;
use crate::cli::run;
use crate::cli::ui::Ui;
use serde_json::{Value, json};

const WHY: &str = "its gate trusts no certificate of sluice any more and never opens; delete the pod, and its owner makes another";

/// Starts an API server with two pods of `api` that wait for a Job; an Event says that the first one is stranded.
fn stranded() -> Api {
    let waiting = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let about = json!({"kind": "Pod", "namespace": "shop", "name": "api-1", "uid": "api-1"});
    let told = json!({"reason": "Stranded", "involvedObject": about});
    let mut objects = vec![
        namespace("shop"),
        pod("api-1", "api", waiting.clone()),
        pod("api-2", "api", waiting),
        object("v1", "Event", "stranded", told),
    ];
    let mut of_api = deployment("api", "job/migrate");
    let containers = json!([{"name": "app", "image": "example.com/app:9"}]);
    of_api[0]["spec"] = json!({"replicas": 2, "selector": {"matchLabels": {"app": "api"}},
        "template": {"metadata": {"labels": {"app": "api"}}, "spec": {"containers": containers}}});
    objects.extend(of_api);
    Api::start(&objects)
}

/// Returns the number of lists of Events about stranded pods that the command has requested.
fn lists(api: &Api) -> usize {
    let requests = api.requests();
    let of_events = requests.iter().filter(|it| it.contains("Stranded"));
    of_events.count()
}

#[test]
fn status_tells_it_and_no_dependency() {
    let api = stranded();
    for args in [&["-n", "shop"][..], &["api-1", "-n", "shop"]] {
        let before = lists(&api);
        let ran = ask(&api, args);
        let told = ran.out + &ran.error;
        let line = format!("pod   it is stranded: {WHY}\n");
        assert_eq!(told.matches(&line).count(), 1, "{args:?}: {told}");
        assert_eq!(told.matches("is stranded").count(), 1, "{args:?}: {told}");
        assert_eq!(ran.code, Some(3));
        assert_eq!(lists(&api) - before, 1, "{args:?}");
    }
    let tree = ask(&api, &["-n", "shop", "-o", "json"]).lines().remove(0);
    let pods = &tree["workloads"][0]["pods"];
    let of_pod = |pod: &Value| (pod["stranded"].clone(), pod["dependencies"].clone());
    assert_eq!(of_pod(&pods[0]), (json!(WHY), Value::Null), "{tree}");
    assert_eq!(pods[1]["stranded"], Value::Null, "{tree}");
    let one = ask(&api, &["api-1", "-n", "shop", "-o", "json"]);
    let one = one.lines().remove(0);
    assert_eq!(of_pod(&one), (json!(WHY), json!([])), "{one}");
    let cause = &one["rootCauses"][0];
    assert_eq!(
        (&cause["reason"], &cause["broken"], &one["verdict"]),
        (&json!("Stranded"), &json!(true), &json!("wait")),
        "{one}"
    );
    assert_eq!(cause["message"], json!(format!("is stranded: {WHY}")));
    assert!(!one["unseen"].to_string().contains("stranded"), "{one}");
}

#[test]
fn graph_and_ui_call_the_workload_broken() {
    let api = stranded();
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    let graph = |form: &str| {
        let before = lists(&api);
        let ran = run(
            &["graph", "-n", "shop", "-o", form, "--kubeconfig", path],
            "",
        );
        assert_eq!(lists(&api) - before, 1, "{}{}", ran.out, ran.error);
        ran.out
    };
    let text = graph("text");
    assert!(
        text.contains(&format!("its pod api-1 is stranded: {WHY}")),
        "{text}"
    );
    assert!(
        text.contains("api-1  Deployment/api, and is stranded"),
        "{text}"
    );
    let drawn = serde_json::from_str(&graph("json")).unwrap();
    let page = Ui::of(path, &["-n", "shop"]).graph("");
    for told in [drawn, page] {
        let all = |list: &str| told[list].as_array().unwrap().iter();
        let node = all("nodes").find(|it| it["id"] == "Deployment/api");
        let node = node.unwrap();
        let cause = &node["rootCause"];
        assert_eq!(
            (&node["reason"], &cause["reason"], &cause["broken"]),
            (&json!("Stranded"), &json!("Stranded"), &json!(true)),
            "{told:#}"
        );
        assert_eq!(cause["pod"], "api-1");
        assert_ne!(
            node["status"], "Waits",
            "the page would draw it as one that waits"
        );
        let gate = |pod: &str| all("gates").find(|it| it["pod"] == pod).unwrap();
        let of_gate = |pod: &str| [&gate(pod)["stranded"], &gate(pod)["verdict"]];
        assert_eq!(of_gate("api-1"), [&json!(true), &Value::Null]);
        assert_eq!(of_gate("api-2"), [&Value::Null, &json!("wait")]);
    }
}
