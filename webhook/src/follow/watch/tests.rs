//! An API server that is a script: one answer for each request, in order.

use super::*;
use crate::known::{Known, Settings};
use axum::body::Body as Answer;
use axum::http::{Request as HttpRequest, Response};
use futures::StreamExt;
use kube::client::Body;
use rules::lookup::Unavailable;
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::{Layer, service_fn};

/// One answer of the script.
enum Reply {
    List(Vec<Value>),
    /// A part of a list, and where the next begins.
    Page(Vec<Value>, String),
    /// Events, and whether the connection then stays open.
    Watch(Vec<Value>, bool),
    /// A watch that the server ends in order after its time.
    Ending,
    Status(u16),
}

struct Script {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<String>>,
}

fn widget(name: &str, version: &str) -> Value {
    json!({"metadata": {"namespace": "a", "name": name, "resourceVersion": version}})
}

fn event(kind: &str, object: &Value) -> Value {
    json!({"type": kind, "object": object})
}

fn respond(reply: Reply) -> Response<Answer> {
    let json = |code: u16, value: &Value| {
        let body = Answer::from(value.to_string());
        Response::builder().status(code).body(body).unwrap()
    };
    match reply {
        Reply::List(items) => json(
            200,
            &json!({"metadata": {"resourceVersion": "10"}, "items": items}),
        ),
        Reply::Page(items, next) => json(
            200,
            &json!({"metadata": {"resourceVersion": "10", "continue": next}, "items": items}),
        ),
        Reply::Status(code) => json(
            code,
            &json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": code}),
        ),
        Reply::Ending => Response::new(Answer::from_stream(stream::once(async {
            tokio::time::sleep(Duration::from_secs(WATCH_FOR.into())).await;
            Ok::<_, Infallible>("\n")
        }))),
        Reply::Watch(events, open) => {
            let lines = events
                .into_iter()
                .map(|event| Ok::<_, Infallible>(format!("{event}\n")));
            let lines = futures::stream::iter(lines);
            let body = if open {
                Answer::from_stream(lines.chain(futures::stream::pending()))
            } else {
                Answer::from_stream(lines)
            };
            Response::new(body)
        }
    }
}

/// An API server with one answer for each request.
fn scripted(replies: Vec<Reply>) -> (Api, Arc<Script>) {
    let script = Arc::new(Script {
        replies: Mutex::new(replies.into()),
        asked: Mutex::default(),
    });
    let asked = Arc::clone(&script);
    let api = move |uri: String| {
        let reply = asked.replies.lock().unwrap().pop_front();
        reply.inspect(|_| asked.asked.lock().unwrap().push(uri))
    };
    (Box::new(api), script)
}

/// What the API server says to a request; `None`: it never answers.
type Api = Box<dyn Fn(String) -> Option<Reply> + Send>;

/// Follows widgets for so many seconds, and then looks at the store.
async fn play(seconds: u64, api: Api) -> (Arc<Store>, Option<NotServed>) {
    play_before(seconds, api, None).await
}

/// The same before somebody who is shown each object.
async fn play_before(
    seconds: u64,
    api: Api,
    observer: Option<Observer>,
) -> (Arc<Store>, Option<NotServed>) {
    let (known, _) = Known::new(Settings::of_the_chart());
    play_knowing(seconds, api, observer, &known).await
}

/// The same while somebody changes what is meant to be read.
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
    let client = Client::new(crate::client::Deadlines.layer(answer), "default");
    let store = Arc::new(Store::default());
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
    };
    let metrics = StatusMetrics::default();
    let ended = tokio::select! {
        ended = follow(&client, &target, &store, &metrics, known.granted()) => Some(ended),
        () = tokio::time::sleep(Duration::from_secs(seconds)) => None,
    };
    (store, ended)
}

/// The same by a script, for a second after it; also the requests.
async fn play_script(replies: Vec<Reply>) -> (Arc<Store>, Vec<String>) {
    let (api, script) = scripted(replies);
    let (store, _) = play(5, api).await;
    let asked = script.asked.lock().unwrap().clone();
    (store, asked)
}

/// Whether the kind is listed, not watched.
fn lists(uri: &str) -> bool {
    !uri.contains("watch=true")
}

fn names(store: &Store) -> Vec<String> {
    store
        .list(None, &rules::selector::Selector::default())
        .iter()
        .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_is_followed_by_its_changes() {
    let events = vec![
        event("ADDED", &widget("y", "11")),
        event("DELETED", &widget("x", "12")),
        json!({"type": "BOOKMARK", "object": {"kind": "Widget", "apiVersion": "v1", "metadata": {"resourceVersion": "15"}}}),
    ];
    let (store, asked) = play_script(vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(events, false),
    ])
    .await;
    assert_eq!(names(&store), ["y"]);
    assert_eq!(store.get("a", "y").unwrap()["kind"], "Widget");
    assert!(asked[1].contains("resourceVersion=10"), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_is_resumed_where_it_ended() {
    let first = Reply::Watch(vec![event("ADDED", &widget("y", "11"))], false);
    let second = Reply::Watch(vec![event("ADDED", &widget("z", "12"))], false);
    let (store, asked) = play_script(vec![Reply::List(vec![]), first, second]).await;
    assert_eq!(names(&store), ["y", "z"]);
    assert!(asked[2].contains("resourceVersion=11"), "{asked:?}");
    assert_eq!(store.condition(), Freshness::Live);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_too_old_means_a_new_list() {
    let gone = event(
        "ERROR",
        &json!({"kind": "Status", "status": "Failure", "message": "too old", "reason": "Expired", "code": 410}),
    );
    let replies = vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(vec![gone], false),
        Reply::List(vec![widget("z", "20")]),
    ];
    let (store, _) = play_script(replies).await;
    assert_eq!(names(&store), ["z"], "what was deleted in between is gone");
}

/// An API server that answers a list with `x`, and each watch as `watch` says.
fn listing(watch: impl Fn() -> Option<Reply> + Send + 'static) -> Api {
    Box::new(move |uri| {
        if lists(&uri) {
            Some(Reply::List(vec![widget("x", "9")]))
        } else {
            watch()
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_gives_no_sign_is_begun_again_before_its_store_is_stale() {
    let silent = vec![
        Reply::List(vec![]),
        Reply::Watch(vec![], true),
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(vec![], true),
    ];
    let (api, _) = scripted(silent);
    let (store, _) = play(29, api).await;
    assert_eq!(names(&store), ["x"]);
    assert!(store.believed_until().is_ok());
}

/// Answers the first list and the first watch, and then nothing.
fn falls_silent(open: bool) -> Api {
    let (api, _) = scripted(vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(vec![], open),
    ]);
    api
}

#[tokio::test(start_paused = true)]
async fn what_the_api_server_has_left_unanswered_for_half_a_minute_is_stale() {
    for open in [true, false] {
        let (store, _) = play(29, falls_silent(open)).await;
        assert!(store.believed_until().is_ok(), "open: {open}");
        let (store, _) = play(30, falls_silent(open)).await;
        assert_eq!(
            store.believed_until(),
            Err(Unavailable::Stale),
            "open: {open}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_answer_does_not_begin_is_made_again() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let began = tokio::time::Instant::now();
    let api = move |uri: String| {
        let mut asked = noted.lock().unwrap();
        asked.push((lists(&uri), began.elapsed().as_secs()));
        None
    };
    let (store, _) = play(25, Box::new(api)).await;
    assert_eq!(
        asked.lock().unwrap()[..],
        [(true, 0), (true, 10), (true, 20)]
    );
    assert_eq!(store.condition(), Freshness::Syncing);
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_in_order_keep_the_store_believed() {
    let ends = listing(|| Some(Reply::Ending));
    let (store, _) = play(300, ends).await;
    assert!(store.believed_until().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_is_believed_for_a_while() {
    let fails = || {
        let (api, _) = scripted(vec![Reply::List(vec![widget("x", "9")])]);
        let api: Api = Box::new(move |uri| Some(api(uri).unwrap_or(Reply::Status(500))));
        api
    };
    let (store, _) = play(29, fails()).await;
    assert!(store.believed_until().is_ok());
    let (store, _) = play(30, fails()).await;
    assert_eq!(store.believed_until(), Err(Unavailable::Stale));
    assert_eq!(names(&store), ["x"]);
}

/// An API server that restarts after a minute: it refuses everything with this code for so many seconds.
fn restarts(code: u16, seconds: u64) -> Api {
    let began = tokio::time::Instant::now();
    Box::new(move |uri| {
        let refuses = (60..60 + seconds).contains(&began.elapsed().as_secs());
        Some(match refuses {
            true => Reply::Status(code),
            false if lists(&uri) => Reply::List(vec![widget("x", "9")]),
            false => Reply::Ending,
        })
    })
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_believed_when_it_lasts_and_forgotten_when_it_ends() {
    for (code, why) in [(403, Freshness::Forbidden), (404, Freshness::Undiscovered)] {
        let (store, ended) = play(64, restarts(code, 5)).await;
        assert!(ended.is_none());
        assert_eq!(
            (store.condition(), names(&store)),
            (Freshness::Live, vec!["x".to_owned()])
        );
        assert!(
            store.believed_until().is_ok(),
            "it is in order for a few seconds"
        );
        let (store, ended) = play(75, restarts(code, 5)).await;
        assert!(ended.is_none());
        assert_eq!(
            (store.condition(), names(&store)),
            (Freshness::Live, vec!["x".to_owned()])
        );
        let (store, ended) = play(100, restarts(code, 100)).await;
        assert_eq!(ended.is_some(), code == 404);
        assert_eq!((store.condition(), store.is_empty()), (why, true));
    }
    let (store, _) = play(200, restarts(403, 50)).await;
    assert!(store.believed_until().is_ok(), "the ban is lifted");
}

/// A right comes after an hour, and whoever answers hears of it two seconds later than we.
#[tokio::test(start_paused = true)]
async fn who_is_refused_asks_seldom_and_goes_on_as_soon_as_the_right_is_there() {
    const RIGHT: u64 = 3_600;
    let (known, _) = Known::new(Settings::of_the_chart());
    let widgets = Kind::Custom {
        group: "example.com".into(),
        word: "widgets".into(),
    };
    let asked: Arc<Mutex<Vec<u64>>> = Arc::default();
    let (noted, began) = (Arc::clone(&asked), tokio::time::Instant::now());
    let api = Box::new(move |uri: String| {
        let now = began.elapsed().as_secs();
        noted.lock().unwrap().push(now);
        Some(match now < RIGHT + 2 {
            true => Reply::Status(403),
            false if lists(&uri) => Reply::List(vec![widget("x", "9")]),
            false => Reply::Ending,
        })
    });
    let granted = async {
        tokio::time::sleep(Duration::from_secs(RIGHT)).await;
        known.grant(vec![widgets]);
    };
    let ((store, _), ()) = tokio::join!(play_knowing(RIGHT + 4, api, None, &known), granted);
    assert_eq!(names(&store), ["x"]);
    let asked = asked.lock().unwrap();
    let before = asked.iter().filter(|at| (60..RIGHT).contains(at)).count();
    assert_eq!(before, 236, "one in fifteen seconds");
    let after = asked.iter().filter(|at| **at >= RIGHT).count();
    assert!(after < 10, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_never_read_is_refused_sooner() {
    for (code, why) in [(403, Freshness::Forbidden), (404, Freshness::Undiscovered)] {
        let refuses = || Box::new(move |_| Some(Reply::Status(code)));
        assert_eq!(play(9, refuses()).await.0.condition(), Freshness::Syncing);
        assert_eq!(play(16, refuses()).await.0.condition(), why);
    }
}

/// A list of so many objects as `sizes` says, in bytes; each request is noted with how many it asks for.
async fn paged(sizes: Vec<usize>) -> (usize, Vec<usize>) {
    let asked: Arc<Mutex<Vec<usize>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let number = |uri: &str, key: &str| -> usize {
        let pairs = uri.split(['?', '&']).filter_map(|it| it.split_once('='));
        let mut found = pairs.filter(|(name, _)| *name == key);
        found.next().map_or(0, |(_, value)| value.parse().unwrap())
    };
    let api = move |uri: String| {
        if !lists(&uri) {
            return None;
        }
        let (from, limit) = (number(&uri, "continue"), number(&uri, "limit"));
        noted.lock().unwrap().push(limit);
        let to = (from + limit).min(sizes.len());
        let items = (from..to).map(|number| {
            let mut item = widget(&number.to_string(), "1");
            item["data"] = json!("x".repeat(sizes[number]));
            item
        });
        let next = if to < sizes.len() {
            to.to_string()
        } else {
            String::new()
        };
        Some(Reply::Page(items.collect(), next))
    };
    let (store, _) = play(5, Box::new(api)).await;
    let asked = asked.lock().unwrap().clone();
    (store.len(), asked)
}

#[tokio::test(start_paused = true)]
async fn the_pages_of_a_list_follow_the_size_of_its_objects() {
    let (found, asked) = paged(vec![100; 5_000]).await;
    assert_eq!((found, &asked[..5]), (5_000, &[10, 40, 160, 500, 500][..]));
    assert!(asked.len() < 20, "{asked:?}");

    let large = 1_400_000;
    let (found, asked) = paged(vec![large; 30]).await;
    assert_eq!(
        (found, &asked[..4]),
        (30, &[10, 1, 1, 1][..]),
        "the first is not read to its end"
    );

    // Small ones first, to have a large page asked for.
    let sizes = [vec![100; 800], vec![large; 20], vec![100; 100]].concat();
    let (found, asked) = paged(sizes).await;
    assert_eq!(found, 920);
    assert!(asked.contains(&500) && asked.contains(&1), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_next_page_is_asked_for_while_one_is_trimmed() {
    let asked: Arc<Mutex<usize>> = Arc::default();
    let noted = Arc::clone(&asked);
    let api = move |uri: String| {
        let mut asked = noted.lock().unwrap();
        let items = (*asked * 100..).take(100);
        let items = items.map(|number| widget(&number.to_string(), "1"));
        *asked += usize::from(lists(&uri));
        let next = if *asked < 3 {
            asked.to_string()
        } else {
            String::new()
        };
        lists(&uri).then(|| Reply::Page(items.collect(), next))
    };
    let trimmed: Arc<Mutex<Vec<usize>>> = Arc::default();
    let shown = Arc::clone(&trimmed);
    let observer = move |_: &Value| shown.lock().unwrap().push(*asked.lock().unwrap());
    let (store, _) = play_before(5, Box::new(api), Some(Arc::new(observer))).await;
    assert_eq!(store.len(), 300);
    let trimmed = trimmed.lock().unwrap();
    // How many pages had been asked for when the last object of each was trimmed.
    assert_eq!([trimmed[99], trimmed[199], trimmed[299]], [2, 3, 3]);
}
