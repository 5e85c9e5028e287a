//! A kind is named by lists, followed, and forgotten.

use super::*;
use crate::known::budgets::UNREAD_KINDS_OF_A_NAMESPACE;
use crate::known::{Known, Settings};
use rules::annotation::MAX_ENTRIES;
use rules::kinds::JOB;
use rules::lookup::{Lookup, Unavailable};
use rules::world::Objects;
use serde_json::Value;
use tokio::time::advance;

fn kind(word: &str) -> Kind {
    Kind::Custom {
        group: "example.com".into(),
        word: word.into(),
    }
}

/// Adds the store of a custom kind that a task follows and that the API server does not serve, with the receiver that tells when it is
/// forgotten.
fn unread(stores: &Stores, word: &str) -> (Arc<Store>, Forgotten) {
    stores.add(&kind(word), None);
    let (store, forgotten) = stores.begin(&kind(word)).unwrap();
    store.clear(Freshness::NotServed);
    (store, forgotten)
}

fn is_over(forgotten: &mut Forgotten) -> bool {
    forgotten.try_recv() == Err(oneshot::error::TryRecvError::Closed)
}

#[tokio::test(start_paused = true)]
async fn a_custom_kind_that_cannot_be_read_is_forgotten_when_nobody_names_it() {
    let stores = Stores::new(WallClock::STILL);
    let [mut gone, mut named] = ["Gone", "Named"].map(|it| unread(&stores, it).1);
    let (_, _granted) = unread(&stores, "Granted");
    stores.add(&kind("Read"), None).0.replace::<&Value>([]);
    stores.add(&Kind::Builtin(JOB), None);
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

/// The task follows the spelling that came first, even if its entry becomes an alias.
#[tokio::test(start_paused = true)]
async fn a_spelling_is_forgotten_and_its_kind_is_followed_on() {
    let stores = Stores::new(WallClock::STILL);
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
    let stores = Stores::new(WallClock::STILL);
    let (_store, mut forgotten) = unread(&stores, "widgets");
    stores.alias(&kind("widgets"), &kind("Widget"));
    advance(KEPT * 2).await;
    stores.forget_unnamed(&[kind("widgets")]);
    assert!(!is_over(&mut forgotten));
    assert_eq!(stores.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_names_one_spelling_keeps_the_kind() {
    let stores = Stores::new(WallClock::STILL);
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

fn bogus(number: usize) -> Kind {
    kind(&format!("Bogus{number}"))
}

/// Names these kinds through one view of a namespace, and returns how many of them find room.
fn named(known: &Arc<Known>, namespace: &str, kinds: impl IntoIterator<Item = Kind>) -> usize {
    let view = known.view_of(namespace);
    let share = known.budgets.unread_kinds.of_one();
    let over = Lookup::Unavailable(Unavailable::OverBudget { share });
    let named = kinds.into_iter().map(|it| view.object(&it, Some("a"), "x"));
    named.filter(|found| *found != over).count()
}

/// One namespace names as many kinds as it likes. The kinds of other namespaces stay, and are sought.
#[tokio::test(start_paused = true)]
async fn a_namespace_that_names_kinds_without_end_costs_no_other() {
    let (known, mut requests) = Known::new(Settings::of_the_chart());
    let mut sought = || {
        let all = std::iter::from_fn(|| requests.try_recv().ok());
        all.count()
    };
    assert_eq!(named(&known, "quiet", [kind("Widget")]), 1);
    let widgets = known.watched(&kind("Widget")).expect("it was named");
    for second in 0..60 {
        let fresh = (0..MAX_ENTRIES).map(|it| bogus(second * MAX_ENTRIES + it));
        named(&known, "loud", fresh);
        advance(Duration::from_secs(1)).await;
        known.forget_unnamed();
    }
    assert_eq!(sought(), 1 + UNREAD_KINDS_OF_A_NAMESPACE, "of 3840 kinds");
    assert!(
        known.budgets.unread_kinds.refused() > 3_000,
        "each is counted"
    );
    let still = known.watched(&kind("Widget")).expect("it is named still");
    assert!(Arc::ptr_eq(&widgets, &still));
    assert_eq!(named(&known, "late", [kind("Gadget")]), 1);
    advance(KEPT + Duration::from_secs(1)).await;
    known.forget_unnamed();
    assert_eq!(
        known.budgets.unread_kinds.taken(),
        0,
        "no list names them any more"
    );
    assert_eq!(named(&known, "loud", [bogus(0)]), 1, "there is room again");
}

/// A view beyond the share is judged anew after a while, since no change of a kind wakes it.
#[tokio::test(start_paused = true)]
async fn a_list_beyond_the_share_is_looked_at_again() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    named(&known, "loud", (0..UNREAD_KINDS_OF_A_NAMESPACE).map(bogus));
    let view = known.view_of("loud");
    let _ = view.object(&kind("Another"), Some("a"), "x");
    assert!(view.believed_until().is_some());
    let builtin = view.object(&Kind::Builtin(JOB), Some("a"), "x");
    assert_eq!(builtin, Lookup::Unavailable(Unavailable::Syncing));
}

/// A served kind costs no namespace a place, and each further spelling of it does.
#[tokio::test(start_paused = true)]
async fn a_kind_that_is_read_is_paid_for_by_no_namespace() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    named(&known, "shop", ["Widget", "widgets"].map(kind));
    known.want(&kind("Widget")).replace::<&Value>([]);
    known.alias(&kind("widgets"), &kind("Widget"));
    known.forget_unnamed();
    assert_eq!(known.budgets.unread_kinds.taken(), BYTES_OF_A_KIND);
    known.grant(vec![kind("Granted")]);
    named(&known, "shop", [kind("Granted")]);
    assert_eq!(known.budgets.unread_kinds.taken(), BYTES_OF_A_KIND);
}
