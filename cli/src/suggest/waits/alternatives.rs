//! Finds the waits of which one is enough, such as the two sides of `||`.

use crate::suggest::reason::Reason;
use crate::suggest::wait::{For, Wait};
use std::collections::BTreeMap;

/// Turns each wait that need not succeed, because another side of `||` is enough, into one that stays, with `Reason::OneOf`: `nc -z a 1 || nc -z
/// b 1`. `sides` has the statement and the side of `||` of each wait, by its number.
pub(super) fn leave_alternatives(waits: &mut [Wait], sides: &BTreeMap<usize, (usize, usize)>) {
    let target = |wait: &Wait| match &wait.for_what {
        For::Address(it) => Some((it.host.clone(), it.port.clone())),
        For::Name(name) => Some((name.clone(), String::new())),
        For::Object(it) => Some((it.kind.clone(), it.name.clone())),
        _ => None,
    };
    let targets: Vec<_> = waits.iter().map(target).collect();
    let is_enough = |one: usize| {
        let mut others = sides.iter().filter(|it| *it.0 != one);
        sides.get(&one).is_some_and(|(statement, side)| {
            others.any(|(other, its)| {
                let differs = targets[one] != targets[*other];
                its.0 == *statement && its.1 != *side && differs && targets[*other].is_some()
            })
        })
    };
    let alternatives = (0..waits.len()).filter(|it| targets[*it].is_some() && is_enough(*it));
    let alternatives: Vec<usize> = alternatives.collect();
    for at in alternatives {
        waits[at].for_what = For::Nothing(Reason::OneOf);
    }
}
