//! The objects of one kind, by their scopes and in the order of the waves.
//!
//! Whether an object is ready is judged once after each of its changes, when a view asks; unless the result depends on more than
//! the object. So a change in a large scope costs one judgement, even if the scope is large.

use jiff::Timestamp;
use rules::dependency::Part;
use rules::kinds::POD;
use rules::object::{controller_of, group_kind, written};
use rules::plan;
use rules::scope::{self, Position, Scope};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;

/// The interest of a view, the reader of one verdict, in a scope.
#[derive(Debug, Clone, Copy, Hash)]
pub(super) enum ScopeInterest<'a> {
    /// The interest in the list of kinds, and in whether each kind can be read.
    Kinds,
    /// The interest in the first object of a scope that is not ready. A [`Limit`] narrows the interest down.
    Wave(&'a Scope),
    /// The interest in the objects that may be in a part: in the scopes of this name, or in any scope of the namespace.
    Members {
        /// The namespace in which the members of the part are looked for.
        namespace: &'a str,
        /// The name of the scopes in which the members are looked for; `None` for any scope.
        scope: Option<&'a str>,
        /// The part: a group, a sub-chart or a release.
        part: &'a Part,
    },
}

/// The limit of an interest in a wave: the changes that matter to a view.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Limit {
    /// Changes up to this position matter: no object behind it alters the answer.
    UpTo(Position),
    /// Changes of objects below this weight matter.
    Below(i64),
}

impl Limit {
    pub(super) fn holds(&self, position: &Position) -> bool {
        match self {
            Self::UpTo(last) => position <= last,
            Self::Below(weight) => position.weight < *weight,
        }
    }

    /// The approximate size of the limit, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let texts = match self {
            Self::UpTo(last) => last.kind.len() + last.name.len(),
            Self::Below(_) => 0,
        };
        size_of::<Self>() + texts
    }
}

/// The place of an object among scopes, parts and waves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    scope: Option<Scope>,
    /// The groups and sub-charts that the object may be in. The release is left out, because `scope` tells it.
    parts: Box<[Part]>,
    /// The object's position in the order of its wave; `None` outside of every wave.
    pub(super) position: Option<Position>,
    write: Option<Write>,
}

/// The last write of an object, where the installer of its scope may have made that write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Write {
    at: Option<Timestamp>,
    generation: i64,
}

/// Every scope that has an object of the store's kind, with its objects in the order of the waves.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    members: BTreeMap<Scope, Waves>,
    changes: u64,
}

/// The objects of one scope, in the order of its waves.
#[derive(Debug, Default)]
struct Waves {
    order: BTreeMap<Position, CachedReadiness>,
    count: usize,
    active: Option<Timestamp>,
    /// The moment at which a watch last saw an object change although no time in the object tells of it.
    changed: Option<Instant>,
}

/// The last judgement about whether an object is ready.
#[derive(Debug, Clone, Copy)]
struct CachedReadiness {
    /// The number of the object's last change before it was judged. A judgement of an older change does not count.
    change: u64,
    ready: Option<bool>,
}

/// The first object below a weight that may not be ready.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    /// The object has to be judged. The result goes to [`Scopes::judged`] with this position, and with this number of the object's last change.
    Unjudged(Position, u64),
    /// The object at this position is not ready.
    Unready(Position),
    /// All objects below the weight are ready.
    Nothing,
}

impl Write {
    /// The last write of an object; `None` for an object that no installer of its scope writes.
    fn of(object: &Value) -> Option<Self> {
        // A plan is none of the objects that it orders, and may exist long before them.
        let is_installed = !plan::is_one(object) && !scope::is_of_a_rollout(object);
        is_installed.then(|| Self {
            at: written(object),
            generation: object["metadata"]["generation"]
                .as_i64()
                .unwrap_or_default(),
        })
    }
}

impl Standing {
    /// The place of an object; `None` for an object without a scope, a group and a chart, and for a pod that a controller made. No wave
    /// and no part looks at such a pod, so its changes wake none of their views.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let is_pod = group_kind(object) == (POD.group, POD.kind);
        if is_pod && controller_of(object).is_some() {
            return None;
        }
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
            write: Write::of(object),
            scope,
            parts,
        })
    }

    /// Whether the spec was written since `before`, although no time in the object tells of it.
    fn has_changed_without_a_trace(&self, before: &Self) -> bool {
        let writes = self.write.zip(before.write);
        writes
            .is_some_and(|(own, before)| own.generation > before.generation && own.at <= before.at)
    }

    /// Whether the object may be in a part of a scope.
    pub(super) fn is_in(&self, scope: Option<&str>, part: &Part) -> bool {
        let own = self.scope.as_ref().map(|scope| scope.name.as_str());
        let in_scope = scope.is_none() || scope == own;
        in_scope && (matches!(part, Part::Release(_)) || self.parts.contains(part))
    }

    /// Calls `tell` with each interest in a scope that a change of the object concerns: with that in its wave and the object's position there,
    /// and with those in its parts and no position.
    pub(super) fn looks(
        &self,
        namespace: &str,
        tell: &mut dyn FnMut(ScopeInterest<'_>, Option<&Position>),
    ) {
        let own = self.scope.as_ref().map(|scope| scope.name.as_str());
        let release = own.map(|name| Part::Release(name.to_owned()));
        for part in self.parts.iter().chain(&release) {
            for scope in [None, own] {
                let look = ScopeInterest::Members {
                    namespace,
                    scope,
                    part,
                };
                tell(look, None);
            }
        }
        if let (Some(scope), Some(position)) = (&self.scope, &self.position) {
            tell(ScopeInterest::Wave(scope), Some(position));
        }
    }
}

impl Scopes {
    /// Adds an object at its place in its scope, not judged yet, and notes the time of its last write. `before`: the place at which the object
    /// stood before the change; `None` for a new object. Without a scope, the object only leaves that place.
    pub(super) fn insert(&mut self, place: &Standing, before: Option<&Standing>) {
        if let Some(before) = before {
            self.move_out(before, place.scope.as_ref());
        }
        let Some(scope) = &place.scope else { return };
        let members = self.members.entry(scope.clone()).or_default();
        members.count += 1;
        members.active = members.active.max(place.write.and_then(|it| it.at));
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

    /// Removes an object from its place among the scopes.
    pub(super) fn remove(&mut self, place: &Standing) {
        self.move_out(place, None);
    }

    /// Removes an object from its scope. If the object is the last one of its scope and moves within it (`to`), the scope is kept
    /// with all that is known of it.
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

    /// Forgets all judgements, because the rules may have changed. Every object counts as changed, so a judgement by the former rules
    /// that ends later is not noted.
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

    /// The moment at which an installer last created or wrote an object of the scope, even if that one is gone; `None` if the scope has no
    /// objects, or no such time is known.
    pub(super) fn active(&self, scope: &Scope) -> Option<Timestamp> {
        self.members.get(scope)?.active
    }

    /// The moment at which this replica last saw the spec of an object of the scope change although no time in the object tells of it; `None`
    /// if it has seen none.
    pub(super) fn changed(&self, scope: &Scope) -> Option<Instant> {
        self.members.get(scope)?.changed
    }

    /// Whether the scope has an object of a smaller weight than `below`.
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

    /// The first object of a scope that weighs less than `below` and may not be ready, in the order of the waves. Positions in `passed` are
    /// left out. With `before`, only an object in front of that position counts.
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

    /// Notes whether an object was ready after one of its changes, unless the object has changed again since.
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
