//! The text behind the path: the operator and the literal.

use super::problem::{ExpressionFlaw, ExpressionProblem};
use crate::comparison::Operator;
use serde_json::Number;

/// The literal that an expression compares a value with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Literal {
    Number(Number),
    Bool(bool),
    Text(String),
}

/// Whether a character is part of an operator, or of a misspelt one.
pub(super) fn is_sign(letter: char) -> bool {
    matches!(letter, '=' | '!' | '<' | '>' | '~')
}

/// Whether the character is a quote, between two of which a text of an expression stands.
pub(super) fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'')
}

/// Reads an operator and a literal: `>= 1`.
pub(super) fn read(text: &str) -> Result<(Operator, Literal), ExpressionFlaw> {
    let start = text.len() - text.trim_start().len();
    let rest = &text[start..];
    let length = rest.find(|it| !is_sign(it)).unwrap_or(rest.len());
    let (sign, rest) = rest.split_at(length);
    if sign.is_empty() {
        return Err((start, ExpressionProblem::NoOperator));
    }
    let operator = Operator::from_sign(sign).ok_or_else(|| {
        let likely = likely(sign);
        let sign = sign.to_owned();
        (start, ExpressionProblem::UnknownOperator { sign, likely })
    })?;
    let written = rest.trim();
    let at = start + length + (rest.len() - rest.trim_start().len());
    let literal = literal(written).map_err(|problem| (at, problem))?;
    if operator.orders() && !matches!(literal, Literal::Number(_)) {
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

fn literal(text: &str) -> Result<Literal, ExpressionProblem> {
    let quote = text.chars().next().filter(|it| is_quote(*it));
    if let Some(quote) = quote {
        let within = text[1..].strip_suffix(quote);
        let within = within.filter(|within| !within.contains(quote));
        return within
            .map(|within| Literal::Text(within.to_owned()))
            .ok_or_else(|| ExpressionProblem::Quotes(text.to_owned()));
    }
    match text {
        "" => Err(ExpressionProblem::NoLiteral),
        "null" => Err(ExpressionProblem::Null),
        "true" => Ok(Literal::Bool(true)),
        "false" => Ok(Literal::Bool(false)),
        _ if text.contains(" && ") || text.contains(" || ") => {
            Err(ExpressionProblem::Several(text.to_owned()))
        }
        _ => Ok(serde_json::from_str(text)
            .map_or_else(|_| Literal::Text(text.to_owned()), Literal::Number)),
    }
}
