use super::*;

fn of_topic(reason: EventReason, topic: &str, text: &str) -> News {
    News {
        verdict: Decision::Wait,
        reason,
        topic: topic.to_owned(),
        text: text.to_owned(),
        wait: None,
        long: false,
    }
}

/// News with this reason and text, and an empty topic.
fn news(reason: EventReason, text: &str) -> News {
    of_topic(reason, "", text)
}

/// News of a wait whose topic is its text, so that other words are another topic.
fn stage(text: &str) -> News {
    of_topic(EventReason::Waiting, text, text)
}

/// The Events that some news about one object becomes, where each piece of news comes at its second: the second of each, and how many with its text
/// there are by then.
fn told(whose: Whose, heard: impl IntoIterator<Item = (u64, News)>) -> Vec<(u64, i32)> {
    let began = Instant::now();
    let mut told = Told::default();
    let hear = |(second, news): (u64, News)| {
        let now = began + Duration::from_secs(second);
        match told.hear(&news, whose, now) {
            Due::Now(times) => Some((second, times)),
            Due::Again(_) | Due::Later(_) => None,
        }
    };
    heard.into_iter().filter_map(hear).collect()
}

#[test]
fn an_unchanged_wait_is_told_every_ten_minutes() {
    let heard = || (0..1_300).map(|second| (second, news(EventReason::Waiting, "a")));
    let of_pod = told(Whose::Pod, heard());
    assert_eq!(of_pod, [(4, 1), (604, 2), (1_204, 3)]);
    let of_workload = told(Whose::Workload, heard());
    assert_eq!(of_workload, [(0, 1), (600, 2), (1_200, 3)]);
}

#[test]
fn a_change_is_told_once_a_minute_has_passed_and_so_is_a_change_back() {
    let text = |second: u64| {
        if (5..70).contains(&second) { "b" } else { "a" }
    };
    let heard = (0..200).map(|second| (second, news(EventReason::Waiting, text(second))));
    assert_eq!(told(Whose::Pod, heard), [(4, 1), (64, 1), (124, 2)]);
}

#[test]
fn a_stage_is_told_within_seconds_and_one_a_minute_where_there_are_many() {
    let heard = |second: u64| (second, stage(&(second / 9).to_string()));
    for (whose, first) in [(Whose::Pod, 6), (Whose::Workload, 2)] {
        let at = |(second, times)| {
            assert_eq!(times, 1);
            second
        };
        let at: Vec<u64> = told(whose, (2..600).map(heard))
            .into_iter()
            .map(at)
            .collect();
        let later = [0, 10, 20, 60, 120, 180].map(|after| first + after);
        assert_eq!(at[..6], later);
    }
    // After a silence the object has Events to spare again.
    let late = [0, 9, 18, 27].map(|second| heard(600 + second));
    let heard = [0, 9, 18].map(heard).into_iter().chain(late);
    assert_eq!(told(Whose::Pod, heard), [(9, 1), (600, 1), (618, 1)]);
}

#[test]
fn figures_are_no_stage_but_a_reason_and_a_cause_are() {
    let answer = |reason: &str, message: &str| Answer {
        verdict: Decision::Wait,
        digest: String::new(),
        dependencies: vec![wire::Report {
            dependency: "Service/db".to_owned(),
            name: "db".to_owned(),
            satisfied: false,
            status: "InProgress".to_owned(),
            reason: reason.to_owned(),
            message: Some(message.to_owned()),
            turns: Vec::new(),
        }],
        note: None,
        probes: Vec::new(),
        for_good: false,
    };
    let before = topic(&answer("NotReady", "Ready: 1/12"));
    assert_eq!(before, topic(&answer("NotReady", "Ready: 11/12")));
    assert_ne!(before, topic(&answer("NoEndpoints", "Ready: 1/12")));
    let caused = "Ready: 1/12; its pod db-1 crashes";
    assert_ne!(before, topic(&answer("NotReady", caused)));
}

/// The message about an image that cannot be pulled has another port each time.
#[test]
fn a_port_that_differs_is_no_news() {
    let pull = |second: u64| {
        let port = 32_768 + second;
        let text = format!(
            "cannot pull image r/a:1: read udp 10.0.0.7:{port}->10.96.0.10:53: i/o timeout"
        );
        (second, news(EventReason::Waiting, &text))
    };
    let of_pod = told(Whose::Pod, (0..1_800).map(pull));
    assert_eq!(of_pod, [(4, 1), (604, 2), (1_204, 3)]);
    let of_workload = told(Whose::Workload, (0..1_800).map(pull));
    assert_eq!(of_workload, [(0, 1), (600, 2), (1_200, 3)]);
    let before = pull(0).1;
    assert!(pull(9).1.is_same(&before));
    let other = news(EventReason::Waiting, "cannot pull image r/a:1: not found");
    assert!(!other.is_same(&before));
}

#[test]
fn a_wait_that_is_long_is_worth_a_warning() {
    let (mut told, began) = (Told::default(), Instant::now());
    for (second, severity) in [(0, "Normal"), (599, "Normal"), (600, "Warning")] {
        let now = began + Duration::from_secs(second);
        let news = news(EventReason::Waiting, "a");
        told.hear(&news, Whose::Pod, now);
        assert_eq!(
            news.reason.severity(told.is_long(now)),
            severity,
            "{second}"
        );
    }
    assert_eq!(EventReason::Released.severity(true), "Normal");
}

#[test]
fn the_wait_of_another_revision_is_another_wait() {
    let of = |wait| news(EventReason::Waiting, "a").of_wait(Some(wait));
    let heard = (0..60).map(|second| (second, of(if second < 20 { "old" } else { "new" })));
    let open = News::opened(EventReason::Released, "b".to_owned()).of_wait(Some("old"));
    let heard = heard.chain([(15, open)]);
    let mut heard: Vec<_> = heard
        .filter(|(second, _)| !(16..20).contains(second))
        .collect();
    heard.sort_by_key(|(second, _)| *second);
    assert_eq!(told(Whose::Workload, heard), [(0, 1), (15, 1), (25, 1)]);
}

#[test]
fn pods_that_wait_for_different_things_do_not_take_turns() {
    let text = |second: u64| if second.is_multiple_of(2) { "a" } else { "b" };
    let heard = (0..900).map(|second| (second, news(EventReason::Waiting, text(second))));
    let said = [(0, 1), (61, 1), (600, 2), (661, 2)];
    assert_eq!(told(Whose::Workload, heard), said);
}

#[test]
fn a_short_wait_of_a_pod_is_worth_no_event() {
    let heard = |to| (2..to).map(|second| (second, stage(&second.to_string())));
    assert_eq!(told(Whose::Pod, heard(6)), []);
    assert_eq!(told(Whose::Pod, heard(7)), [(6, 1)]);
}

#[test]
fn what_is_missing_is_told_six_seconds_after_the_wait_began() {
    let missing = |second| (second, news(EventReason::NotFound, "a"));
    assert_eq!(told(Whose::Pod, (2..600).map(missing)), [(6, 1)]);
    assert_eq!(told(Whose::Workload, (2..600).map(missing)), [(2, 1)]);
    let there = (5, news(EventReason::Waiting, "b"));
    let heard = (2..5)
        .map(missing)
        .chain([there])
        .chain((6..100).map(missing));
    assert_eq!(told(Whose::Pod, heard), [(10, 1)]);
}

#[test]
fn the_end_of_a_wait_and_its_timeout_are_told_at_once() {
    let late = news(EventReason::TimedOut, "c");
    let open = News::opened(EventReason::Released, "d".to_owned());
    let heard = [
        (0, news(EventReason::Waiting, "a")),
        (1, late),
        (2, open.clone()),
        (3, open),
    ];
    let of_workload = told(Whose::Workload, heard.clone());
    assert_eq!(of_workload, [(0, 1), (1, 1), (2, 1)]);
    assert_eq!(told(Whose::Pod, heard), [(1, 1), (2, 1)]);
}

#[test]
fn words_that_are_always_others_are_forgotten() {
    let (mut told, began) = (Told::default(), Instant::now());
    for second in 0..7_200 {
        let news = news(EventReason::Waiting, &second.to_string());
        let now = began + Duration::from_secs(second);
        told.hear(&news, Whose::Workload, now);
    }
    assert_eq!(told.words.len(), 20, "one a minute, of twenty minutes");
}
