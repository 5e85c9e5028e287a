//! Kinds are named and forgotten.

use super::*;
use crate::known::{Known, Settings, View};
use rules::annotation::MAX_ENTRIES;
use rules::kinds::JOB;
use rules::scope;
use rules::world::{Objects, Scopes};
use serde_json::Value;
use tokio::time::advance;

fn kind(word: &str) -> Kind {
    Kind::Custom {
        group: "example.com".into(),
        word: word.into(),
    }
}

/// The store of a kind that is followed and cannot be read.
fn unread(stores: &Stores, word: &str) -> (Arc<Store>, Forgotten) {
    stores.add(&kind(word), &[]);
    let (store, forgotten) = stores.begin(&kind(word)).unwrap();
    store.clear(Freshness::NotServed);
    (store, forgotten)
}

fn is_over(forgotten: &mut Forgotten) -> bool {
    forgotten.try_recv() == Err(oneshot::error::TryRecvError::Closed)
}

#[tokio::test(start_paused = true)]
async fn a_custom_kind_that_cannot_be_read_is_forgotten_when_nobody_names_it() {
    let stores = Stores::default();
    let [mut gone, mut named] = ["Gone", "Named"].map(|it| unread(&stores, it).1);
    let (_, _granted) = unread(&stores, "Granted");
    stores.add(&kind("Read"), &[]).0.replace::<&Value>([]);
    stores.add(&Kind::Builtin(JOB), &[]);
    let forget = || stores.forget_unnamed(&[kind("Granted")]);
    advance(KEPT).await;
    forget();
    assert_eq!(stores.all().len(), 5);
    stores.named(&kind("Named"));
    advance(Duration::from_secs(1)).await;
    forget();
    assert!(stores.get(&kind("Gone")).is_none() && stores.all().len() == 4);
    assert!(is_over(&mut gone) && !is_over(&mut named));
}

#[tokio::test(start_paused = true)]
async fn there_is_room_for_so_many_and_who_was_named_last_stays() {
    let stores = Stores::default();
    let first = unread(&stores, "First");
    for number in 1..AT_MOST {
        advance(Duration::from_millis(1)).await;
        let _followed = unread(&stores, &number.to_string());
    }
    advance(Duration::from_millis(1)).await;
    stores.named(&kind("First"));
    for number in AT_MOST..1000 {
        advance(Duration::from_millis(1)).await;
        let _followed = unread(&stores, &number.to_string());
        stores.named(&kind("First"));
    }
    assert_eq!(stores.all().len(), AT_MOST);
    assert!(Arc::ptr_eq(&stores.get(&kind("First")).unwrap(), &first.0));
}

/// The spelling that came first is followed on, even if its entry becomes an alias.
#[tokio::test(start_paused = true)]
async fn a_spelling_is_forgotten_and_its_kind_is_followed_on() {
    let stores = Stores::default();
    let (store, mut forgotten) = unread(&stores, "widgets");
    assert!(stores.alias(&kind("widgets"), &kind("Widget")).is_none());
    let other = unread(&stores, "WIDGETS").0;
    let own = stores.alias(&kind("WIDGETS"), &kind("Widget")).unwrap();
    assert!(Arc::ptr_eq(&own, &other));
    let custom = || stores.custom(&[]);
    assert_eq!((stores.all().len(), custom()), (3, vec![]));
    store.replace::<&Value>([]);
    assert_eq!(custom(), [kind("Widget")]);
    advance(KEPT * 2).await;
    stores.forget_unnamed(&[]);
    assert_eq!(stores.all().len(), 1);
    assert!(Arc::ptr_eq(&stores.get(&kind("Widget")).unwrap(), &store));
    assert!(!is_over(&mut forgotten));
}

/// A role may use any spelling of a kind.
#[tokio::test(start_paused = true)]
async fn what_a_role_grants_stays() {
    let stores = Stores::default();
    let (_store, mut forgotten) = unread(&stores, "widgets");
    stores.alias(&kind("widgets"), &kind("Widget"));
    advance(KEPT * 2).await;
    stores.forget_unnamed(&[kind("widgets")]);
    assert!(!is_over(&mut forgotten));
    assert_eq!(stores.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_names_one_spelling_keeps_the_kind() {
    let stores = Stores::default();
    let (_store, mut forgotten) = unread(&stores, "widgets");
    stores.alias(&kind("widgets"), &kind("Widget"));
    advance(KEPT * 2).await;
    stores.named(&kind("widgets"));
    stores.forget_unnamed(&[]);
    assert!(!is_over(&mut forgotten));
    advance(KEPT * 2).await;
    stores.forget_unnamed(&[]);
    assert!(is_over(&mut forgotten) && stores.all().is_empty());
}

/// The gates name more kinds than there is room for, so each gate takes the places of another gate's kinds.
#[test]
fn gates_that_name_kinds_that_there_are_not_do_not_wake_one_another() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let judge = |gate: usize| {
        let view = known.view();
        for number in 0..MAX_ENTRIES {
            let kind = Kind::Custom {
                group: format!("gate-{gate}.example.com"),
                word: format!("Bogus{number}"),
            };
            let _ = view.object(&kind, Some("a"), "x");
        }
        assert_eq!(
            view.kinds().map(|it| it.len()),
            Ok(scope::workloads().count())
        );
        view
    };
    let views: Vec<View> = (0..5).map(judge).collect();
    let _again: Vec<View> = (0..5).map(judge).collect();
    assert!(views.iter().all(|view| !view.has_changed()));
}
