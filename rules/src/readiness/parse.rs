//! Reads the text of HIP-0025's expressions.

use super::ReadinessExpression;
use crate::annotation::{MAX_BYTES, MAX_ENTRIES};
use crate::jsonpath::{self, Path};
use crate::text::Quoted;

/// A fault of one of the two annotations, as a sentence that quotes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum ReadinessProblem {
    #[error("the value is not a text; put it in quotes")]
    NotText,
    #[error("the list is {0} bytes long; at most {MAX_BYTES} are allowed")]
    TooLong(usize),
    #[error("more than {MAX_ENTRIES} expressions; a list has at most {MAX_ENTRIES}")]
    TooMany,
    #[error("not a JSON array of texts: {0}; write e.g. [\"{{.phase}} == \\\"Running\\\"\"]")]
    NotAList(String),
    #[error("{} does not begin with {{.path}}; write e.g. {{.phase}} == \"Running\"", Quoted(.0))]
    NoBraces(String),
    #[error("the path {} must start with . or [", Quoted(.0))]
    Start(String),
    #[error("the path of {}: {error}", Quoted(.text))]
    Path {
        text: String,
        error: jsonpath::PathError,
    },
    #[error(
        "{} has an unsupported operator {}; write one of == != < <= > >=, with a space after it",
        Quoted(.text),
        Quoted(.operator)
    )]
    Operator { text: String, operator: String },
    #[error("{} compares with nothing; write a value after the operator", Quoted(.0))]
    NoValue(String),
    #[error("{}: {operator} requires a numeric comparison value", Quoted(.text))]
    Order {
        text: String,
        operator: &'static str,
    },
}

/// Reads the texts of the JSON array in a readiness annotation.
pub(super) fn list(annotation: &str) -> Result<Vec<String>, ReadinessProblem> {
    if annotation.len() > MAX_BYTES {
        return Err(ReadinessProblem::TooLong(annotation.len()));
    }
    let list: Vec<String> = serde_json::from_str(annotation)
        .map_err(|error| ReadinessProblem::NotAList(error.to_string()))?;
    if list.len() > MAX_ENTRIES {
        return Err(ReadinessProblem::TooMany);
    }
    Ok(list)
}

/// Checks an annotation that is written now: refuses the faults of [`super::Readiness::read`], and an order of anything but
/// numbers, which can never be met.
pub fn lint(annotation: &str) -> Result<(), ReadinessProblem> {
    for text in list(annotation)? {
        let ReadinessExpression {
            text,
            operator,
            value,
            ..
        } = ReadinessExpression::parse(&text)?;
        if operator.orders() && super::float(unquoted(&value)).is_none() {
            let operator = operator.sign();
            return Err(ReadinessProblem::Order { text, operator });
        }
    }
    Ok(())
}

/// Makes the JSONPath, from the root of the object, of the path in a readiness expression: it gets `.status` in front, unless it begins with that.
///
/// # Errors
///
/// A path that begins with neither a dot nor a bracket.
pub fn template(path: &str) -> Result<String, ReadinessProblem> {
    if path.starts_with(".status.") || path.starts_with(".status[") {
        Ok(path.to_owned())
    } else if path.starts_with(['.', '[']) {
        Ok(format!(".status{path}"))
    } else {
        Err(ReadinessProblem::Start(path.to_owned()))
    }
}

impl ReadinessExpression {
    /// Reads `{.path} operator value`. The path ends at the first closing brace, the operator at a space.
    pub fn parse(text: &str) -> Result<Self, ReadinessProblem> {
        let text = text.trim();
        let (path, rest) = text
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
            .ok_or_else(|| ReadinessProblem::NoBraces(text.to_owned()))?;
        let path = path.trim();
        let rest = rest.trim_start();
        let (sign, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let operator = sign.parse().map_err(|_| ReadinessProblem::Operator {
            text: text.to_owned(),
            operator: sign.to_owned(),
        })?;
        let value = value.trim();
        if value.is_empty() {
            return Err(ReadinessProblem::NoValue(text.to_owned()));
        }
        let compiled = Path::parse(&template(path)?).map_err(|error| ReadinessProblem::Path {
            text: text.to_owned(),
            error,
        })?;
        Ok(Self {
            text: text.to_owned(),
            path: path.to_owned(),
            operator,
            value: value.to_owned(),
            compiled,
        })
    }
}

/// The value of a readiness expression without one pair of quotes.
pub(super) fn unquoted(value: &str) -> &str {
    let without = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    without('"').or_else(|| without('\'')).unwrap_or(value)
}
