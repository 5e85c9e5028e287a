//! The annotations beside the lists: the readable ones, and every refusal.

use super::super::*;
use super::super::{placed, terms};
use crate::terms::{OnFailure, OnTimeout, Regate};
use insta::assert_snapshot;

fn read(key: &str, text: &str) -> Terms {
    let mut read = Terms::default();
    let written = terms::write(&mut read, key, Piece::whole(text));
    written.unwrap_or_else(|flaw| panic!("{key}: {text:?}: {flaw:?}"));
    read
}

fn refused(key: &str, text: &str) -> String {
    let flaw =
        terms::write(&mut Terms::default(), key, Piece::whole(text)).expect_err("must be refused");
    placed(key, text, flaw).to_string()
}

#[test]
fn every_word_is_read() {
    let on_timeout = |text| read(keys::ON_TIMEOUT, text).on_timeout;
    assert_eq!(on_timeout("wait"), Some(OnTimeout::Wait));
    assert_eq!(on_timeout("fail"), Some(OnTimeout::Fail));
    assert_eq!(on_timeout("proceed"), Some(OnTimeout::Proceed));
    let on_failure = |text| read(keys::ON_FAILURE, text).on_failure;
    assert_eq!(on_failure("wait"), Some(OnFailure::Wait));
    assert_eq!(on_failure("fail"), Some(OnFailure::Fail));
    let regate = |text| read(keys::REGATE, text).regate;
    assert_eq!(regate("once"), Some(Regate::Once));
    assert_eq!(regate("boot"), Some(Regate::Boot));
    assert_eq!(regate("always"), Some(Regate::Always));
    let skip = |text| read(keys::SKIP, text).skip;
    assert_eq!(skip("true"), Some(true));
    assert_eq!(skip("false"), Some(false));
    assert_eq!(read(keys::REVISION, " 3 b"), Terms::default());
}

#[test]
fn words_are_refused_with_the_likely_one() {
    assert_snapshot!(refused(keys::ON_TIMEOUT, "procede"),
        @r#"sluice.dev/on-timeout: line 1, column 1: unknown word "procede"; did you mean "proceed"?"#);
    assert_snapshot!(refused(keys::ON_TIMEOUT, "exit"),
        @r#"sluice.dev/on-timeout: line 1, column 1: unknown word "exit"; the words are wait, fail, proceed"#);
    assert_snapshot!(refused(keys::ON_FAILURE, "Fail"),
        @r#"sluice.dev/on-failure: line 1, column 1: unknown word "Fail"; did you mean "fail"?"#);
    assert_snapshot!(refused(keys::REGATE, ""),
        @r#"sluice.dev/regate: line 1, column 1: unknown word ""; the words are once, boot, always"#);
    assert_snapshot!(refused(keys::SKIP, "yes"),
        @r#"sluice.dev/skip: line 1, column 1: unknown word "yes"; the words are true, false"#);
}

#[test]
fn revisions_are_texts_that_were_filled_in() {
    assert_snapshot!(refused(keys::REVISION, " "),
        @r#"sluice.dev/revision: line 1, column 1: revision is empty; write one"#);
    assert_snapshot!(refused(keys::REVISION, "r{{ .Release.Revision }}"),
        @r#"sluice.dev/revision: line 1, column 2: "r{{ .Release.Revision }}" holds a template, and sluice evaluates none; write the text itself"#);
    assert_snapshot!(refused(keys::REVISION, &"r".repeat(254)),
        @r#"sluice.dev/revision: line 1, column 1: "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr…" is 254 bytes long; write at most 253"#);
}

/// The table of Go's `time.ParseDuration`, without negative durations and zero.
#[test]
fn durations_are_read_as_go_reads_them() {
    let nanoseconds = |text| read(keys::TIMEOUT, text).timeout.map(|it| it.as_nanos());
    for (text, expected) in [
        ("90s", 90_000_000_000),
        ("10m", 600_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("+5s", 5_000_000_000),
        ("1.5h", 5_400_000_000_000),
        (".5s", 500_000_000),
        ("5.s", 5_000_000_000),
        ("1.004s", 1_004_000_000),
        ("10.5s4m", 250_500_000_000),
        ("1us1\u{b5}s1\u{3bc}s1ns", 3_001),
        ("1ms", 1_000_000),
        ("0.3333333333333333333h", 1_200_000_000_000 - 1),
        ("0.000000001s", 1),
        ("9223372036854775807ns", 9_223_372_036_854_775_807),
    ] {
        let read = nanoseconds(text);
        let close = read.is_some_and(|read| read.abs_diff(expected) <= 1);
        assert!(close, "{text}: {read:?}");
    }
}

#[test]
fn durations_are_refused_with_the_reason() {
    assert_snapshot!(refused(keys::TIMEOUT, ""),
        @r#"sluice.dev/timeout: line 1, column 1: "" is no duration: it is empty; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "90"),
        @r#"sluice.dev/timeout: line 1, column 3: "90" is no duration: a unit is missing behind the number; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "-90s"),
        @r#"sluice.dev/timeout: line 1, column 1: "-90s" is no duration: it is negative; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "0"),
        @r#"sluice.dev/timeout: line 1, column 1: "0" is no duration: it is zero, which is never meant; leave it out; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "1m0"),
        @r#"sluice.dev/timeout: line 1, column 4: "1m0" is no duration: a unit is missing behind the number; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "0h0m"),
        @r#"sluice.dev/timeout: line 1, column 1: "0h0m" is no duration: it is zero, which is never meant; leave it out; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "1h 30m"),
        @r#"sluice.dev/timeout: line 1, column 2: "1h 30m" is no duration: unknown unit "h "; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "10min"),
        @r#"sluice.dev/timeout: line 1, column 3: "10min" is no duration: unknown unit "min", for which "m" is written; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "1h10M"),
        @r#"sluice.dev/timeout: line 1, column 5: "1h10M" is no duration: unknown unit "M", for which "m" is written; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "1d"),
        @r#"sluice.dev/timeout: line 1, column 2: "1d" is no duration: unknown unit "d"; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "s"),
        @r#"sluice.dev/timeout: line 1, column 1: "s" is no duration: a number is missing; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "1h.s"),
        @r#"sluice.dev/timeout: line 1, column 3: "1h.s" is no duration: a number is missing; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "9223372036854775808ns"),
        @r#"sluice.dev/timeout: line 1, column 1: "9223372036854775808ns" is no duration: it is longer than 292 years; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "99999999999999999999s"),
        @r#"sluice.dev/timeout: line 1, column 1: "99999999999999999999s" is no duration: it is longer than 292 years; write one such as 90s, 10m or 1h30m"#);
    assert_snapshot!(refused(keys::TIMEOUT, "2562047h2562047h"),
        @r#"sluice.dev/timeout: line 1, column 9: "2562047h2562047h" is no duration: it is longer than 292 years; write one such as 90s, 10m or 1h30m"#);
}
