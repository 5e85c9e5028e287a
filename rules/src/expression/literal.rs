//! The text behind the path: the operator and the literal.

use super::problem::{ExpressionFlaw, ExpressionProblem};
use crate::comparison::Operator;
use serde_json::Value;

/// Whether a character is part of an operator, or of a misspelt one.
pub(super) fn is_sign(letter: char) -> bool {
    matches!(letter, '=' | '!' | '<' | '>' | '~')
}

/// Whether the character is a quote, between two of which a text of an expression stands.
pub(super) fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'')
}

/// Reads an operator and a literal: `>= 1`. An operator of order beside a literal that is no number is an error.
pub(super) fn read(text: &str) -> Result<(Operator, Value), ExpressionFlaw> {
    let start = text.len() - text.trim_start().len();
    let rest = &text[start..];
    let length = rest.find(|it| !is_sign(it)).unwrap_or(rest.len());
    let (sign, rest) = rest.split_at(length);
    if sign.is_empty() {
        return Err((start, ExpressionProblem::NoOperator));
    }
    let operator = sign.parse::<Operator>().map_err(|_| {
        let likely = likely(sign);
        let sign = sign.to_owned();
        (start, ExpressionProblem::UnknownOperator { sign, likely })
    })?;
    let written = rest.trim();
    let at = start + length + (rest.len() - rest.trim_start().len());
    let literal = literal(written).map_err(|problem| (at, problem))?;
    if operator.orders() && !literal.is_number() {
        let (sign, literal) = (operator.sign(), written.to_owned());
        return Err((at, ExpressionProblem::Order { sign, literal }));
    }
    Ok((operator, literal))
}

fn likely(sign: &str) -> Option<&'static str> {
    match sign {
        "=" | "===" => Some("=="),
        "<>" | "=!" | "!==" | "!" => Some("!="),
        "=<" => Some("<="),
        "=>" => Some(">="),
        _ => None,
    }
}

fn literal(text: &str) -> Result<Value, ExpressionProblem> {
    let quote = text.chars().next().filter(|it| is_quote(*it));
    if let Some(quote) = quote {
        let within = text[1..].strip_suffix(quote);
        let within = within.filter(|within| !within.contains(quote));
        return within
            .map(Value::from)
            .ok_or_else(|| ExpressionProblem::Quotes(text.to_owned()));
    }
    match text {
        "" => Err(ExpressionProblem::NoLiteral),
        "null" => Err(ExpressionProblem::Null),
        "true" => Ok(true.into()),
        "false" => Ok(false.into()),
        _ if text.contains(" && ") || text.contains(" || ") => {
            Err(ExpressionProblem::Several(text.to_owned()))
        }
        _ => Ok(serde_json::from_str(text).map_or_else(|_| text.into(), Value::Number)),
    }
}
