//! The path of an expression.

use super::MAX_SEGMENTS;
use super::problem::{ExpressionFlaw, ExpressionProblem};

/// One step of an expression's path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Segment {
    /// The step `/NAME`: the value of a key.
    Field(String),
    /// The step `/each`: every element of a list.
    Each,
    /// The step `/any`: one element of a list.
    Any,
}

/// Reads the path of an expression, `/status/items/each/phase`; a slash at the end has no effect.
pub(super) fn read(text: &str) -> Result<Vec<Segment>, ExpressionFlaw> {
    let Some(path) = text.strip_prefix('/') else {
        let path = text.to_owned();
        let likely = likely(text);
        return Err((0, ExpressionProblem::NotAPath { path, likely }));
    };
    segments(path.strip_suffix('/').unwrap_or(path), '/').map_err(|(at, problem)| (at + 1, problem))
}

/// The path that a user most likely meant by a text in another form: `.status.phase`, `{.status.phase}`, `status/phase`. `None` for any other
/// text.
fn likely(text: &str) -> Option<String> {
    let bare = text.trim_matches(['{', '}', '.', '$', '"', '\'']);
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '/' | '-');
    (bare.starts_with(|it: char| it.is_ascii_alphabetic()) && bare.chars().all(plain))
        .then(|| format!("/{}", bare.replace('.', "/")))
}

/// Reads the steps of a path, which the separator stands between. A flaw carries the byte of the step in `path`.
pub(super) fn segments(path: &str, separator: char) -> Result<Vec<Segment>, ExpressionFlaw> {
    let mut segments = Vec::new();
    let mut at = 0;
    for step in path.split(separator) {
        if segments.len() == MAX_SEGMENTS {
            return Err((at, ExpressionProblem::TooDeep));
        }
        segments.push(segment(step).map_err(|problem| (at, problem))?);
        at += step.len() + separator.len_utf8();
    }
    Ok(segments)
}

fn segment(step: &str) -> Result<Segment, ExpressionProblem> {
    let name = match step {
        "" => return Err(ExpressionProblem::EmptyStep),
        "each" => return Ok(Segment::Each),
        "any" | "-" => return Ok(Segment::Any),
        "_each" | "_any" => step[1..].to_owned(),
        // A key may not end with a dash, so there the letter follows.
        "_-" | "_-x" => "-".to_owned(),
        _ => unescaped(step)?,
    };
    Ok(Segment::Field(name))
}

fn unescaped(step: &str) -> Result<String, ExpressionProblem> {
    let mut name = String::with_capacity(step.len());
    let mut letters = step.chars();
    while let Some(letter) = letters.next() {
        name.push(match letter {
            '_' => match letters.next() {
                Some('d') => '.',
                Some('s') => '/',
                Some('u') => '_',
                _ => {
                    return Err(ExpressionProblem::Underscore {
                        step: step.to_owned(),
                        likely: step.replace('_', "_u"),
                    });
                }
            },
            _ => letter,
        });
    }
    Ok(name)
}
