//! A list is followed by its changes, from where it was read.

use super::*;

fn event(kind: &str, object: &Value) -> Value {
    json!({"type": kind, "object": object})
}

/// Follows widgets for five seconds, with these replies to the requests in their order. Returns the store, and the requests.
async fn play_script(replies: Vec<Reply>) -> (Arc<Store>, Vec<String>) {
    let (api, script) = scripted(replies);
    let (store, _) = play(5, api).await;
    let asked = script.asked.lock().unwrap().clone();
    (store, asked)
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
    assert_eq!(store.freshness(), Freshness::Live);
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

/// A widget with a value inside of more lists than a JSON reader bears.
fn deep(name: &str, version: &str) -> Value {
    let mut object = widget(name, version);
    object["spec"] = (0..130).fold(json!(1), |inner, _| json!([inner]));
    object
}

#[tokio::test(start_paused = true)]
async fn one_object_that_is_nested_too_deep_keeps_nobody_from_the_others() {
    let events = vec![
        event("ADDED", &deep("b", "11")),
        event("ADDED", &widget("y", "12")),
    ];
    let (store, _) = play_script(vec![
        Reply::List(vec![deep("a", "8"), widget("x", "9")]),
        Reply::Watch(events, true),
    ])
    .await;
    assert_eq!(names(&store), ["a", "b", "x", "y"]);
    assert!(store.believed_until().is_ok());
}

/// Two widgets are too long for the share of their namespace. When one of them goes, nothing tells of the other.
#[tokio::test(start_paused = true)]
async fn what_found_no_room_is_listed_again_once_there_is_room() {
    let large = |name: &str| {
        let mut widget = widget(name, "9");
        widget["spec"] = json!({"text": "x".repeat(900_000)});
        widget
    };
    let asked = Arc::new(Mutex::new([0, 0]));
    let count = Arc::clone(&asked);
    let api: Api = Box::new(move |uri| {
        let of_lists = lists(&uri);
        let mut asked = count.lock().unwrap();
        let number = &mut asked[usize::from(!of_lists)];
        *number += 1;
        Some(match (of_lists, *number) {
            (true, 1) => Reply::List(vec![large("x"), large("y")]),
            (true, _) => Reply::List(vec![large("y")]),
            (false, 1) => Reply::Watch(vec![event("DELETED", &widget("x", "11"))], false),
            (false, _) => Reply::Ending,
        })
    });
    let settings = Settings {
        memory: 16 << 20,
        ..Settings::of_the_chart()
    };
    let (known, _) = Known::new(settings);
    let (store, _) = play_knowing(130, api, None, &known).await;
    assert_eq!(
        (names(&store), store.too_large()),
        (vec!["y".to_owned()], 0)
    );
    assert_eq!(asked.lock().unwrap()[0], 2, "lists");
}
