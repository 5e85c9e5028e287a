//! A view is woken by the objects that it reads.

mod budget;

use super::super::WatchRequest;
use super::*;
use crate::known::ObjectName;
use crate::known::Settings;
use futures::FutureExt;
use rules::dependency::Reference;
use rules::scope::Scope;
use rules::world::{Hints, Pending, Scopes};
use serde_json::json;
use std::borrow::Cow;
use std::time::Duration;

fn widget() -> Kind {
    Kind::Custom {
        group: "example.com".into(),
        word: "Widget".into(),
    }
}

fn count(found: Lookup<Vec<Value>>) -> usize {
    match found {
        Lookup::Found(objects) => objects.len(),
        _ => panic!("{found:?}"),
    }
}

#[test]
fn the_first_read_of_a_kind_asks_for_its_watch_once() {
    let (known, mut requests) = Known::new(Settings::of_the_chart());
    let view = known.view();
    assert_eq!(
        view.object(&widget(), Some("a"), "x"),
        Lookup::Unavailable(Unavailable::Syncing)
    );
    let _ = view.object(&widget(), Some("a"), "y");
    assert_eq!(requests.try_recv().unwrap(), WatchRequest::Kind(widget()));
    assert!(requests.try_recv().is_err());
}

#[test]
fn an_object_is_read_whole_by_itself_and_a_secret_never() {
    let (known, mut requests) = Known::new(Settings::of_the_chart());
    let view = known.view();
    let kind = |word: &str| rules::kinds::by_word(word).map(Kind::Builtin).unwrap();
    let seen = json!({"metadata": {"namespace": "a", "name": "x"}});
    let named = ObjectName {
        kind: kind("configmap"),
        namespace: "a".into(),
        name: "x".into(),
    };
    let syncing = Lookup::Unavailable(Unavailable::Syncing);
    assert_eq!(view.whole(&named.kind, &seen), syncing);
    assert_eq!(view.whole(&named.kind, &seen), syncing);
    assert_eq!(requests.try_recv(), Ok(WatchRequest::Whole(named.clone())));
    assert!(requests.try_recv().is_err(), "once");

    let store = known.whole(&named).unwrap().store;
    store.replace::<&Value>(&[]);
    assert!(view.changed().now_or_never().is_some());
    assert_eq!(view.whole(&named.kind, &seen), Lookup::NotFound);
    let mut whole = seen.clone();
    whole["data"] = json!({"phase": "done"});
    store.apply(&whole);
    assert!(view.changed().now_or_never().is_some());
    let found = view.whole(&named.kind, &seen);
    assert_eq!(found, Lookup::Found(Cow::Owned(whole)));

    let secret = view.whole(&kind("secret"), &seen);
    assert_eq!(secret, Lookup::Found(Cow::Borrowed(&seen)));
    assert!(requests.try_recv().is_err());
}

#[test]
fn a_view_is_woken_by_what_it_read_even_before_it_waits() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let store = known.want(&widget());
    store.replace(&[]);
    let view = known.view();
    assert_eq!(view.object(&widget(), Some("a"), "x"), Lookup::NotFound);
    assert!(view.changed().now_or_never().is_none());
    store.apply(&json!({"metadata": {"namespace": "a", "name": "other"}}));
    assert!(view.changed().now_or_never().is_none(), "not what was read");
    store.apply(&json!({"metadata": {"namespace": "a", "name": "x"}}));
    assert!(view.changed().now_or_never().is_some());
}

#[test]
fn who_looks_at_the_kinds_is_woken_by_another_custom_one_that_can_be_read() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let view = known.view();
    let count = |view: &View| view.kinds().expect("known").len();
    let before = count(&view);
    known.want(&rules::kinds::by_word("secret").map(Kind::Builtin).unwrap());
    assert!(view.changed().now_or_never().is_none(), "no wave reads it");
    let widgets = known.want(&widget());
    assert!(view.changed().now_or_never().is_none(), "anybody names one");
    assert_eq!(count(&view), before);
    widgets.replace::<&Value>([]);
    assert!(view.changed().now_or_never().is_some());
    assert_eq!(count(&view), before + 1);
    widgets.replace::<&Value>([]);
    known.want(&widget());
    assert!(view.changed().now_or_never().is_none(), "nothing new");
}

fn labelled(name: &str, labels: &Value) -> Value {
    json!({"metadata": {"namespace": "a", "name": name, "labels": labels}})
}

fn required(text: &str) -> Selector {
    let list = format!("- {{kind: Pod, selector: '{text}'}}");
    let parsed = rules::annotation::parse_depends_on(&list).unwrap();
    match &parsed[0].reference {
        Reference::Selected(selection) => selection.selector.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_selector_is_woken_by_what_can_alter_it() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let store = known.want(&widget());
    store.replace(&[]);
    for (selector, by_x, by_db, by_web, by_leaving) in [
        ("app=web,tier!=canary", false, false, true, true),
        ("tier=front,app in (web)", false, false, true, true),
        ("app in (web,db)", false, true, true, true),
        ("!app", true, true, false, true),
    ] {
        let selector = required(selector);
        let woken_by = |labels: &Value| {
            let view = known.view();
            let _ = view.list(&widget(), Some("a"), &selector);
            store.apply(&labelled("x", labels));
            view.changed().now_or_never().is_some()
        };
        store.delete(&labelled("x", &json!({})));
        let seen = [
            woken_by(&json!({"x": "y"})),
            woken_by(&json!({"app": "db"})),
            woken_by(&json!({"app": "web", "tier": "front"})),
            woken_by(&json!({})),
        ];
        assert_eq!(seen, [by_x, by_db, by_web, by_leaving], "{selector}");
    }
}

#[test]
fn a_selector_reads_what_it_selects() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    known.want(&widget()).replace(&[
        labelled("x", &json!({"app": "web", "tier": "canary"})),
        labelled("y", &json!({"app": "web"})),
        labelled("z", &json!({"app": "db"})),
    ]);
    let names = |selector: &str| -> Vec<String> {
        let Lookup::Found(found) = known.view().list(&widget(), Some("a"), &required(selector))
        else {
            panic!("live")
        };
        let name = |object: &Value| object["metadata"]["name"].as_str().map(str::to_owned);
        found.iter().filter_map(name).collect()
    };
    assert_eq!(names("app=web,tier!=canary"), ["y"]);
    assert_eq!(names("app in (web,db)"), ["x", "y", "z"]);
    assert_eq!(names("!tier"), ["y", "z"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_known_is_believed_for_half_a_minute_after_the_last_sign() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let store = known.want(&widget());
    store.replace(&[json!({"metadata": {"namespace": "a", "name": "x"}})]);
    let began = Instant::now();
    let after = |seconds| tokio::time::sleep_until(began + Duration::from_secs(seconds));
    let ask = |view: &View| view.object(&widget(), Some("a"), "x");
    after(20).await;
    store.heard();
    after(49).await;
    let view = known.view();
    assert!(matches!(ask(&view), Lookup::Found(_)));
    assert_eq!(
        view.believed_until(),
        Some(began + Duration::from_secs(50)),
        "so that whoever waits judges anew then, unless more is heard"
    );
    assert!(view.doubted().now_or_never().is_none());
    store.heard();
    assert_eq!(view.believed_until(), Some(began + Duration::from_secs(79)));
    view.doubted().await;
    assert_eq!(began.elapsed().as_secs(), 79, "and not before");
    let view = known.view();
    assert_eq!(ask(&view), Lookup::Unavailable(Unavailable::Stale));
    assert_eq!(view.believed_until(), None);
    assert!(view.changed().now_or_never().is_none());
    store.heard();
    assert!(view.changed().now_or_never().is_some(), "it is back");
    assert!(matches!(ask(&view), Lookup::Found(_)));
    store.heard();
    assert!(view.changed().now_or_never().is_none(), "a sign is no news");
}

#[test]
fn two_spellings_share_one_store() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let plural = Kind::Custom {
        group: "example.com".into(),
        word: "widgets".into(),
    };
    let view = known.view();
    let _ = view.object(&plural, Some("a"), "x");
    let _ = known.want(&widget());
    assert!(known.alias(&plural, &widget()));
    assert!(view.changed().now_or_never().is_some());
    assert!(Arc::ptr_eq(&known.want(&plural), &known.want(&widget())));
}

/// A definition may go and come again.
#[test]
fn a_spelling_that_was_there_first_keeps_the_watch() {
    let (known, _) = Known::new(Settings::of_the_chart());
    let plural = Kind::Custom {
        group: "example.com".to_owned(),
        word: "widgets".to_owned(),
    };
    let store = known.want(&plural);
    for time in ["first", "again"] {
        assert!(!known.alias(&plural, &widget()), "{time}");
        assert!(Arc::ptr_eq(&known.want(&widget()), &store), "{time}");
    }
}

#[test]
fn helm_is_at_work_as_long_as_its_record_says_so() {
    let secrets = rules::kinds::by_word("secret").map(Kind::Builtin).unwrap();
    let scope = Scope {
        namespace: "a".to_owned(),
        name: "shop".to_owned(),
        kept_in: None,
    };
    let record = |name: &str, status: &str| {
        labelled(
            name,
            &json!({"owner": "helm", "name": "shop", "status": status}),
        )
    };
    let pending = [record("v1", "deployed"), record("v2", "pending-upgrade")];
    let cluster = |follows_helm_releases| {
        let settings = Settings {
            follows_helm_releases,
            ..Settings::of_the_chart()
        };
        let known = Known::new(settings).0;
        known.want(&secrets).replace(&pending);
        known
    };
    assert_eq!(cluster(false).view().pending(&scope), Pending::NotFollowed);
    let known = cluster(true);
    let store = known.want(&secrets);
    let view = known.view();
    assert_eq!(view.pending(&scope), Pending::Yes);
    store.apply(&record("v2", "deployed"));
    assert!(view.changed().now_or_never().is_some());
    assert_eq!(known.view().pending(&scope), Pending::No);
}

#[test]
fn granted_kinds_are_watched_once_somebody_looks_at_scopes() {
    let certificates = Kind::Custom {
        group: "cert-manager.io".to_owned(),
        word: "certificates".to_owned(),
    };
    let (known, mut requests) = Known::new(Settings {
        reads_by_role: true,
        ..Settings::of_the_chart()
    });
    let early = known.view();
    assert_eq!(early.kinds(), Err(Unavailable::Syncing), "nobody has said");
    assert!(early.is_granted(&certificates), "it may be");
    known.grant(vec![certificates.clone()]);
    assert!(early.changed().now_or_never().is_some());
    assert!(requests.try_recv().is_err(), "nobody has asked");
    assert!(known.view().kinds().expect("known").contains(&certificates));
    assert_eq!(
        requests.try_recv(),
        Ok(WatchRequest::Kind(certificates.clone()))
    );
    assert!(known.view().is_granted(&certificates));
    let late = known.view();
    assert!(late.kinds().is_ok());
    known.grant(vec![certificates]);
    assert!(late.changed().now_or_never().is_none(), "nothing new");
}

#[test]
fn a_kind_that_is_forbidden_again_is_granted_no_more() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let widgets = Kind::Custom {
        group: "example.com".to_owned(),
        word: "Widget".to_owned(),
    };
    let store = known.want(&widgets);
    store.replace::<&Value>([]);
    store.clear(crate::known::Freshness::Forbidden);
    let is_granted = known.view().is_granted(&widgets);
    assert!(
        !is_granted,
        "whoever removes its operator holds up nobody else"
    );
}

#[test]
fn a_glance_at_unscheduled_pods_asks_for_them_and_wakes_nobody() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    known.unscheduled().replace(&[]);
    let view = known.view();
    let all = Selector::default();
    assert!(known.unscheduled_wanted().now_or_never().is_none());
    assert_eq!(view.unscheduled("a", &all), Lookup::Found(vec![]));
    assert!(known.unscheduled_wanted().now_or_never().is_some());
    known.unscheduled().apply(&labelled("x", &json!({})));
    assert!(view.changed().now_or_never().is_none());
    assert_eq!(count(view.unscheduled("a", &all)), 1);
    assert_eq!(count(view.unscheduled("b", &all)), 0);
}
