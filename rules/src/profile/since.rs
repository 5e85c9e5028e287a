//! The time since which an object has been satisfied, by its own conditions.

use super::custom::OF_THE_SPEC;
use super::tolerant;
use crate::dependency::State;
use crate::expression::Expression;
use crate::kept;
use crate::kinds::Kind;
use crate::kstatus::{self, Conditions};
use crate::object::{created, time, written};
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;

/// Conditions that kstatus reads before `Ready`: each is trouble while it is `True`.
const UNDER_WAY: [&str; 2] = ["Reconciling", "Stalled"];

/// The time since which a satisfied object has been so without a break, in whole seconds, rounded down; `None` where the object does not tell. For
/// the state `present` it is the object's creation.
///
/// It tells where conditions alone decide. They are of the latest spec only where they have changed since that was written: before the controller has
/// seen a new spec the object is not satisfied, and no condition records that.
pub fn since(
    kind: &Kind,
    object: &Value,
    (state, by_edge): (State, &[Expression]),
    world: &dyn World,
) -> Option<Timestamp> {
    if state == State::Present {
        return created(object);
    }
    if matches!(state, State::Ready | State::Available) && !by_edge.is_empty() {
        return None;
    }
    let object = &*tolerant::read(kind, object);
    let deciding = deciding(kind, object, state, world)?;
    let changed = deciding
        .iter()
        .map(|word| changed(object, word))
        .collect::<Option<Vec<_>>>()?;
    let newest = changed.into_iter().max()?;
    let newest = match (kstatus::group_and_kind(object), state) {
        ((_, "Deployment"), State::Ready) => newest.max(rolled_out(object)?),
        _ => newest,
    };
    (written(object)? <= newest).then_some(newest)
}

/// The types of the conditions that alone decide whether an object is satisfied; `None` where anything else decides, too.
fn deciding(
    kind: &Kind,
    object: &Value,
    state: State,
    world: &dyn World,
) -> Option<Vec<&'static str>> {
    let by_kind = || !kept::says_its_health(object) && world.health(object, false).is_none();
    match (kstatus::group_and_kind(object), state) {
        (("batch", "Job"), State::Complete) => Some(vec!["Complete"]),
        (("apps" | "extensions", "Deployment"), State::Available) => Some(vec!["Available"]),
        (
            _,
            State::Complete | State::Started | State::Addressed | State::Present | State::Connects,
        ) => None,
        _ if !by_kind() => None,
        (("batch", "Job"), _) => Some(vec!["Complete"]),
        (("", "Pod"), _) if object["status"]["phase"] == "Running" => Some(vec!["Ready"]),
        // The counts of the Deployment decide, and where no pod may be missing this condition tells of each.
        (("apps" | "extensions", "Deployment"), _) if may_lack_none(object) => {
            Some(vec!["Available"])
        }
        (("apiregistration.k8s.io", "APIService"), _) => Some(vec!["Available"]),
        (("apiextensions.k8s.io", "CustomResourceDefinition"), _) => {
            Some(vec!["Established", "NamesAccepted"])
        }
        _ if matches!(kind, Kind::Custom { .. }) => of_custom(object),
        _ => None,
    }
}

/// The time at which the last rollout of a Deployment was complete, by its controller's condition.
fn rolled_out(object: &Value) -> Option<Timestamp> {
    let conditions = object["status"]["conditions"].as_array()?;
    let done = conditions.iter().find(|condition| {
        condition["type"] == "Progressing" && condition["reason"] == "NewReplicaSetAvailable"
    })?;
    time(done, &["lastUpdateTime"])
}

/// Whether a Deployment with one pod less than wanted is not available. The rounding is its controller's: a percentage of
/// `maxUnavailable` is rounded down, one of `maxSurge` up, and if both are zero one pod may be unavailable.
fn may_lack_none(object: &Value) -> bool {
    let spec = &object["spec"];
    let replicas = spec["replicas"].as_u64().unwrap_or(1);
    let strategy = &spec["strategy"];
    let part = |field: &str, up: u64| {
        let percent = match &strategy["rollingUpdate"][field] {
            Value::Null => Some(25),
            Value::String(text) => text.strip_suffix('%').and_then(|it| it.parse().ok()),
            count => return count.as_u64(),
        };
        let hundredths = replicas.checked_mul(percent?)?.checked_add(up)?;
        Some(hundredths / 100)
    };
    strategy["type"] == "Recreate"
        || part("maxUnavailable", 0) == Some(0) && part("maxSurge", 99).is_some_and(|it| it > 0)
}

/// The conditions that decide for a custom resource that is `Ready`: that condition, and those that may contradict it. `None`
/// with a condition of kstatus': such a condition is satisfied while it is `False`, and no condition records for how long.
fn of_custom(object: &Value) -> Option<Vec<&'static str>> {
    let conditions = Conditions::read(object).ok()?;
    let is_there = |word: &&str| conditions.iter().any(|it| it.kind == *word);
    if UNDER_WAY.iter().any(&is_there) {
        return None;
    }
    let of_the_spec = OF_THE_SPEC.into_iter().filter(is_there);
    Some(of_the_spec.chain(["Ready"]).collect())
}

/// When the one condition of this type became `True`; `None` where it is not `True`, is missing, or is there twice.
fn changed(object: &Value, word: &str) -> Option<Timestamp> {
    let conditions = Conditions::read(object).ok()?;
    let mut found = conditions
        .iter()
        .enumerate()
        .filter(|(_, it)| it.kind == word);
    let (place, condition) = found.next()?;
    if condition.status != "True" || found.next().is_some() {
        return None;
    }
    let condition = object["status"]["conditions"].get(place)?;
    time(condition, &["lastTransitionTime"])
}
