//! The faults of a health expression, and for each of them the sentence that refuses it.

use super::MAX_SEGMENTS;
use crate::text::Quoted;

/// A fault of a health expression, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ExpressionError {
    /// The byte of the text at which the fault is; `None` where the key of a path is at fault.
    pub at: Option<usize>,
    /// The fault of the expression, and the way out.
    pub problem: ExpressionProblem,
}

/// The byte of an expression's text at which a problem is, and the problem.
pub(super) type ExpressionFlaw = (usize, ExpressionProblem);

/// A fault of an expression, as a sentence that quotes it and says the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum ExpressionProblem {
    #[error("there is no expression; write one, e.g. \"/status/replicas >= 1\"")]
    NoExpression,
    #[error("an expression is a text such as \"/status/replicas >= 1\", not {0}")]
    NotText(&'static str),
    #[error("{} is not a path from the root of the object{}", Quoted(.path), instead(.likely.as_deref(), "; write e.g. /status/replicas"))]
    NotAPath {
        path: String,
        likely: Option<String>,
    },
    #[error("a step of the path is empty; write one name between two slashes (dots in a key)")]
    EmptyStep,
    #[error("the path has more than {MAX_SEGMENTS} steps")]
    TooDeep,
    #[error("the underscore in {} means nothing; write {}", Quoted(.step), Quoted(.likely))]
    Underscore { step: String, likely: String },
    #[error("there is no operator; write one of == != < <= > >=")]
    NoOperator,
    #[error("unknown operator {}{}", Quoted(.sign), instead(*.likely, "; the operators are == != < <= > >="))]
    UnknownOperator {
        sign: String,
        likely: Option<&'static str>,
    },
    #[error("there is nothing to compare with; write a number, true, false or a text")]
    NoLiteral,
    #[error("{} is not one text in quotes", Quoted(.0))]
    Quotes(String),
    #[error("{} looks like several expressions; give each an item of its own, or put the text in quotes", Quoted(.0))]
    Several(String),
    #[error(
        "nothing equals null, because a value that is missing never holds; leave the expression out"
    )]
    Null,
    #[error("{sign} compares numbers, and {} is none", Quoted(.literal))]
    Order { sign: &'static str, literal: String },
}

fn instead(likely: Option<&str>, otherwise: &str) -> String {
    likely.map_or_else(
        || otherwise.to_owned(),
        |likely| format!("; did you mean {likely:?}?"),
    )
}
