//! Joins the waits for each pod of a StatefulSet, `queue-0` and `queue-1`, into one for the StatefulSet.

use super::found::Found;
use super::object::{ChartObject, text};
use super::target::{Form, Target};
use rules::ordinals;
use std::collections::BTreeSet;

/// The waits `found` of a container, in which one wait for a StatefulSet takes the place of those for each of its pods. All other waits stay: a
/// wait for some of the pods alone, for the only pod of a StatefulSet, or for pods of the workload `own` itself.
pub(super) fn joined(
    mut found: Vec<Found>,
    objects: &[ChartObject],
    own: &ChartObject,
) -> Vec<Found> {
    for (at, object) in objects.iter().enumerate() {
        if object.value["kind"] != "StatefulSet" || std::ptr::eq(object, own) {
            continue;
        }
        let made = ordinals::made_by(&object.value);
        let set = text(&object.value, "/metadata/name");
        let numbered = found.iter().enumerate();
        let numbered = numbered.filter_map(|(at, it)| Some((at, ordinal(it, set)?)));
        let (waits, ordinals): (Vec<usize>, BTreeSet<u64>) = numbered.unzip();
        let (Some(first), true) = (waits.first(), made.clone().all(|it| ordinals.contains(&it)))
        else {
            continue;
        };
        if made.count() < 2 {
            continue;
        }
        if let Ok(Some(target)) = &mut found[*first].target {
            *target = Target {
                form: Form::Object {
                    kind: "statefulset".to_owned(),
                    state: None,
                },
                name: set.to_owned(),
                object: Some(at),
                ..target.clone()
            };
        }
        for at in waits[1..].iter().rev() {
            found.remove(*at);
        }
    }
    found
}

/// The ordinal of the pod of the StatefulSet `set` that a wait is for; `None` for a wait for anything else.
fn ordinal(found: &Found, set: &str) -> Option<u64> {
    let Ok(Some(target)) = &found.target else {
        return None;
    };
    let is_pod = matches!(&target.form, Form::Object { kind, state: None } if kind == "pod");
    let (of, ordinal) = ordinals::of(&target.name)?;
    (is_pod && target.namespace.is_none() && of == set).then_some(ordinal)
}
