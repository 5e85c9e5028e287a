//! The root cause: what a gate is told, and what its Event says, once a look at the pods has found it.

use super::*;
use crate::follow::pod_causes;
use axum::http::Response;
use kube::client::Body as Asked;
use std::convert::Infallible;
use tower::service_fn;

/// A client of an API server that answers every request with a list of this one pod.
fn of_pods(pod: &Value) -> Client {
    let list = json!({"metadata": {}, "items": [pod]}).to_string();
    let answer = service_fn(move |_: Request<Asked>| {
        let answer = Response::new(Body::from(list.clone()));
        async move { Ok::<_, Infallible>(answer) }
    });
    Client::new(answer, "default")
}

#[tokio::test(start_paused = true)]
async fn a_gate_and_its_event_say_why_there_is_no_endpoint() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "svc/postgres"}));
    let known = &desk.service.known;
    for word in ["endpointslice", "deployment", "statefulset", "daemonset"] {
        let kind = by_word(word).map(Kind::Builtin).unwrap();
        known.want(&kind).replace::<&Value>([]);
    }
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": "postgres", "creationTimestamp": "1970-01-01T00:00:00Z"},
        "spec": {"selector": {"app": "postgres"}},
    });
    let services = by_word("service").map(Kind::Builtin).unwrap();
    known.want(&services).replace(&[service]);
    let waiting = json!({"reason": "ErrImagePull", "message": "\"docker.io/postgres:17.2\": docker.io/postgres:17.2: not found"});
    let pod = json!({
        "metadata": {"namespace": "shop", "name": "postgres-0"},
        "status": {"phase": "Pending", "containerStatuses": [
            {"name": "postgres", "image": "docker.io/postgres:17.2", "state": {"waiting": waiting}},
        ]},
    });
    tokio::spawn(pod_causes::follow(
        of_pods(&pod),
        Arc::clone(known),
        desk.service.clock.clone(),
    ));

    let first = desk.ask("").await;
    let found = "its pod postgres-0 cannot pull image docker.io/postgres:17.2: not found; Service has no endpoints";
    // It is held for news, and the first look is news.
    let second = desk.ask(&first.digest).await;
    let told = |answer: &wire::Answer| answer.dependencies[0].message.clone().unwrap_or_default();
    assert_eq!(
        (told(&first).as_str(), told(&second).as_str()),
        ("Service has no endpoints", found)
    );
    assert!(desk.began.elapsed() < Duration::from_secs(6));
    desk.gate(10).await;
    let events = desk.told().await;
    assert_eq!(
        events[0].2,
        format!(
            "waiting for Service/postgres (NoEndpoints: {found}); 0 of 1 dependencies satisfied"
        )
    );
}
