//! What the rules may look at beside the objects.

use super::{View, behind};
use crate::known::scopes::Members;
use crate::known::store::{Interest, Store};
use jiff::Timestamp;
use rules::cause::{Behind, Stuck};
use rules::dependency::Part;
use rules::edges::Link;
use rules::holder::{Running, Wave};
use rules::judged::Judged;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::memory::CompletedJob;
use rules::room::Lack;
use rules::scope::{self, Scope};
use rules::selector::Selector;
use rules::world::{Objects, Pending, World};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl View {
    /// Where the objects of a kind are that waves and parts look at. Of pods it is those with a gate: who says a weight
    /// has one.
    fn ordered(&self, kind: &Kind) -> Arc<Store> {
        if kind.is_pod() {
            return Arc::clone(self.known.gated());
        }
        self.known.come_to(kind)
    }
}

impl World for View {
    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.known.plans());
        self.list_of(&store, Some(namespace), &Selector::default())
    }

    /// Beside the workloads every custom kind that somebody depends on and that can be read, or that the administrator lets be watched.
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        let granted = self.known.granted().kinds();
        for kind in granted.iter().flat_map(|kinds| kinds.iter()) {
            self.known.want(kind);
        }
        let (custom, subscription) = self.known.custom_kinds(&self.bell);
        self.hold(subscription);
        if self.known.granted().kinds() != granted {
            // That was before the subscription.
            self.bell.ring();
        }
        match granted {
            Some(_) => Ok(scope::workloads().chain(custom).collect()),
            None => Err(Unavailable::Syncing),
        }
    }

    /// Once it is known that they are, they have one store, and whoever waits for the other is woken.
    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        let [one, other] = [one, other].map(|kind| {
            let store = self.known.come_to(kind);
            self.read(&store, Interest::Kind);
            store
        });
        Arc::ptr_eq(&one, &other)
    }

    fn is_granted(&self, kind: &Kind) -> bool {
        // The administrator may spell it otherwise.
        let granted = self.known.granted().kinds();
        granted.is_none_or(|granted| granted.iter().any(|it| self.is_same(it, kind)))
    }

    fn members(
        &self,
        kind: &Kind,
        namespace: &str,
        scope: Option<&str>,
        part: &Part,
    ) -> Lookup<Vec<Value>> {
        let store = self.ordered(kind);
        let members = Members {
            namespace: namespace.into(),
            scope: scope.map(Into::into),
            part: part.clone(),
        };
        self.read(&store, Interest::Members(members));
        match self.usable(&store) {
            Ok(()) => Lookup::Found(store.members(namespace, scope, part)),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn first_unready(
        &self,
        kind: &Kind,
        scope: &Scope,
        below: i64,
        is_ready: &dyn Fn(&Value) -> bool,
    ) -> Lookup<Option<Value>> {
        let store = self.ordered(kind);
        let lasting = !scope::rests_on_others(kind);
        let (first, subscription) =
            store.first_unready(scope, below, is_ready, lasting, &self.bell);
        self.hold(subscription);
        match self.usable(&store) {
            Ok(()) => Lookup::Found(first),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn pending(&self, scope: &Scope) -> Pending {
        let secrets = Kind::Builtin(kinds::SECRET);
        if !self.known.settings().follows_helm_releases {
            return Pending::NotFollowed;
        }
        let (namespace, records) = scope.pending_records();
        Pending::of(&self.list(&secrets, Some(namespace), &records))
    }

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

    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        self.known.want_unscheduled();
        glance(self.known.unscheduled(), namespace, selector)
    }

    fn names(&self, kind: &Kind, namespace: &str) -> Vec<String> {
        let store = self.known.watched(kind);
        let store = store.filter(|store| store.believed_until().is_ok());
        store
            .map(|store| store.names(namespace))
            .unwrap_or_default()
    }

    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        glance(self.known.gated(), namespace, selector)
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
        let (found, subscription) = self.known.glances().find(behind, &self.bell)?;
        self.hold(subscription);
        found
    }

    /// What a kind that is not served or not granted holds is no part of any scope; of another that is still being read nobody
    /// can say.
    fn active(&self, scope: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        let mut last = None;
        for store in self.known.counted() {
            let mut usable = self.usable(&store);
            if matches!(usable, Err(Unavailable::Syncing | Unavailable::Stale)) {
                // Whoever waits for it hears when that changes, and it may just have.
                self.read(&store, Interest::Kind);
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

    fn satisfied_since(&self, edge: &str, satisfied: bool, now: Timestamp) -> Option<Timestamp> {
        if !satisfied {
            self.known.sights.broken(edge);
            return None;
        }
        let (since, subscription) = self.known.sights.satisfied(edge, now);
        self.hold(subscription);
        Some(since)
    }

    fn completed_job(&self, namespace: &str, name: &str) -> Lookup<CompletedJob> {
        let known = self.memory().completed(namespace, name);
        match known.filter(|job| !self.is_younger(namespace, job.completed)) {
            Some(job) => Lookup::Found(job),
            None if self.memory().is_loaded() => Lookup::NotFound,
            None => Lookup::Unavailable(Unavailable::Syncing),
        }
    }

    fn completed_jobs(
        &self,
        namespace: &str,
        selector: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        if self.memory().is_loaded() {
            let mut jobs = self.memory().selected(namespace, selector);
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

    fn declares_status(&self, kind: &Kind) -> Lookup<bool> {
        match kind {
            Kind::Builtin(_) => Lookup::NotFound,
            Kind::Custom { .. } => {
                let (store, details) = self.details(kind);
                match (details.declares_status, self.usable(&store)) {
                    (Some(declares), _) => Lookup::Found(declares),
                    (None, Ok(())) => Lookup::NotFound,
                    (None, Err(why)) => Lookup::Unavailable(why),
                }
            }
        }
    }

    /// Changed rules wake every view, so this is no read to note.
    fn health(&self, object: &Value, statusless: bool) -> Option<Judged> {
        self.known.health_rules().judge(object, statusless)
    }
}

/// The objects of a namespace, without a note that they were read: nobody is to be woken by them. A gate asks again before
/// long, and then they are looked at anew.
fn glance(store: &Store, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
    match store.believed_until() {
        Ok(_) => Lookup::Found(store.list(Some(namespace), selector)),
        Err(why) => Lookup::Unavailable(why),
    }
}
