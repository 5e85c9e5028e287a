//! The search for the first object of a scope, among those of lower weight, that is not ready.

use super::{Scopes, is_ordered, leaves_out};
use crate::kinds::Kind;
use crate::lookup::{Lookup, Unavailable};
use crate::scope::{Position, Scope};
use crate::selector::Selector;
use serde_json::Value;

/// Whether an object of a wave is ready, and whether that answer may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// Whether the object is ready, until the object itself changes.
    Lasting(bool),
    /// Whether the object is ready now. The answer also rests on the time or on another object, so it must not be kept.
    Momentary(bool),
}

impl Ready {
    /// Whether the object is ready now.
    pub fn is_ready(self) -> bool {
        match self {
            Self::Lasting(ready) | Self::Momentary(ready) => ready,
        }
    }
}

/// The first object of a scope that is not ready, with its position in the order and its kind; `None` where all are ready; or the kind that
/// cannot be read, and why.
pub type FirstUnready = Result<Option<(Position, Kind, Value)>, (Kind, Unavailable)>;

/// Answers [`Scopes::first_unready`] from [`crate::world::Objects::list_where`] alone: reads all objects anew, without an index and without kept
/// answers.
pub fn first_unready<W: Scopes + ?Sized>(
    world: &W,
    kinds: &[Kind],
    scope: &Scope,
    below: i64,
    is_ready: &dyn Fn(&Kind, &Value) -> Ready,
) -> FirstUnready {
    let mut lower = Vec::new();
    let mut unread = None;
    for kind in kinds {
        let is_lower = |it: &Value| {
            is_ordered(kind, it)
                && Scope::of(it).as_ref() == Some(scope)
                && Position::of(it).is_some_and(|position| position.weight < below)
        };
        let home = Some(scope.namespace.as_str());
        match world.list_where(kind, home, &Selector::default(), &is_lower) {
            Lookup::Found(objects) => {
                let placed = objects.into_iter();
                lower.extend(placed.filter_map(|it| Some((Position::of(&it)?, kind, it))));
            }
            Lookup::NotFound => {}
            Lookup::Unavailable(why) if leaves_out(world, kind, why) => {}
            Lookup::Unavailable(why) => {
                unread.get_or_insert_with(|| (kind.clone(), why));
            }
        }
    }
    if let Some(unread) = unread {
        return Err(unread);
    }
    lower.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    let first = lower
        .into_iter()
        .find(|(_, kind, object)| !is_ready(kind, object).is_ready());
    Ok(first.map(|(position, kind, object)| (position, kind.clone(), object)))
}
