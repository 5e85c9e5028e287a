//! Words the lines below a pod: about its dependencies, its gate, and images that are pulled early.

use crate::output::printable;
use crate::style::{Style, Tone};
use jiff::Timestamp;
use rules::cause::Pull;
use std::time::Duration;
use wire::said::{self, Elapsed};
use wire::{Answer, Decision, Report, Turn, turn};

/// For each dependency its mark and its line: name, status, reason and message in columns, and the changes that only time brings. No text of an
/// object can break a line.
pub(super) fn rows(reports: &[&Report], style: Style, now: Timestamp) -> Vec<(String, String)> {
    let width = |cell: fn(&Report) -> &str| {
        let widths = reports.iter().map(|report| cell(report).chars().count());
        widths.max().unwrap_or_default()
    };
    let names = width(|report| &report.dependency);
    let statuses = width(|report| &report.status);
    let row = |report: &&Report| {
        let mark = style.mark(if report.satisfied {
            Tone::Good
        } else {
            Tone::Waiting
        });
        // A reason that is the status is said once.
        let reason = Some(report.reason.as_str()).filter(|it| *it != report.status);
        let why = [reason, report.message.as_deref()];
        let why: Vec<_> = why.into_iter().flatten().collect();
        let mut why = why.join(": ");
        for turn in &report.turns {
            why = format!("{why}; {}", countdown(turn, now));
        }
        let (name, status) = (&report.dependency, &report.status);
        let told = format!("{name:names$}  {status:statuses$}  {why}");
        (mark, printable(told.trim_end()))
    };
    reports.iter().map(row).collect()
}

/// `stable for 12 of 30 s`, `gives up in 40 s`: the time until a change that only time brings.
fn countdown(Turn { what, at, takes }: &Turn, now: Timestamp) -> String {
    let Ok(until) = at.parse::<Timestamp>() else {
        return format!("{what} at {at}");
    };
    // A part of a second counts as a whole one.
    let left = (until.duration_since(now).as_millis().max(0) + 999) / 1000;
    match what.as_str() {
        turn::STABLE => {
            let stood = (i128::from(*takes) - left).max(0);
            format!("stable for {stood} of {takes} s")
        }
        turn::GIVEN_UP => format!("gives up in {left} s"),
        turn::REFUSED => format!("refuses in {left} s"),
        _ => format!("{what} in {left} s"),
    }
}

/// One line for each image that is being pulled early, or cannot be. The kubelet's word may be minutes old, so its age is told.
pub(super) fn pulls(pulls: &[Pull], now: Timestamp) -> impl Iterator<Item = String> {
    pulls.iter().map(move |pull| {
        let age = pull.at.parse::<Timestamp>().ok();
        let age = age.map(|at| now.duration_since(at).as_secs());
        let age = age.and_then(|seconds| u64::try_from(seconds).ok());
        let age = age.map(|seconds| Elapsed(Duration::from_secs(seconds)));
        let told = match (age, &pull.failed) {
            (Some(age), None) => format!("image  {pull}, {age} so far"),
            (Some(age), Some(_)) => format!("image  {pull} (tried {age} ago)"),
            (None, _) => format!("image  {pull}"),
        };
        printable(&told)
    })
}

/// The last line of a gate, with the time that its pod has waited by now. The time in the line itself is that of the last change, such as
/// `0s`, or up to a minute old. A wait without a known beginning has no time.
pub(super) fn gate_line(line: &str, since: Option<Timestamp>, now: Timestamp) -> String {
    let told = match wait(line) {
        Some(rest) => match since {
            Some(since) => format!("{} {} for {rest}", said::WAITING, took(since, now)),
            None => format!("{} for {rest}", said::WAITING),
        },
        None => line.to_owned(),
    };
    format!("gate  {}", printable(&told))
}

/// The subject of the wait in the last line of a gate, without the time, which alone tells the lines of alike pods apart. `None` for a line
/// about no wait.
pub(super) fn wait(line: &str) -> Option<&str> {
    let waits = line.strip_prefix(said::WAITING)?;
    let (time, rest) = waits.trim_start().split_once(" for ")?;
    (!time.contains(' ')).then_some(rest)
}

/// The line about a pod that is stranded, and why.
pub(super) fn stranded_line(why: &str) -> String {
    format!("pod   it is stranded: {why}")
}

/// The time from one moment to another in whole seconds; zero where `to` is the earlier one, because clocks disagree.
pub(super) fn took(from: Timestamp, to: Timestamp) -> Elapsed {
    let seconds = to.duration_since(from).as_secs();
    Elapsed(Duration::from_secs(seconds.try_into().unwrap_or_default()))
}

/// Whether an image is being pulled now.
pub(super) fn is_pulling(pulls: &[Pull]) -> bool {
    pulls.iter().any(|pull| pull.failed.is_none())
}

/// The note of an answer on the whole list, worded as the gate words it; `None` where the answer has no note.
pub(super) fn note(answer: &Answer) -> Option<String> {
    let note = printable(answer.note.as_deref()?);
    Some(match answer.verdict {
        Decision::Wait if answer.dependencies.is_empty() => format!("wait  for {note}"),
        Decision::Open if answer.dependencies.is_empty() => format!("open  without {note}"),
        _ => note,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_gate_tells_how_long_the_pod_has_waited_by_now() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (since, now) = (at("2026-01-01T00:00:00Z"), at("2026-01-01T00:01:03Z"));
        let why = "tcp://db:5432: InProgress (ConnectionRefused: nothing listens for now)";
        let fresh = format!("waiting 0s for {why}");
        assert_eq!(
            gate_line(&fresh, Some(since), now),
            format!("gate  waiting 1m03s for {why}")
        );
        assert_eq!(
            gate_line(&fresh, None, now),
            format!("gate  waiting for {why}")
        );
        for other in ["open after 3s", "refused: it waits for a Job"] {
            assert_eq!(gate_line(other, Some(since), now), format!("gate  {other}"));
        }
    }

    #[test]
    fn it_counts_down_in_whole_seconds() {
        let told = |what: &str, now: &str| {
            let turn = Turn {
                what: what.to_owned(),
                at: "2026-01-01T00:01:00Z".to_owned(),
                takes: 30,
            };
            countdown(&turn, now.parse().unwrap())
        };
        for (what, now, expected) in [
            (
                turn::STABLE,
                "2026-01-01T00:00:42Z",
                "stable for 12 of 30 s",
            ),
            (
                turn::STABLE,
                "2026-01-01T00:00:59.5Z",
                "stable for 29 of 30 s",
            ),
            (turn::STABLE, "2026-01-01T00:00:00Z", "stable for 0 of 30 s"),
            (turn::GIVEN_UP, "2026-01-01T00:00:20Z", "gives up in 40 s"),
            (turn::GIVEN_UP, "2026-01-01T00:02:00Z", "gives up in 0 s"),
            (turn::REFUSED, "2026-01-01T00:00:59.9Z", "refuses in 1 s"),
            ("done", "2026-01-01T00:00:58Z", "done in 2 s"),
        ] {
            assert_eq!(told(what, now), expected, "{what} {now}");
        }
    }
}
