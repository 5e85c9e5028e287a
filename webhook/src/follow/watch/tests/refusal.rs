//! Kinds that the API server refuses.

use super::*;

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
