//! Steps to values, as client-go's `jsonpath.go` follows them with `AllowMissingKeys` off.

use super::{Filter, Operand, PathStep, Slice, SliceEnd};
use crate::comparison::{self, Operator};
use serde_json::Value;

/// The number of values that a search may still visit. All JSONPath expressions of one object share the number, so many expressions cost no
/// more than one.
#[derive(Debug)]
pub struct Effort(usize);

impl Effort {
    /// The effort at the beginning: enough for the largest object that Kubernetes stores, and spent within some milliseconds.
    pub const MOST: usize = 200_000;

    /// An effort of [`Effort::MOST`].
    pub fn new() -> Self {
        Self(Self::MOST)
    }

    fn spend(&mut self) -> Result<(), FindError> {
        self.0 = self.0.checked_sub(1).ok_or(FindError::TooMuch)?;
        Ok(())
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self::new()
    }
}

/// Why the path of a JSONPath expression cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum FindError {
    #[error("{0} is not there")]
    Missing(String),
    #[error("an index or a filter met {0}, not a list")]
    NotAList(&'static str),
    #[error("index {index} is out of the range of a list of {length}")]
    OutOfRange { index: i64, length: i64 },
    #[error("a slice begins at {start}, after its end {end}")]
    Backwards { start: i64, end: i64 },
    #[error("a filter compares {0} values at once")]
    Several(usize),
    #[error("a filter compares {0} with {1}")]
    Incomparable(&'static str, &'static str),
    #[error("the path reaches more than {} values", Effort::MOST)]
    TooMuch,
}

type Values<'v> = Vec<&'v Value>;

pub(super) fn walk<'v>(
    steps: &[PathStep],
    from: &[&'v Value],
    effort: &mut Effort,
) -> Result<Values<'v>, FindError> {
    let Some((first, rest)) = steps.split_first() else {
        return Ok(from.to_vec());
    };
    let found = take(first, from, effort)?;
    rest.iter()
        .try_fold(found, |values, step| take(step, &values, effort))
}

fn take<'v>(
    step: &PathStep,
    values: &[&'v Value],
    effort: &mut Effort,
) -> Result<Values<'v>, FindError> {
    let mut found = Vec::new();
    match step {
        PathStep::Field(name) => return field(name, values, effort),
        PathStep::Slice(slice) => return elements(*slice, values, effort),
        PathStep::Filter(filter) => return filtered(filter, values, effort),
        PathStep::Descend => return descend(values, effort),
        PathStep::Wildcard => {
            for value in values {
                effort.spend()?;
                for part in parts(value) {
                    effort.spend()?;
                    found.push(part);
                }
            }
        }
        PathStep::Union(members) => {
            for member in members {
                found.extend(walk(member, values, effort)?);
            }
        }
    }
    Ok(found)
}

/// The values of the field `name` in each of `values` that has it. It is an error if `values` is not empty and none has the field.
fn field<'v>(
    name: &str,
    values: &[&'v Value],
    effort: &mut Effort,
) -> Result<Values<'v>, FindError> {
    let mut found = Vec::new();
    for value in values {
        effort.spend()?;
        found.extend(value.get(name));
    }
    if found.is_empty() && !values.is_empty() {
        return Err(FindError::Missing(name.to_owned()));
    }
    Ok(found)
}

fn parts(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

/// Every value that has parts, and every text that is not empty, from the outside in. The function keeps a stack of its own and does not
/// recurse, because an object may be nested without a bound.
fn descend<'v>(values: &[&'v Value], effort: &mut Effort) -> Result<Values<'v>, FindError> {
    let mut found = Vec::new();
    let mut open: Vec<_> = values.iter().rev().copied().collect();
    while let Some(value) = open.pop() {
        effort.spend()?;
        let parts = parts(value);
        if !parts.is_empty() || value.as_str().is_some_and(|text| !text.is_empty()) {
            found.push(value);
        }
        open.extend(parts.into_iter().rev());
    }
    Ok(found)
}

fn elements<'v>(
    slice: Slice,
    values: &[&'v Value],
    effort: &mut Effort,
) -> Result<Values<'v>, FindError> {
    let mut found = Vec::new();
    for value in values {
        effort.spend()?;
        if value.is_null() {
            continue;
        }
        let list = list(value)?;
        let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
        let (start, end) = bounds(slice, length);
        if start == end {
            // client-go stops at the first list without a result, and leaves out the lists behind it.
            return Ok(found);
        }
        if start < 0 || start >= length {
            return Err(FindError::OutOfRange {
                index: start,
                length,
            });
        }
        if end < 0 || end > length {
            let index = end - 1;
            return Err(FindError::OutOfRange { index, length });
        }
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let within = range.and_then(|(start, end)| list.get(start..end));
        let within = within.ok_or(FindError::Backwards { start, end })?;
        for item in within.iter().step_by(slice.step) {
            effort.spend()?;
            found.push(item);
        }
    }
    Ok(found)
}

/// The bounds of a slice in a list of this length; a number below 0 counts from the end.
fn bounds(slice: Slice, length: i64) -> (i64, i64) {
    let from_end = |index: i64| index + length;
    let start = slice.start;
    let end = match slice.end {
        SliceEnd::Open => length,
        SliceEnd::Next => match start + 1 {
            end @ ..=0 => from_end(end),
            end => end,
        },
        SliceEnd::Before(end) if end < 0 => from_end(end),
        SliceEnd::Before(end) => end,
    };
    (if start < 0 { from_end(start) } else { start }, end)
}

fn list(value: &Value) -> Result<&Vec<Value>, FindError> {
    value.as_array().ok_or(FindError::NotAList(type_of(value)))
}

fn filtered<'v>(
    filter: &Filter,
    values: &[&'v Value],
    effort: &mut Effort,
) -> Result<Values<'v>, FindError> {
    let mut found = Vec::new();
    for value in values {
        effort.spend()?;
        for item in list(value)? {
            effort.spend()?;
            if passes(filter, item, effort)? {
                found.push(item);
            }
        }
    }
    Ok(found)
}

fn passes(filter: &Filter, item: &Value, effort: &mut Effort) -> Result<bool, FindError> {
    match filter {
        Filter::Exists(operand) => match values_of(operand, item, effort) {
            Ok(values) => Ok(!values.is_empty()),
            Err(FindError::TooMuch) => Err(FindError::TooMuch),
            Err(_) => Ok(false),
        },
        Filter::Compare(left, operator, right) => {
            let Some(left) = one(&values_of(left, item, effort)?)? else {
                return Ok(false);
            };
            let Some(right) = one(&values_of(right, item, effort)?)? else {
                return Ok(false);
            };
            compare(left, *operator, right)
        }
    }
}

fn values_of<'v>(
    operand: &'v Operand,
    item: &'v Value,
    effort: &mut Effort,
) -> Result<Values<'v>, FindError> {
    match operand {
        Operand::Literal(literal) => Ok(vec![literal]),
        Operand::Path(steps) => walk(steps, &[item], effort),
    }
}

fn one<'v>(values: &[&'v Value]) -> Result<Option<&'v Value>, FindError> {
    match *values {
        [] => Ok(None),
        [value] => Ok(Some(value)),
        _ => Err(FindError::Several(values.len())),
    }
}

/// Whether a comparison of two values of one type holds. An integer and a float are of two types, and two types are an error, as in Go's
/// templates; so is the order of two booleans.
fn compare(left: &Value, operator: Operator, right: &Value) -> Result<bool, FindError> {
    let fits = left.is_i64() == right.is_i64() && !(left.is_boolean() && operator.orders());
    let ordering = comparison::order(left, right).filter(|_| fits);
    ordering
        .map(|ordering| operator.holds(Some(ordering)))
        .ok_or_else(|| FindError::Incomparable(type_of(left), type_of(right)))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_i64() => "an integer",
        Value::Number(_) => "a float",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
