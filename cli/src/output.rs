//! The form of answers.

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt::Display;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// JSON, an object a line: result, check and message of each check.
    Json,
}

/// Prints one line of an answer.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn print(line: &(impl Display + Serialize), output: Output) -> Result<()> {
    match output {
        Output::Text => println!("{}", printable(&line.to_string())),
        Output::Json => println!("{}", serde_json::to_string(line)?),
    }
    Ok(())
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

/// The names in alphabetical order: the first few, and how many more there are.
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

/// The text on one line. Objects hold any text: an escape character of theirs would move the cursor of a terminal, or
/// worse.
pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
}
