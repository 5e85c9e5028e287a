use jiff::SignedDuration;

use super::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn day(number: i32) -> Timestamp {
    "2026-11-20T10:00:00Z".parse::<Timestamp>().unwrap() + DAY * number
}

fn ca() -> Ca {
    Ca::generate(day(0), DAY * 365).unwrap()
}

fn issue(ca: &Ca, at: Timestamp) -> Leaf {
    Leaf::issue(ca, &["sluice.sluice-system.svc".to_owned()], at, DAY * 6).unwrap()
}

fn lifetimes() -> Lifetimes {
    Lifetimes::new(DAY * 365, DAY * 30, DAY * 7).unwrap()
}

fn line<'a>(ca: &'a Ca, next: Option<&'a Ca>) -> Line<'a> {
    Line { ca, next }
}

fn usable(ca: &Ca) -> Stored<'_> {
    Stored::Usable(line(ca, None))
}

fn plan(now: Timestamp, stored: Stored<'_>, held: Option<&Ca>, elsewhere: bool) -> CaPlan {
    let known = Known {
        held: held.map(|held| line(held, None)),
        elsewhere,
        settled: true,
    };
    authority(now, stored, known, &lifetimes())
}

#[test]
fn a_ca_is_made_only_when_nobody_has_one() {
    let (ours, theirs) = (ca(), ca());
    let same = Ca::restore(ours.parts()).unwrap();
    let after = theirs.after(&ours).unwrap();
    for (stored, held, expected) in [
        (Stored::Missing, None, CaPlan::Create(CaReason::Missing)),
        (Stored::Unusable, None, CaPlan::Create(CaReason::Unusable)),
        (
            Stored::Missing,
            Some(&ours),
            CaPlan::Restore(CaReason::Missing),
        ),
        (
            Stored::Unusable,
            Some(&ours),
            CaPlan::Restore(CaReason::Unusable),
        ),
        (usable(&same), Some(&ours), CaPlan::Keep),
        (usable(&after), Some(&ours), CaPlan::Adopt),
        (usable(&theirs), Some(&ours), CaPlan::Join),
        (usable(&theirs), None, CaPlan::Adopt),
    ] {
        let next = plan(day(1), stored, held, false);
        assert_eq!(next, expected, "{stored:?}, {held:?}");
    }
}

#[test]
fn a_ca_that_ends_before_its_leaf_is_replaced_and_never_restored() {
    let ours = ca();
    for (stored, expected) in [
        (usable(&ours), CaPlan::Create(CaReason::Ending)),
        (Stored::Missing, CaPlan::Create(CaReason::Missing)),
    ] {
        assert_eq!(plan(day(359), stored, Some(&ours), true), expected);
    }
}

#[test]
fn the_next_ca_stands_beside_this_one_before_it_signs() {
    let ours = ca();
    let next = Ca::generate(day(305), DAY * 365).unwrap();
    let plan = |now, next, settled| {
        let ours = line(&ours, next);
        let known = Known {
            held: Some(ours),
            elsewhere: false,
            settled,
        };
        authority(now, Stored::Usable(ours), known, &lifetimes())
    };
    let promoted = CaPlan::Promote(CaReason::Overlapped);
    for (now, made, settled, expected) in [
        (day(304), None, false, CaPlan::Keep),
        (day(305), None, false, CaPlan::Prepare),
        (day(305), Some(&next), true, CaPlan::Keep),
        (day(334), Some(&next), true, CaPlan::Keep),
        (day(335), Some(&next), false, CaPlan::Keep),
        (day(335), Some(&next), true, promoted),
        (
            day(359),
            Some(&next),
            false,
            CaPlan::Promote(CaReason::Ending),
        ),
    ] {
        assert_eq!(plan(now, made, settled), expected, "{now}, {settled}");
    }
    let over = Ca::generate(day(-400), DAY * 365).unwrap();
    assert_eq!(plan(day(335), Some(&over), true), CaPlan::Prepare);
}

#[test]
fn a_life_that_was_made_shorter_counts_for_what_was_made_before() {
    let ours = Ca::generate(day(0), DAY * 3_650).unwrap();
    assert_eq!(
        [304, 305].map(|today| plan(day(today), usable(&ours), Some(&ours), false)),
        [CaPlan::Keep, CaPlan::Prepare]
    );
}

#[test]
fn what_a_process_holds_of_those_before_and_after_is_written_back() {
    let (oldest, next) = (ca(), ca());
    let ours = ca().after(&oldest).unwrap();
    let alone = Ca::restore(crate::CaParts {
        formers: String::new(),
        ..ours.parts()
    })
    .unwrap();
    let lacks = CaPlan::Restore(CaReason::Incomplete);
    for (stored, held, expected) in [
        (line(&alone, Some(&next)), line(&ours, Some(&next)), lacks),
        (line(&ours, None), line(&ours, Some(&next)), lacks),
        (line(&ours, Some(&next)), line(&alone, None), CaPlan::Keep),
    ] {
        let known = Known {
            held: Some(held),
            elsewhere: false,
            settled: false,
        };
        let plan = authority(day(1), Stored::Usable(stored), known, &lifetimes());
        assert_eq!(plan, expected);
    }
}

#[test]
fn one_that_holds_a_good_ca_puts_it_in_the_place_of_one_that_ends() {
    let (ours, over) = (ca(), Ca::generate(day(-40), DAY * 10).unwrap());
    let next = plan(day(1), usable(&over), Some(&ours), false);
    assert_eq!(next, CaPlan::Restore(CaReason::Ending));
}

#[test]
fn one_that_holds_none_waits_for_who_may_hold_the_trusted_one() {
    let (ours, over) = (ca(), Ca::generate(day(-40), DAY * 10).unwrap());
    for (stored, reason) in [
        (Stored::Missing, CaReason::Missing),
        (Stored::Unusable, CaReason::Unusable),
        (usable(&over), CaReason::Ending),
    ] {
        let plan = |held, elsewhere| plan(day(1), stored, held, elsewhere);
        assert_eq!(plan(None, true), CaPlan::Await(reason));
        assert_eq!(plan(None, false), CaPlan::Create(reason));
        assert_eq!(plan(Some(&ours), true), CaPlan::Restore(reason));
    }
}

#[test]
fn a_ca_from_the_future_is_replaced_and_never_restored() {
    let (ours, theirs) = (ca(), Ca::generate(day(2), DAY * 365).unwrap());
    let reason = CaReason::NotYetValid;
    for (now, held, expected) in [
        (day(1), Some(&ours), CaPlan::Join),
        (day(0), Some(&ours), CaPlan::Restore(reason)),
        (day(0), Some(&theirs), CaPlan::Create(reason)),
        (day(0), None, CaPlan::Create(reason)),
    ] {
        assert_eq!(plan(now, usable(&theirs), held, false), expected);
    }
    assert_eq!(
        plan(day(0), Stored::Missing, Some(&theirs), false),
        CaPlan::Create(CaReason::Missing)
    );
}

#[test]
fn a_leaf_is_signed_when_it_has_to_be() {
    let ca = ca();
    let held = issue(&ca, day(10));
    assert_eq!(
        leaf(day(10), None, &ca, false),
        LeafPlan::Issue(LeafReason::First)
    );
    for (now, plan) in [
        (day(13), LeafPlan::Keep),
        (day(14), LeafPlan::Issue(LeafReason::Due)),
        (day(16), LeafPlan::Issue(LeafReason::Expired)),
        (day(9), LeafPlan::Keep),
        (day(8), LeafPlan::Issue(LeafReason::NotYetValid)),
    ] {
        assert_eq!(leaf(now, Some(&held), &ca, true), plan, "{now}");
        assert_eq!(
            leaf(now, Some(&held), &ca, false),
            plan,
            "{now}: trust is about another CA only"
        );
    }
}

#[test]
fn a_leaf_of_the_old_ca_serves_until_the_new_one_is_trusted() {
    let (old, new) = (ca(), ca());
    let held = issue(&old, day(10));
    assert_eq!(
        leaf(day(15), Some(&held), &new, false),
        LeafPlan::AwaitTrust
    );
    assert_eq!(
        leaf(day(15), Some(&held), &new, true),
        LeafPlan::Issue(LeafReason::AnotherCa)
    );
    assert_eq!(
        leaf(day(16), Some(&held), &new, false),
        LeafPlan::Issue(LeafReason::Expired)
    );
}

#[test]
fn a_leaf_that_ends_with_its_ca_is_not_renewed_over_and_over() {
    let ca = ca();
    let held = issue(&ca, day(362));
    assert_eq!(leaf(day(364), Some(&held), &ca, true), LeafPlan::Keep);
}
