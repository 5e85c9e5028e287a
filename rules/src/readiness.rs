//! Health by HIP-0025: `helm.sh/readiness-success` and `helm.sh/readiness-failure`.
//!
//! Each is a JSON array of `{.path} operator value`, the path beginning at `.status`. The object has failed as soon as
//! one failure expression is met, and is ready as soon as one success expression is.
//!
//! Read and compared by the rules of helm/helm#32314, which no release of Helm contains yet, with four differences:
//! * a path that reaches nothing meets no expression, with any operator: there, a list of conditions without a
//!   `Ready` meets `{.conditions[?(@.type=="Ready")].status} != "False"`;
//! * both lists are read before either is judged, so that a slip of the pen shows before it matters;
//! * a path that is none is such a slip too: there, it is never met;
//! * numbers are decimal: Go reads hexadecimal fractions as well.
//!
//! Whether the object is being deleted, or its controller has seen it, is asked before (see [`crate::profile`]).

mod parse;

pub use parse::{ReadinessProblem, lint, template};

use crate::comparison::Operator;
use crate::jsonpath::{self, Effort, FindError, LONGEST, Path};
use crate::keys;
use crate::text::Quoted;
use serde_json::{Map, Value};

/// One readiness expression of HIP-0025: `{.phase} == "Running"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadinessExpression {
    /// The whole text of the expression.
    pub text: String,
    /// The path of the expression: the text between the braces.
    pub path: String,
    /// The operator of the expression.
    pub operator: Operator,
    /// The text behind the operator: quotes are still there.
    pub value: String,
    compiled: Path,
}

/// The success and the failure expressions of an object, neither list empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    success: Vec<ReadinessExpression>,
    failure: Vec<ReadinessExpression>,
}

/// The result of the readiness expressions for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A success expression is met, and no failure expression.
    Ready,
    /// A failure expression is met by the object.
    Failed,
    /// No success expression is met, and no failure expression.
    Pending,
}

/// The outcome of the readiness expressions for an object, with its explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The outcome of the readiness expressions.
    pub outcome: Outcome,
    /// The expression that decided; without one, why the first success expression is not met.
    pub why: String,
    /// Expressions that can never be met by the values that they found: an order of texts.
    pub warnings: Vec<String>,
}

/// Reads the readiness expressions from an object's annotations `helm.sh/readiness-success` and `helm.sh/readiness-failure`. `None`
/// where one of them is absent or an empty list.
///
/// # Errors
///
/// The key of an annotation that cannot be read, and why.
pub fn of(
    annotations: &Map<String, Value>,
) -> Result<Option<Readiness>, (&'static str, ReadinessProblem)> {
    let text = |side: Side| match annotations.get(side.key()) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err((side.key(), ReadinessProblem::NotText)),
    };
    let (success, failure) = (text(Side::Success)?, text(Side::Failure)?);
    Readiness::read(success, failure).map_err(|(side, problem)| (side.key(), problem))
}

/// For annotations in which [`of`] finds no expressions: the key of the readiness annotation that has no effect, and the rest of the sentence that
/// begins with the key. `None` where they have neither annotation.
pub fn idle(annotations: &Map<String, Value>) -> Option<(&'static str, String)> {
    let (success, failure) = (Side::Success.key(), Side::Failure.key());
    let alone = |other| format!("has no effect without {other}");
    match (
        annotations.contains_key(success),
        annotations.contains_key(failure),
    ) {
        (false, false) => None,
        (true, false) => Some((success, alone(failure))),
        (false, true) => Some((failure, alone(success))),
        (true, true) => Some((
            success,
            format!("and {failure} have no effect, because one of the lists is empty"),
        )),
    }
}

impl Side {
    /// The key of the annotation.
    pub fn key(self) -> &'static str {
        match self {
            Self::Success => keys::READINESS_SUCCESS,
            Self::Failure => keys::READINESS_FAILURE,
        }
    }
}

impl Readiness {
    /// Reads both annotations. `None` where one of them is absent or an empty list: then neither has an effect.
    ///
    /// # Errors
    ///
    /// An annotation that is not a JSON array of texts, even beside none; an expression that cannot be read.
    pub fn read(
        success: Option<&str>,
        failure: Option<&str>,
    ) -> Result<Option<Self>, (Side, ReadinessProblem)> {
        let list = |side, text: Option<&str>| {
            text.map_or(Ok(Vec::new()), parse::list)
                .map_err(|problem| (side, problem))
        };
        let parse_all = |side, list: Vec<String>| {
            let expressions = list.iter().map(|text| ReadinessExpression::parse(text));
            expressions
                .collect::<Result<Vec<_>, _>>()
                .map_err(|problem| (side, problem))
        };
        let success = list(Side::Success, success)?;
        let failure = list(Side::Failure, failure)?;
        if success.is_empty() || failure.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            success: parse_all(Side::Success, success)?,
            failure: parse_all(Side::Failure, failure)?,
        }))
    }

    /// Judges the whole object by its readiness expressions: failed once a failure expression is met, else ready once a success expression is, else
    /// pending. An object without a status meets none.
    pub fn judge(&self, object: &Value) -> Finding {
        let mut warnings = Vec::new();
        let mut first = None;
        // An object without a status meets nothing.
        if object.get("status").is_some_and(Value::is_object) {
            let effort = &mut Effort::new();
            let failure = self.failure.iter().map(|it| (Outcome::Failed, it));
            let success = self.success.iter().map(|it| (Outcome::Ready, it));
            for (outcome, expression) in failure.chain(success) {
                match expression.met(object, effort) {
                    Ok(()) => {
                        let why = Quoted(&expression.text).to_string();
                        return Finding {
                            outcome,
                            why,
                            warnings,
                        };
                    }
                    Err(miss) => {
                        if matches!(miss, Shortfall::Order(_)) {
                            warnings.push(miss.sentence(expression));
                        }
                        if outcome == Outcome::Ready && first.is_none() {
                            first = Some(miss.sentence(expression));
                        }
                    }
                }
            }
        }
        Finding {
            outcome: Outcome::Pending,
            why: first.unwrap_or_else(|| "the object has no status yet".to_owned()),
            warnings,
        }
    }
}

/// One of HIP-0025's two annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The annotation `helm.sh/readiness-success`.
    Success,
    /// The annotation `helm.sh/readiness-failure`.
    Failure,
}

/// The reason why a readiness expression is not met.
enum Shortfall {
    NoPath(FindError),
    Nothing,
    Other(String),
    TooLong,
    Order(String),
}

impl Shortfall {
    fn sentence(&self, expression: &ReadinessExpression) -> String {
        let text = Quoted(&expression.text);
        match self {
            Self::NoPath(error) => format!("{text}: {error}"),
            Self::Nothing => format!("{text}: the path reaches nothing"),
            Self::Other(found) => format!("{text}: it is {}", Quoted(found)),
            Self::TooLong => format!("{text}: the path reaches more than {LONGEST} bytes of text"),
            Self::Order(found) => format!(
                "{text}: {} orders numbers, and {} and {} are not both numbers",
                expression.operator,
                Quoted(found),
                Quoted(&expression.value)
            ),
        }
    }
}

impl ReadinessExpression {
    fn met(&self, object: &Value, effort: &mut Effort) -> Result<(), Shortfall> {
        let found = self
            .compiled
            .find(object, effort)
            .map_err(Shortfall::NoPath)?;
        if found.is_empty() {
            return Err(Shortfall::Nothing);
        }
        let found = jsonpath::print(&found).ok_or(Shortfall::TooLong)?;
        let literal = parse::unquoted(&self.value);
        let holds = match (float(&found), float(literal)) {
            (Some(left), Some(right)) => self.operator.holds(left.partial_cmp(&right)),
            _ if self.operator.orders() => return Err(Shortfall::Order(found)),
            // A boolean has only one spelling, so its text is enough.
            _ => self.operator.holds(Some(found.as_str().cmp(literal))),
        };
        if holds {
            Ok(())
        } else {
            Err(Shortfall::Other(found))
        }
    }
}

/// Reads a number as Go's `ParseFloat` does, for which a number that is too large is none.
fn float(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let named = text.contains(['n', 'N']);
    (number.is_finite() || named).then_some(number)
}

#[cfg(test)]
mod tests;
