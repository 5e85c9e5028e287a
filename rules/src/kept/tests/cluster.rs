//! A cluster of samples: what a rule may ask of the world is answered from a list of objects.

use crate::advice::{Seen, Served, Target, Workload};
use crate::cause::{Behind, Stuck};
use crate::definition::Declared;
use crate::dependency::{ObjectRef, Part, Selection};
use crate::holder::{Holder, Running, Wave};
use crate::judged::Judged;
use crate::keys;
use crate::kinds::Kind;
use crate::lookup::{Lookup, Unavailable};
use crate::memory::{CompletedJob, Completing};
use crate::object::group_kind;
use crate::scope::{self, Scope};
use crate::selector::Selector;
use crate::world::{Definitions, Hints, Objects, Pending, Remembered, Scopes, World};
use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A cluster of these objects.
#[derive(Debug)]
pub(super) struct Cluster<'o> {
    pub(super) objects: &'o [Value],
}

impl Cluster<'_> {
    fn find(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.objects
            .iter()
            .filter(|it| wanted(it))
            .cloned()
            .collect()
    }
}

impl Objects for Cluster<'_> {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        let found = self.find(|it| {
            let metadata = &it["metadata"];
            kind_of(it) == *kind
                && metadata["namespace"].as_str() == namespace
                && metadata["name"] == name
        });
        found
            .into_iter()
            .next()
            .map_or(Lookup::NotFound, Lookup::Found)
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| {
            kind_of(it) == *kind
                && namespace.is_none_or(|namespace| it["metadata"]["namespace"] == namespace)
                && selector.selects(it)
        }))
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

impl Scopes for Cluster<'_> {
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
        Ok(None)
    }

    fn pending(&self, _: &Scope) -> Pending {
        Pending::NotFollowed
    }

    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| is_plan(it) && it["metadata"]["namespace"] == namespace))
    }

    fn seen_to_change(&self, _: &Scope, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Remembered for Cluster<'_> {
    fn slots(&self, _: &Wave) -> Lookup<Running> {
        Lookup::Found(Running::default())
    }

    fn completed_job(&self, _: Completing, _: &str, _: &str) -> Lookup<CompletedJob> {
        Lookup::NotFound
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
        Lookup::Found(false)
    }

    fn satisfied_since(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn recovered(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Definitions for Cluster<'_> {
    fn declared(&self, _: &Kind) -> Lookup<Declared> {
        Lookup::Found(Declared::unseen())
    }

    fn health(&self, _: &Value, _: bool) -> Option<Judged> {
        None
    }

    fn rule_reads_a_generation(&self, _: &Value) -> bool {
        false
    }
}

impl Hints for Cluster<'_> {
    fn slot_holders(&self, _: &Wave) -> Option<Vec<Holder>> {
        None
    }

    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| {
            it["kind"] == "Pod"
                && it["metadata"]["namespace"] == namespace
                && it["spec"]["nodeName"].is_null()
                && selector.selects(it)
        }))
    }

    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| {
            it["metadata"]["namespace"] == namespace
                && selector.selects(it)
                && it["metadata"]["labels"][keys::GATED] == keys::GATED_VALUE
        }))
    }

    fn stuck(&self, _: &Behind, _: Timestamp) -> Option<Stuck> {
        None
    }
}

impl World for Cluster<'_> {
    fn hints(&self) -> Option<&dyn Hints> {
        Some(self)
    }
}

/// A world for advice on a workload's dependencies; the workload itself is there whole.
impl Seen for Cluster<'_> {
    fn object(&self, _: &Workload<'_>, named: &ObjectRef) -> Lookup<Target> {
        match Objects::object(self, &named.kind, named.namespace.as_deref(), &named.name) {
            Lookup::Found(object) => Lookup::Found(Target {
                object,
                same_release: None,
            }),
            _ => Lookup::NotFound,
        }
    }

    fn selected(&self, _: &Workload<'_>, _: &Selection) -> Lookup<Vec<Target>> {
        Lookup::NotFound
    }

    fn served_by_others(&self, _: &Workload<'_>, _: &ObjectRef) -> Served {
        Served::Never
    }

    fn elsewhere(&self, _: &Workload<'_>, _: &Part) -> Vec<String> {
        Vec::new()
    }

    fn is_forbidden(&self, _: &Kind) -> bool {
        false
    }

    fn tells_of_other_namespaces(&self) -> bool {
        true
    }
}

/// The kind of a sample object. Panics for a kind that is not built in.
pub(super) fn kind_of(object: &Value) -> Kind {
    let (group, kind) = group_kind(object);
    Kind::Builtin(crate::kinds::builtin(group, kind).expect("the samples are built in"))
}

pub(super) fn is_plan(object: &Value) -> bool {
    object["kind"] == "ConfigMap" && object["metadata"]["labels"][keys::PLAN] == "true"
}
