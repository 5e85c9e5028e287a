//! Finds the place in an object that a finding is about: an entry of a list, an annotation, or a field.

use super::finding::{Where, pointer};
use crate::objects::{Object, Role};
use rules::advice::Advice;
use rules::annotation::Place;
use rules::keys;

/// The place in an object that an advice, which admission gives too, is about: an entry of a list, another annotation, or a field; the whole object
/// where there is no such place.
pub(super) fn of_advice(object: &Object, advice: &Advice) -> Where {
    let annotation = |key: &str| annotation(object, key).unwrap_or_default();
    let dependency = match advice {
        Advice::RunsAfterwards { dependency, .. }
        | Advice::NeverMade { dependency, .. }
        | Advice::RunsBefore { dependency, .. }
        | Advice::LaterHook { dependency, .. }
        | Advice::LaterWave { dependency, .. }
        | Advice::Removed { dependency, .. }
        | Advice::NeverHolds { dependency, .. }
        | Advice::EntryTimeout { dependency, .. }
        | Advice::Suspended(dependency)
        | Advice::NoSelector(dependency)
        | Advice::NoPods(dependency)
        | Advice::NoReplicas(dependency)
        | Advice::ScaledToZero(dependency)
        | Advice::NoReadinessProbe(dependency)
        | Advice::OnlyExists(dependency)
        | Advice::OwnService(dependency) => dependency,
        Advice::PartElsewhere { subchart, .. } => subchart,
        Advice::SelfReference => &object.place.name,
        Advice::NoTimeout => return annotation(keys::ON_TIMEOUT),
        Advice::PositionOnWorkload | Advice::NoSuchInitContainer(_) => {
            return annotation(keys::GATE_POSITION);
        }
        Advice::HoldOnWorkload => return annotation(keys::HOLD),
        Advice::PrefetchOnWorkload => return annotation(keys::PREFETCH),
        Advice::ProgressDeadline(_) => return field(object, "/spec/progressDeadlineSeconds"),
        Advice::ProgressAbort(_) => return field(object, "/spec/progressDeadlineAbort"),
        Advice::ActiveDeadline(_) => return field(object, "/spec/activeDeadlineSeconds"),
        Advice::NameTaken { name, .. } => return named(object, name),
        Advice::Windows(_) => return field(object, "/spec"),
        Advice::KindForbidden(_)
        | Advice::ForeignKey { .. }
        | Advice::LabelOnly(_)
        | Advice::ForeignList(_)
        | Advice::IdleLabel { .. } => return Where::Object,
    };
    entry(object, dependency.rsplit('/').next().unwrap_or(dependency))
}

/// The annotation that makes an object wait for the object of this name: its list, at the name where that stands in it; without a list its weight;
/// without either the whole object.
pub(super) fn link(object: &Object, name: &str) -> Where {
    match entry(object, name) {
        Where::Object => annotation(object, keys::WEIGHT).unwrap_or_default(),
        list => list,
    }
}

/// The place of a name in the lists of an object; the annotation of a list where none has the name, the whole object where it has no list.
pub(super) fn entry(object: &Object, name: &str) -> Where {
    let mut list = None;
    for holder in object.holders().iter().rev() {
        for key in [keys::DEPENDS_ON, keys::CONFIG_DEPENDS_ON] {
            let Some(says) = holder.annotations.get(key).and_then(|it| it.as_str()) else {
                continue;
            };
            let pointer = pointer(holder.path, "annotations", key);
            if let Some(place) = word(says, name) {
                return Where::Within(pointer, place);
            }
            list.get_or_insert(Where::Field(pointer));
        }
    }
    list.unwrap_or_default()
}

/// The place of the annotation with this key that counts for the object: on the pod template, else on the object itself; `None` where neither has
/// the key.
pub(super) fn annotation(object: &Object, key: &str) -> Option<Where> {
    let holders = object.holders();
    let mut holders = holders.iter().rev().filter(|it| it.role != Role::Copied);
    let holder = holders.find(|it| it.annotations.contains_key(key))?;
    Some(Where::Field(pointer(holder.path, "annotations", key)))
}

/// The place of a field of the object's pod template, else of the object itself; the whole object where neither has the field.
fn field(object: &Object, pointer: &str) -> Where {
    let template = object.template_path().unwrap_or_default();
    let places = [pointer.to_owned(), format!("{template}{pointer}")];
    let there = places
        .into_iter()
        .rev()
        .find(|it| object.value.pointer(it).is_some());
    there.map_or(Where::Object, Where::Field)
}

/// The place of the container or volume of this name in an object's pods; the whole object where there is none.
fn named(object: &Object, name: &str) -> Where {
    let template = object.template_path().unwrap_or_default();
    let of_list = |list: &str| {
        let list = format!("{template}/spec/{list}");
        let items = object.value.pointer(&list)?.as_array()?;
        let at = items.iter().position(|item| item["name"] == name)?;
        Some(Where::Field(format!("{list}/{at}/name")))
    };
    let mut lists = ["initContainers", "containers", "volumes"].into_iter();
    lists.find_map(of_list).unwrap_or_default()
}

/// The line and column, both from 1, of a name in a text where it first stands as a word, not within a longer name; `None` where it does not.
fn word(text: &str, name: &str) -> Option<Place> {
    if name.is_empty() {
        return None;
    }
    let belongs = |letter: Option<char>| {
        letter.is_some_and(|it| it.is_alphanumeric() || matches!(it, '-' | '.' | '_'))
    };
    let mut found = text.match_indices(name).map(|(at, _)| at);
    let at = found.find(|at| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        !belongs(before.chars().next_back()) && !belongs(after.chars().next())
    })?;
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Some(Place {
        line: 1 + before.matches('\n').count(),
        column: 1 + line.chars().count(),
    })
}
