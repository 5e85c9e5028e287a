//! The subscriptions of a namespace are charged to its share.

use super::*;
use rules::dependency;
use rules::profile;
use rules::scope;

/// The number of granted custom kinds: about as many as all presets of the chart grant.
const KINDS: usize = 300;

fn known(memory: usize) -> Arc<Known> {
    let settings = Settings {
        memory,
        ..Settings::of_the_chart()
    };
    let (known, _requests) = Known::new(settings);
    for kind in scope::workloads().chain(scope::outspoken()) {
        known.want(&kind).replace::<&Value>([]);
    }
    known.gated().replace::<&Value>([]);
    for number in 0..KINDS {
        let kind = Kind::Custom {
            group: "example.com".into(),
            word: format!("Widget{number}"),
        };
        known.want(&kind).replace::<&Value>([]);
    }
    known
}

/// Reads a wave, and this number of groups, over all kinds, through a view. Returns the reasons of the readings that were refused.
fn read(view: &View, groups: usize) -> Vec<Unavailable> {
    let kinds: Vec<Kind> = match view.kinds() {
        Ok(kinds) => kinds.into_iter().chain(scope::outspoken()).collect(),
        Err(why) => return vec![why],
    };
    let scope = Scope {
        namespace: "a".to_owned(),
        name: "shop".to_owned(),
        kept_in: None,
    };
    let is_ready = |kind: &Kind, object: &Value| {
        profile::readiness(kind, object, view, "2026-01-01T00:00:00Z".parse().unwrap())
    };
    let mut unread = Vec::new();
    unread.extend(
        view.first_unready(&kinds, &scope, 0, &is_ready)
            .err()
            .map(|it| it.1),
    );
    for number in 0..groups {
        let part = dependency::Part::Group(format!("group-{number}"));
        for kind in &kinds {
            match view.members(kind, "a", Some("shop"), &part) {
                Lookup::Unavailable(why) => unread.push(why),
                Lookup::Found(_) | Lookup::NotFound => {}
            }
        }
    }
    unread
}

#[test]
fn a_wave_and_a_group_are_one_interest_however_many_kinds_there_are() {
    let known = known(256 << 20);
    let ordinary = known.view_of("a");
    assert_eq!(read(&ordinary, 1), []);
    assert!(
        known.budgets.waits.taken() <= 1024,
        "{}",
        known.budgets.waits.taken()
    );
    let large = known.view_of("a");
    assert_eq!(read(&large, 64), []);
    assert!(
        known.budgets.waits.taken() <= 10 << 10,
        "{}",
        known.budgets.waits.taken()
    );
    drop((ordinary, large));
    assert_eq!(known.budgets.waits.taken(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_view_beyond_the_share_of_its_namespace_holds_nothing_and_is_judged_anew() {
    let known = known(256 << 10);
    let share = known.budgets.waits.of_one();
    let mut views = Vec::new();
    let over = loop {
        let view = known.view_of("a");
        let unread = read(&view, 64);
        if unread.contains(&Unavailable::OverBudget { share }) {
            break view;
        }
        assert!(views.len() < 100, "there is no end to it");
        views.push(view);
    };
    let taken = known.budgets.waits.taken();
    assert!(
        taken <= share && known.budgets.waits.refused() > 0,
        "{taken}"
    );
    let within = over.believed_until().map(|until| until - Instant::now());
    assert_eq!(within, Some(ROOM_IN), "it is judged anew then");
    let seen = over.object(&widget(), Some("a"), "x");
    assert_eq!(seen, Lookup::Unavailable(Unavailable::OverBudget { share }));
    let other = known.view_of("b");
    assert_eq!(read(&other, 1), [], "another namespace has its own");
    drop(views);
    assert_eq!(read(&known.view_of("a"), 1), [], "there is room again");
}
