//! Objects come and go, and the waiting views are woken.

use super::*;
use rules::lookup::Unavailable;
use rules::selector::Test;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn pod(namespace: &str, name: &str, app: &str, phase: &str) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name, "labels": {"app": app}}, "status": {"phase": phase}})
}

fn woken(bell: &Bell) -> bool {
    use futures::FutureExt;
    bell.heard().now_or_never().is_some()
}

#[test]
fn a_list_stays_in_its_namespace_and_keeps_to_its_label() {
    let store = Store::new(WallClock::STILL);
    store.replace(&[
        pod("a", "x", "web", ""),
        pod("b", "y", "web", ""),
        pod("b", "z", "db", ""),
        pod("bb", "q", "web", ""),
    ]);
    let names = |namespace, selector: &Selector| -> Vec<String> {
        store
            .list(namespace, selector)
            .iter()
            .map(|object| object["metadata"]["name"].to_string())
            .collect()
    };
    let web = Selector::label("app", "web");
    let mut other = web.clone();
    other.0[0].test = Test::NotIn(vec!["web".to_owned()]);
    assert_eq!(names(Some("b"), &Selector::default()), ["\"y\"", "\"z\""]);
    assert_eq!(names(Some("b"), &web), ["\"y\""]);
    assert_eq!(names(Some("b"), &other), ["\"z\""]);
    assert_eq!(names(None, &web).len(), 3);
    assert!(store.get("b", "x").is_none());
}

#[test]
fn a_change_wakes_those_who_read_it_and_nobody_else() {
    let store = Store::new(WallClock::STILL);
    let list = |app: &'static str| Interest::List {
        namespace: Some("a"),
        label: Some(("app", app)),
    };
    let waiters: Vec<Arc<Bell>> = (0..4).map(|_| Arc::default()).collect();
    let interests = [
        Interest::Object("a", "x"),
        Interest::Object("a", "y"),
        list("web"),
        list("db"),
    ];
    let subscribe = |(interest, waiter)| store.subscribe(interest, waiter);
    let subscriptions: Vec<_> = interests.into_iter().zip(&waiters).map(subscribe).collect();
    let woken = || waiters.iter().map(|bell| woken(bell)).collect::<Vec<_>>();
    store.apply(&pod("a", "x", "web", "Pending"));
    assert_eq!(woken(), [true, false, true, false]);
    store.apply(&pod("a", "x", "web", "Pending"));
    assert_eq!(woken(), [false; 4], "nothing changed");
    store.apply(&pod("a", "x", "db", "Pending"));
    assert_eq!(
        woken(),
        [true, false, true, true],
        "the old label's readers lose it"
    );
    store.delete(&pod("a", "x", "", ""));
    assert_eq!(woken(), [true, false, false, true]);
    store.clear(Freshness::Forbidden);
    assert_eq!(woken(), [true; 4]);
    drop(subscriptions);
    assert!(store.lock().waiters.is_empty());
}

/// A woken view may read the store at once, on another thread.
#[test]
fn nobody_is_woken_under_the_lock() {
    struct Reader(Store, std::sync::atomic::AtomicUsize);
    impl std::task::Wake for Reader {
        fn wake(self: Arc<Self>) {
            let free = self.0.inner.try_lock().is_ok();
            self.1.fetch_add(usize::from(free), Ordering::Relaxed);
        }
    }
    let reader = Arc::new(Reader(Store::new(WallClock::STILL), 0.into()));
    let store = &reader.0;
    let changes: [&dyn Fn(); 6] = [
        &|| store.apply(&pod("a", "x", "web", "")),
        &|| store.delete(&pod("a", "x", "web", "")),
        &|| store.replace(&[pod("a", "x", "web", "")]),
        &|| store.clear(Freshness::Forbidden),
        &|| store.lost(),
        &|| store.wake_all(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let bell = Arc::<Bell>::default();
        let _subscription = store.subscribe(Interest::Object("a", "x"), &bell);
        let waker = Arc::clone(&reader).into();
        let mut waits = std::pin::pin!(bell.heard());
        let polled = waits
            .as_mut()
            .poll(&mut std::task::Context::from_waker(&waker));
        assert!(polled.is_pending());
        change();
        assert_eq!(reader.1.load(Ordering::Relaxed), number + 1, "{number}");
    }
}

#[test]
fn a_new_list_drops_what_is_gone() {
    let store = Store::new(WallClock::STILL);
    store.replace(&[pod("a", "x", "web", ""), pod("a", "y", "web", "")]);
    let bell = Arc::<Bell>::default();
    let _subscription = store.subscribe(Interest::Object("a", "x"), &bell);
    store.replace(&[pod("a", "y", "web", "")]);
    assert!(woken(&bell));
    assert_eq!(store.len(), 1);
}

/// Refuses a kind to a new store now and again after so many seconds. `listed`: the store has an object before. Returns whether the second
/// refusal counts, and the store.
async fn refused_for(listed: bool, why: Freshness, seconds: u64) -> (bool, Store) {
    let store = Store::new(WallClock::STILL);
    if listed {
        store.replace(&[pod("a", "x", "web", "")]);
    }
    assert!(!store.refuse(why), "the first time");
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    (store.refuse(why), store)
}

#[tokio::test(start_paused = true)]
async fn a_refusal_counts_once_it_has_lasted() {
    for why in [Freshness::Forbidden, Freshness::NotServed] {
        for (listed, before, lasting) in
            [(true, Freshness::Live, 30), (false, Freshness::Syncing, 10)]
        {
            let (counts, store) = refused_for(listed, why, lasting - 1).await;
            assert_eq!((counts, store.freshness()), (false, before));
            assert_eq!(store.is_empty(), !listed, "nothing is forgotten");
            let (counts, store) = refused_for(listed, why, lasting).await;
            assert_eq!((counts, store.freshness()), (true, why));
            assert!(store.is_empty());
            assert!(!store.refuse(why), "it counts already");
        }
    }
}

/// An API server that refuses a kind answers, so it is not lost.
#[tokio::test(start_paused = true)]
async fn what_is_refused_and_no_longer_believed_is_told_as_refused() {
    for (why, told) in [
        (Freshness::Forbidden, Unavailable::Forbidden),
        (Freshness::NotServed, Unavailable::NotServed),
        (Freshness::Undiscovered, Unavailable::Undiscovered),
    ] {
        let store = Store::new(WallClock::STILL);
        store.replace(&[pod("a", "x", "web", "")]);
        let pass = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        pass(20).await;
        store.refuse(why);
        assert!(store.believed_until().is_ok(), "it may be a moment");
        pass(10).await;
        assert_eq!(store.believed_until(), Err(told));
        store.lost();
        assert_eq!(store.believed_until(), Err(Unavailable::Stale));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_anything_else_interrupts_begins_anew() {
    let (_, store) = refused_for(true, Freshness::Forbidden, 29).await;
    store.lost();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!store.refuse(Freshness::Forbidden));
    store.heard();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(!store.refuse(Freshness::Forbidden));
    store.replace::<&Value>([]);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(
        store.refuse(Freshness::Forbidden),
        "a list says nothing of its watch"
    );
    let (counts, store) = refused_for(true, Freshness::Forbidden, 30).await;
    assert!(counts);
    store.lost();
    assert_eq!(
        store.freshness(),
        Freshness::Syncing,
        "nobody knows any more"
    );
}
