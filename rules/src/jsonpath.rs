//! The JSONPath of Kubernetes: the dialect that client-go's `util/jsonpath` reads between two braces.
//!
//! A dialect of its own, and not RFC 9535: `\.` is a dot in a name, a key that is not there and an index out of range
//! are errors, a union may name dotted keys, a filter has one comparison. The difference that matters: where a crate
//! for RFC 9535 answers "nothing" for a missing key, `!= Failed` would be true of an object without a status.
//!
//! Narrower than client-go on purpose:
//! * one path, so neither `range` nor `end`, and no text or number in the place of a step;
//! * a name that is empty, a step of a slice that is not above 0, and a filter that makes no sense, are refused when they
//!   are read;
//! * a text has no elements: client-go takes the bytes of it under `.*`;
//! * in `[?(path)]`, a path that cannot be followed is not there: client-go keeps some of those elements.
//!
//! Maps are walked in the order in which they are stored; client-go walks them in any order.
//!
//! Every value that a path reaches costs one unit of [`Effort`], because a few steps can reach exponentially many:
//! `['a','a']['a','a']`, `..a..a..a`.

mod find;
mod parse;
mod print;

pub use find::{Effort, FindError};
pub use parse::{PathError, PathProblem};
pub use print::{LONGEST, print};

use crate::comparison::Operator;
use serde_json::Value;

/// A JSONPath: `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    steps: Vec<PathStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    /// The step `.name` or `['name']`: the value of a field.
    Field(String),
    /// The wildcard `.*`: each child of a value.
    Wildcard,
    /// The step `..`: a value and everything below it.
    Descend,
    /// A slice of a list, or an index: `[1]`, `[-1]`, `[1:4:2]`, `[*]`.
    Slice(Slice),
    /// A union of several steps: `[0,2]`, `['a','b.c']`.
    Union(Vec<Vec<PathStep>>),
    /// A filter of a list's elements: `[?(…)]`.
    Filter(Filter),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slice {
    start: i64,
    end: SliceEnd,
    step: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SliceEnd {
    /// The slice ends with the list.
    Open,
    /// The slice ends one after its start: it is an index.
    Next,
    /// The slice ends before this index.
    Before(i64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    /// The filter `[?(@.a)]`: the operand exists.
    Exists(Operand),
    /// The filter `[?(@.a == 1)]`: the comparison holds.
    Compare(Operand, Operator, Operand),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operand {
    Literal(Value),
    Path(Vec<PathStep>),
}

impl Path {
    /// Reads the text between the braces of a template: `.status.phase`, `[0].name`.
    ///
    /// # Errors
    ///
    /// The place of the first character that makes no sense, and its fault.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        parse::steps(text).map(|steps| Self { steps })
    }

    /// The values that the path reaches from `root`, in order; possibly none.
    ///
    /// # Errors
    ///
    /// A key that is not there, an index out of range, a step that does not fit the value that it meets; or more
    /// values than `effort` is left for.
    pub fn find<'v>(
        &self,
        root: &'v Value,
        effort: &mut Effort,
    ) -> Result<Vec<&'v Value>, FindError> {
        find::walk(&self.steps, &[root], effort)
    }
}

#[cfg(test)]
mod tests;
