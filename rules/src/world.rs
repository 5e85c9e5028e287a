//! The cluster as the rules see it: traits, so that the rules need no client and stay pure.

mod only;
mod wave;

pub use only::Only;
pub use wave::{FirstUnready, Ready, first_unready};

use crate::cause::{Behind, Stuck};
use crate::definition::Declared;
use crate::dependency::Part;
use crate::edges::Link;
use crate::gate;
use crate::holder::{Holder, Running, Wave};
use crate::judged::Judged;
use crate::kept::is_too_large;
use crate::kinds::{self, Kind};
use crate::lookup::{Lookup, Unavailable};
use crate::memory::{CompletedJob, Completing};
use crate::object::{controller_of, group_kind, name};
use crate::room::Lack;
use crate::scope::Scope;
use crate::selector::Selector;
use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that a verdict may rest on, and the hints for its words.
///
/// Every call is answered from memory. An implementation answers each question of [`Objects`], [`Scopes`], [`Remembered`] and
/// [`Definitions`] itself, and may note what was asked, so that it knows which change can alter the verdict.
pub trait World: Scopes + Remembered + Definitions {
    /// The hints that explain a verdict in more words; `None` where this world has no hints, so nothing is explained.
    fn hints(&self) -> Option<&dyn Hints>;
}

/// Answers questions about single objects and lists of objects of the cluster, as far as the asking process may read them.
pub trait Objects {
    /// One object. `namespace` is `None` for a cluster-scoped kind.
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value>;

    /// The full object of which `object` is a copy that may lack fields; borrowed from `object` in a world that keeps every field. The full
    /// object may be older or newer than `object`, and may have another UID. Callers never ask for a Secret.
    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>>;

    /// The objects of a kind that the selector selects, in one namespace or in all, in the order of their names.
    /// An empty list is `Found`.
    fn list(&self, kind: &Kind, namespace: Option<&str>, selector: &Selector)
    -> Lookup<Vec<Value>>;

    /// The pods of [`Objects::list`] that are on a node, and those that are too large to be read, because their node is unknown. An
    /// implementation may use an index: a DaemonSet has a pod on each node, and a dependent on each node may look for the pod of its own node.
    fn pods_on(
        &self,
        node: &str,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        let here = |pod: &Value| is_too_large(pod) || pod["spec"]["nodeName"] == node;
        self.list_where(&Kind::Builtin(kinds::POD), namespace, selector, &here)
    }

    /// The objects of [`Objects::list`] for which `wanted` is true. An implementation that returns copies may copy only these objects.
    fn list_where(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
        wanted: &dyn Fn(&Value) -> bool,
    ) -> Lookup<Vec<Value>> {
        let listed = self.list(kind, namespace, selector);
        listed.map(|mut objects| {
            objects.retain(wanted);
            objects
        })
    }

    /// Whether objects of this kind live in a namespace.
    fn namespaced(&self, kind: &Kind) -> Lookup<bool>;
}

/// Whether Helm installs, upgrades or rolls back a release at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// Helm's record of the release says that Helm is at work on it.
    Yes,
    /// No record of the release says that Helm is at work on it.
    No,
    /// The administrator does not let sluice look at the records.
    NotFollowed,
    /// The records cannot be read.
    Unknown(Unavailable),
}

impl Pending {
    /// The answer from the Secrets that [`Scope::pending_records`] selects: any such Secret means that Helm is at work. Never
    /// [`Pending::NotFollowed`].
    pub fn of(records: &Lookup<Vec<Value>>) -> Self {
        match records {
            Lookup::Found(records) if !records.is_empty() => Self::Yes,
            Lookup::Found(_) | Lookup::NotFound => Self::No,
            Lookup::Unavailable(why) => Self::Unknown(*why),
        }
    }
}

/// Answers questions about the objects of a scope (a release or application), the changes to them, and the plans of a namespace.
pub trait Scopes: Objects {
    /// The kinds whose objects are looked for in a scope: [`crate::scope::workloads`], and the custom kinds that sluice is meant to
    /// read.
    ///
    /// # Errors
    ///
    /// Why it is not known yet which custom kinds these are.
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable>;

    /// Whether two words mean one kind: `Certificate` and `certificates`.
    fn is_same(&self, one: &Kind, other: &Kind) -> bool;

    /// Whether sluice is meant to read the objects of a custom kind: a ClusterRole says so, or the ClusterRole has not been read yet. A kind
    /// that no ClusterRole grants any more is not granted, although sluice has read it before: an operator that is removed leaves its
    /// definitions, and must not hold up every wave.
    fn is_granted(&self, kind: &Kind) -> bool;

    /// The objects of a kind in a namespace that may be in a part ([`Part::may_hold`]) and whose scope has the name `scope`; with `None`, of any
    /// scope or none. Of pods only those with a gate. In the order of their names. An implementation may use an index.
    fn members(
        &self,
        kind: &Kind,
        namespace: &str,
        scope: Option<&str>,
        part: &Part,
    ) -> Lookup<Vec<Value>> {
        let is_member = |object: &Value| {
            let named = || Scope::of(object).is_some_and(|it| Some(it.name.as_str()) == scope);
            is_ordered(kind, object) && part.may_hold(object) && (scope.is_none() || named())
        };
        self.list_where(kind, Some(namespace), &Selector::default(), &is_member)
    }

    /// The first object in a scope, in the order of [`crate::scope::Position`], that is of one of these kinds, weighs less than `below` and is
    /// not ready. Every kind is asked for, also after one that cannot be read, so that a world that reads on demand reads all kinds in one
    /// round. An implementation may use an index, or keep earlier answers of `is_ready`.
    ///
    /// # Errors
    ///
    /// The first kind that cannot be read and must not be left out ([`leaves_out`]), and why.
    fn first_unready(
        &self,
        kinds: &[Kind],
        scope: &Scope,
        below: i64,
        is_ready: &dyn Fn(&Kind, &Value) -> Ready,
    ) -> FirstUnready {
        first_unready(self, kinds, scope, below, is_ready)
    }

    /// Whether a scope may have an object of this kind that weighs less than `below`. `true` where no index can tell.
    fn may_have_lower(&self, _kind: &Kind, _scope: &Scope, _below: i64) -> bool {
        true
    }

    /// When an object of the scope was last created or its spec written, apart from plans and from what a rollout makes
    /// ([`crate::scope::is_of_a_rollout`]); `None` for an empty scope.
    ///
    /// # Errors
    ///
    /// Why a kind of the scope cannot be read.
    fn active(&self, scope: &Scope) -> Result<Option<Timestamp>, Unavailable>;

    /// When a watch last saw the spec of an object of the scope change without a trace in the object: a write that only removes
    /// fields owns none of them, so `metadata.managedFields` keeps no time of it. `None` in a world that does not watch. `now` is
    /// the time of asking.
    fn seen_to_change(&self, scope: &Scope, now: Timestamp) -> Option<Timestamp>;

    /// Whether Helm is at work on the release of this scope, as the label of its Secret says.
    fn pending(&self, scope: &Scope) -> Pending;

    /// The plans of a namespace: ConfigMaps with the label [`crate::keys::PLAN`].
    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>>;
}

/// Answers questions about facts that the objects of the cluster do not tell: slots, completed Jobs, passed gates, and since when an edge is
/// satisfied.
pub trait Remembered {
    /// The holders of the slots of a wave. In a controller the call also puts the dependent that is judged among those that want a slot of the
    /// wave.
    fn slots(&self, wave: &Wave) -> Lookup<Running>;

    /// The remembered completion of a Job, or of an object of another kind that comes to an end (`what`), by namespace and name. The memory does
    /// not tell whether the object still exists.
    fn completed_job(&self, what: Completing, namespace: &str, name: &str) -> Lookup<CompletedJob>;

    /// The remembered completions of all objects of this kind in a namespace whose labels the selector selects, by the names of the objects.
    /// Some of the objects may still exist.
    fn completed_jobs(
        &self,
        what: Completing,
        namespace: &str,
        selector: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>>;

    /// Whether a pod of this revision has passed its gate before.
    fn has_passed(&self, revision: &str) -> Lookup<bool>;

    /// Since when this world has seen an edge satisfied without a break. `edge` is a key of this edge alone; `satisfied` tells
    /// whether it is satisfied now. `None` where it is not satisfied, or in a world that does not watch.
    fn satisfied_since(&self, edge: &str, satisfied: bool, now: Timestamp) -> Option<Timestamp>;

    /// Since when this world has seen an object satisfied after it was seen unsatisfied. `object` is a key of the object and of the
    /// state that is asked of it; `satisfied` tells whether it is satisfied now. `None` where it is not satisfied, where it was
    /// never seen unsatisfied while a dependent waited, or in a world that does not watch.
    fn recovered(&self, object: &str, satisfied: bool, now: Timestamp) -> Option<Timestamp>;
}

/// Facts about kinds, and the health of their objects.
pub trait Definitions {
    /// The facts of the kind's CustomResourceDefinition about the status of its objects; not found for a kind without a definition.
    fn declared(&self, kind: &Kind) -> Lookup<Declared>;

    /// Whether the health rule for the object's kind reads a generation, and so knows whether a status is of the latest spec.
    fn rule_reads_a_generation(&self, object: &Value) -> bool;

    /// The finding of the health rule for the object's kind: the administrator's rule, else the library's; `None` where there is no
    /// rule. A rule that cannot be read gives a finding that says so. `statusless`: the kind is known to have no status.
    fn health(&self, object: &Value, statusless: bool) -> Option<Judged>;
}

/// Facts that only explain a verdict. A change of one need not wake a dependent, unless a method says so.
pub trait Hints: Objects {
    /// The pods of a namespace that the selector selects and that have no node yet.
    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>>;

    /// The pods of a namespace that the selector selects and that have a gate, with a node or without.
    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>>;

    /// The names of the objects of a kind in a namespace, as far as they are known without a new watch.
    fn names(&self, kind: &Kind, namespace: &str) -> Vec<String> {
        let listed = self.list(kind, Some(namespace), &Selector::default());
        match listed {
            Lookup::Found(objects) => objects.iter().map(name).map(str::to_owned).collect(),
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    /// The pod of a workload (`Deployment/db`) that fits on no node, with the resources that it lacks, as `look` finds them; `None` where every
    /// pod of the workload has room. `look` reads every waiting pod of the namespace and finds the same for all dependents, so an implementation
    /// may keep its result for a while.
    fn lack(
        &self,
        _namespace: &str,
        _workload: &str,
        look: &dyn Fn() -> Option<Lack>,
    ) -> Option<Arc<Lack>> {
        look().map(Arc::new)
    }

    /// The workloads whose pods a Service selects, as `look` finds them. `look` reads every workload of the namespace, so an implementation may
    /// keep its result for a while; `service` is a key of everything that the result depends on.
    fn behind(
        &self,
        _namespace: &str,
        _service: &str,
        look: &dyn Fn() -> Vec<Link<(Kind, Value)>>,
    ) -> Vec<Link<(Kind, Value)>> {
        look()
    }

    /// The holders of the slots of a wave; `None` in a world that cannot read them without asking for a slot.
    fn slot_holders(&self, wave: &Wave) -> Option<Vec<Holder>>;

    /// The pod, or other object, that tells most of why the object in question is not ready, as the last search behind that object found it;
    /// `None` where the search found no cause, or before the first search. A change of the answer wakes the dependent that asked.
    fn stuck(&self, behind: &Behind, now: Timestamp) -> Option<Stuck>;
}

/// Whether waves and parts look at an object of a kind: of pods only at those with a gate, since no other pod is watched.
fn is_ordered(kind: &Kind, object: &Value) -> bool {
    !kind.is_pod() || gate::is_gated(object)
}

/// Whether the workload with this UID controls a pod, directly or through one ReplicaSet or Job. `false` where that ReplicaSet or Job cannot be
/// read.
pub fn has_made(objects: &dyn Objects, namespace: &str, uid: &str, pod: &Value) -> bool {
    let Some(owner) = controller_of(pod) else {
        return false;
    };
    if owner["uid"] == uid {
        return true;
    }
    let (group, kind) = group_kind(owner);
    // Only a ReplicaSet or a Job stands between a pod and a workload that a user wrote.
    if !matches!(kind, "ReplicaSet" | "Job") {
        return false;
    }
    let (Some(kind), Some(name)) = (kinds::builtin(group, kind), owner["name"].as_str()) else {
        return false;
    };
    match objects.object(&Kind::Builtin(kind), Some(namespace), name) {
        Lookup::Found(between) => controller_of(&between).is_some_and(|owner| owner["uid"] == uid),
        Lookup::NotFound | Lookup::Unavailable(_) => false,
    }
}

/// The object that an owner reference names; its UID is not compared. `None` where the object is not found or cannot be read, is of a built-in
/// kind outside of the groups `apps` and `batch`, or of a custom kind that the administrator has not granted.
pub fn owner_behind(reference: &Value, namespace: &str, world: &dyn World) -> Option<Value> {
    let (group, kind) = group_kind(reference);
    let kind = match kinds::builtin(group, kind) {
        Some(builtin) if matches!(builtin.group, "apps" | "batch") => Kind::Builtin(builtin),
        Some(_) => return None,
        None => Kind::Custom {
            group: group.to_owned(),
            word: kind.to_owned(),
        },
    };
    let custom = matches!(kind, Kind::Custom { .. });
    if custom && !world.is_granted(&kind) {
        return None;
    }
    let name = reference["name"].as_str().unwrap_or_default();
    match world.object(&kind, Some(namespace), name) {
        Lookup::Found(object) => Some(object),
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    }
}

/// Whether two spellings mean one kind. For two custom kinds of one group that are spelt differently, the world asks what the API server serves
/// ([`Scopes::is_same`]).
pub(crate) fn means_same(world: &dyn World, one: &Kind, other: &Kind) -> bool {
    let custom = |kind: &Kind| matches!(kind, Kind::Custom { .. });
    let may_be = custom(one) && custom(other) && one.group() == other.group();
    one.is_spelled(other) || may_be && world.is_same(one, other)
}

/// Whether a search over many kinds (for a wave, group, sub-chart or release) goes on without a kind that cannot be read, as if the kind had no
/// objects. `false`: the search must fail.
///
/// Every user of the cluster may name a custom kind in a list, and that must not hold up all other users. So a kind that is
/// refused, or that may yet be refused, counts only where the administrator has granted it. A built-in kind is never taken for
/// empty.
pub fn leaves_out<W: Scopes + ?Sized>(world: &W, kind: &Kind, why: Unavailable) -> bool {
    let custom = matches!(kind, Kind::Custom { .. });
    custom
        && match why {
            // Its objects went before its definition.
            Unavailable::NotServed => true,
            Unavailable::Forbidden | Unavailable::Undiscovered | Unavailable::Syncing => {
                !world.is_granted(kind)
            }
            Unavailable::Stale
            | Unavailable::Hidden
            | Unavailable::TooLarge
            | Unavailable::AwaitsTurn { .. }
            | Unavailable::OverBudget { .. } => false,
        }
}
