//! The objects of one kind by the scope that they are in, in the order of its waves.
//!
//! Whether an object is ready is judged once after each of its changes, when somebody asks, unless the answer rests on more than the
//! object. So a change in a scope of many objects costs what changed, not what exists.

use jiff::Timestamp;
use rules::dependency::Part;
use rules::object::written;
use rules::plan;
use rules::scope::{self, Position, Scope};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;

/// Where an object stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) scope: Option<Scope>,
    /// The parts that it may be in, its release apart.
    pub(super) parts: Box<[Part]>,
    /// `None` outside of every wave.
    pub(super) position: Option<Position>,
    written: Option<Timestamp>,
    generation: i64,
}

/// Every scope that has an object of the kind.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    members: BTreeMap<Scope, Waves>,
    changes: u64,
}

/// The objects of one scope.
#[derive(Debug, Default)]
struct Waves {
    order: BTreeMap<Position, CachedReadiness>,
    count: usize,
    active: Option<Timestamp>,
    /// When one of them was last seen to change without a trace.
    changed: Option<Instant>,
}

/// Whether an object is ready, once somebody has asked.
#[derive(Debug, Clone, Copy)]
struct CachedReadiness {
    /// Which of its changes that was.
    change: u64,
    ready: Option<bool>,
}

/// What stands first among the objects below a weight.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    /// One that has to be judged; the answer goes to [`Scopes::judged`] with the position and the number.
    Unjudged(Position, u64),
    /// One that is not ready.
    Unready(Position),
    /// Nothing: all of them are ready.
    Nothing,
}

impl Standing {
    /// `None` of an object that is in no scope, no group and no chart.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let scope = Scope::of(object);
        let groups = scope::groups(object).map(|it| Part::Group(it.to_owned()));
        let names = [scope::chart(object), scope::app(object)];
        let charts = names
            .into_iter()
            .flatten()
            .map(|it| Part::SubChart(it.to_owned()));
        let parts: Box<[Part]> = groups.chain(charts).collect();
        (scope.is_some() || !parts.is_empty()).then(|| Self {
            position: scope.as_ref().and_then(|_| Position::of(object)),
            // A plan is not what it orders, and may be there long before.
            written: written(object).filter(|_| !plan::is_one(object)),
            generation: object["metadata"]["generation"]
                .as_i64()
                .unwrap_or_default(),
            scope,
            parts,
        })
    }

    /// Whether somebody has written the spec since it was `before`, and no time in the object says so.
    fn has_changed_without_a_trace(&self, before: &Self) -> bool {
        self.generation > before.generation && self.written <= before.written
    }

    /// Whether the object may be in a part of a scope.
    pub(super) fn is_in(&self, scope: Option<&str>, part: &Part) -> bool {
        let own = self.scope.as_ref().map(|scope| scope.name.as_str());
        let in_scope = scope.is_none() || scope == own;
        in_scope && (matches!(part, Part::Release(_)) || self.parts.contains(part))
    }
}

impl Scopes {
    /// An object is there, or has changed: then it had another place `before`.
    pub(super) fn insert(&mut self, place: &Standing, before: Option<&Standing>) {
        if let Some(before) = before {
            self.move_out(before, place.scope.as_ref());
        }
        let Some(scope) = &place.scope else { return };
        let members = self.members.entry(scope.clone()).or_default();
        members.count += 1;
        members.active = members.active.max(place.written);
        if before.is_some_and(|before| place.has_changed_without_a_trace(before)) {
            members.changed = Some(Instant::now());
        }
        if let Some(position) = &place.position {
            self.changes += 1;
            let judged = CachedReadiness {
                change: self.changes,
                ready: None,
            };
            members.order.insert(position.clone(), judged);
        }
    }

    /// An object is gone, or its place no longer holds.
    pub(super) fn remove(&mut self, place: &Standing) {
        self.move_out(place, None);
    }

    /// What is known of the scope that it moves to is kept, if it was the only one there.
    fn move_out(&mut self, place: &Standing, to: Option<&Scope>) {
        let Some(scope) = &place.scope else { return };
        if let Some(members) = self.members.get_mut(scope) {
            members.count = members.count.saturating_sub(1);
            if let Some(position) = &place.position {
                members.order.remove(position);
            }
            if members.count == 0 && to != Some(scope) {
                self.members.remove(scope);
            }
        }
    }

    /// Forgets what was judged: the rules may have changed. So has every object then, and what is judged by the rules of before counts
    /// no more.
    pub(super) fn forget(&mut self) {
        let waves = self.members.values_mut().map(|members| &mut members.order);
        for judged in waves.flat_map(BTreeMap::values_mut) {
            self.changes += 1;
            *judged = CachedReadiness {
                change: self.changes,
                ready: None,
            };
        }
    }

    pub(super) fn clear(&mut self) {
        self.members.clear();
    }

    /// When an object of the scope was last created or written.
    pub(super) fn active(&self, scope: &Scope) -> Option<Timestamp> {
        self.members.get(scope)?.active
    }

    /// When an object of the scope was last seen to change without a trace.
    pub(super) fn changed(&self, scope: &Scope) -> Option<Instant> {
        self.members.get(scope)?.changed
    }

    /// Whether an object of a scope weighs less than that.
    pub(super) fn has_lower(&self, scope: &Scope, below: i64) -> bool {
        let lightest = self
            .members
            .get(scope)
            .and_then(|it| it.order.keys().next());
        lightest.is_some_and(|position| position.weight < below)
    }

    /// The namespaces in which a release has objects.
    pub(super) fn namespaces_of(&self, release: &Scope) -> Vec<String> {
        let scopes = self.members.keys();
        let same = scopes.filter(|scope| scope.is_of_release(release));
        same.map(|scope| scope.namespace.clone()).collect()
    }

    /// The first object below a weight that is neither known to be ready nor among the `passed`, by its name; and only one that stands
    /// before another position, if there is one.
    pub(super) fn first(
        &self,
        scope: &Scope,
        below: i64,
        before: Option<&Position>,
        passed: &BTreeSet<Position>,
    ) -> First {
        let waves = self.members.get(scope).map(|members| &members.order);
        let mut lower = waves.into_iter().flatten().take_while(|(position, _)| {
            position.weight < below && before.is_none_or(|it| *position < it)
        });
        match lower.find(|(it, judged)| judged.ready != Some(true) && !passed.contains(it)) {
            None => First::Nothing,
            Some((position, judged)) => match judged.ready {
                None => First::Unjudged(position.clone(), judged.change),
                Some(_) => First::Unready(position.clone()),
            },
        }
    }

    /// Notes whether an object was ready at one of its changes, unless there has been another since.
    pub(super) fn judged(&mut self, scope: &Scope, position: &Position, change: u64, ready: bool) {
        let waves = self
            .members
            .get_mut(scope)
            .map(|members| &mut members.order);
        if let Some(judged) = waves.and_then(|waves| waves.get_mut(position))
            && judged.change == change
        {
            judged.ready = Some(ready);
        }
    }
}

#[cfg(test)]
mod tests;
