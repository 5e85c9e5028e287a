//! Custom health: the annotations of the object itself, which take the place of its kind's rule.

use super::judged::{failed, satisfied, waiting};
use crate::annotation;
use crate::dependency::State;
use crate::expression::{Expression, Held};
use crate::judged::{Judged, Reason};
use crate::kept;
use crate::keys;
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::{Lookup, Unavailable};
use crate::path::get;
use crate::readiness::{self, Readiness};
use crate::text::Quoted;
use crate::world::Objects;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The result of the health expressions in an object's annotations.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// `None` where the annotations ask for nothing, and the kind's rule decides.
    pub(super) judged: Option<Judged>,
    /// The sentence about a readiness annotation that has no effect as it is written.
    pub(super) warning: Option<String>,
}

/// The object with every field that the expressions read, where `ready` or `available` is asked for: as it is kept, or read whole. For any other
/// state, and for a Secret, as it is kept.
///
/// # Errors
///
/// Why the object cannot be read whole.
pub(super) fn whole<'o>(
    kind: &Kind,
    object: &'o Value,
    (state, by_edge): (State, &[Expression]),
    world: &dyn Objects,
) -> Result<Cow<'o, Value>, Unavailable> {
    let ready = matches!(state, State::Ready | State::Available);
    if !ready || kept::is_secret(kind) || !look_beyond(kind, object, by_edge) {
        return Ok(Cow::Borrowed(object));
    }
    let uid = |object: &Value| object["metadata"]["uid"].clone();
    match world.whole(kind, object) {
        Lookup::Found(whole) if uid(&whole) == uid(object) => Ok(whole),
        // The whole object comes by a watch of its own, and between two watches there is no order.
        Lookup::Found(_) | Lookup::NotFound => Err(Unavailable::Syncing),
        Lookup::Unavailable(why) => Err(why),
    }
}

/// Whether an expression that decides reads a field that is not kept. Of an object with health annotations every field is kept,
/// unless the object is large, or only the metadata of its kind is requested.
fn look_beyond(kind: &Kind, object: &Value, by_edge: &[Expression]) -> bool {
    let beyond = |expression: &Expression| kept::looks_beyond(kind, expression);
    if !by_edge.is_empty() {
        return by_edge.iter().any(beyond);
    }
    let own = || annotation::health(annotations(object)?).ok();
    let looks = || own().is_some_and(|own| own.iter().any(|(_, it)| beyond(it)));
    // The paths of the other proposal may lead anywhere.
    let by_paths =
        || annotations(object).is_some_and(|it| matches!(readiness::of(it), Ok(Some(_))));
    match kept::detail(kind) {
        kept::Detail::Metadata => looks(),
        _ => kept::is_cut(object) && (by_paths() || looks()),
    }
}

/// Judges an object by the health expressions in its annotations: failure first, then every other expression must hold. An unreadable annotation
/// makes the object unknown: to ignore it would open a gate that its author meant to close.
pub(super) fn judge(kind: &Kind, object: &Value) -> Health {
    let Some(annotations) = annotations(object) else {
        return Health::default();
    };
    match read(kind, annotations) {
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

/// Judges an object by the expressions of an edge; `None` without any.
pub(super) fn by_edge(object: &Value, expressions: &[Expression]) -> Option<Judged> {
    if expressions.is_empty() {
        return None;
    }
    let fails = |expression| unmet("health", expression, object);
    let failed = expressions.iter().find_map(fails);
    Some(failed.unwrap_or_else(|| satisfied("its health expressions hold")))
}

/// The finding about an expression that does not hold on an object; `None` where it holds. `place`: the annotation or field with the expression.
fn unmet(place: &str, expression: &Expression, object: &Value) -> Option<Judged> {
    let Held::Fails(why) = expression.holds(object) else {
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

fn read<'a>(
    kind: &Kind,
    annotations: &'a Map<String, Value>,
) -> Result<(Option<Readiness>, Expressions<'a>), String> {
    let readiness =
        readiness::of(annotations).map_err(|(key, problem)| format!("{key}: {problem}"))?;
    let expressions = annotation::health(annotations).map_err(|error| error.to_string())?;
    let never = |(key, expression): &(&str, Expression)| {
        kept::never_read(kind, expression).map(|why| format!("{key}: {why}"))
    };
    match expressions.iter().find_map(never) {
        Some(why) => Err(why),
        None => Ok((readiness, expressions)),
    }
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
