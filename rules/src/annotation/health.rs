//! Custom health: `sluice.dev/health` and its keys for one path.

use super::problem::{Flaw, Problem};
use super::reference::{pieces, trimmed};
use super::yaml::{self, Value};
use super::{MAX_ENTRIES, ParseError, Place, parse, short, text};
use crate::expression::{Expression, ParseError as Refused, Problem as Wrong};
use crate::keys;
use serde_json::{Map, Value as Json};

/// Every expression in the annotations of one object, with its key. All of them must hold.
///
/// # Errors
///
/// An expression that cannot be read, a list of none, or a key that begins like ours and is not.
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

/// The expression of a key for one path.
fn one(key: &str, path: &str, value: &str) -> Result<Expression, ParseError> {
    Expression::parse_key(path, value).map_err(|Refused { at, problem }| ParseError {
        key: key.to_owned(),
        place: at.map(|at| Place::of(value, at)),
        problem: Problem::Expression(problem),
    })
}

/// A YAML or JSON list of texts; or, as no expression begins like one, an expression a line.
fn list(text: &str) -> Result<Vec<Expression>, Flaw> {
    let mut expressions = Vec::new();
    if super::long::applies(text) {
        let root = yaml::document(text)?;
        let Value::List(items) = root.value else {
            return Err(Flaw::at(root.at, Problem::NotAList));
        };
        for item in items {
            let found = match &item.value {
                Value::Text(text) if text.is_null() => Err("nothing"),
                Value::Text(text) => Ok(text),
                Value::List(_) => Err("a list"),
                Value::Mapping(_) => Err("a mapping"),
            };
            let text = found.map_err(|found| wrong(item.at, Wrong::NotText(found)))?;
            let expression = Expression::parse(&text.content);
            expressions.push(expression.map_err(|refused| text.flaw(flaw(refused)))?);
        }
    } else {
        let lines = pieces(text, '\n').map(|(at, line)| (at, short::without_comment(line)));
        for (at, line) in lines.map(trimmed).filter(|(_, line)| !line.is_empty()) {
            if expressions.len() == MAX_ENTRIES {
                return Err(Flaw::at(at, Problem::TooMany));
            }
            let expression = Expression::parse(line);
            expressions.push(expression.map_err(|refused| flaw(refused).after(at))?);
        }
    }
    if expressions.is_empty() {
        return Err(wrong(0, Wrong::NoExpression));
    }
    Ok(expressions)
}

fn flaw(Refused { at, problem }: Refused) -> Flaw {
    wrong(at.unwrap_or(0), problem)
}

fn wrong(at: usize, problem: Wrong) -> Flaw {
    Flaw::at(at, Problem::Expression(problem))
}
