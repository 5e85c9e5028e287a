//! The inputs of a rule beside the object that it judges, and a note of whether the rule has used them.

use crate::definition::Declared;
use crate::judged::Judged;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::selector::Selector;
use crate::world::{Objects, World};
use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;

/// The cluster and the time of one judgement.
pub(super) struct Evidence<'w> {
    world: &'w dyn World,
    now: Timestamp,
    looked: Cell<bool>,
}

impl<'w> Evidence<'w> {
    /// An evidence that no rule has used yet.
    pub(super) fn new(world: &'w dyn World, now: Timestamp) -> Self {
        let looked = Cell::new(false);
        Self { world, now, looked }
    }

    /// Whether a rule has used anything here: then its answer may change although its object does not.
    pub(super) fn was_looked_at(&self) -> bool {
        self.looked.get()
    }

    /// The time of the judgement.
    pub(super) fn now(&self) -> Timestamp {
        self.looked.set(true);
        self.now
    }

    /// The facts of [`Definitions`](crate::world::Definitions) about a kind.
    pub(super) fn declared(&self, kind: &Kind) -> Lookup<Declared> {
        self.looked().declared(kind)
    }

    /// Whether sluice is meant to read a custom kind ([`Scopes`](crate::world::Scopes)).
    pub(super) fn is_granted(&self, kind: &Kind) -> bool {
        self.looked().is_granted(kind)
    }

    /// The finding of the health rule of an object's kind. A call does not count as use: a rule reads the object alone, and when the
    /// rules change every object is judged anew.
    pub(super) fn health(&self, object: &Value, statusless: bool) -> Option<Judged> {
        self.world.health(object, statusless)
    }

    fn looked(&self) -> &'w dyn World {
        self.looked.set(true);
        self.world
    }
}

impl Objects for Evidence<'_> {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        self.looked().object(kind, namespace, name)
    }

    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        self.looked().whole(kind, object)
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        self.looked().list(kind, namespace, selector)
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        self.looked().namespaced(kind)
    }
}
