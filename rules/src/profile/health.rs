//! Custom health: what the annotations of the object itself say of it, in the place of its kind's rule.

use super::judged::{failed, satisfied, waiting};
use crate::annotation::{self};
use crate::expression::{Expression, Outcome};
use crate::judged::{Judged, Reason};
use crate::keys;
use crate::kstatus::{Status, get};
use crate::readiness::{self, Readiness};
use crate::text::Quoted;
use serde_json::{Map, Value};

/// What the annotations say.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// `None` where they ask for nothing, and the kind's rule speaks.
    pub(super) judged: Option<Judged>,
    /// An annotation that has no effect as it is.
    pub(super) warning: Option<String>,
}

/// Failure first; then all must hold that is there. What cannot be read holds for nobody: to go on as if it were not
/// there would open a gate that somebody took care to close.
pub(super) fn judge(object: &Value) -> Health {
    let Some(annotations) = annotations(object) else {
        return Health::default();
    };
    match read(annotations) {
        Ok((readiness, expressions)) => Health {
            warning: idle(annotations).filter(|_| readiness.is_none()),
            judged: decide(object, readiness.as_ref(), &expressions),
        },
        Err(problem) => Health {
            judged: Some(Judged {
                status: Status::Unknown,
                ..waiting(Reason::Unjudgeable, problem)
            }),
            warning: None,
        },
    }
}

/// What the expressions of an edge make of the object; `None` without any.
pub(super) fn by_edge(object: &Value, expressions: &[Expression]) -> Option<Judged> {
    if expressions.is_empty() {
        return None;
    }
    let fails = |expression| unmet("health", expression, object);
    let failed = expressions.iter().find_map(fails);
    Some(failed.unwrap_or_else(|| satisfied("its health expressions hold")))
}

/// What is said of an expression that does not hold. `place` is where it is written.
fn unmet(place: &str, expression: &Expression, object: &Value) -> Option<Judged> {
    let Outcome::Fails(why) = expression.holds(object) else {
        return None;
    };
    let text = expression.to_string();
    let message = format!("{place}: {} does not hold: {why}", Quoted(&text));
    Some(waiting(Reason::HealthNotMet, message))
}

fn annotations(object: &Value) -> Option<&Map<String, Value>> {
    get(object, &["metadata", "annotations"])?.as_object()
}

type Expressions<'a> = Vec<(&'a str, Expression)>;

fn read(annotations: &Map<String, Value>) -> Result<(Option<Readiness>, Expressions<'_>), String> {
    let readiness =
        readiness::of(annotations).map_err(|(key, problem)| format!("{key}: {problem}"))?;
    let expressions = annotation::health(annotations).map_err(|error| error.to_string())?;
    Ok((readiness, expressions))
}

fn idle(annotations: &Map<String, Value>) -> Option<String> {
    readiness::idle(annotations).map(|(key, why)| format!("{key} {why}"))
}

fn decide(
    object: &Value,
    readiness: Option<&Readiness>,
    expressions: &Expressions<'_>,
) -> Option<Judged> {
    if let Some(readiness) = readiness {
        let finding = readiness.judge(object);
        let mut why = finding.why;
        for warning in &finding.warnings {
            if !why.contains(warning) {
                why = format!("{why}; {warning}");
            }
        }
        match finding.outcome {
            readiness::Outcome::Ready => {}
            readiness::Outcome::Failed => {
                let message = format!("{}: {why}", keys::READINESS_FAILURE);
                return Some(failed(Reason::HealthFailed, message));
            }
            readiness::Outcome::Pending => {
                let message = format!("{}: {why}", keys::READINESS_SUCCESS);
                return Some(waiting(Reason::HealthNotMet, message));
            }
        }
    }
    for (key, expression) in expressions {
        if let Some(judged) = unmet(key, expression, object) {
            return Some(judged);
        }
    }
    let asked = readiness.is_some() || !expressions.is_empty();
    asked.then(|| satisfied("its health expressions hold"))
}
