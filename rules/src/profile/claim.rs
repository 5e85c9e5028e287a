//! Judges whether a `PersistentVolumeClaim` is ready: bound, or waiting for the very pod that waits for it.

use super::judged::unavailable;
use super::{Subject, failed, from_kstatus, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::keys;
use crate::kinds::{self, Kind};
use crate::kstatus::{Status, text};
use crate::lookup::{Lookup, Unavailable};
use crate::path::get;
use crate::selector::Selector;
use crate::text::Quoted;
use crate::world::Objects;
use serde_json::Value;

/// Judges a claim: ready where it is bound, or is pending under `WaitForFirstConsumer` while no consumer has been placed, since such a claim may be
/// waiting for the gated pod itself. One that is `Lost` has failed, where kstatus calls it in progress.
pub(super) fn ready(subject: Subject<'_>) -> Judged {
    let Subject {
        object,
        evaluation,
        world,
        ..
    } = subject;
    if evaluation.status == Status::Current {
        return from_kstatus(evaluation);
    }
    match text(object, &["status", "phase"], "") {
        "Lost" => failed(
            Reason::Failed,
            "PVC is Lost: its PersistentVolume no longer exists",
        ),
        "Pending" => pending(object, &evaluation.message, world),
        _ => waiting(Reason::ClaimNotBound, evaluation.message),
    }
}

/// The message about a claim whose StorageClass has to make the volume. The provisioner's own messages are in Events, which sluice does not read.
const NO_VOLUME: &str =
    "its StorageClass has made no volume yet: \"kubectl describe pvc\" says why";
/// The message about a claim without a class, which asks for a PersistentVolume that exists already.
const BY_HAND: &str =
    "its storageClassName is \"\", and no PersistentVolume that somebody made fits it";

fn pending(claim: &Value, message: &str, world: &dyn Objects) -> Judged {
    let volume = text(claim, &["spec", "volumeName"], "");
    let unbound = |why: &str| waiting(Reason::ClaimNotBound, format!("{message}, {why}"));
    if !volume.is_empty() {
        let why = format!("it waits for PersistentVolume {}", Quoted(volume));
        return unbound(&why);
    }
    if annotation(claim, keys::SELECTED_NODE).is_some() {
        return unbound(NO_VOLUME);
    }
    match binding(claim, world) {
        Binding::FirstConsumer => satisfied("PVC waits for its first consumer"),
        Binding::Immediate => unbound(NO_VOLUME),
        Binding::ByHand => unbound(BY_HAND),
        Binding::NoClass(which) => unbound(&which),
        Binding::Unavailable(kind, why) => unavailable(&kind, why),
    }
}

/// The time at which the volume of a PersistentVolumeClaim is chosen.
enum Binding {
    FirstConsumer,
    Immediate,
    /// The user makes the claim's volume by hand.
    ByHand,
    NoClass(String),
    Unavailable(Kind, Unavailable),
}

fn binding(claim: &Value, world: &dyn Objects) -> Binding {
    let kind = Kind::Builtin(kinds::STORAGE_CLASS);
    let named = annotation(claim, keys::STORAGE_CLASS)
        .or_else(|| get(claim, &["spec", "storageClassName"]).and_then(Value::as_str));
    let found = match named {
        Some("") => return Binding::ByHand,
        Some(name) => match world.object(&kind, None, name) {
            Lookup::NotFound => {
                return Binding::NoClass(format!("StorageClass \"{name}\" does not exist"));
            }
            found => found,
        },
        None => default_class(&kind, world),
    };
    match found {
        Lookup::Found(class) => match text(&class, &["volumeBindingMode"], "") {
            "WaitForFirstConsumer" => Binding::FirstConsumer,
            _ => Binding::Immediate,
        },
        Lookup::NotFound => Binding::NoClass("there is no default StorageClass".to_owned()),
        Lookup::Unavailable(why) => Binding::Unavailable(kind, why),
    }
}

/// The default StorageClass; `NotFound` without one. Of several, Kubernetes takes the newest, then the first by name.
fn default_class(kind: &Kind, world: &dyn Objects) -> Lookup<Value> {
    let is_default = |class: &Value| {
        keys::DEFAULT_CLASS
            .iter()
            .any(|key| annotation(class, key) == Some("true"))
    };
    let newer = |one: &Value, other: &Value| {
        let age = |class| metadata(class, "creationTimestamp");
        let name = |class| metadata(class, "name");
        age(one).cmp(age(other)).then(name(other).cmp(name(one)))
    };
    let classes = world.list(kind, None, &Selector::default());
    classes.and_then(|all| all.into_iter().filter(is_default).max_by(newer).into())
}

fn metadata<'a>(class: &'a Value, field: &str) -> &'a str {
    text(class, &["metadata", field], "")
}

fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    get(object, &["metadata", "annotations", key]).and_then(Value::as_str)
}
