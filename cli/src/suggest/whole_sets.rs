//! Joins the waits for each pod of a StatefulSet, `queue-0` and `queue-1`, into one for the StatefulSet.

use super::found::Found;
use super::object::{ChartObject, text};
use super::target::{Form, Target};
use rules::ordinals;
use std::collections::BTreeSet;

/// The waits of a container, where one entry stands for all pods of a StatefulSet if the container waits for each of several.
pub(super) fn joined(
    mut found: Vec<Found>,
    objects: &[ChartObject],
    own: &ChartObject,
) -> Vec<Found> {
    for (at, object) in objects.iter().enumerate() {
        let made = ordinals::made_by(&object.value);
        let is_set = object.value["kind"] == "StatefulSet" && !std::ptr::eq(object, own);
        let set = text(&object.value, "/metadata/name");
        let waits: Vec<usize> = (0..found.len())
            .filter(|it| is_set && ordinal(&found[*it], set).is_some())
            .collect();
        let ordinals = waits.iter().filter_map(|it| ordinal(&found[*it], set));
        let ordinals: BTreeSet<u64> = ordinals.collect();
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

/// The ordinal of the pod of a StatefulSet that a wait is for.
fn ordinal(found: &Found, set: &str) -> Option<u64> {
    let Ok(Some(target)) = &found.target else {
        return None;
    };
    let is_pod = matches!(&target.form, Form::Object { kind, state: None } if kind == "pod");
    let (of, ordinal) = ordinals::of(&target.name)?;
    (is_pod && target.namespace.is_none() && of == set).then_some(ordinal)
}
