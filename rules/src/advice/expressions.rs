//! Advice on the health expressions of entries that can hold on no object.

use super::Advice;
use crate::dependency::{Dependency, Reference};

/// Advice on each health expression of an entry, or of its alternatives, that can hold on no object.
pub(super) fn of(dependency: &Dependency) -> Vec<Advice> {
    let kind = match &dependency.reference {
        Reference::Object(it) => Some(&it.kind),
        Reference::Selected(it) => Some(&it.kind),
        Reference::Part(_) | Reference::Address(_) => None,
        Reference::Any(alternatives) => return alternatives.of.iter().flat_map(of).collect(),
    };
    let (group, word) = kind.map_or(("", ""), |kind| (kind.group(), kind.word()));
    let never = dependency
        .health
        .iter()
        .filter_map(|it| it.never_holds(group, word));
    let advice = never.map(|why| Advice::NeverHolds {
        dependency: dependency.to_string(),
        why,
    });
    advice.collect()
}
