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

/// The objects that the caller may read.
pub trait Objects {
    /// One object. `namespace` is `None` for a cluster-scoped kind.
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value>;

    /// This object with every field that it has; borrowed where objects are kept whole. It may be older or newer than `object`, and
    /// may have another UID. Never asked of a Secret.
    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>>;

    /// The objects of a kind that the selector selects, in one namespace or in all, in the order of their names.
    /// An empty list is `Found`.
    fn list(&self, kind: &Kind, namespace: Option<&str>, selector: &Selector)
    -> Lookup<Vec<Value>>;

    /// The pods of [`Objects::list`] that may be on a node: the node of a pod that is too large to be read is unknown. An index may
    /// answer faster, since a DaemonSet has a pod on each node, and a dependent on each node may look for its own.
    fn pods_on(
        &self,
        node: &str,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        let here = |pod: &Value| is_too_large(pod) || pod["spec"]["nodeName"] == node;
        self.list_where(&Kind::Builtin(kinds::POD), namespace, selector, &here)
    }

    /// The objects of a list that are `wanted`. A world that hands out copies may copy these alone.
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

/// Whether an installer is at work on a release.
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
    /// Reads the answer from the pending records of a release.
    pub fn of(records: &Lookup<Vec<Value>>) -> Self {
        match records {
            Lookup::Found(records) if !records.is_empty() => Self::Yes,
            Lookup::Found(_) | Lookup::NotFound => Self::No,
            Lookup::Unavailable(why) => Self::Unknown(*why),
        }
    }
}

/// The objects that belong together, and the changes to them.
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

    /// Whether sluice is meant to read the objects of a custom kind: a ClusterRole says so, or the ClusterRole has not been read yet.
    /// Earlier reads do not count: an operator that is removed leaves its definitions, and must not hold up every wave.
    fn is_granted(&self, kind: &Kind) -> bool;

    /// The objects of a kind that may be in a part ([`Part::may_hold`]) of the scopes called `scope` in a namespace; without a
    /// scope, anywhere in the namespace. In the order of their names. An index may answer faster.
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

    /// The first object in a scope, in the order of [`crate::scope::Position`], that is of one of these kinds, weighs less than
    /// `below` and is not ready. Every kind is asked for, also after one that cannot be read, so that a world that reads on demand
    /// reads all kinds in one round. An index or a memory may answer faster.
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

    /// Whether an object of a kind in a scope weighs less than `below`, where an index can tell; else `true`.
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

/// The facts that sluice remembers beside the objects.
pub trait Remembered {
    /// The holders of the slots of a wave. Asking for them is asking for a slot.
    fn slots(&self, wave: &Wave) -> Lookup<Running>;

    /// A Job of that name, or another object that comes to an end, that was seen complete and has been removed since.
    fn completed_job(&self, what: Completing, namespace: &str, name: &str) -> Lookup<CompletedJob>;

    /// All objects of a namespace that come to an end, were seen complete, and are selected by the selector; by their names. Some
    /// may still be there.
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
    /// The pods of a namespace without a node that the selector selects.
    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>>;

    /// The pods of a namespace with a gate that the selector selects, with a node or without.
    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>>;

    /// The names of the objects of a kind in a namespace, as far as they are known without a new watch.
    fn names(&self, kind: &Kind, namespace: &str) -> Vec<String> {
        let listed = self.list(kind, Some(namespace), &Selector::default());
        match listed {
            Lookup::Found(objects) => objects.iter().map(name).map(str::to_owned).collect(),
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    /// The lack that `look` finds for a workload of this name (`Deployment/db`); `None` where every pod of it has room. The look
    /// reads every waiting pod of the namespace and finds the same for all dependents, so an implementation may keep one result for
    /// a while.
    fn lack(
        &self,
        _namespace: &str,
        _workload: &str,
        look: &dyn Fn() -> Option<Lack>,
    ) -> Option<Arc<Lack>> {
        look().map(Arc::new)
    }

    /// The workloads that `look` finds behind a Service. The look reads every workload of the namespace, so an implementation may
    /// keep one result for a while; `service` is a key of everything that the result depends on.
    fn behind(
        &self,
        _namespace: &str,
        _service: &str,
        look: &dyn Fn() -> Vec<Link<(Kind, Value)>>,
    ) -> Vec<Link<(Kind, Value)>> {
        look()
    }

    /// The holders of the slots of a wave, where they can be looked at without asking for a slot.
    fn slot_holders(&self, wave: &Wave) -> Option<Vec<Holder>>;

    /// The pod behind an object that says most of why the object is not ready, as a search found a while ago; `None` where no pod
    /// says anything, or before the first search. A change of the answer wakes the dependent that asked.
    fn stuck(&self, behind: &Behind, now: Timestamp) -> Option<Stuck>;
}

/// Whether waves and parts look at an object of a kind: of pods only at those with a gate, since no other pod is watched.
fn is_ordered(kind: &Kind, object: &Value) -> bool {
    !kind.is_pod() || gate::is_gated(object)
}

/// Whether the workload with this UID has made a pod, directly or through a ReplicaSet or a Job.
pub fn has_made(objects: &dyn Objects, namespace: &str, uid: &str, pod: &Value) -> bool {
    let Some(owner) = controller_of(pod) else {
        return false;
    };
    if owner["uid"] == uid {
        return true;
    }
    let (group, kind) = group_kind(owner);
    // Only these stand between a pod and a workload that a user wrote.
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

/// The owner that a reference names; `None` where it is not there, or is of a kind that makes no pods, or of a custom kind that the
/// administrator has not granted.
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

/// Whether two words mean one kind. Of custom kinds of one group only the API server can tell.
pub(crate) fn means_same(world: &dyn World, one: &Kind, other: &Kind) -> bool {
    let custom = |kind: &Kind| matches!(kind, Kind::Custom { .. });
    let may_be = custom(one) && custom(other) && one.group() == other.group();
    one.is_spelled(other) || may_be && world.is_same(one, other)
}

/// Whether a kind that cannot be read is left out where the objects of many kinds are looked for: in waves, groups,
/// sub-charts and releases.
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
