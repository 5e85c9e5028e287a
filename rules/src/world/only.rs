//! A fake [`World`] for tests: real objects, and fixed answers to every other question.

use super::{Definitions, Hints, Objects, Pending, Remembered, Scopes, World};
use crate::definition::Declared;
use crate::holder::{Running, Wave};
use crate::judged::Judged;
use crate::kinds::Kind;
use crate::lookup::{Lookup, Unavailable};
use crate::memory::{CompletedJob, Completing};
use crate::scope::{self, Scope};
use crate::selector::Selector;
use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A fake world for tests. `objects` answers questions about objects, the other fields are fixed answers, and everything without a field is
/// empty: no plan, no holder of a slot, no hints.
pub struct Only<T> {
    /// The objects that the fake world knows.
    pub objects: T,
    /// The answer of [`Scopes::active`].
    pub active: Result<Option<Timestamp>, Unavailable>,
    /// The answer of [`Scopes::pending`].
    pub pending: Pending,
    /// The answer of [`Remembered::completed_job`].
    pub completed_job: Lookup<CompletedJob>,
    /// The answer of [`Remembered::has_passed`].
    pub has_passed: Lookup<bool>,
    /// The answer of [`Definitions::declared`].
    pub declared: Lookup<Declared>,
    /// The answer of [`Definitions::health`].
    pub health: HealthRule,
}

type HealthRule = Box<dyn Fn(&Value, bool) -> Option<Judged>>;

impl<T> Only<T> {
    /// The fake world with these objects: no change in any scope, no records of Helm, no completed Job, no passed gate, no definition and no
    /// health rule.
    pub fn of(objects: T) -> Self {
        Self {
            objects,
            active: Ok(None),
            pending: Pending::NotFollowed,
            completed_job: Lookup::NotFound,
            has_passed: Lookup::Found(false),
            declared: Lookup::NotFound,
            health: Box::new(|_, _| None),
        }
    }
}

impl<T: Objects> Objects for Only<T> {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        self.objects.object(kind, namespace, name)
    }

    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        self.objects.whole(kind, object)
    }

    fn list(&self, kind: &Kind, namespace: Option<&str>, by: &Selector) -> Lookup<Vec<Value>> {
        self.objects.list(kind, namespace, by)
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        self.objects.namespaced(kind)
    }
}

impl<T: Objects> Scopes for Only<T> {
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        Ok(scope::workloads().collect())
    }

    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        one == other
    }

    fn is_granted(&self, _: &Kind) -> bool {
        true
    }

    fn active(&self, _: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        self.active
    }

    fn seen_to_change(&self, _: &Scope, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn pending(&self, _: &Scope) -> Pending {
        self.pending
    }

    fn plans(&self, _: &str) -> Lookup<Vec<Value>> {
        Lookup::Found(Vec::new())
    }
}

impl<T> Remembered for Only<T> {
    fn slots(&self, _: &Wave) -> Lookup<Running> {
        Lookup::Found(Running::default())
    }

    fn completed_job(&self, _: Completing, _: &str, _: &str) -> Lookup<CompletedJob> {
        self.completed_job.clone()
    }

    fn completed_jobs(
        &self,
        _: Completing,
        _: &str,
        _: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        Lookup::Found(BTreeMap::new())
    }

    fn has_passed(&self, _: &str) -> Lookup<bool> {
        self.has_passed.clone()
    }

    fn satisfied_since(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn recovered(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl<T> Definitions for Only<T> {
    fn declared(&self, _: &Kind) -> Lookup<Declared> {
        self.declared.clone()
    }

    fn rule_reads_a_generation(&self, _: &Value) -> bool {
        false
    }

    fn health(&self, object: &Value, statusless: bool) -> Option<Judged> {
        (self.health)(object, statusless)
    }
}

impl<T: Objects> World for Only<T> {
    fn hints(&self) -> Option<&dyn Hints> {
        None
    }
}
