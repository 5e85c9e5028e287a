//! Text to steps, as client-go's `parser.go` takes it apart.
//!
//! Recursion is never deep. A part of a union holds no comma, so it holds no other union. A filter ends at the first
//! parenthesis outside of the one text in quotes that it may hold, and there are two kinds of quotes: so there are never more
//! than three within each other.

use super::{Filter, Operand, PathStep, Slice, SliceEnd};
use crate::text::Quoted;
use serde_json::{Number, Value};
use std::fmt;

/// A fault of a JSONPath, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathError {
    /// The character of the JSONPath at which the fault is, from 1.
    pub column: usize,
    /// The fault of the JSONPath.
    pub problem: PathProblem,
}

/// Writes the fault with its place: `character 5 of the path: unexpected '^'`.
impl fmt::Display for PathError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "character {} of the path: {}",
            self.column, self.problem
        )
    }
}

impl std::error::Error for PathError {}

/// A fault in the text of a JSONPath.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum PathProblem {
    #[error("unexpected {0:?}; a step begins with \".\" or \"[\"")]
    Unexpected(char),
    #[error("a name is missing")]
    NoName,
    #[error("two \"..\" in a row")]
    TwiceDown,
    #[error("\"[\" is not closed")]
    Unclosed,
    #[error("{} is not an index, a slice or a name in single quotes", Quoted(.0))]
    Index(String),
    #[error("the step of a slice is above 0")]
    ZeroStep,
    #[error("{} is not an operator; a filter has one of == != < <= > >=", Quoted(.0))]
    Operator(String),
    #[error("{} is neither a path nor a number, a text in quotes, true or false", Quoted(.0))]
    Operand(String),
}

/// The byte of a JSONPath at which a problem is, and the problem.
type PathFlaw = (usize, PathProblem);

pub(super) fn steps(text: &str) -> Result<Vec<PathStep>, PathError> {
    path(text).map_err(|(at, problem)| PathError {
        column: text.char_indices().take_while(|(it, _)| *it < at).count() + 1,
        problem,
    })
}

fn path(text: &str) -> Result<Vec<PathStep>, PathFlaw> {
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match first {
            // The current object, which the path is about anyway.
            ' ' | '@' | '$' => Ok(1),
            '[' if rest.starts_with("[?(") => filter(rest, &mut steps),
            '[' => array(rest, &mut steps),
            '.' if rest.starts_with("..") => descend(rest, &mut steps),
            '.' => field(rest, 1, &mut steps),
            other => Err((0, PathProblem::Unexpected(other))),
        }
        .map_err(|(offset, problem)| (at + offset, problem))?;
    }
    Ok(steps)
}

/// Reads the step `..` at the start of `rest`, and the name that may follow at once, into `steps`. Returns the number of bytes that it has read.
fn descend(rest: &str, steps: &mut Vec<PathStep>) -> Result<usize, PathFlaw> {
    if steps.last() == Some(&PathStep::Descend) {
        return Err((0, PathProblem::TwiceDown));
    }
    steps.push(PathStep::Descend);
    let named = rest[2..]
        .chars()
        .next()
        .is_some_and(|it| it == '_' || it.is_alphanumeric());
    if named { field(rest, 2, steps) } else { Ok(2) }
}

/// Reads a name from the byte `start` of `rest` up to the first character that no name may have into `steps`. A backslash keeps the next character
/// in the name. Returns the byte of `rest` at which the name ends.
fn field(rest: &str, start: usize, steps: &mut Vec<PathStep>) -> Result<usize, PathFlaw> {
    let mut name = String::new();
    let mut letters = rest[start..].char_indices();
    let end = loop {
        match letters.next() {
            None => break rest.len(),
            Some((_, '\\')) => name.extend(letters.next().map(|(_, kept)| kept)),
            Some((at, letter)) if ends_name(letter) => break start + at,
            Some((_, letter)) => name.push(letter),
        }
    };
    steps.push(match name.as_str() {
        "" => return Err((start, PathProblem::NoName)),
        "*" => PathStep::Wildcard,
        _ => PathStep::Field(name),
    });
    Ok(end)
}

fn ends_name(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

/// Reads a step in brackets at the start of `rest` into `steps`: an index, a slice, a name in quotes, or a union of these, up to the first `]`,
/// even one in quotes. Returns the number of bytes that it has read.
fn array(rest: &str, steps: &mut Vec<PathStep>) -> Result<usize, PathFlaw> {
    let end = rest.find(']').ok_or((0, PathProblem::Unclosed))?;
    let within = &rest[1..end];
    if within.contains(',') {
        let parts = within.split(',').map(|part| {
            let part = format!("[{}]", part.trim_matches(' '));
            path(&part).map_err(|(_, problem)| (1, problem))
        });
        steps.push(PathStep::Union(parts.collect::<Result<_, _>>()?));
    } else if let Some(name) = in_quotes(within) {
        // A dot in the quotes splits the name as it does outside; `\.` keeps it.
        steps.extend(path(&format!(".{name}")).map_err(|(_, problem)| (2, problem))?);
    } else {
        steps.push(PathStep::Slice(
            slice(within).map_err(|problem| (1, problem))?,
        ));
    }
    Ok(end + 1)
}

fn in_quotes(text: &str) -> Option<&str> {
    let name = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!name.contains('\'')).then_some(name)
}

fn slice(text: &str) -> Result<Slice, PathProblem> {
    let invalid = || PathProblem::Index(text.to_owned());
    let number = |part: &str| match part {
        "" => Ok(None),
        // Rust reads a plus sign here, client-go does not.
        _ if part.starts_with('+') => Err(invalid()),
        // 32 bits are plenty, and then no sum of two can overflow.
        _ => part
            .parse::<i32>()
            .map(|number| Some(i64::from(number)))
            .map_err(|_| invalid()),
    };
    let parts: Vec<&str> = if text == "*" {
        vec!["", ""]
    } else {
        text.splitn(4, ':').collect()
    };
    let (start, end, step) = match *parts.as_slice() {
        [start] => (number(start)?, SliceEnd::Next, None),
        [start, end] => (number(start)?, until(number(end)?), None),
        [start, end, step] => (number(start)?, until(number(end)?), number(step)?),
        _ => return Err(invalid()),
    };
    let step = match step {
        None => 1,
        Some(step) => usize::try_from(step)
            .ok()
            .filter(|step| *step > 0)
            .ok_or(PathProblem::ZeroStep)?,
    };
    Ok(Slice {
        start: start.unwrap_or(0),
        end,
        step,
    })
}

fn until(end: Option<i64>) -> SliceEnd {
    end.map_or(SliceEnd::Open, SliceEnd::Before)
}

/// Reads a filter `[?(…)]` at the start of `rest` into `steps`, up to the first parenthesis outside of the one text in quotes that it may hold.
/// Returns the number of bytes that it has read.
fn filter(rest: &str, steps: &mut Vec<PathStep>) -> Result<usize, PathFlaw> {
    const START: usize = "[?(".len();
    let close = closing(&rest[START..]).ok_or((0, PathProblem::Unclosed))?;
    let within = &rest[START..START + close];
    let after = START + close + 1;
    if !rest[after..].starts_with(']') {
        return Err((0, PathProblem::Unclosed));
    }
    let shift = |(at, problem)| (START + at, problem);
    steps.push(PathStep::Filter(condition(within).map_err(shift)?));
    Ok(after + 1)
}

fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut closed = false;
    let mut before = None;
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            ('\n', _) => return None,
            ('"' | '\'', None) => quote = Some(letter),
            (_, Some(open)) if letter == open && before != Some('\\') => closed = true,
            (')', _) if quote.is_some() == closed => return Some(at),
            _ => {}
        }
        before = Some(letter);
    }
    None
}

fn condition(text: &str) -> Result<Filter, PathFlaw> {
    let sign = |it: char| matches!(it, '!' | '<' | '>' | '=');
    let Some(start) = text.find(sign).filter(|at| *at > 0) else {
        return Ok(Filter::Exists(operand(text)?));
    };
    let length = text[start..].find(|it| !sign(it));
    let end = length.map_or(text.len(), |length| start + length);
    let written = &text[start..end];
    let operator = written
        .parse()
        .map_err(|_| (start, PathProblem::Operator(written.to_owned())))?;
    let left = operand(&text[..start])?;
    let right = operand(&text[end..]).map_err(|(at, problem)| (end + at, problem))?;
    Ok(Filter::Compare(left, operator, right))
}

fn operand(text: &str) -> Result<Operand, PathFlaw> {
    let word = text.trim_matches(' ');
    let literal = match word.chars().next() {
        Some(quote @ ('"' | '\'')) => unquoted(word, quote).map(Value::String),
        Some('+' | '-' | '0'..='9') => number(word).map(Value::Number),
        Some(letter) if letter.is_alphanumeric() => match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        None => None,
        Some(_) => return path(text).map(Operand::Path),
    };
    let refused = || (0, PathProblem::Operand(word.to_owned()));
    literal.map(Operand::Literal).ok_or_else(refused)
}

/// Reads a number of digits and dots, with one sign at most: an integer, or a float if it has a dot. `None` for every other spelling.
fn number(word: &str) -> Option<Number> {
    let digits = word.trim_start_matches(['+', '-']);
    let plain = digits.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    if !plain || word.len() > digits.len() + 1 {
        return None;
    }
    let integer = word.parse::<i64>().ok().map(Number::from);
    integer.or_else(|| Number::from_f64(word.parse().ok()?))
}

/// Returns the text between two quotes, with its escapes decoded; `None` where a quote is missing or an escape is unknown.
fn unquoted(word: &str, quote: char) -> Option<String> {
    let within = word.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut text = String::new();
    let mut letters = within.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                kept if kept == quote || kept == '\\' => kept,
                _ => return None,
            },
            _ if letter == quote => return None,
            _ => letter,
        });
    }
    Some(text)
}
