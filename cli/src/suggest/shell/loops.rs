//! Reads the heads of loops: whether a loop can end, and which command decides that.

use super::tokens::Token;
use std::collections::BTreeMap;

/// The commands that end a loop, or the shell that runs the loop.
const ENDING: [&str; 5] = ["break", "exit", "return", "exec", "kill"];

/// Whether a loop can end: its condition is not one that always holds, such as `while true`, or a command in it ends it. `head` is the command that
/// begins the loop, and `behind` are the tokens that follow. `true` for a command that begins no `while` or `until`.
pub(super) fn ends(
    head: &[String],
    behind: &[Token],
    functions: &BTreeMap<String, Vec<Token>>,
) -> bool {
    let at = head
        .iter()
        .position(|it| matches!(it.as_str(), "while" | "until"));
    let Some(at) = at else { return true };
    let condition: Vec<&str> = head[at..].iter().map(String::as_str).collect();
    let is_for_ever = matches!(
        condition.as_slice(),
        ["while", "true" | ":" | "/bin/true"]
            | ["while", "[" | "[[", "1" | "true", "]" | "]]"]
            | ["until", "false" | "/bin/false"]
            | ["while", "sleep", _]
    );
    let is_end = |it: &&str| is_ending(it) || calls_an_end(it, functions);
    !is_for_ever || body(behind).iter().any(is_end)
}

/// Whether one command is the whole condition of a loop: `do` follows the command, and not a pipe or another command.
pub(super) fn is_head(head: &[String], behind: &[Token]) -> bool {
    let begins = head
        .iter()
        .any(|it| matches!(it.as_str(), "while" | "until"));
    let mut behind = behind.iter();
    let next = behind.find(|it| !matches!(it, Token::End | Token::Next));
    let is_do = matches!(next, Some(Token::Word(it)) if it == "do");
    begins && is_do
}

/// The words of a loop's body, up to the `done` of the loop.
fn body(behind: &[Token]) -> Vec<&str> {
    let mut open = 1;
    let mut begins = true;
    let mut words = Vec::new();
    for token in behind {
        let Token::Word(word) = token else {
            begins = true;
            continue;
        };
        match word.as_str() {
            "while" | "until" | "for" if begins => open += 1,
            "done" if begins => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
        words.push(word.as_str());
        begins &= matches!(word.as_str(), "do" | "then" | "else" | "{" | "!");
    }
    words
}

fn is_ending(word: &str) -> bool {
    ENDING.contains(&word)
}

/// Whether a word calls a function of the script that ends the loop or the shell.
fn calls_an_end(word: &str, functions: &BTreeMap<String, Vec<Token>>) -> bool {
    let body = functions.get(word).into_iter().flatten();
    let mut words = body.filter_map(|it| match it {
        Token::Word(it) => Some(it.as_str()),
        _ => None,
    });
    words.any(|it| is_ending(it) && it != "return")
}
