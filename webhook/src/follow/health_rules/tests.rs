mod reading;

use super::*;
use crate::clock::Clock;
use crate::known::{HealthSources, Settings};
use axum::http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use rules::judged::Reason;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Duration;

const BROKEN: &str = "- {apiVersion: example.com/v1, kind: Widget}";
const GOOD: &str = "- {apiVersion: example.com/v1, kind: Widget, current: status.ok}";

/// A fake API server that answers reads in the order of a script, and never after its end. Keeps the requests and the created objects.
#[derive(Default)]
struct Script {
    reads: Mutex<VecDeque<(StatusCode, String)>>,
    asked: Mutex<Vec<String>>,
    created: Mutex<Vec<Value>>,
}

impl Script {
    fn client(self: &Arc<Self>) -> Client {
        let script = Arc::clone(self);
        let service = tower::service_fn(move |request: Request<Body>| {
            let script = Arc::clone(&script);
            async move { Ok::<_, Infallible>(script.answer(request).await) }
        });
        Client::new(service, "sluice-system")
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let asked = format!("{} {}", request.method(), request.uri().path());
        self.asked.lock().unwrap().push(asked);
        if request.method() == Method::POST {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let created: Value = serde_json::from_slice(&body).unwrap();
            self.created.lock().unwrap().push(created.clone());
            return answer(StatusCode::CREATED, created.to_string());
        }
        let next = self.reads.lock().unwrap().pop_front();
        match next {
            Some((code, text)) => answer(code, text),
            // The script is over: the API server answers no more.
            None => std::future::pending().await,
        }
    }

    fn notes(&self) -> Vec<String> {
        let created = self.created.lock().unwrap();
        let note = |event: &Value| event["note"].as_str().unwrap().to_owned();
        created.iter().map(note).collect()
    }
}

fn answer(code: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text.into_bytes()));
    *response.status_mut() = code;
    response
}

fn not_found() -> (StatusCode, String) {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "", "reason": "NotFound", "code": 404});
    (StatusCode::NOT_FOUND, status.to_string())
}

fn map(version: &str, rules: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a.yaml": rules},
        "metadata": {"name": "rules", "namespace": "sluice-system", "uid": "u", "resourceVersion": version}})
}

fn typed(version: &str, rules: &str) -> ConfigMap {
    serde_json::from_value(map(version, rules)).unwrap()
}

fn follower(script: &Arc<Script>) -> Follower {
    Follower {
        events: Writer {
            client: script.client(),
            instance: "sluice-0".to_owned(),
            clock: Clock::new(Timestamp::now),
        },
        stored: rules(),
        known: known(true),
        errors: Gauge::default(),
        told: Vec::new(),
    }
}

/// The knowledge of a replica before any rule of the administrator has arrived. `builtin`: the library counts.
fn known(builtin: bool) -> Arc<Known> {
    let settings = Settings {
        health_rules: HealthSources {
            administrator: true,
            builtin,
        },
        ..Settings::of_the_chart()
    };
    Known::new(settings).0
}

fn rules() -> ConfigMapRef {
    ConfigMapRef {
        namespace: "sluice-system".to_owned(),
        name: "rules".to_owned(),
    }
}

fn reason(known: &Known) -> Option<Reason> {
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "status": {"ok": true}});
    known
        .health_rules()
        .judge(&widget, false)
        .map(|it| it.reason)
}

#[tokio::test]
async fn a_broken_rule_is_told_once_in_an_event_and_counted_until_it_is_mended() {
    let script = Arc::default();
    let mut follower = follower(&script);
    follower.take(Some(&typed("1", BROKEN))).await;
    assert_eq!(follower.errors.get(), 1);
    assert_eq!(reason(&follower.known), Some(Reason::RuleError));
    // The same again, as when a watch begins anew.
    follower.take(Some(&typed("1", BROKEN))).await;
    let lacks = "a.yaml: rule 1: lacks current, the expression of a healthy object";
    assert_eq!(script.notes(), [lacks]);
    {
        let created = script.created.lock().unwrap();
        assert_eq!(created[0]["reason"], "BrokenHealthRule");
        assert_eq!(created[0]["type"], "Warning");
        let regarding = json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "sluice-system", "name": "rules", "uid": "u"});
        assert_eq!(created[0]["regarding"], regarding);
        let posted = ["POST /apis/events.k8s.io/v1/namespaces/sluice-system/events"];
        assert_eq!(*script.asked.lock().unwrap(), posted);
    }

    follower.take(Some(&typed("2", GOOD))).await;
    assert_eq!(follower.errors.get(), 0);
    assert_eq!(reason(&follower.known), Some(Reason::Satisfied));
    follower.take(Some(&typed("3", BROKEN))).await;
    assert_eq!(script.notes().len(), 2, "it is news again");
}

#[tokio::test]
async fn an_absent_config_map_is_counted_and_has_no_event_to_carry() {
    let script = Arc::default();
    let mut follower = follower(&script);
    follower.take(None).await;
    assert_eq!(follower.errors.get(), 1);
    assert_eq!(reason(&follower.known), Some(Reason::RuleError));
    assert_eq!(script.notes(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn the_config_map_is_followed_from_before_it_exists_to_after_it_is_gone() {
    let event = |kind: &str, object: &Value| json!({"type": kind, "object": object}).to_string();
    let read = |version: &str, rules: &str| (StatusCode::OK, map(version, rules).to_string());
    let events = [
        event("MODIFIED", &map("2", BROKEN)),
        event("DELETED", &map("3", BROKEN)),
    ];
    let script = Arc::new(Script::default());
    script.reads.lock().unwrap().extend([
        not_found(),
        (StatusCode::INTERNAL_SERVER_ERROR, "{}".to_owned()),
        read("1", GOOD),
        (StatusCode::OK, events.map(|it| it + "\n").concat()),
        not_found(),
        read("4", GOOD),
    ]);
    let follower = follower(&script);
    let (known, errors) = (Arc::clone(&follower.known), follower.errors.clone());
    // The clock is paused: the waits between reads take no time, and the end of the script stands for ever.
    let run = tokio::time::timeout(Duration::from_secs(60), follower.run());
    assert!(run.await.is_err(), "it follows for ever");
    assert_eq!(reason(&known), Some(Reason::Satisfied));
    assert_eq!(errors.get(), 0);
    assert_eq!(script.notes().len(), 1, "{:?}", script.notes());
    let path = "GET /api/v1/namespaces/sluice-system/configmaps";
    let one = format!("{path}/rules");
    let expected = [
        one.as_str(),
        &one,
        &one,
        path,
        "POST /apis/events.k8s.io/v1/namespaces/sluice-system/events",
        &one,
        &one,
        path,
    ];
    assert_eq!(*script.asked.lock().unwrap(), expected);
}

#[test]
fn an_event_names_the_first_problem_and_how_many_follow() {
    let problem = RuleProblem {
        text: "a.yaml".to_owned(),
        rule: Some(2),
        message: "lacks current".to_owned(),
    };
    assert_eq!(text(&problem, 1), "a.yaml: rule 2: lacks current");
    let three = text(&problem, 3);
    assert_eq!(three, "a.yaml: rule 2: lacks current (and 2 more)");
}
