//! A store that follows widgets, before an API server that answers as a test says.

mod changes;
mod gated;
mod pages;
mod refusal;
mod script;
mod silence;

use super::*;
use crate::known::{Known, Settings};
use axum::http::Request as HttpRequest;
use kube::client::Body;
use kube::discovery::ApiResource;
use rules::kinds::Kind;
use rules::lookup::Unavailable;
use script::{Api, Reply, falls_silent, listing, lists, respond, restarts, scripted};
use serde_json::json;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::{Layer, service_fn};

fn widget(name: &str, version: &str) -> Value {
    json!({"metadata": {"namespace": "a", "name": name, "resourceVersion": version}})
}

/// Follows widgets for so many seconds. Returns the store, and the error if the follower ended before.
async fn play(seconds: u64, api: Api) -> (Arc<Store>, Option<NotServed>) {
    play_before(seconds, api, None).await
}

/// Follows widgets for so many seconds, with an observer that is shown each one. Returns the store, and the error if the follower ended
/// before.
async fn play_before(
    seconds: u64,
    api: Api,
    observer: Option<Observer>,
) -> (Arc<Store>, Option<NotServed>) {
    let (known, _) = Known::new(Settings::of_the_chart());
    play_knowing(seconds, api, observer, &known).await
}

/// Follows widgets for so many seconds, with the budgets and the granted kinds of `known`, which a test may change meanwhile. Returns the
/// store, and the error if the follower ended before.
async fn play_knowing(
    seconds: u64,
    api: Api,
    observer: Option<Observer>,
    known: &Known,
) -> (Arc<Store>, Option<NotServed>) {
    let answer = service_fn(move |request: HttpRequest<Body>| {
        let reply = api(request.uri().to_string());
        async move {
            match reply {
                Some(reply) => Ok::<_, Infallible>(respond(reply)),
                None => std::future::pending().await,
            }
        }
    });
    let client = Client::new(crate::client::Limits::default().layer(answer), "default");
    let store = Arc::new(Store::new(crate::known::WallClock::STILL));
    let kind = Kind::Custom {
        group: "example.com".into(),
        word: "Widget".into(),
    };
    let resource = ApiResource {
        group: "example.com".into(),
        version: "v1".into(),
        api_version: "example.com/v1".into(),
        kind: "Widget".into(),
        plural: "widgets".into(),
    };
    let target = Target {
        detail: rules::kept::detail(&kind),
        kind,
        resource,
        selector: None,
        fields: None,
        namespace: None,
        observer,
        whole_budget: None,
        large_budget: Some(Arc::clone(&known.budgets().large)),
    };
    let metrics = StatusMetrics::default();
    let ended = tokio::select! {
        ended = follow(&client, &target, &store, &metrics, known.granted()) => Some(ended),
        () = tokio::time::sleep(Duration::from_secs(seconds)) => None,
    };
    (store, ended)
}

fn names(store: &Store) -> Vec<String> {
    store
        .list(None, &rules::selector::Selector::default())
        .iter()
        .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}
