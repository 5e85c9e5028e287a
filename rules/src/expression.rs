//! Health by expression: `/status/items/each/phase == Ready`.
//!
//! A path from the root of the object, an operator, a literal. The semantics come from the draft HIP 0999; the spelling is ours,
//! because Kubernetes accepts none of the draft's annotation keys.
//!
//! * `each` and `any` (or `-`) stand for the elements of a list: all of them must do, or one. Of an empty list neither
//!   holds: "all of none" is what a list looks like before its controller has filled it.
//! * A field that is really called so is written `_each`, `_any`, `_-`; inside a name `_d` is a dot, `_s` a slash and
//!   `_u` an underscore. Every other underscore is refused, because in half of the names it would mean something else.
//! * A literal is a number, `true`, `false`, or a text; in quotes it is a text in any case. Quantities (`10Gi`) are
//!   texts.
//! * A missing value, and a value of another type than the literal, holds for no operator: `!= Failed` is not true of an object
//!   that has no phase yet.
//!
//! Reading and judging are linear in the text and in the object: no value is looked at twice for one expression.

mod holds;
mod literal;
mod path;
mod problem;
mod texts;

pub use problem::{ExpressionError, ExpressionProblem};
pub use texts::NeverHolds;

use crate::comparison::Operator;
use path::Segment;
use serde_json::Value;
use std::fmt;
use std::ops::Range;

/// The most steps of one expression's path.
pub const MAX_SEGMENTS: usize = 64;

/// One health expression on an object, as an annotation spells it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expression {
    text: String,
    path: Vec<Segment>,
    operator: Operator,
    /// The number, boolean or text that the values are compared with.
    literal: Value,
}

/// The result of a health expression on an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// The expression holds on the object.
    Holds,
    /// The expression does not hold, and why, in a few words that quote the object: `/status/replicas is 0`.
    Fails(String),
}

impl Expression {
    /// Reads an expression such as `/status/replicas >= 1`; the spaces may be left out.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let start = text.len() - text.trim_start().len();
        let length = text[start..]
            .find(|it: char| it.is_whitespace() || literal::is_sign(it))
            .unwrap_or(text.len() - start);
        let (written, rest) = text[start..].split_at(length);
        let within = |(at, problem): problem::ExpressionFlaw| ExpressionError {
            at: Some(start + at),
            problem,
        };
        let path = path::read(written).map_err(within)?;
        let (operator, literal) =
            literal::read(rest).map_err(|(at, problem)| within((length + at, problem)))?;
        Ok(Self {
            text: text.trim().to_owned(),
            path,
            operator,
            literal,
        })
    }

    /// Reads the expression of an annotation for one path: `path` is the key behind `sluice.dev/health.`, such as `status.items.each.phase`, and
    /// `value` is `== Ready`.
    pub fn parse_key(path: &str, value: &str) -> Result<Self, ExpressionError> {
        let segments = path::segments(path, '.')
            .map_err(|(_, problem)| ExpressionError { at: None, problem })?;
        let (operator, literal) =
            literal::read(value).map_err(|(at, problem)| ExpressionError {
                at: Some(at),
                problem,
            })?;
        Ok(Self {
            text: format!("/{} {}", path.replace('.', "/"), value.trim()),
            path: segments,
            operator,
            literal,
        })
    }

    /// The range of bytes of the quoted text, with its quotes, behind the operator in a line; empty where the line has none.
    pub(crate) fn quoted(line: &str) -> Range<usize> {
        let Some(sign) = line.find(literal::is_sign) else {
            return 0..0;
        };
        let rest = &line[sign..];
        let behind = rest.trim_start_matches(|it: char| it.is_whitespace() || literal::is_sign(it));
        let start = line.len() - behind.len();
        let quote = behind.chars().next().filter(|it| literal::is_quote(*it));
        let end = quote.and_then(|quote| line[start + 1..].find(quote));
        end.map_or(0..0, |length| start..start + 1 + length)
    }

    /// The steps of the expression's path: the name of each field, and `None` for each step to elements of a list.
    pub fn steps(&self) -> impl Iterator<Item = Option<&str>> {
        self.path.iter().map(|segment| match segment {
            Segment::Field(name) => Some(name.as_str()),
            Segment::Each | Segment::Any => None,
        })
    }

    /// Whether the expression holds for `object`, which is the whole object.
    pub fn holds(&self, object: &Value) -> Held {
        match holds::check(self, object) {
            Ok(()) => Held::Holds,
            Err(miss) => Held::Fails(miss.sentence(&self.path)),
        }
    }
}

/// Writes the expression in the form that a list has, `/status/replicas >= 1`.
impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
