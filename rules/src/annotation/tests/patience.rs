//! `timeout`, `on-timeout` and `stable` on an item of the long form.

use super::super::{order, parse_depends_on};
use super::refused;
use crate::dependency::{Dependency, Patience, Reference};
use crate::terms::OnTimeout;
use insta::assert_snapshot;
use std::time::Duration;

fn one(list: &str) -> Dependency {
    let mut list = parse_depends_on(list).unwrap_or_else(|error| panic!("{list}: {error}"));
    list.remove(0)
}

fn patience(seconds: u64, then: OnTimeout) -> Patience {
    let timeout = Duration::from_secs(seconds);
    Patience { timeout, then }
}

#[test]
fn every_item_may_have_a_timeout_and_what_happens_then() {
    for (what, then, expected) in [
        ("kind: Service, name: cache", "", OnTimeout::Wait),
        (
            "kind: Job, selector: a=b",
            ", on-timeout: wait",
            OnTimeout::Wait,
        ),
        ("group: backend", ", on-timeout: fail", OnTimeout::Fail),
        (
            "any: [svc/a, svc/b]",
            ", on-timeout: 'proceed'",
            OnTimeout::Proceed,
        ),
    ] {
        let item = one(&format!("- {{{what}, timeout: 1m30s{then}, stable: 30s}}"));
        assert_eq!(item.patience, Some(patience(90, expected)), "{what}");
        assert_eq!(item.stable, Some(Duration::from_secs(30)), "{what}");
        let plain = one(&format!("- {{{what}}}"));
        assert_eq!((plain.patience, plain.stable), (None, None));
        let bare = Dependency {
            patience: None,
            stable: None,
            ..item
        };
        assert_eq!(bare, plain);
    }
    let json = r#"[{"kind": "Service", "name": "a", "timeout": "2m", "on-timeout": "fail", "stable": "1.5s"}]"#;
    assert_eq!(one(json).patience, Some(patience(120, OnTimeout::Fail)));
    assert_eq!(one(json).stable, Some(Duration::from_millis(1500)));
}

#[test]
fn one_of_several_may_have_to_be_stable() {
    let Reference::Any(any) = one("- any: [{kind: Service, name: a, stable: 5s}, svc/b]").reference
    else {
        panic!("any")
    };
    let stable: Vec<_> = any.of.iter().map(|it| it.stable).collect();
    assert_eq!(stable, [Some(Duration::from_secs(5)), None]);
}

#[test]
fn a_plan_takes_them_too() {
    let plan = order("api:\n- {subchart: cache, timeout: 2m, on-timeout: proceed, stable: 5s}");
    let plan = plan.expect("legal");
    let entry = &plan.steps[0].after[0];
    assert_eq!(entry.patience, Some(patience(120, OnTimeout::Proceed)));
    assert_eq!(entry.stable, Some(Duration::from_secs(5)));
    let subject = order("{subchart: api, timeout: 2m}: [postgresql]").expect_err("refused");
    assert!(
        subject
            .to_string()
            .contains("a plan cannot order \"subchart/api\""),
        "{subject}"
    );
}

#[test]
fn what_is_written_wrong_is_refused_with_its_place_and_the_way_out() {
    let item = |beside: &str| refused(&format!("- kind: Service\n  name: cache\n  {beside}"));
    assert_snapshot!(item("on-timeout: proceed"),
        @r#"sluice.dev/depends-on: line 3, column 3: "on-timeout" says what happens after the item's "timeout", and it has none; write one, or remove it"#);
    assert_snapshot!(item("timeout: 2m\n  on-timeout: procede"),
        @r#"sluice.dev/depends-on: line 4, column 15: "on-timeout": unknown word "procede"; did you mean "proceed"?"#);
    assert_snapshot!(item("timeout: 2 min"),
        @r#"sluice.dev/depends-on: line 3, column 13: "timeout": "2 min" is no duration: unknown unit " min"; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(item("timeout: 5"),
        @r#"sluice.dev/depends-on: line 3, column 13: "timeout": "5" is no duration: a unit is missing behind the number; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(item("timeout: 0s"),
        @r#"sluice.dev/depends-on: line 3, column 12: "timeout": "0s" is no duration: it is zero, which is never meant; leave it out; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(item("stable: 30x"),
        @r#"sluice.dev/depends-on: line 3, column 13: "stable": "30x" is no duration: unknown unit "x"; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(item("stable: [30s]"),
        @r#"sluice.dev/depends-on: line 3, column 11: "stable" takes a duration such as 90s, 10m or 1h30m, not a list"#);
    assert_snapshot!(item("stable:"),
        @r#"sluice.dev/depends-on: line 3, column 9: "stable" takes a duration such as 90s, 10m or 1h30m, not nothing"#);
    assert_snapshot!(item("on-timout: fail"),
        @r#"sluice.dev/depends-on: line 3, column 3: unknown key "on-timout"; did you mean "on-timeout"?"#);
    assert_snapshot!(refused("- any:\n  - svc/a\n  - kind: Service\n    name: b\n    timeout: 2m"),
        @r#"sluice.dev/depends-on: line 5, column 5: "timeout" means nothing inside of "any", whose items are waited for together; write it beside "any", for all of them"#);
    assert_snapshot!(refused("- any: [svc/a, {any: [svc/b], timeout: 2m}]"),
        @r#"sluice.dev/depends-on: line 1, column 31: "timeout" means nothing inside of "any", whose items are waited for together; write it beside "any", for all of them"#);
}
