//! The pods of holders that are gone, in an API server of thousands of pods.

use super::*;
use crate::known::{Known, Settings};
use axum::body::Body as Answer;
use axum::http::{Request, Response};
use kube::client::Body;
use serde_json::json;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// A fake API server with pods, the queries that it got, and the number of bytes that it answered.
#[derive(Default)]
struct Pods {
    pods: Vec<Value>,
    asked: Mutex<(Vec<String>, usize)>,
}

impl Pods {
    fn client(self: &Arc<Self>) -> Client {
        let server = Arc::clone(self);
        let service = tower::service_fn(move |request: Request<Body>| {
            let text = server.answer(&request).to_string();
            let mut asked = server.asked.lock().unwrap();
            let query = request.uri().query().unwrap().replace("%3D", "=");
            asked.0.push(query.replace("%2C", ",").replace("%21", "!"));
            asked.1 += text.len();
            async { Ok::<_, Infallible>(Response::new(Answer::from(text))) }
        });
        Client::new(service, "shop")
    }

    fn answer(&self, request: &Request<Body>) -> Value {
        assert_eq!(request.uri().path(), "/api/v1/namespaces/shop/pods");
        let accept = request.headers()["accept"].to_str().unwrap();
        let is_lean = accept.contains("PartialObjectMetadataList");
        let query: Vec<(String, String)> = form(request.uri().query().unwrap());
        let get = |key: &str| query.iter().find(|it| it.0 == key).map(|it| it.1.as_str());
        let labels = get("labelSelector").unwrap_or_default();
        let fields = get("fieldSelector").unwrap_or_default();
        let number = |key| get(key).map(|it| it.parse::<usize>().unwrap());
        let (from, most) = (
            number("continue").unwrap_or(0),
            number("limit").unwrap_or(usize::MAX),
        );
        let chosen: Vec<&Value> = self
            .pods
            .iter()
            .filter(|pod| {
                labels
                    .split(',')
                    .all(|label| selects(label, &pod["metadata"]["labels"]))
            })
            .filter(|pod| {
                let phase = pod["status"]["phase"].as_str().unwrap();
                !fields.contains(&format!("status.phase!={phase}"))
            })
            .collect();
        let to = from.saturating_add(most).min(chosen.len());
        let items = chosen[from..to].iter().map(|pod| {
            if is_lean {
                json!({"metadata": pod["metadata"]})
            } else {
                (*pod).clone()
            }
        });
        let next = if to < chosen.len() {
            to.to_string()
        } else {
            String::new()
        };
        json!({"metadata": {"resourceVersion": "1", "continue": next}, "items": Some(items.collect::<Vec<_>>()).filter(|it| !it.is_empty())})
    }
}

fn selects(label: &str, labels: &Value) -> bool {
    match (label.strip_prefix('!'), label.split_once('=')) {
        (Some(key), _) => labels[key].is_null(),
        (None, Some((key, value))) => labels[key] == value,
        (None, None) => false,
    }
}

/// The keys and values of a URL's query, decoded.
fn form(query: &str) -> Vec<(String, String)> {
    let plain = |text: &str| {
        ["%3D=", "%2C,", "%21!", "%2F/"]
            .iter()
            .fold(text.to_owned(), |text, it| text.replace(&it[..3], &it[3..]))
    };
    let pairs = query.split('&').filter_map(|it| it.split_once('='));
    pairs
        .map(|(key, value)| (key.to_owned(), plain(value)))
        .collect()
}

/// A gated pod of ordinary size in this phase, owned by a Job of this UID. `labelled`: it has the label that names the Job's UID.
fn pod(number: usize, owner: &str, labelled: bool, phase: &str) -> Value {
    let mut labels = json!({"sluice.dev/gated": "true"});
    if labelled {
        labels[MADE_BY] = json!(owner);
    }
    json!({
        "metadata": {
            "namespace": "shop", "name": format!("pod-{number}"), "uid": format!("pod-{number}"), "labels": labels,
            "ownerReferences": [{"kind": "Job", "name": owner, "uid": owner, "controller": true}],
        },
        "spec": {"containers": [{"name": "app", "args": ["x".repeat(6_000)]}]},
        "status": {"phase": phase},
    })
}

fn holder(kind: &str, uid: &str) -> Holder {
    let group = if kind == "Job" { "batch" } else { "apps" };
    Holder {
        group: group.to_owned(),
        kind: kind.to_owned(),
        name: uid.to_owned(),
        uid: uid.to_owned(),
        revision: String::new(),
        pods_of: uid.to_owned(),
        most: 1,
    }
}

/// Looks for living pods of a holder, where the API server has `pods` and the replica knows the pods `known`. Returns whether there are none,
/// the number of requests to the API server, and the number of bytes that it answered.
async fn look(pods: Vec<Value>, known: &[Value], holder: &Holder) -> (bool, usize, usize) {
    let server = Arc::new(Pods {
        pods,
        ..Pods::default()
    });
    let (knowledge, _) = Known::new(Settings::of_the_chart());
    knowledge.gated().replace(known);
    let (client, view) = (server.client(), knowledge.view());
    let none = has_no_pods(&client, &view, "shop", holder).await.unwrap();
    let asked = server.asked.lock().unwrap();
    (none, asked.0.len(), asked.1)
}

#[tokio::test]
async fn ten_thousand_pods_that_have_ended_cost_two_small_answers() {
    let ended = |number| pod(number, "gone", number % 2 == 0, "Succeeded");
    let ended: Vec<Value> = (0..10_000).map(ended).collect();
    let (none, asked, bytes) = look(ended, &[], &holder("Job", "gone")).await;
    assert!(none && asked == 2 && bytes < 1_000, "{asked} {bytes}");
}

#[tokio::test]
async fn the_look_ends_at_the_first_pod_that_lives() {
    for (labelled, most) in [(true, 1), (false, 2)] {
        let others = (0..2_000).map(|number| pod(number, "other", labelled, "Running"));
        let of_it = (2_000..4_000).map(|number| pod(number, "gone", labelled, "Pending"));
        let pods: Vec<Value> = of_it.chain(others).collect();
        let (none, asked, bytes) = look(pods, &[], &holder("Job", "gone")).await;
        assert!(!none && asked == most && bytes < 200_000, "{asked} {bytes}");
    }
}

#[tokio::test]
async fn a_pod_without_the_label_of_its_job_is_found_on_any_page() {
    let others = (0..1_000).map(|number| pod(number, "other", false, "Running"));
    let pods: Vec<Value> = others
        .chain([pod(1_000, "gone", false, "Unknown")])
        .collect();
    for kind in ["Job", "StatefulSet"] {
        assert!(!look(pods.clone(), &[], &holder(kind, "gone")).await.0);
        assert!(look(pods.clone(), &[], &holder(kind, "nobody")).await.0);
    }
}

#[tokio::test]
async fn a_pod_that_is_known_to_live_costs_no_request_and_one_that_is_not_says_nothing() {
    let lives = [pod(0, "gone", true, "Running")];
    let (none, asked, _) = look(vec![], &lives, &holder("Job", "gone")).await;
    assert_eq!((none, asked), (false, 0));
    let ended = [pod(0, "gone", true, "Failed")];
    let (none, ..) = look(lives.to_vec(), &ended, &holder("Job", "gone")).await;
    assert!(!none, "what is known lags behind");
}
