//! The words of a log line: pure, and safe to print whatever the status service sent.

use std::fmt;
use std::time::Duration;
use wire::{Answer, Report};

/// Longest name of a dependency that is printed, in characters: namespace, kind with group, name.
const NAME: usize = 320;
/// Longest status or reason.
const WORD: usize = 64;
/// Longest message or note.
const MESSAGE: usize = 400;

/// `Job/migrate: InProgress (JobNotComplete: Job in progress), and 2 others; NOTE`: the unsatisfied dependency whose
/// name comes first, how many more there are, and the answer's note. `None` where the answer has neither.
pub(crate) fn unsatisfied(answer: &Answer) -> Option<String> {
    let open = || {
        answer
            .dependencies
            .iter()
            .filter(|report| !report.satisfied)
    };
    let first = open().min_by_key(|report| (&report.name, &report.dependency));
    let named = first.map(|report| format!("{}{}", dependency(report), others(open().count() - 1)));
    let note = answer.note.as_deref().map(|note| clean(note, MESSAGE));
    match (named, note) {
        (Some(named), Some(note)) => Some(format!("{named}; {note}")),
        (named, note) => named.or(note),
    }
}

fn dependency(report: &Report) -> String {
    let Report {
        dependency,
        status,
        reason,
        message,
        ..
    } = report;
    let mut text = format!(
        "{}: {} ({}",
        clean(dependency, NAME),
        clean(status, WORD),
        clean(reason, WORD)
    );
    if let Some(message) = message.as_deref().filter(|message| !message.is_empty()) {
        text.push_str(": ");
        text.push_str(&clean(message, MESSAGE));
    }
    text.push(')');
    text
}

fn others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and 1 other".to_owned(),
        _ => format!(", and {count} others"),
    }
}

/// One line of at most `limit` characters: control characters, and those that reorder what a terminal shows, are
/// escaped, and a text that is longer ends in `...`.
pub(crate) fn clean(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for (place, character) in text.trim().chars().enumerate() {
        if place == limit {
            line.push_str("...");
            break;
        }
        if character.is_control() || reorders(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// The line and paragraph separators and the marks of the Unicode bidirectional algorithm.
fn reorders(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `3s`, `1m03s`, `1h02m03s`.
pub(crate) struct Elapsed(pub(crate) Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        match (hours, minutes) {
            (0, 0) => write!(out, "{rest}s"),
            (0, _) => write!(out, "{minutes}m{rest:02}s"),
            _ => write!(out, "{hours}h{minutes:02}m{rest:02}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Decision;

    fn report(dependency: &str, satisfied: bool, message: Option<&str>) -> Report {
        Report {
            dependency: dependency.to_owned(),
            name: dependency.rsplit('/').next().unwrap().to_owned(),
            satisfied,
            status: "InProgress".to_owned(),
            reason: "JobNotComplete".to_owned(),
            message: message.map(str::to_owned),
        }
    }

    fn line(dependencies: Vec<Report>, note: Option<&str>) -> Option<String> {
        unsatisfied(&Answer {
            verdict: Decision::Wait,
            digest: "d".to_owned(),
            dependencies,
            note: note.map(str::to_owned),
        })
    }

    #[test]
    fn names_the_first_by_name() {
        let job = |message| vec![report("Job/migrate", false, message)];
        let many = vec![
            report("Service/zulu", false, None),
            report("data/StatefulSet/alpha", false, Some("1 of 3")),
            report("Deployment/aaa", true, None),
            report("Deployment/mike", false, None),
        ];
        for (dependencies, note, expected) in [
            (vec![], None, None),
            (vec![report("Job/a", true, None)], None, None),
            (vec![], Some("cannot be read"), Some("cannot be read")),
            (
                job(None),
                None,
                Some("Job/migrate: InProgress (JobNotComplete)"),
            ),
            (
                job(Some("")),
                None,
                Some("Job/migrate: InProgress (JobNotComplete)"),
            ),
            (
                job(Some("active: 1")),
                Some("n"),
                Some("Job/migrate: InProgress (JobNotComplete: active: 1); n"),
            ),
            (
                vec![report("Job/b", false, None), report("Job/a", false, None)],
                None,
                Some("Job/a: InProgress (JobNotComplete), and 1 other"),
            ),
            (
                many,
                None,
                Some("data/StatefulSet/alpha: InProgress (JobNotComplete: 1 of 3), and 2 others"),
            ),
        ] {
            assert_eq!(line(dependencies, note).as_deref(), expected);
        }
    }

    #[test]
    fn prints_nothing_that_moves_the_cursor() {
        let text = "a\nsluice-gate: open\r\u{1b}[2J\u{202e}\u{2028}\u{85}é\"\\";
        assert_eq!(
            clean(text, 99),
            "a\\nsluice-gate: open\\r\\u{1b}[2J\\u{202e}\\u{2028}\\u{85}é\"\\"
        );
        assert_eq!(clean("  ééé ", 3), "ééé");
        assert_eq!(clean("éééé", 3), "ééé...");
    }

    #[test]
    fn says_how_long() {
        for (seconds, expected) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m00s"),
            (63, "1m03s"),
            (3600, "1h00m00s"),
            (93_784, "26h03m04s"),
        ] {
            assert_eq!(Elapsed(Duration::from_secs(seconds)).to_string(), expected);
        }
    }
}
