//! Custom health: `sluice.dev/health` and its keys for one path, and `health` in an item of a list.

use super::piece::Piece;
use super::problem::{Flaw, Problem};
use super::yaml::{self, Node, Value};
use super::{MAX_ENTRIES, ParseError, Place, parse, short, text};
use crate::expression::{Expression, ExpressionError, ExpressionProblem};
use crate::kept;
use crate::keys;
use crate::kinds::Kind;
use serde_json::{Map, Value as Json};

/// Every expression in the annotations of one object, with its key. All of them must hold.
///
/// # Errors
///
/// An expression that cannot be read, a list without expressions, or an unknown key that begins like [`keys::HEALTH`].
pub fn health(annotations: &Map<String, Json>) -> Result<Vec<(&str, Expression)>, ParseError> {
    let mut expressions = Vec::new();
    for (key, value) in annotations {
        let Some(rest) = key.strip_prefix(keys::HEALTH) else {
            continue;
        };
        let value = text(key, value)?;
        let found = match rest.strip_prefix('.') {
            Some(path) => vec![one(key, path, value)?],
            None if rest.is_empty() => parse(key, value, list)?,
            None => {
                return Err(ParseError {
                    key: key.clone(),
                    place: None,
                    problem: Problem::UnknownAnnotation(Some(keys::HEALTH.to_owned())),
                });
            }
        };
        expressions.extend(found.into_iter().map(|it| (key.as_str(), it)));
    }
    Ok(expressions)
}

/// Reads the expression of one annotation `sluice.dev/health.PATH`: `path` is in the key, the operator and the value are in `value`.
fn one(key: &str, path: &str, value: &str) -> Result<Expression, ParseError> {
    Expression::parse_key(path, value).map_err(|ExpressionError { at, problem }| ParseError {
        key: key.to_owned(),
        place: at.map(|at| Place::of(value, at)),
        problem: Problem::Expression(problem),
    })
}

/// Reads the expressions of a `sluice.dev/health`: a YAML or JSON list of texts, or else one expression on each line. No expression begins like such
/// a list. A text without an expression, or with too many, is a flaw.
fn list(text: Piece<'_>) -> Result<Vec<Expression>, Flaw> {
    let mut expressions = Vec::new();
    if yaml::applies(text) {
        let root = yaml::document(text.text)?;
        let Value::List(items) = root.value else {
            return Err(Flaw::at(root.at, Problem::NotAList));
        };
        for item in items {
            expressions.push(one_of_a_list(&item)?);
        }
    } else {
        let lines = text.split('\n').map(without_comment).map(Piece::trim);
        for line in lines.filter(|line| !line.is_empty()) {
            if expressions.len() == MAX_ENTRIES {
                return Err(line.flaw(Problem::TooMany));
            }
            expressions.push(expression(line)?);
        }
    }
    if expressions.is_empty() {
        return Err(text.flaw(Problem::Expression(ExpressionProblem::NoExpression)));
    }
    Ok(expressions)
}

/// A line without its comment. A `#` in quotes begins no comment.
fn without_comment(line: Piece<'_>) -> Piece<'_> {
    let end = short::comment(line.text, &Expression::quoted(line.text));
    line.split_at(end).0
}

/// Reads the health expressions of an item of a list: one expression or a list of them. An expression on a field that sluice never reads of this
/// kind is an error. With `elsewhere` (the item names another namespace) so is one on a field outside of the status.
pub(super) fn of_an_item(
    node: &Node<'_>,
    kind: &Kind,
    elsewhere: bool,
) -> Result<Vec<Expression>, Flaw> {
    let nodes = match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    if nodes.is_empty() {
        return Err(wrong(node.at, ExpressionProblem::NoExpression));
    }
    let read = |node: &Node<'_>| {
        let expression = one_of_a_list(node)?;
        let blind = if elsewhere && !kept::in_status(&expression) {
            Some(Problem::ElsewhereOnlyStatus(expression.to_string()))
        } else {
            kept::never_read(kind, &expression).map(Problem::NeverRead)
        };
        blind.map_or(Ok(expression), |problem| Err(Flaw::at(node.at, problem)))
    };
    nodes.iter().map(read).collect()
}

/// Reads an item of a list of health expressions.
fn one_of_a_list(item: &Node<'_>) -> Result<Expression, Flaw> {
    let found = match &item.value {
        Value::Text(text) if text.is_null() => Err("nothing"),
        Value::Text(text) => Ok(text),
        Value::List(_) => Err("a list"),
        Value::Mapping(_) => Err("a mapping"),
    };
    let text = found.map_err(|found| wrong(item.at, ExpressionProblem::NotText(found)))?;
    expression(text.piece())
}

fn expression(written: Piece<'_>) -> Result<Expression, Flaw> {
    let flaw = |ExpressionError { at, problem }| {
        written.flaw_at(at.unwrap_or(0), Problem::Expression(problem))
    };
    Expression::parse(written.text).map_err(flaw)
}

fn wrong(at: usize, problem: ExpressionProblem) -> Flaw {
    Flaw::at(at, Problem::Expression(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_does_not_begin_in_quotes() {
        let read = |text: &str| {
            let read = list(Piece::whole(text)).map_err(|flaw| flaw.problem.to_string());
            read.map(|found| found[0].to_string())
        };
        for (line, expected) in [
            (r#"/a == "team #a""#, r#"/a == "team #a""#),
            (r#"/a == 'team #a' # "ours""#, "/a == 'team #a'"),
            (r#"/a == b # not "team #a""#, "/a == b"),
            ("# /x == \"team #a\"\n/a == b", "/a == b"),
            ("/a == it's # ours, not 'team #a'", "/a == it's"),
        ] {
            assert_eq!(read(line).as_deref(), Ok(expected), "{line}");
        }
        assert!(read(r#"/a == "team #a"#).is_err(), "no quote ends it");
    }
}
