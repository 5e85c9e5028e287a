//! Tests what becomes of a store when the API server refuses its kind, and how often it is asked again.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_refusal_is_believed_when_it_lasts_and_forgotten_when_it_ends() {
    for (code, why) in [(403, Freshness::Forbidden), (404, Freshness::Undiscovered)] {
        let (store, ended) = play(64, restarts(code, 5)).await;
        assert!(ended.is_none());
        assert_eq!(
            (store.freshness(), names(&store)),
            (Freshness::Live, vec!["x".to_owned()])
        );
        assert!(
            store.believed_until().is_ok(),
            "it is in order for a few seconds"
        );
        let (store, ended) = play(75, restarts(code, 5)).await;
        assert!(ended.is_none());
        assert_eq!(
            (store.freshness(), names(&store)),
            (Freshness::Live, vec!["x".to_owned()])
        );
        let (store, ended) = play(100, restarts(code, 100)).await;
        assert_eq!(ended.is_some(), code == 404);
        assert_eq!((store.freshness(), store.is_empty()), (why, true));
    }
    let (store, _) = play(200, restarts(403, 50)).await;
    assert!(store.believed_until().is_ok(), "the ban is lifted");
}

/// A right comes after an hour, and the API server learns of it two seconds later than sluice.
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
        assert_eq!(play(9, refuses()).await.0.freshness(), Freshness::Syncing);
        assert_eq!(play(16, refuses()).await.0.freshness(), why);
    }
}

/// An API server that answers a list with the widget `x`, and each watch with `watch`; and the seconds since the start at which it was asked.
fn counting(watch: impl Fn() -> Reply + Send + 'static) -> (Api, Arc<Mutex<Vec<u64>>>) {
    let (asked, began) = (Arc::<Mutex<Vec<u64>>>::default(), Instant::now());
    let noted = Arc::clone(&asked);
    let api = Box::new(move |uri: String| {
        noted.lock().unwrap().push(began.elapsed().as_secs());
        Some(if lists(&uri) {
            Reply::List(vec![widget("x", "9")])
        } else {
            watch()
        })
    });
    (api, asked)
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_refused_is_not_asked_for_without_a_pause() {
    for (code, per_hour) in [(405, 1_460), (500, 1_460), (410, 1_460), (403, 510)] {
        let (api, asked) = counting(move || Reply::Status(code));
        let (store, ended) = play(3_600, api).await;
        assert!(ended.is_none());
        let asked = asked.lock().unwrap().len();
        assert!(asked < per_hour, "{code}: {asked} requests in an hour");
        if code == 403 {
            assert_eq!(
                (store.freshness(), names(&store)),
                (Freshness::Forbidden, vec![])
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_whose_watch_is_refused_is_known_once_it_is_allowed() {
    let began = Instant::now();
    let (api, _) = counting(move || match began.elapsed().as_secs() {
        0..100 => Reply::Status(403),
        _ => Reply::Ending,
    });
    let (store, _) = play(125, api).await;
    assert_eq!(names(&store), ["x"]);
    assert!(store.believed_until().is_ok());
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_begun_with_a_pause() {
    let (api, asked) = counting(|| Reply::Watch(vec![], false));
    let (store, _) = play(600, api).await;
    assert!(store.believed_until().is_ok());
    let asked = asked.lock().unwrap().len();
    assert!(asked < 140, "{asked} requests in ten minutes");
}
