mod large;
mod search;

use super::*;
use crate::known::{Freshness, Settings, View};
use crate::tasks::Tasks;
use axum::body::Body as Answer;
use axum::http::{Request, Response};
use kube::client::Body;
use rules::lookup::Lookup;
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::json;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use tower::service_fn;

/// A catalog in front of the API server of `client`, and the cluster that the catalog fills.
fn catalog(client: Client) -> (Arc<Known>, Tasks) {
    let (known, requests) = Known::new(Settings::of_the_chart());
    let (spawner, tasks) = Tasks::new();
    let catalog = Catalog {
        client,
        discovery: Arc::default(),
        known: Arc::clone(&known),
        metrics: Arc::default(),
        tasks: spawner.clone(),
        shown: None,
        jobs: None,
    };
    spawner.keep("catalog", catalog.run(requests));
    (known, tasks)
}

/// Lets every task of the catalog run for so many seconds; none may end.
async fn pass(tasks: &mut Tasks, seconds: u64) {
    let ended = tokio::time::timeout(Duration::from_secs(seconds), tasks.ended()).await;
    assert!(ended.is_err(), "{ended:?}");
}

fn widgets() -> Kind {
    Kind::Custom {
        group: "example.com".into(),
        word: "Widget".into(),
    }
}

/// The freshness of a custom kind 20 seconds after it was asked for. The API server answers each request with this HTTP code; for `None`
/// it never answers.
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
    let (known, mut tasks) = catalog(Client::new(api_server, "default"));
    let kinds = [Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION), widgets()];
    let [definitions, widgets] = kinds.map(|kind| known.want(&kind));
    if answers.is_some() {
        definitions.clear(Freshness::Forbidden);
    }
    pass(&mut tasks, 20).await;
    widgets.freshness()
}

#[tokio::test(start_paused = true)]
async fn a_kind_is_not_called_unknown_before_the_definitions_have_arrived() {
    assert_eq!(known(None).await, Freshness::Syncing);
    assert_eq!(known(Some(404)).await, Freshness::NotServed);
}

/// Discovery fails while the server behind an aggregated API is down.
#[tokio::test(start_paused = true)]
async fn that_discovery_fails_does_not_mean_that_a_kind_is_not_served() {
    for code in [500, 503, 403] {
        assert_eq!(known(Some(code)).await, Freshness::Undiscovered, "{code}");
    }
}

/// Only the named object is read, in its namespace, and for as long as a view asks.
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
    let (known, mut tasks) = catalog(Client::new(api_server, "default"));
    let mut pass = async |seconds| pass(&mut tasks, seconds).await;
    let named = ObjectName {
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

/// The established CustomResourceDefinition of widgets with one version of this name, whose `subresources` are `details`.
fn definition(version: &str, details: &Value) -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": version, "served": true, "storage": true, "subresources": details}],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    })
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_changes_counts_while_its_kind_is_followed() {
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let api_server = service_fn(move |request: Request<Body>| {
        let uri = request.uri().to_string();
        let lists = uri.contains("/widgets") && !uri.contains("watch=");
        if lists {
            noted.lock().unwrap().push(uri);
        }
        async move {
            if !lists {
                return std::future::pending().await;
            }
            let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
            Ok::<_, Infallible>(Response::new(Answer::from(list.to_string())))
        }
    });
    let (known, mut tasks) = catalog(Client::new(api_server, "default"));
    let definitions = known.want(&Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION));
    definitions.replace(&[definition("v1", &json!({}))]);
    let widgets = known.want(&widgets());
    let declares = || widgets.details().declared.map(|it| it.status);
    pass(&mut tasks, 1).await;
    assert_eq!(declares(), Some(false));
    definitions.apply(&definition("v1", &json!({"status": {}})));
    pass(&mut tasks, 1).await;
    assert_eq!(declares(), Some(true));
    assert_eq!(asked.lock().unwrap().len(), 1, "it is followed on");
    definitions.apply(&definition("v2", &json!({"status": {}})));
    pass(&mut tasks, 1).await;
    let asked = asked.lock().unwrap().clone();
    assert!(asked[1].starts_with("/apis/example.com/v2/"), "{asked:?}");
}

/// Discovery may still list the group, and the watch may not have ended.
#[tokio::test(start_paused = true)]
async fn a_kind_whose_definition_is_deleted_is_not_served_from_that_moment() {
    for others in [true, false] {
        let gone = Arc::new(AtomicBool::new(false));
        let refuses = Arc::clone(&gone);
        let api_server = service_fn(move |request: Request<Body>| {
            let uri = request.uri().to_string();
            let version = json!({"groupVersion": "example.com/v1", "version": "v1"});
            let widgets = json!({"name": "widgets", "kind": "Widget", "singularName": "", "namespaced": true, "verbs": ["list"]});
            let (code, answer) = match request.uri().path() {
                "/apis" => (
                    200,
                    json!({"groups": [{"name": "example.com", "versions": [version]}]}),
                ),
                "/apis/example.com/v1" => (
                    200,
                    json!({"groupVersion": "example.com/v1", "resources": [widgets]}),
                ),
                _ if refuses.load(Ordering::Relaxed) => (
                    404,
                    json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "message": "no", "code": 404}),
                ),
                _ => (
                    200,
                    json!({"metadata": {"resourceVersion": "1"}, "items": []}),
                ),
            };
            async move {
                if code == 200 && (uri.contains("watch=") || uri.contains("definitions")) {
                    std::future::pending::<()>().await;
                }
                let answer = Response::builder()
                    .status(code)
                    .body(Answer::from(answer.to_string()));
                Ok::<_, Infallible>(answer.unwrap())
            }
        });
        let (known, mut tasks) = catalog(Client::new(api_server, "default"));
        let definitions = known.want(&Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION));
        let ours = definition("v1", &json!({}));
        let mut another = definition("v1", &json!({}));
        another["metadata"]["name"] = json!("gadgets.example.com");
        another["spec"]["names"] = json!({"kind": "Gadget", "plural": "gadgets"});
        definitions.replace(&[ours.clone(), another][..if others { 2 } else { 1 }]);
        let widgets = known.want(&widgets());
        pass(&mut tasks, 5).await;
        assert_eq!(widgets.freshness(), Freshness::Live);
        gone.store(true, Ordering::Relaxed);
        definitions.delete(&ours);
        for second in 1..=30 {
            pass(&mut tasks, 1).await;
            assert_eq!(
                widgets.freshness(),
                Freshness::NotServed,
                "{others}: after {second} s"
            );
        }
        gone.store(false, Ordering::Relaxed);
        definitions.apply(&ours);
        pass(&mut tasks, 1).await;
        assert_eq!(widgets.freshness(), Freshness::Live);
    }
}

/// The definition of OpenKruise's `CloneSet`.
#[tokio::test(start_paused = true)]
async fn a_kind_is_found_in_each_version_of_its_group() {
    let api_server = service_fn(move |request: Request<Body>| {
        let version =
            |name: &str| json!({"groupVersion": format!("example.com/{name}"), "version": name});
        let serves = |version: &str, kind: &str| {
            let resource = json!({"name": format!("{}s", kind.to_lowercase()), "kind": kind, "singularName": "", "namespaced": true, "verbs": ["list"]});
            json!({"groupVersion": format!("example.com/{version}"), "resources": [resource]})
        };
        let answer = match request.uri().path() {
            "/apis" => {
                json!({"groups": [{"name": "example.com", "versions": [version("v1beta1"), version("v1"), version("v1alpha1")],
                "preferredVersion": version("v1")}]})
            }
            "/apis/example.com/v1" => serves("v1", "Gadget"),
            "/apis/example.com/v1beta1" => serves("v1beta1", "Gadget"),
            "/apis/example.com/v1alpha1" => serves("v1alpha1", "Widget"),
            _ => Value::Null,
        };
        std::future::ready(Ok::<_, Infallible>(Response::new(Answer::from(
            answer.to_string(),
        ))))
    });
    let client = Client::new(api_server, "default");
    let discovery = Discovery::default();
    let found = async |word| {
        let found = discovery.find(&client, "example.com", word).await.unwrap();
        found.map(|it| it.resource.api_version)
    };
    assert_eq!(
        found("widget").await.as_deref(),
        Some("example.com/v1alpha1")
    );
    assert_eq!(found("gadget").await.as_deref(), Some("example.com/v1"));
    assert_eq!(found("gizmo").await, None);
}
