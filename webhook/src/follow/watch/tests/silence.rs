//! The time for which a store is believed while the API server is silent, or fails.

use super::*;

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
    assert_eq!(store.freshness(), Freshness::Syncing);
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
