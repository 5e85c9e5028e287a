//! The lines of the log, and their times.

use super::*;

#[test]
fn says_every_change_and_nothing_else() {
    let run = run(vec![
        wait(ms(2), "1", &["a", "b"]),
        wait(ms(4000), "2", &["b"]),
        wait(ms(25_000), "2", &["b"]),
        wait(ms(5000), "3", &["b"]),
        open(),
    ]);
    assert_eq!(
        run.log,
        [
            "waiting 0s for Job/a: InProgress (JobNotComplete), and 1 other",
            "  Job/b: InProgress (JobNotComplete)",
            "waiting 4s for Job/b: InProgress (JobNotComplete)",
            "open after 34s",
        ]
    );
    let seen: Vec<_> = run
        .asked
        .iter()
        .map(|(_, seen, _)| seen.as_deref())
        .collect();
    assert_eq!(seen, [None, Some("1"), Some("2"), Some("2"), Some("3")]);
    assert!(run.pauses.is_empty());
}

#[test]
fn names_what_else_it_waits_for_once() {
    let names: Vec<String> = (10..35).map(|number| format!("j{number}")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut last = all.clone();
    last[24] = "j99";
    let run = run(vec![
        wait(ms(2), "1", &all),
        wait(ms(70_000), "1", &all),
        wait(ms(2), "2", &[last[0], last[24]]),
        wait(ms(2), "3", &[all[0], all[24]]),
        open(),
    ]);
    let first = "for Job/j10: InProgress (JobNotComplete), and";
    let other = |name: &str| format!("  Job/{name}: InProgress (JobNotComplete)");
    let mut lines = vec![format!("waiting 0s {first} 24 others")];
    lines.extend(all[1..21].iter().map(|name| other(name)));
    lines.push(format!("waiting 1m00s {first} 24 others"));
    // The first dependency is the same, but the other one has changed.
    for name in ["j99", "j34"] {
        lines.push(format!("waiting 1m10s {first} 1 other"));
        lines.push(other(name));
    }
    lines.push("open after 1m10s".to_owned());
    assert_eq!(run.log, lines);
}

#[test]
fn says_something_every_minute_however_long_it_is_held() {
    let run = run(vec![
        wait(ms(2), "1", &["a"]),
        wait(ms(150_000), "1", &["a"]),
        wait(ms(25_000), "1", &["a"]),
        wait(ms(25_000), "1", &["a"]),
        open(),
    ]);
    let line = "for Job/a: InProgress (JobNotComplete)";
    assert_eq!(
        run.log,
        [
            format!("waiting 0s {line}"),
            format!("waiting 1m00s {line}"),
            format!("waiting 2m00s {line}"),
            format!("waiting 2m50s {line}"),
            "open after 3m20s".to_owned()
        ]
    );
    assert!(run.asked.iter().all(|(_, _, hold)| *hold == HOLD));
}

#[test]
fn suspects_an_uninstall_after_ten_minutes() {
    let mut steps: Vec<_> = (0..13)
        .map(|_| fails(ms(59_800), Failure::ConnectTimeout))
        .collect();
    steps.insert(1, fails(ms(0), Failure::Status(503, String::new())));
    steps.push(open());
    let run = run(steps);
    let hint = |line: &&String| {
        line.ends_with("no sign of it for 10 minutes: if sluice was uninstalled, delete this pod")
    };
    let hinted: Vec<_> = run.log.iter().filter(hint).collect();
    assert_eq!(hinted.len(), 2);
    // The service answered at 1m00s, so the silence is counted from 2m00s on.
    assert!(
        hinted[0].starts_with("waiting 12m00s for the status service: a:1: connection timed out; "),
        "{hinted:?}"
    );
}

#[test]
fn says_for_how_long_there_was_no_sign() {
    for (seconds, told) in [
        (600, "10 minutes"),
        (3_599, "50 minutes"),
        (3_600, "1 hour"),
        (7_199, "1 hour"),
        (260_000, "72 hours"),
    ] {
        assert_eq!(roughly(Duration::from_secs(seconds)), told);
    }
}

#[test]
fn refuses_with_the_reason() {
    let mut policy = answer(Decision::Refuse, "1", &["b", "a"]);
    policy.note = Some("waited longer\nthan 10m".to_owned());
    let reason = "refused after 0s: Job/a: InProgress (JobNotComplete), and 1 other; waited longer\\nthan 10m";
    for (answer, expected) in [
        (policy, reason),
        (
            answer(Decision::Refuse, "1", &[]),
            "refused after 0s: the status service gives no reason",
        ),
    ] {
        let run = run(vec![says(ms(1), answer)]);
        assert_eq!(run.outcome, Outcome::Refused(expected.to_owned()));
        assert_eq!(run.log, [expected]);
    }
}

#[test]
fn says_what_it_opens_without() {
    let run = run(vec![says(ms(1), answer(Decision::Open, "1", &["a"]))]);
    assert_eq!(
        run.log,
        ["open after 0s, without Job/a: InProgress (JobNotComplete)"]
    );
}

#[test]
fn waits_without_a_reason() {
    let mut note = answer(Decision::Wait, "2", &[]);
    note.note = Some("the list cannot be read".to_owned());
    let run = run(vec![wait(ms(1), "1", &[]), says(ms(1), note), open()]);
    assert_eq!(
        run.log[0],
        "waiting 0s for the status service, which gives no reason"
    );
    assert_eq!(run.log[1], "waiting 0s for the list cannot be read");
}

#[test]
fn says_which_address_was_passed_over() {
    let over = |digest: &str, failures: Vec<Failure>| {
        let passed_over = failures
            .into_iter()
            .map(|failure| attempt("a", failure))
            .collect();
        (
            ms(600),
            Ok(Reply {
                answer: answer(Decision::Wait, digest, &["x"]),
                passed_over,
            }),
        )
    };
    let run = run(vec![
        over("1", vec![Failure::Refused]),
        over("1", vec![Failure::Refused]),
        over("1", vec![]),
        over("1", vec![Failure::Lookup(io::Error::other("no such name"))]),
        open(),
    ]);
    assert_eq!(
        run.log,
        [
            "a:1: connection refused; the next address answers",
            "waiting 0s for Job/x: InProgress (JobNotComplete)",
            "a:1: no such name; the next address answers",
            "open after 2s",
        ]
    );
}
