//! The words of a gate's log, and a reader of such a log.
//!
//! Pure. Every text is safe to print, even after a hostile answer.

use crate::{Answer, Decision, Report, Turn};
use std::fmt;
use std::time::Duration;

/// The beginning of each line that the gate logs.
pub const SPEAKER: &str = "sluice-gate: ";
/// The first word of a line that says that the gate waits; the time that it has waited follows.
pub const WAITING: &str = "waiting";
/// The first word of a line that says that the gate has opened.
pub const OPEN: &str = "open";
/// The first word of a line that says that, by policy, the wait has failed.
pub const REFUSED: &str = "refused";
/// The line that the gate logs where it opened in this pod before, and the node was booted since. It says nothing about how a wait stands.
pub const REBOOTED: &str =
    "it opened in this pod before the node's last boot, and asks again: the node was rebooted";
/// The first word of a line that says that a variable cannot be used, so the gate cannot ask and ends.
pub const MISCONFIGURED: &str = "misconfigured";

/// The longest printed name of a dependency, in characters: namespace, kind with group, name.
const NAME: usize = 320;
/// The longest printed status or reason, in characters.
const WORD: usize = 64;
/// The longest printed message or note, in characters.
const MESSAGE: usize = 400;
/// The most unsatisfied dependencies that have a line of their own, beside the first one.
pub const FURTHER: usize = 20;

/// A line of the log that says how a wait stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The whole line, without [`SPEAKER`].
    pub line: String,
    /// The decision that the line tells.
    pub decision: Decision,
    /// The dependency that the line names, if it names one.
    pub about: Option<About>,
    /// All dependencies that were unsatisfied when the line was first written, in the order of their lines.
    pub unmet: Vec<About>,
}

/// The statement of a line about one dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The dependency that the line is about, as [`Report::dependency`] names it.
    pub dependency: String,
    /// The kstatus word for the dependency, as in [`Report::status`].
    pub status: String,
    /// The reason why the dependency is satisfied or not, as in [`Report::reason`].
    pub reason: String,
    /// The message about the dependency, as in [`Report::message`].
    pub message: Option<String>,
}

/// Returns the last line of a gate's log that says how the wait stands, with the further dependencies that were logged for it; `None` if no
/// line says so. Lines about addresses and files are skipped.
pub fn last(log: &str) -> Option<Said> {
    let lines = log.lines().filter_map(|line| line.strip_prefix(SPEAKER));
    let mut said: Option<Said> = None;
    for line in lines {
        if let Some(further) = line.strip_prefix("  ") {
            if let Some(said) = &mut said {
                said.unmet.extend(about(further));
            }
        } else if let Some(next) = read(line) {
            said = Some(next.after(said));
        }
    }
    said
}

impl Said {
    /// Takes over the dependencies of `before` where this line differs from it only in the time waited: the gate repeats a line after a
    /// minute, without the further lines.
    fn after(self, before: Option<Self>) -> Self {
        let same = |it: &Self| it.news() == self.news();
        match before.filter(same) {
            Some(before) => Self {
                unmet: before.unmet,
                ..self
            },
            None => self,
        }
    }

    /// Returns the part of the line behind the time that the gate has waited; `None` where the line has no ` for `.
    fn news(&self) -> Option<&str> {
        Some(self.line.split_once(" for ")?.1)
    }
}

fn read(line: &str) -> Option<Said> {
    let word = line.split([' ', ':']).next()?;
    let decision = match word {
        WAITING => Decision::Wait,
        OPEN => Decision::Open,
        REFUSED | MISCONFIGURED => Decision::Refuse,
        _ => return None,
    };
    // Before the mark stands the time that the gate has waited.
    let marks = [" for ", ", without ", ": "];
    let rest = marks.iter().find_map(|mark| Some(line.split_once(mark)?.1));
    let about = rest.and_then(about);
    Some(Said {
        line: line.to_owned(),
        decision,
        unmet: about.clone().into_iter().collect(),
        about,
    })
}

/// Returns the text up to the first `)` that closes no `(` of the text, or else the whole text: a message may hold brackets of its own.
fn within(text: &str) -> &str {
    let mut open = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' if open == 0 => return &text[..at],
            ')' => open -= 1,
            _ => {}
        }
    }
    text
}

/// Reads a statement such as `Job/migrate: InProgress (JobNotComplete: Job in progress)`; `None` for any other text. A dependency may hold
/// brackets; a status is one word.
fn about(text: &str) -> Option<About> {
    let is_word = |text: &str| !text.is_empty() && text.chars().all(char::is_alphanumeric);
    text.match_indices(" (").find_map(|(at, bracket)| {
        let (dependency, status) = text[..at].rsplit_once(": ")?;
        let inner = within(&text[at + bracket.len()..]);
        let (reason, message) = match inner.split_once(": ") {
            Some((reason, message)) => (reason, Some(message.to_owned())),
            None => (inner, None),
        };
        (is_word(status) && is_word(reason)).then(|| About {
            dependency: dependency.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message,
        })
    })
}

/// Returns the unsatisfied dependency whose name comes first, which the log names; `None` where every dependency is satisfied.
pub fn first(answer: &Answer) -> Option<&Report> {
    open(answer).min_by_key(|report| (&report.name, &report.dependency))
}

/// Returns the unsatisfied dependencies behind [`first`], sorted by name, one line each; at most 20.
pub fn further(answer: &Answer) -> Vec<String> {
    let mut reports: Vec<_> = open(answer).collect();
    reports.sort_by_key(|report| (&report.name, &report.dependency));
    let behind = reports.into_iter().skip(1).take(FURTHER);
    behind.map(dependency).collect()
}

fn open(answer: &Answer) -> impl Iterator<Item = &Report> {
    answer
        .dependencies
        .iter()
        .filter(|report| !report.satisfied)
}

/// Returns [`first`], the number of others and the answer's note, as in `Job/migrate: InProgress (JobNotComplete: Job
/// in progress), and 2 others; NOTE`. `None` where the answer has no unsatisfied dependency and no note.
pub fn unsatisfied(answer: &Answer) -> Option<String> {
    let others = || others(open(answer).count() - 1);
    let named = first(answer).map(|report| format!("{}{}", dependency(report), others()));
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
        turns,
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
    let turn =
        |Turn { what, at, .. }: &Turn| format!(", {} at {}", clean(what, WORD), clean(at, WORD));
    text.extend(turns.iter().map(turn));
    text
}

fn others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and 1 other".to_owned(),
        _ => format!(", and {count} others"),
    }
}

/// Returns the text as one line, without blanks around it. A text longer than `limit` characters is cut there and ends in `...`. Control characters,
/// and characters that reorder the text on a terminal, are escaped.
pub fn clean(text: &str, limit: usize) -> String {
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

/// Returns whether the character is a line or paragraph separator, or a mark of the Unicode bidirectional algorithm.
fn reorders(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints a duration in whole seconds, such as `3s`, `1m03s` or `1h02m03s`.
pub struct Elapsed(pub Duration);

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

    fn report(dependency: &str, satisfied: bool, message: Option<&str>) -> Report {
        Report {
            dependency: dependency.to_owned(),
            name: dependency.rsplit('/').next().unwrap().to_owned(),
            satisfied,
            status: "InProgress".to_owned(),
            reason: "JobNotComplete".to_owned(),
            message: message.map(str::to_owned),
            turns: Vec::new(),
        }
    }

    fn line(dependencies: Vec<Report>, note: Option<&str>) -> Option<String> {
        unsatisfied(&Answer {
            verdict: Decision::Wait,
            digest: "d".to_owned(),
            dependencies,
            note: note.map(str::to_owned),
            probes: Vec::new(),
            for_good: false,
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
    fn says_when_time_alone_will_change_it() {
        let turn = |what: &str, second: u32| Turn {
            what: what.to_owned(),
            at: format!("2026-01-01T00:00:{second}Z"),
            takes: 30,
        };
        let waits = Report {
            turns: vec![turn(crate::turn::STABLE, 31), turn("gone\n", 59)],
            ..report("Job/migrate", false, Some("so"))
        };
        let others = [waits, report("Job/zulu", false, None)];
        assert_eq!(
            line(others.into(), None).as_deref(),
            Some(
                "Job/migrate: InProgress (JobNotComplete: so), stable at 2026-01-01T00:00:31Z, gone at 2026-01-01T00:00:59Z, and 1 \
                 other"
            )
        );
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
