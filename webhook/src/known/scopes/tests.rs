//! The index of scopes: waves and parts of a release of Jobs.

mod changes;

use crate::known::{Known, Settings};
use futures::FutureExt;
use rules::dependency::Part;
use rules::kinds::{Kind, by_word};
use rules::lookup::{Lookup, Unavailable};
use rules::scope::Scope;
use rules::world::{Ready, Scopes};
use serde_json::{Value, json};
use std::cell::Cell;

fn jobs() -> Kind {
    by_word("job").map(Kind::Builtin).expect("built in")
}

fn scope() -> Scope {
    Scope {
        namespace: "shop".to_owned(),
        name: "r".to_owned(),
        kept_in: None,
    }
}

/// A Job of release `r`.
fn job(name: &str, weight: &str, complete: bool) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "namespace": "shop", "name": name,
            "annotations": {"meta.helm.sh/release-name": "r", "sluice.dev/weight": weight},
            "labels": {"helm.sh/chart": "seeds-1.0.0"},
        },
        "status": {"complete": complete},
    })
}

#[test]
fn only_what_stands_before_the_first_that_is_not_ready_wakes() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let store = known.want(&jobs());
    store.replace(&[
        job("a", "0", true),
        job("b", "0", false),
        job("c", "0", false),
    ]);
    let judged = Cell::new(0);
    let is_ready = |_: &Kind, object: &Value| {
        judged.set(judged.get() + 1);
        Ready::Lasting(object["status"]["complete"] == true)
    };
    let ask = || {
        let view = known.view();
        let found = view.first_unready(&[jobs()], &scope(), 1, &is_ready);
        let first = found.expect("live");
        (view, first.map(|(.., it)| it["metadata"]["name"].clone()))
    };
    let (view, first) = ask();
    assert_eq!((first, judged.get()), (Some(json!("b")), 2));
    store.apply(&job("c", "0", true));
    store.apply(&job("d", "1", false));
    assert!(view.changed().now_or_never().is_none(), "behind the first");
    let (view, _) = ask();
    assert_eq!(judged.get(), 2, "nothing is judged twice");
    store.apply(&job("a", "0", false));
    assert!(view.changed().now_or_never().is_some(), "before the first");
    store.apply(&job("a", "0", true));
    store.apply(&job("b", "0", true));
    let (view, first) = ask();
    assert_eq!(first, None);
    assert!(view.changed().now_or_never().is_none());
    store.apply(&job("e", "1", false));
    assert!(view.changed().now_or_never().is_none(), "of its own weight");
    store.apply(&job("e", "0", false));
    assert!(
        view.changed().now_or_never().is_some(),
        "it weighs less now"
    );
    store.delete(&job("e", "0", false));
    known.wake_all();
    let before = judged.get();
    ask();
    assert_eq!(judged.get(), before + 3, "the rules may have changed");
}

#[test]
fn members_are_found_and_waited_for_by_their_part() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let store = known.want(&jobs());
    store.replace(&[job("a", "0", true)]);
    for (part, scope, found) in [
        (Part::SubChart("seeds".into()), Some("r"), true),
        (Part::SubChart("other".into()), Some("r"), false),
        (Part::SubChart("seeds".into()), Some("s"), false),
        (Part::Release("r".into()), Some("r"), true),
        (Part::Group("seeds".into()), None, false),
    ] {
        let view = known.view();
        let Lookup::Found(members) = view.members(&jobs(), "shop", scope, &part) else {
            panic!("live")
        };
        assert_eq!(members.len() == 1, found, "{part} in {scope:?}");
        store.apply(&job("b", "0", false));
        assert_eq!(
            view.changed().now_or_never().is_some(),
            found,
            "{part} in {scope:?}"
        );
        store.delete(&job("b", "0", false));
    }
}

#[test]
fn a_view_that_asks_for_two_weights_hears_of_both() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let store = known.want(&jobs());
    store.replace(&[job("a", "0", false), job("b", "1", false)]);
    let complete = |object: &Value| object["status"]["complete"] == true;
    // From 2 downwards everything but `a` is ready, so the answer rests on `b`.
    let but_a = |_: &Kind, object: &Value| {
        Ready::Lasting(object["metadata"]["name"] == "a" || complete(object))
    };
    for weights in [[2, 0], [0, 2]] {
        let view = known.view();
        for below in weights {
            let _ = view.first_unready(&[jobs()], &scope(), below, &but_a);
        }
        store.apply(&job("b", "1", true));
        assert!(view.changed().now_or_never().is_some(), "{weights:?}");
        store.apply(&job("b", "1", false));
    }
}

/// The readiness of a Service rests on its endpoints, which come and go without a change of the Service.
#[test]
fn what_rests_on_others_is_judged_each_time() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let services = by_word("svc").map(Kind::Builtin).expect("built in");
    let service = |name: &str| {
        let mut object = job(name, "0", false);
        object["kind"] = json!("Service");
        object
    };
    known.want(&services).replace(&[service("a"), service("b")]);
    let served = Cell::new("");
    let first = || {
        let is_ready = |_: &Kind, object: &Value| {
            let name = object["metadata"]["name"].as_str();
            Ready::Momentary(name.is_some_and(|name| served.get().contains(name)))
        };
        let kinds = [services.clone()];
        let found = known.view().first_unready(&kinds, &scope(), 1, &is_ready);
        found
            .expect("live")
            .map(|(.., it)| it["metadata"]["name"].clone())
    };
    for (endpoints, expected) in [
        ("", Some("a")),
        ("a", Some("b")),
        ("ab", None),
        ("b", Some("a")),
    ] {
        served.set(endpoints);
        assert_eq!(first(), expected.map(|name| json!(name)), "{endpoints:?}");
    }
}

/// A plan may be applied before its release, so it does not show that the release exists.
#[test]
fn a_plan_is_no_sign_of_its_release() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let config_maps = by_word("configmap").map(Kind::Builtin).expect("built in");
    let mut object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "namespace": "shop", "name": "order", "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"sluice.dev/scope": "r"}, "labels": {"sluice.dev/plan": "true"},
        },
    });
    let store = known.want(&config_maps);
    store.replace(&[object.clone()]);
    assert_eq!(known.view().active(&scope()), Ok(None));
    object["metadata"]["labels"] = json!({});
    store.apply(&object);
    assert_ne!(known.view().active(&scope()), Ok(None));
}

/// A list may name any custom kind, and some time goes by until the kind is refused.
#[test]
fn a_kind_that_nobody_granted_leaves_a_scope_whole_while_it_is_read() {
    let named = |word: &str| Kind::Custom {
        group: "example.com".to_owned(),
        word: word.to_owned(),
    };
    let (known, _requests) = Known::new(Settings {
        reads_by_role: true,
        ..Settings::of_the_chart()
    });
    known.want(&named("Bogus"));
    let syncing = Err(Unavailable::Syncing);
    assert_eq!(known.view().active(&scope()), syncing, "it may be granted");
    known.grant(Vec::new());
    assert_eq!(known.view().active(&scope()), Ok(None));
    known.grant(vec![named("widgets")]);
    let view = known.view();
    let kinds = view.kinds().expect("known");
    assert!(kinds.contains(&named("widgets")) && !kinds.contains(&named("Bogus")));
    assert_eq!(view.active(&scope()), syncing);
    known.want(&named("widgets")).replace::<&Value>([]);
    assert!(view.has_changed());
    assert_eq!(known.view().active(&scope()), Ok(None));
}

/// The API server keeps a time for each owner of a field, and a writer that removes a field owns nothing.
#[test]
fn a_change_that_leaves_no_trace_is_seen() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let store = known.want(&jobs());
    let written = |name: &str, generation: i64, time: &str| {
        let mut job = job(name, "0", true);
        job["metadata"]["generation"] = generation.into();
        job["metadata"]["managedFields"] = json!([{"time": time}]);
        job
    };
    let (before, later) = ("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z");
    let now = "2026-01-01T00:02:00Z".parse().expect("a time");
    let seen = || known.view().seen_to_change(&scope(), now);
    for (object, expected) in [
        (written("a", 1, before), false),
        (written("a", 2, later), false),
        (job("b", "0", false), false),
        (written("a", 3, later), true),
        // A later write does not take the change back.
        (written("a", 4, "2026-01-01T00:02:00Z"), true),
    ] {
        store.apply(&object);
        assert_eq!(seen().is_some(), expected, "{object}");
    }
    let age = now.duration_since(seen().expect("seen"));
    assert!(age.as_secs() < 60, "{age}");
}

/// An upgrade scales down an old ReplicaSet whenever a new pod becomes ready. If that counted, each step of the order would begin the quiet of the
/// release anew.
#[test]
fn a_rollout_does_not_disturb_the_quiet_of_its_release() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let sets = by_word("replicaset").map(Kind::Builtin).expect("built in");
    let store = known.want(&sets);
    store.replace::<&Value>([]);
    let now = "2026-01-01T00:02:00Z".parse().expect("a time");
    let seen = || {
        let view = known.view();
        (view.active(&scope()), view.seen_to_change(&scope(), now))
    };
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "namespace": "shop", "name": "api-1", "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"meta.helm.sh/release-name": "r"}, "generation": 1,
        },
    });
    for (group, kind) in [("apps", "Deployment"), ("argoproj.io", "Rollout")] {
        let version = format!("{group}/v1");
        set["metadata"]["ownerReferences"] =
            json!([{"apiVersion": version, "kind": kind, "name": "api", "controller": true}]);
        set["metadata"]["generation"] = json!(1);
        store.apply(&set);
        // Scaled down, within the same second.
        set["metadata"]["generation"] = json!(2);
        store.apply(&set);
        assert_eq!(seen(), (Ok(None), None), "{kind}");
    }
    // A user's own ReplicaSet is of the installer.
    set["metadata"]["ownerReferences"] = json!([]);
    store.apply(&set);
    assert_ne!(seen().0, Ok(None));
}

/// The pods with a gate are followed for as long as the process runs, so a wave needs no watch of other pods.
#[test]
fn a_pod_of_its_own_is_found_among_those_with_a_gate() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let pods = by_word("pod").map(Kind::Builtin).expect("built in");
    let mut pod = job("first", "-1", false);
    pod["kind"] = json!("Pod");
    pod["apiVersion"] = json!("v1");
    known.gated().replace(&[pod]);
    let view = known.view();
    let unready = |_: &Kind, _: &Value| Ready::Lasting(false);
    let found = view.first_unready(std::slice::from_ref(&pods), &scope(), 0, &unready);
    let (.., first) = found.expect("live").expect("it is there");
    assert_eq!(first["metadata"]["name"], "first");
    let part = Part::SubChart("seeds".to_owned());
    let Lookup::Found(found) = view.members(&pods, "shop", Some("r"), &part) else {
        panic!("live")
    };
    assert_eq!(found.len(), 1);
}

/// The object above such a pod counts, and the pods of a release change many times while the release starts.
#[test]
fn a_pod_that_a_controller_made_wakes_no_view_of_its_release() {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    let pods = by_word("pod").map(Kind::Builtin).expect("built in");
    known.gated().replace::<&Value>([]);
    let mut pod = job("api-1", "-1", false);
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    for (controller, counts) in [(true, false), (false, true)] {
        pod["metadata"]["ownerReferences"] = json!([{"uid": "r", "controller": controller}]);
        for part in [
            Part::Release("r".to_owned()),
            Part::SubChart("seeds".to_owned()),
        ] {
            let view = known.view();
            let _ = view.members(&pods, "shop", Some("r"), &part);
            known.gated().apply(&pod);
            let woken = view.changed().now_or_never().is_some();
            assert_eq!(woken, counts, "{part} by {}", pod["metadata"]);
            known.gated().delete(&pod);
        }
    }
}
