//! One edge: where its dependency is, whether it may be told of, and what is found there.

use super::consent::Consent;
use super::revision::Mark;
use super::several::{self, Member};
use super::{JudgedEdge, Policy};
use crate::dependency::{Alternatives, Dependency, Edge, ObjectRef, Reference, Selection, State};
use crate::dependent::Dependent;
use crate::expression::Expression;
use crate::judged::{Judged, Reason, met, not_found, unavailable, unmet};
use crate::kept;
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::{Lookup, Unavailable};
use crate::object::name;
use crate::profile;
use crate::text::Quoted;
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::time::Duration;
use wire::probe::Probe;

/// What every edge of one dependent is judged by.
pub(super) struct Judge<'a> {
    pub(super) dependent: &'a Dependent,
    pub(super) policy: &'a Policy,
    pub(super) world: &'a dyn World,
    pub(super) now: Timestamp,
    /// Whether what is satisfied now counts, although it may be replaced or fall over in a moment.
    pub(super) at_once: bool,
    /// When time alone may change what was found, at the earliest.
    pub(super) again: Cell<Option<Timestamp>>,
    /// Whether what a dependency waits for itself is still being read.
    pub(super) reading: Cell<bool>,
    /// What the dependent's gate is to try.
    pub(super) probes: RefCell<Vec<Probe>>,
}

/// Where the objects of an edge are.
#[derive(Clone, Copy)]
pub(super) struct Home<'a> {
    /// `None` for a cluster-scoped kind.
    pub(super) namespace: Option<&'a str>,
    /// Whether that is outside of the dependent's namespace.
    pub(super) foreign: bool,
}

impl Judge<'_> {
    /// The kinds whose objects may be in a scope. Which custom ones are, a ClusterRole says.
    pub(super) fn kinds(&self) -> Result<Vec<Kind>, Judged> {
        let roles = Kind::Builtin(kinds::CLUSTER_ROLE);
        let kinds = self.world.kinds();
        kinds.map_err(|why| unavailable(why, &roles, false))
    }

    /// What was found of one edge. `can_start`: nothing but a slot is missing.
    pub(super) fn edge(&self, edge: Edge, can_start: bool) -> JudgedEdge {
        let (foreign, judged, turn) = match &edge {
            Edge::Listed(entry) => {
                let (foreign, judged) = self.entry(entry);
                let (judged, turn) = self.stable(judged, entry);
                (foreign, judged, turn)
            }
            Edge::Wave(below) => (false, self.below(*below), None),
            Edge::Slot(most) => (false, self.slot(*most, can_start), None),
        };
        JudgedEdge {
            edge,
            foreign,
            judged,
            turns: turn.into_iter().collect(),
        }
    }

    /// What was found, and whether its message texts must stay in another namespace; whether it has stood for long enough is not
    /// asked here.
    pub(super) fn entry(&self, dependency: &Dependency) -> (bool, Judged) {
        match &dependency.reference {
            Reference::Object(it) => {
                self.in_its_home(&it.kind, it.namespace.as_deref(), dependency, |home| {
                    self.named(it, home, dependency)
                })
            }
            Reference::Selected(it) => {
                self.in_its_home(&it.kind, it.namespace.as_deref(), dependency, |home| {
                    self.selected(it, home, dependency)
                })
            }
            Reference::Part(it) => self.part(it, dependency),
            // Nobody's namespace holds it.
            Reference::Address(it) => (false, self.address(it)),
            // Each alternative is in a place of its own, and what is said of all is fit for the dependent's namespace.
            Reference::Any(alternatives) => (false, self.any(alternatives, dependency)),
        }
    }

    fn in_its_home<'h>(
        &'h self,
        kind: &Kind,
        written: Option<&'h str>,
        dependency: &Dependency,
        judge: impl FnOnce(Home<'h>) -> Judged,
    ) -> (bool, Judged) {
        let home = match self.home(kind, written) {
            Ok(home) => home,
            Err(why) => return (false, self.unread(why, kind, dependency.optional)),
        };
        // Asked before anything is looked up, so that the answer cannot depend on whether the target exists.
        let refusal = self.consent(kind, home).refusal();
        (home.foreign, refusal.unwrap_or_else(|| judge(home)))
    }

    fn consent(&self, kind: &Kind, home: Home<'_>) -> Consent {
        let own = self.dependent.namespace.as_str();
        match home.namespace {
            _ if !home.foreign => Consent::Given,
            Some(other) => Consent::of_namespace(own, other, self.policy, self.world),
            None => Consent::of_cluster(own, kind, self.policy, self.world),
        }
    }

    pub(super) fn home<'h>(
        &'h self,
        kind: &Kind,
        written: Option<&'h str>,
    ) -> Result<Home<'h>, Unavailable> {
        let namespaced = match kind {
            Kind::Builtin(builtin) => builtin.namespaced,
            Kind::Custom { .. } => match self.world.namespaced(kind) {
                Lookup::Found(namespaced) => namespaced,
                Lookup::NotFound => return Err(Unavailable::NotServed),
                Lookup::Unavailable(why) => return Err(why),
            },
        };
        let own = self.dependent.namespace.as_str();
        let namespace = namespaced.then_some(written.unwrap_or(own));
        Ok(Home {
            namespace,
            foreign: namespace != Some(own),
        })
    }

    fn named(&self, object: &ObjectRef, home: Home<'_>, dependency: &Dependency) -> Judged {
        let ObjectRef { kind, name, .. } = object;
        let itself = || {
            let message = "the dependent waits for itself; remove this entry from its list";
            unmet(
                Status::InProgress,
                Reason::SelfReference,
                message.to_owned(),
            )
        };
        let is_of_own_set = !home.foreign && self.dependent.has_ordinal(kind, name);
        if is_of_own_set && self.dependent.pod == *name {
            return met(
                "the other pods of its StatefulSet wait for it, and it waits for none of them",
            );
        }
        if !home.foreign && self.dependent.is(kind, name) {
            return itself();
        }
        match self.world.object(kind, home.namespace, name) {
            Lookup::Found(found) if !home.foreign && self.dependent.is_itself(kind, &found) => {
                itself()
            }
            Lookup::Found(found) => {
                let judged = self.found(kind, &found, home, dependency);
                let waits = !home.foreign
                    && !judged.satisfied
                    && !is_of_own_set
                    && self.is_beside(kind, &found);
                if waits { itself() } else { judged }
            }
            Lookup::NotFound
                if !home.foreign
                    && !dependency.optional
                    && dependency.state != State::Present
                    && !is_of_own_set
                    && self.would_be_beside(kind, name) =>
            {
                itself()
            }
            Lookup::NotFound => self
                .remembered(object, home, dependency)
                .unwrap_or_else(|| self.missing(object, home, dependency.optional)),
            Lookup::Unavailable(why) => self.unread(why, kind, dependency.optional),
        }
    }

    /// One object that is there.
    pub(super) fn found(
        &self,
        kind: &Kind,
        object: &Value,
        home: Home<'_>,
        dependency: &Dependency,
    ) -> Judged {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let judged = self.counted(kind, object, home, dependency);
        self.told_if_late(format!("{kind}/{name}"), object, judged)
    }

    /// Whether it counts, and then its state.
    fn counted(
        &self,
        kind: &Kind,
        object: &Value,
        home: Home<'_>,
        dependency: &Dependency,
    ) -> Judged {
        let mark = Mark::of(object);
        let asked = (dependency.state, dependency.health.as_slice());
        if let Some(judged) = self.does_not_count(&mark, home, dependency) {
            return judged;
        }
        let judged = if dependency.same_node && kind.word() == "DaemonSet" {
            self.on_same_node(object, home, dependency)
        } else {
            self.in_state(kind, object, home, dependency)
        };
        let judged = match dependency.stable {
            Some(Duration::ZERO) => judged,
            _ => self.recovered(judged, kind, object, asked),
        };
        let judged = self.unwritten(judged, &mark, dependency);
        let judged = self.observed(judged, kind, object, &mark);
        self.settled(judged, &mark, home, dependency)
    }

    /// The state of an object that counts.
    ///
    /// Outside of its own namespace a dependent may look at no more than the status by an expression of its own: whoever
    /// writes the list chooses the field, and by asking often enough could read any.
    fn in_state(
        &self,
        kind: &Kind,
        object: &Value,
        home: Home<'_>,
        dependency: &Dependency,
    ) -> Judged {
        let beyond = |expression: &&Expression| home.foreign && !kept::in_status(expression);
        if let Some(expression) = dependency.health.iter().find(beyond) {
            let message = format!(
                "health: {} looks beyond /status, which is all that may be asked of an object outside the \
                 dependent's namespace",
                Quoted(&expression.to_string())
            );
            return unmet(Status::Unknown, Reason::Unjudgeable, message);
        }
        if dependency.state == State::Connects {
            let there = (State::Present, [].as_slice());
            let judged = profile::judge_by(kind, object, there, self.world, self.now);
            return if judged.satisfied {
                self.connects(object, home)
            } else {
                judged
            };
        }
        let asked = (dependency.state, dependency.health.as_slice());
        profile::judge_by(kind, object, asked, self.world, self.now)
    }

    fn selected(&self, selection: &Selection, home: Home<'_>, dependency: &Dependency) -> Judged {
        let Selection { kind, selector, .. } = selection;
        let mut objects = match self.world.list(kind, home.namespace, selector) {
            Lookup::Found(objects) => objects,
            Lookup::NotFound => Vec::new(),
            Lookup::Unavailable(why) => return self.unread(why, kind, dependency.optional),
        };
        let there = objects.iter().map(name).map(str::to_owned).collect();
        let others = self.others(&mut objects, kind, home, dependency);
        let gone = match self.remembered_by(selection, &there, home, dependency) {
            Ok(gone) => gone,
            Err(unknown) if objects.is_empty() => return unknown,
            // What is there must be satisfied by itself.
            Err(_) => Vec::new(),
        };
        if objects.is_empty() && gone.is_empty() {
            return match others {
                Ok(()) => {
                    let what = format!("no {kind} with these labels has been created yet");
                    self.absent(dependency.optional, &what)
                }
                Err(what) if dependency.optional => self.absent(true, &what),
                Err(what) => not_found(false, &what),
            };
        }
        let parts = objects.iter().map(|object| Member {
            name: name(object).to_owned(),
            judged: self.found(kind, object, home, dependency),
        });
        // An old Job never becomes a fresh one; so it holds nobody back, unless there is nothing else.
        let (old, mut parts): (Vec<Member>, Vec<Member>) =
            parts.partition(|part| part.judged.reason == Reason::NotFresh);
        parts.extend(gone);
        if parts.is_empty() {
            parts = old;
        }
        let needed = selection.min.map_or(parts.len(), |min| min.of(parts.len()));
        several::all(&parts, needed, dependency.state)
    }

    /// Leaves those of some selected objects that count.
    ///
    /// # Errors
    ///
    /// Why none of them does, although there are some.
    fn others(
        &self,
        objects: &mut Vec<Value>,
        kind: &Kind,
        home: Home<'_>,
        dependency: &Dependency,
    ) -> Result<(), String> {
        if objects.is_empty() {
            return Ok(());
        }
        objects.retain(|object| home.foreign || !self.dependent.includes(kind, object));
        if objects.is_empty() {
            return Err(format!(
                "only the dependent itself has these labels so far; take the entry out, unless another {kind} is to come"
            ));
        }
        if dependency.same_node {
            objects.retain(|pod| self.is_on_same_node(pod));
        }
        if objects.is_empty() {
            return Err(format!("no {kind} with these labels is on this node yet"));
        }
        Ok(())
    }

    fn any(&self, alternatives: &Alternatives, dependency: &Dependency) -> Judged {
        // All of them are looked at, so that a change of each is heard of.
        let parts: Vec<Member> = alternatives
            .of
            .iter()
            .map(|alternative| {
                let (foreign, judged) = self.entry(alternative);
                let (judged, _) = self.stable(judged, alternative);
                Member::alternative(alternative, foreign, &judged)
            })
            .collect();
        let absent = |part: &Member| part.judged.status == Status::NotFound;
        if dependency.optional && parts.iter().all(absent) {
            return self.absent(true, "none of them has been created yet");
        }
        let needed = alternatives.min.map_or(1, |min| min.of(parts.len()));
        several::some(parts, needed)
    }
}
