//! The answers of a view to the questions of the rules about everything beside the objects: scopes, remembered facts, definitions and
//! hints.

use super::{View, behind};
use crate::known::scopes::{Limit, ScopeInterest};
use crate::known::store::{Interest, Store};
use jiff::Timestamp;
use rules::cause::{Behind, Stuck};
use rules::definition::Declared;
use rules::dependency::Part;
use rules::edges::Link;
use rules::holder::{Holder, Running, Wave};
use rules::judged::Judged;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::memory::{CompletedJob, Completing};
use rules::room::Lack;
use rules::scope::{self, Position, Scope};
use rules::selector::Selector;
use rules::world::{
    Definitions, FirstUnready, Hints, Objects, Pending, Ready, Remembered, Scopes, World,
    leaves_out,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl View {
    /// The store in which waves and parts find the objects of a kind. For pods it is the store of the pods with a gate: a pod with a
    /// weight has one.
    fn ordered(&self, kind: &Kind) -> Result<Arc<Store>, Unavailable> {
        if kind.is_pod() {
            return Ok(Arc::clone(self.known.gated()));
        }
        self.want_unnamed(kind)
    }
}

impl Scopes for View {
    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.known.plans());
        self.list_of(&store, Some(namespace), &Selector::default())
    }

    /// The built-in workloads, and every custom kind that the administrator has granted, or that a list names and can be read. An error until
    /// the granted kinds are known.
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        let granted = self.known.granted().kinds();
        for kind in granted.iter().flat_map(|kinds| kinds.iter()) {
            self.known.want(kind).count();
        }
        let is_new = self.look(ScopeInterest::Kinds, None)?;
        if self.known.granted().kinds() != granted {
            // The kinds have changed before the view subscribed, so that change has not woken it.
            self.bell.ring();
        }
        if is_new {
            self.believe_together();
        }
        match granted {
            Some(granted) => {
                let custom = self.known.stores.custom(&granted);
                Ok(scope::workloads().chain(custom).collect())
            }
            None => Err(Unavailable::Syncing),
        }
    }

    /// Whether two words mean one kind: they then have one store. `false` until the API server has told that; this view is woken then.
    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        let stores = [one, other].map(|kind| {
            let store = self.want_unnamed(kind).ok()?;
            // A view that is not woken is judged anew after a while.
            let _ = self.read(&store, Interest::Kind);
            Some(store)
        });
        matches!(stores, [Some(one), Some(other)] if Arc::ptr_eq(&one, &other))
    }

    fn is_granted(&self, kind: &Kind) -> bool {
        let Some(granted) = self.known.granted().kinds() else {
            return true;
        };
        if granted.contains(kind) {
            return true;
        }
        // The administrator may spell it otherwise. A view that looks over all kinds is woken if it turns out so.
        let Ok(store) = self.want_unnamed(kind) else {
            return false;
        };
        let _ = self.read(&store, Interest::Kind);
        let mut granted = granted.iter().filter_map(|it| self.known.watched(it));
        granted.any(|it| Arc::ptr_eq(&it, &store))
    }

    fn members(
        &self,
        kind: &Kind,
        namespace: &str,
        scope: Option<&str>,
        part: &Part,
    ) -> Lookup<Vec<Value>> {
        let store = match self.ordered(kind) {
            Ok(store) => store,
            Err(why) => return Lookup::Unavailable(why),
        };
        let look = ScopeInterest::Members {
            namespace,
            scope,
            part,
        };
        match self.look(look, None).and_then(|_| self.usable(&store)) {
            Ok(()) => Lookup::Found(store.members(namespace, scope, part)),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    /// The first object of these kinds in a scope, below a weight, that is not ready. An error if a kind cannot be read, unless [`leaves_out`]
    /// lets the search go on without it. During the search a change of any object below the weight wakes the view; after it, only a change of the
    /// objects up to the first that is not ready.
    fn first_unready(
        &self,
        kinds: &[Kind],
        scope: &Scope,
        below: i64,
        is_ready: &dyn Fn(&Kind, &Value) -> Ready,
    ) -> FirstUnready {
        let (look, limit) = (ScopeInterest::Wave(scope), Limit::Below(below));
        let is_new = match (self.look(look, Some(limit.clone())), kinds) {
            (Ok(is_new), _) => is_new,
            (Err(why), [kind, ..]) => return Err((kind.clone(), why)),
            (Err(_), []) => return Ok(None),
        };
        let mut first: Option<(Position, Kind, Value)> = None;
        let mut unread = None;
        for kind in kinds {
            let store = match self.ordered(kind) {
                Ok(store) => store,
                Err(why) => {
                    unread.get_or_insert_with(|| (kind.clone(), why));
                    continue;
                }
            };
            let before = first.as_ref().map(|(position, ..)| position);
            let found = store.first_unready(scope, below, before, &|it| is_ready(kind, it));
            match (self.usable(&store), found) {
                (Ok(()), None) => {}
                (Ok(()), Some((position, object))) => {
                    first = Some((position, kind.clone(), object));
                }
                (Err(why), _) if leaves_out(self, kind, why) => {}
                (Err(why), _) => drop(unread.get_or_insert_with(|| (kind.clone(), why))),
            }
        }
        if let Some(unread) = unread {
            return Err(unread);
        }
        if let Some((position, ..)) = first.as_ref().filter(|_| is_new) {
            let now = Limit::UpTo(position.clone());
            let scope_waiters = self.known.stores.scope_waiters();
            let narrowed = self
                .reads()
                .narrow(scope_waiters, &self.bell, look, (&limit, now));
            // Where this fails, the view is woken too often, as before.
            let _ = self.heeded(narrowed);
        }
        Ok(first)
    }

    fn may_have_lower(&self, kind: &Kind, scope: &Scope, below: i64) -> bool {
        // A kind without a store may have any object.
        self.ordered(kind)
            .map_or(true, |it| it.has_lower(scope, below))
    }

    fn pending(&self, scope: &Scope) -> Pending {
        let secrets = Kind::Builtin(kinds::SECRET);
        if !self.known.settings().follows_helm_releases {
            return Pending::NotFollowed;
        }
        let (namespace, records) = scope.pending_records();
        Pending::of(&self.list(&secrets, Some(namespace), &records))
    }

    /// The time of the last write by an installer in a scope; `None` if there was none. Kinds that are forbidden or not served are skipped. An
    /// error while a kind is syncing or stale.
    fn active(&self, scope: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        let mut last = None;
        self.believe_together();
        for store in self.known.counted() {
            let mut usable = self.usable(&store);
            if matches!(usable, Err(Unavailable::Syncing | Unavailable::Stale)) {
                // This view is woken when that changes, and it may just have changed.
                self.read(&store, Interest::Kind)?;
                usable = self.usable(&store);
            }
            match usable {
                Ok(()) => last = last.max(store.active(scope)),
                Err(
                    Unavailable::NotServed | Unavailable::Forbidden | Unavailable::Undiscovered,
                ) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(last)
    }

    fn seen_to_change(&self, scope: &Scope, now: Timestamp) -> Option<Timestamp> {
        let stores = self.known.stores().into_iter();
        let changed = stores.filter_map(|(_, store)| store.changed(scope)).max()?;
        let at = now.checked_sub(changed.elapsed()).ok()?;
        // Kubernetes notes times in whole seconds, rounded down, and so does the message that names this one.
        Timestamp::from_second(at.as_second()).ok()
    }
}

impl Remembered for View {
    fn slots(&self, wave: &Wave) -> Lookup<Running> {
        let (running, subscription) = self.known.slots().ask(wave, &self.bell);
        self.hold(subscription);
        match running {
            Ok((running, until)) => {
                let earliest = &mut self.believed().until;
                *earliest = Some(earliest.map_or(until, |earliest| earliest.min(until)));
                Lookup::Found(running)
            }
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn satisfied_since(&self, edge: &str, satisfied: bool, now: Timestamp) -> Option<Timestamp> {
        if !satisfied {
            self.known.satisfied_since.broken(edge);
            return None;
        }
        let (since, subscription) = self.known.satisfied_since.satisfied(edge, now);
        self.hold(subscription);
        Some(since)
    }

    fn recovered(&self, object: &str, satisfied: bool, now: Timestamp) -> Option<Timestamp> {
        let (since, watched) = self.known.satisfied_since.recovered(object, satisfied, now);
        if let Some(watched) = watched {
            self.hold(watched);
        }
        since
    }

    fn completed_job(&self, what: Completing, namespace: &str, name: &str) -> Lookup<CompletedJob> {
        let known = self.memory().completed(what, namespace, name);
        match known.filter(|job| !self.is_younger(namespace, job.completed)) {
            Some(job) => Lookup::Found(job),
            None if self.memory().is_loaded() => Lookup::NotFound,
            None => Lookup::Unavailable(Unavailable::Syncing),
        }
    }

    fn completed_jobs(
        &self,
        what: Completing,
        namespace: &str,
        selector: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        if self.memory().is_loaded() {
            let mut jobs = self.memory().selected(what, namespace, selector);
            jobs.retain(|_, job| !self.is_younger(namespace, job.completed));
            Lookup::Found(jobs)
        } else {
            Lookup::Unavailable(Unavailable::Syncing)
        }
    }

    fn has_passed(&self, revision: &str) -> Lookup<bool> {
        match self.memory().has_passed(revision) {
            true => Lookup::Found(true),
            false if self.memory().is_loaded() => Lookup::Found(false),
            false => Lookup::Unavailable(Unavailable::Syncing),
        }
    }
}

impl Definitions for View {
    fn declared(&self, kind: &Kind) -> Lookup<Declared> {
        match kind {
            Kind::Builtin(_) => Lookup::NotFound,
            Kind::Custom { .. } => {
                let (store, details) = match self.details(kind) {
                    Ok(found) => found,
                    Err(why) => return Lookup::Unavailable(why),
                };
                match (details.declared, self.usable(&store)) {
                    (Some(declared), _) => Lookup::Found(Declared::clone(&declared)),
                    (None, Ok(())) => Lookup::NotFound,
                    (None, Err(why)) => Lookup::Unavailable(why),
                }
            }
        }
    }

    fn rule_reads_a_generation(&self, object: &Value) -> bool {
        self.known.health_rules().reads_a_generation(object)
    }

    /// The finding of the health rule for the object's kind; `None` without a rule. The view does not note that it read the rules, because
    /// changed rules wake every view.
    fn health(&self, object: &Value, statusless: bool) -> Option<Judged> {
        self.known.health_rules().judge(object, statusless)
    }
}

impl Hints for View {
    /// Returns `None`, because a reading of the slots here would ask for a slot.
    fn slot_holders(&self, _: &Wave) -> Option<Vec<Holder>> {
        None
    }

    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        self.known.want_unscheduled();
        read_unsubscribed(self.known.unscheduled(), namespace, selector)
    }

    fn names(&self, kind: &Kind, namespace: &str) -> Vec<String> {
        let store = self.known.watched(kind);
        let store = store.filter(|store| store.believed_until().is_ok());
        store
            .map(|store| store.names(namespace))
            .unwrap_or_default()
    }

    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        read_unsubscribed(self.known.gated(), namespace, selector)
    }

    fn lack(
        &self,
        namespace: &str,
        workload: &str,
        look: &dyn Fn() -> Option<Lack>,
    ) -> Option<Arc<Lack>> {
        let of = (namespace.to_owned(), workload.to_owned());
        self.known.lacks.find(of, || look().map(Arc::new))
    }

    fn behind(
        &self,
        namespace: &str,
        service: &str,
        look: &dyn Fn() -> Vec<Link<(Kind, Value)>>,
    ) -> Vec<Link<(Kind, Value)>> {
        behind::links(self, namespace, service, look)
    }

    fn stuck(&self, behind: &Behind, _: Timestamp) -> Option<Stuck> {
        let (found, subscription) = self.known.pod_causes().find(behind, &self.bell)?;
        self.hold(subscription);
        found
    }
}

impl World for View {
    fn hints(&self) -> Option<&dyn Hints> {
        Some(self)
    }
}

/// The objects of a namespace that a selector selects, without a note that they were read, so no change of them wakes the view. A gate asks
/// again before long, and then they are read anew.
fn read_unsubscribed(store: &Store, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
    match store.believed_until() {
        Ok(_) => Lookup::Found(store.list(Some(namespace), selector)),
        Err(why) => Lookup::Unavailable(why),
    }
}
