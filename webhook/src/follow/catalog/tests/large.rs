//! One object of 9 MB among the others, of every kind and every selection that is followed. The API server writes some letters as six bytes,
//! so it may store such an object.

use super::*;
use crate::known::View;
use axum::body::Bytes;
use futures::{StreamExt, stream};
use rules::lookup::Unavailable;
use rules::world::Hints;
use std::sync::LazyLock;

/// 9 MB of text, as it is written.
static LONG: LazyLock<String> = LazyLock::new(|| "x".repeat(9_000_000));

/// The text of an object of this name in namespace `shop`, with a text of 9 MB at the place `long`; `None`: it is short.
fn object(name: &str, long: Option<Place>) -> String {
    let at = |place| match long {
        Some(it) if it == place => LONG.as_str(),
        _ => "x",
    };
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"11","labels":{{"app":"{name}"}},"ownerReferences":[{{"name":"{}"}}]}},"spec":{{"text":"{}"}}}}"#,
        at(Place::Owner),
        at(Place::Spec)
    )
}

/// A place where tenants may write long texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Owner,
    Spec,
}

/// The page of a list that a request asks for, by its `continue` and `limit`. The list has the objects `a`, `big` and `z`, of which `big` has
/// a text of 9 MB at `long`; a list of definitions has that of widgets too.
fn page(request: &Request<Body>, long: Place) -> String {
    let uri = request.uri().to_string();
    let number = |key: &str| {
        let mut pairs = uri.split(['?', '&']).filter_map(|it| it.split_once('='));
        let found = pairs.find(|(name, _)| *name == key);
        found.map_or(0, |(_, value)| value.parse::<usize>().unwrap())
    };
    let accept = request.headers().get("accept");
    let is_lean = accept.is_some_and(|it| it.to_str().unwrap().contains("PartialObjectMetadata"));
    // A request for metadata gets no other field.
    let big = if is_lean && long == Place::Spec {
        None
    } else {
        Some(long)
    };
    let mut all = vec![object("a", None), object("big", big), object("z", None)];
    if uri.contains("customresourcedefinitions") {
        all.push(definition("v1", &json!({})).to_string());
    }
    let (from, limit) = (number("continue"), number("limit"));
    let to = (from + limit).min(all.len());
    let next = if to < all.len() {
        to.to_string()
    } else {
        String::new()
    };
    format!(
        r#"{{"metadata":{{"resourceVersion":"10","continue":"{next}"}},"items":[{}]}}"#,
        all[from..to].join(",")
    )
}

fn line(kind: &str, object: &str) -> Bytes {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into()
}

/// The events of a watch: `z` becomes large, and ten seconds later `big` is small and `z` is deleted.
fn changes() -> Answer {
    static LARGE: LazyLock<Bytes> =
        LazyLock::new(|| line("MODIFIED", &object("z", Some(Place::Spec))));
    let later = stream::once(async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        line("MODIFIED", &object("big", None))
    });
    let lines = stream::iter([LARGE.clone()]).chain(later);
    let lines = lines.chain(stream::iter([line("DELETED", &object("z", None))]));
    Answer::from_stream(lines.chain(stream::pending()).map(Ok::<_, Infallible>))
}

/// The kinds that a catalog follows in these tests: all built-in kinds, and widgets as a custom kind.
fn followed() -> Vec<Kind> {
    kinds::all()
        .iter()
        .map(Kind::Builtin)
        .chain([widgets()])
        .collect()
}

fn look(view: &View, kind: &Kind, name: &str) -> Result<bool, Unavailable> {
    match view.object(kind, Some("shop"), name) {
        Lookup::Found(_) => Ok(true),
        Lookup::NotFound => Ok(false),
        Lookup::Unavailable(why) => Err(why),
    }
}

#[tokio::test(start_paused = true)]
async fn one_object_that_is_too_large_keeps_nobody_from_the_others_of_any_kind() {
    for place in [Place::Spec, Place::Owner] {
        let api_server = service_fn(move |request: Request<Body>| async move {
            let watch = request.uri().to_string().contains("watch=true");
            let answer = if watch {
                changes()
            } else {
                Answer::from(page(&request, place))
            };
            Ok::<_, Infallible>(Response::new(answer))
        });
        let limited = tower::Layer::layer(&crate::client::Limits::default(), api_server);
        let (known, mut tasks) = catalog(Client::new(limited, "default"));
        let view = known.view();
        let named = ObjectName {
            kind: kinds::by_word("deployment").map(Kind::Builtin).unwrap(),
            namespace: "shop".into(),
            name: "big".into(),
        };
        let seen = json!({"metadata": {"namespace": "shop", "name": "big"}});
        let _ = (
            view.whole(&named.kind, &seen),
            view.unscheduled("shop", &rules::selector::Selector::default()),
        );
        for kind in followed() {
            let _ = look(&view, &kind, "big");
        }
        pass(&mut tasks, 5).await;
        for kind in followed() {
            let told = ["a", "big", "z", "none"].map(|name| look(&view, &kind, name));
            let too_large = Err(Unavailable::TooLarge);
            // Where the metadata is enough, the rest is not asked for.
            let is_lean = place == Place::Spec && detail(&kind) == Detail::Metadata;
            let big = if is_lean { Ok(true) } else { too_large };
            assert_eq!(told, [Ok(true), big, too_large, Ok(false)], "{kind}");
        }
        for (what, store) in [
            ("gated", known.gated()),
            ("unscheduled", known.unscheduled()),
            ("plans", known.plans()),
        ] {
            assert_eq!(
                (store.freshness(), store.len(), store.too_large()),
                (Freshness::Live, 3, 2),
                "{what}"
            );
        }
        assert_eq!(
            view.gated_pod("shop", "big"),
            Lookup::Unavailable(Unavailable::TooLarge)
        );
        assert_eq!(
            view.gated_uid("shop", "big"),
            Lookup::Found("big".to_owned())
        );
        assert_eq!(
            view.whole(&named.kind, &seen),
            Lookup::Unavailable(Unavailable::TooLarge)
        );

        pass(&mut tasks, 10).await;
        for kind in followed() {
            let told = ["a", "big", "z"].map(|name| look(&view, &kind, name));
            assert_eq!(
                told,
                [Ok(true), Ok(true), Ok(false)],
                "{kind}: it is small, and the other gone"
            );
        }
        assert_eq!(known.gated().too_large(), 0);
        assert!(matches!(view.whole(&named.kind, &seen), Lookup::Found(_)));
    }
}
