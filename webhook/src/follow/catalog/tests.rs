use super::*;
use crate::known::Settings;
use crate::tasks::Tasks;
use axum::body::Body as Answer;
use axum::http::{Request, Response};
use kube::client::Body;
use serde_json::json;
use std::convert::Infallible;
use tower::service_fn;

/// What is known of a custom kind some time after it was asked for, where the API server answers everything with this
/// status, or has not said anything yet.
async fn known(answers: Option<u16>) -> Freshness {
    let api_server = service_fn(move |_: Request<Body>| async move {
        let Some(code) = answers else {
            return std::future::pending().await;
        };
        let nothing = json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": code});
        let answer = Response::builder()
            .status(code)
            .body(Answer::from(nothing.to_string()));
        Ok::<_, Infallible>(answer.unwrap())
    });
    let (known, requests) = Known::new(Settings::of_the_chart());
    let (spawner, mut tasks) = Tasks::new();
    let catalog = Catalog {
        client: Client::new(api_server, "default"),
        known: Arc::clone(&known),
        metrics: Arc::default(),
        tasks: spawner.clone(),
        shown: None,
        jobs: None,
    };
    spawner.keep("catalog", catalog.run(requests));
    let kinds = [
        Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION),
        Kind::Custom {
            group: "example.com".into(),
            word: "Widget".into(),
        },
    ];
    let [definitions, widgets] = kinds.map(|kind| known.want(&kind));
    if answers.is_some() {
        definitions.clear(Freshness::Forbidden);
    }
    let ended = tokio::time::timeout(Duration::from_secs(20), tasks.ended()).await;
    assert!(ended.is_err(), "{ended:?}");
    widgets.condition()
}

#[tokio::test(start_paused = true)]
async fn a_kind_is_not_called_unknown_before_the_definitions_have_arrived() {
    assert_eq!(known(None).await, Freshness::Syncing);
    assert_eq!(known(Some(404)).await, Freshness::NotServed);
}

/// As while the server behind an aggregated API is down.
#[tokio::test(start_paused = true)]
async fn that_discovery_fails_does_not_mean_that_a_kind_is_not_served() {
    for code in [500, 503, 403] {
        assert_eq!(known(Some(code)).await, Freshness::Undiscovered, "{code}");
    }
}

/// Only it, in its namespace, and for as long as somebody asks.
#[tokio::test(start_paused = true)]
async fn one_object_is_followed_whole_until_nobody_asks_for_it() {
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let api_server = service_fn(move |request: Request<Body>| {
        let uri = request.uri().to_string();
        let ours = uri.contains("phase");
        let watch = uri.contains("watch=");
        if ours {
            seen.lock().unwrap().push(uri);
        }
        async move {
            if !ours || watch {
                return std::future::pending().await;
            }
            let list = json!({"metadata": {"resourceVersion": "1"}, "items": [{
                "metadata": {"namespace": "shop", "name": "phase", "annotations": {"a": "b"}},
                "data": {"phase": "done"},
            }]});
            Ok::<_, Infallible>(Response::new(Answer::from(list.to_string())))
        }
    });
    let (known, requests) = Known::new(Settings::of_the_chart());
    let (spawner, mut tasks) = Tasks::new();
    let catalog = Catalog {
        client: Client::new(api_server, "default"),
        known: Arc::clone(&known),
        metrics: Arc::default(),
        tasks: spawner.clone(),
        shown: None,
        jobs: None,
    };
    spawner.keep("catalog", catalog.run(requests));
    let mut pass = async |seconds| {
        let ended = tokio::time::timeout(Duration::from_secs(seconds), tasks.ended()).await;
        assert!(ended.is_err(), "{ended:?}");
    };
    let named = Named {
        kind: kinds::by_word("configmap").map(Kind::Builtin).unwrap(),
        namespace: "shop".into(),
        name: "phase".into(),
    };
    let seen = json!({"metadata": {"namespace": "shop", "name": "phase"}});
    let look = |view: &View| match view.whole(&named.kind, &seen) {
        Lookup::Found(found) => found["data"]["phase"].clone(),
        Lookup::NotFound | Lookup::Unavailable(_) => Value::Null,
    };
    let view = known.view();
    assert_eq!(look(&view), Value::Null, "not read yet");
    pass(1).await;
    assert_eq!(look(&view), "done");
    let first = asked.lock().unwrap()[0].clone();
    assert!(
        first.starts_with("/api/v1/namespaces/shop/configmaps?")
            && first.contains("fieldSelector=metadata.name%3Dphase"),
        "{first}"
    );
    drop(view);
    pass(200).await;
    let before = asked.lock().unwrap().len();
    pass(200).await;
    assert_eq!(asked.lock().unwrap().len(), before, "nobody asks any more");
    assert_eq!(look(&known.view()), Value::Null, "it is read again");
    pass(1).await;
    assert_eq!(look(&known.view()), "done");
}
