//! The workload half of admission: sets one constant marker in the pod template, and never causes a rollout by it.
//!
//! The marker depends on the new and the old object alone, so a dry run gives the same answer today and after an
//! upgrade of sluice. A tool such as Flux compares that answer with the stored object and takes any difference for
//! drift.

use super::hints;
use super::lists::{Holds, Lists};
use super::patch::{Edits, Misshapen};
use super::template::{find, is_job, template_path};
use super::{
    Action, Change, Decision, Deny, ListPlace, Operation, Options, Request, Skip, Warning,
    annotations,
};
use rules::advice::{self, Advice};
use rules::annotation;
use rules::keys;
use rules::object::controller_of;
use rules::scope::{self, Scope};
use serde_json::{Map, Value};

/// Decides on one workload: whether its pod template gets, keeps or loses the marker, whether a new Job is created suspended, and which warnings
/// its user gets. Refuses a new or changed annotation of sluice that cannot be read. Leaves alone an object of a controller, one that is being
/// deleted, and one without a pod template.
pub fn decide(request: &Request<'_>, options: Options) -> Decision {
    let Request {
        operation,
        subject,
        object,
        old,
    } = *request;
    if operation == Operation::Other {
        return Skip::Operation.into();
    }
    if controller_of(object).is_some() {
        return Skip::ControllerOwned.into();
    }
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return Skip::Deleting.into();
    }
    let path = template_path(subject);
    let Some(template) = find(object, path) else {
        return Skip::NoTemplate.into();
    };
    let old_template = find(old, path);
    let lists = Lists::of(request);
    if let Err(deny) = lists
        .check(options)
        .and_then(|()| suspends_safely(request, lists))
    {
        return deny.into();
    }

    let asked = lists.asked(options);
    let kept = operation == Operation::Update
        && (is_job(subject) || old_template.is_some_and(|old| unmarked(old) == unmarked(template)));
    let mark = Mark {
        asked,
        kept,
        present: marker(template),
        stored: old_template.and_then(marker),
    };
    let suspends = asked
        && operation == Operation::Create
        && options.holds != Holds::Off
        && lists.suspends()
        && !advice::is_for_windows(template);
    let action = mark.action(object, path).and_then(|action| {
        if suspends {
            suspended(action, object)
        } else {
            Ok(action)
        }
    });
    Decision {
        action: action.unwrap_or_else(|error| Action::Deny(error.into())),
        warnings: warnings(request, options, lists, mark, template),
        entries: None,
    }
}

/// Returns the warnings about a workload. A warning changes nothing in the object.
fn warnings(
    request: &Request<'_>,
    options: Options,
    lists: Lists<'_>,
    mark: Mark<'_>,
    template: &Value,
) -> Vec<Warning> {
    let Mark { asked, kept, .. } = mark;
    let workload = hints::workload(request.subject, request.object, template);
    let position = advice::of_position(&workload).filter(|advice| match advice {
        Advice::PositionOnWorkload => lists.writes(keys::GATE_POSITION),
        _ => asked && !kept,
    });
    let misplaced = advice::of_hold(&workload);
    let pulls = advice::of_prefetch(&workload);
    let unsupported = asked && pulls.is_none() && lists.prefetches_in_vain(options);
    let in_vain = asked && misplaced.is_none() && lists.holds_in_vain(options);
    let suspended = lists
        .suspends()
        .then(|| request.object["spec"]["activeDeadlineSeconds"].as_i64());
    let deadline = suspended.flatten();
    let hold = misplaced.filter(|_| lists.writes(keys::HOLD));
    let late = asked && kept && mark.stored.is_none() && lists.changed(options);
    [
        lists.declared(options).err().map(Warning::StoredBadList),
        late.then_some(if is_job(request.subject) {
            Warning::AlreadyStarted
        } else {
            Warning::NextRollout
        }),
        position.map(Warning::Advice),
        hold.map(Warning::Advice),
        in_vain.then_some(Warning::HoldsOff { deadline }),
        lists
            .holds_creation_in_vain(options)
            .then_some(Warning::CreationsNotHeld),
        lists
            .writes_wave()
            .filter(|_| !is_ordered(request.object))
            .map(Warning::NoScope),
        pulls
            .filter(|_| lists.writes(keys::PREFETCH))
            .map(Warning::Advice),
        unsupported.then_some(Warning::NoImageVolumes),
        lists.foreign(options).map(Warning::Advice),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether a weight on the object may have an effect: it is in a scope, it is a Helm hook, or its metadata names no namespace.
fn is_ordered(object: &Value) -> bool {
    let is_placed = object["metadata"]["namespace"].is_string();
    !is_placed || Scope::of(object).is_some() || scope::is_hook(object)
}

/// Refuses a request that newly asks to suspend a Job whose installer would take the suspended Job for done. Any other request passes.
fn suspends_safely(request: &Request<'_>, lists: Lists<'_>) -> Result<(), Deny> {
    if !is_job(request.subject) || !lists.writes(keys::HOLD) {
        return Ok(());
    }
    let place = ListPlace::Object;
    annotation::suspends_safely(&request.object["metadata"])
        .map_err(|error| Deny::BadList { place, error })
}

/// The facts that decide whether a pod template gets the marker of a gated workload.
#[derive(Clone, Copy)]
struct Mark<'a> {
    /// Whether the object or its template asks for a gate: by a list, a weight or a cap.
    asked: bool,
    /// Whether the marker stays as it is stored, because this request does not roll the pods, or must not.
    kept: bool,
    /// The marker in the pod template of the request.
    present: Option<&'a Value>,
    /// The marker in the pod template as it is stored.
    stored: Option<&'a Value>,
}

impl Mark<'_> {
    fn action(self, object: &Value, path: &[&str]) -> Result<Action, Misshapen> {
        let gated = Value::from(keys::GATED_VALUE);
        let wanted = if self.kept {
            self.stored
        } else {
            self.asked.then_some(&gated)
        };
        if wanted == self.present {
            return Ok(Action::Skip(match (wanted, self.asked) {
                (Some(_), _) => Skip::MarkerInPlace,
                (None, true) => Skip::NotRolled,
                (None, false) => Skip::NotAsked,
            }));
        }
        let map = [path, &["metadata", "annotations"]].concat();
        let mut edits = Edits::new(object);
        let change = match wanted {
            None => {
                edits.unset(&map, keys::GATED);
                Change::MarkerRemoved
            }
            Some(value) => {
                edits.set(&map, keys::GATED, value.clone())?;
                if self.kept {
                    Change::MarkerRestored
                } else {
                    Change::Marked
                }
            }
        };
        Ok(Action::Patch(change, edits.finish()))
    }
}

/// Adds to `action` the suspension of the Job and the note about it. A Job that is suspended already stays as it is: its user resumes it, or an
/// earlier call has noted it. A refusal stays a refusal.
fn suspended(action: Action, job: &Value) -> Result<Action, Misshapen> {
    if job["spec"]["suspend"] == true {
        return Ok(action);
    }
    let mut edits = Edits::new(job);
    let noted = keys::GATED_VALUE;
    edits.set(&["metadata", "annotations"], keys::SUSPENDED, noted)?;
    edits.set(&["spec"], "suspend", true)?;
    let mut operations = match action {
        Action::Patch(_, operations) => operations,
        Action::Skip(_) => Vec::new(),
        deny @ Action::Deny(_) => return Ok(deny),
    };
    operations.extend(edits.finish());
    Ok(Action::Patch(Change::Suspended, operations))
}

fn marker(template: &Value) -> Option<&Value> {
    annotations(template)?.get(keys::GATED)
}

/// Returns the template without the marker, and without the mappings that are empty once the marker is gone.
fn unmarked(template: &Value) -> Value {
    let empty = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
    let mut template = template.clone();
    let Some(fields) = template.as_object_mut() else {
        return template;
    };
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        if let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.remove(keys::GATED);
        }
        metadata.retain(|_, value| !empty(value));
    }
    if fields.get("metadata").is_some_and(empty) {
        fields.remove("metadata");
    }
    template
}
