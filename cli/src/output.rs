//! Prints answers: as text or JSON, in lines wrapped at the width of the terminal, and without control characters of objects.

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt::Display;
use std::io::{IsTerminal, stdout};
use terminal_size::terminal_size_of;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// JSON, an object a line: result, check and message of each check.
    Json,
}

/// The version of the JSON and YAML objects that commands print. Within a version fields are only added.
pub(crate) const API_VERSION: &str = "cli.sluice.dev/v1";

/// Prints one line of an answer to standard output, as JSON or as text. In a text control characters become blanks.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn print(line: &(impl Display + Serialize), output: Output) -> Result<()> {
    match output {
        Output::Text => println!("{}", printable(&line.to_string())),
        Output::Json => println!("{}", serde_json::to_string(line)?),
    }
    Ok(())
}

/// Prints one line of an answer as it is: its colours are no text of an object.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn print_line(line: &str) {
    println!("{line}");
}

/// A number with its noun: `1 object`, `2 objects`, `2 dependencies`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

/// The widest column of a table, in characters: no name is longer. A file may hold a longer name that no cluster takes; then only
/// its own line is shifted. A formatter cannot pad to more than 65,535.
pub(crate) const WIDEST_COLUMN: usize = 253;

/// The most names of a list that are shown.
const MOST: usize = 20;

/// The names in alphabetical order, with commas: the first 20, and how many more there are.
pub(crate) fn listed(mut names: Vec<String>) -> String {
    let count = names.len();
    names.sort_unstable();
    names.truncate(MOST);
    let others = match count - names.len() {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!("{}{others}", names.join(", "))
}

/// The text with a blank for each control character, also for a line end. Objects hold any text: an escape character would move the cursor of
/// a terminal, or worse.
pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The columns of the terminal on standard output; `None` where there is no terminal, or it does not know its size.
pub(crate) fn columns() -> Option<usize> {
    let size = terminal_size_of(stdout()).filter(|_| stdout().is_terminal());
    size.map(|(width, _)| width.0.into())
        .filter(|width| *width > 0)
}

/// The fewest columns that a text gets: a narrower terminal wraps by itself.
const NARROWEST: usize = 20;

/// The lines of a text that is wrapped between words at so many columns; without `columns` it stays one line. The first begins with `first`, and
/// each other with `further`.
pub(crate) fn wrapped(
    first: &str,
    further: &str,
    text: &str,
    columns: Option<usize>,
) -> Vec<String> {
    let mut line = first.to_owned();
    let Some(columns) = columns else {
        return vec![line + text];
    };
    let room = |begin: &str| columns.saturating_sub(seen(begin)).max(NARROWEST);
    let (mut left, mut lines, mut empty) = (room(first), Vec::new(), true);
    for word in pieces(text, room(further)) {
        let length = seen(word);
        // The blanks behind the last word of a line may stand beyond the edge.
        if !empty && seen(word.trim_end()) > left {
            lines.push(line.trim_end().to_owned());
            (line, left) = (further.to_owned(), room(further));
        }
        line.push_str(word);
        left = left.saturating_sub(length);
        empty = false;
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The words of a text, each with the blanks behind it; a word that is longer than `most` in pieces.
fn pieces(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let word = rest.find(' ').map_or(rest.len(), |at| {
            let blanks = rest[at..].chars().take_while(|it| *it == ' ').count();
            at + blanks
        });
        let end = match rest[..word].char_indices().nth(most) {
            Some((at, _)) if seen(rest[..word].trim_end()) > most => at,
            _ => word,
        };
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

/// The number of characters of a text that a terminal shows; the escape sequences of colours take none.
fn seen(text: &str) -> usize {
    let mut escape = false;
    let shown = text.chars().filter(|letter| {
        let of_escape = escape || *letter == '\x1b';
        escape = of_escape && *letter != 'm';
        !of_escape
    });
    shown.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_wrapped_between_words() {
        let text = "its pod db-0 cannot pull image a.b/c:1";
        assert_eq!(wrapped("- ", "  ", text, None), [format!("- {text}")]);
        assert_eq!(
            wrapped("- ", "  ", text, Some(24)),
            ["- its pod db-0 cannot", "  pull image a.b/c:1"]
        );
        let long = "x".repeat(30);
        assert_eq!(
            wrapped("- ", "    ", &format!("a {long} b"), Some(24)),
            [
                format!("- a {}", "x".repeat(20)),
                format!("    {} b", "x".repeat(10))
            ]
        );
    }

    #[test]
    fn colours_take_no_room() {
        let text = "\x1b[31mred\x1b[0m and more words here";
        assert_eq!(wrapped("", "", text, Some(23)), [text]);
        assert_eq!(wrapped("", "", text, Some(22)).len(), 2);
    }
}
