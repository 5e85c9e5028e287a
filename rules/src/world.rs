//! How the rules look at the cluster: traits, so that they stay pure.

mod only;
mod wave;

pub use only::Only;
pub use wave::{FirstUnready, Ready, first_unready};

use crate::cause::{Behind, Stuck};
use crate::definition::Declared;
use crate::dependency::Part;
use crate::edges::Link;
use crate::gate;
use crate::holder::{Running, Wave};
use crate::judged::Judged;
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

/// Objects, as somebody may read them. Every call is answered from memory; an implementation may note what was asked, so
/// that it knows which change can alter the verdict.
pub trait Objects {
    /// One object. `namespace` is `None` for a cluster-scoped kind.
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value>;

    /// The same object with every field that it has: as it is, where objects are kept whole. It need not be as new as the one
    /// that [`Objects::object`] tells of, or of the same UID. Never asked of a Secret.
    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>>;

    /// The objects of a kind, in one namespace or in all, that the selector selects, in the order of their names.
    /// An empty list is `Found`.
    fn list(&self, kind: &Kind, namespace: Option<&str>, selector: &Selector)
    -> Lookup<Vec<Value>>;

    /// Whether objects of this kind live in a namespace.
    fn namespaced(&self, kind: &Kind) -> Lookup<bool>;
}

/// Whether an installer is at work on a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// Helm's record of the release says so.
    Yes,
    /// There is no such record.
    No,
    /// The administrator does not let sluice look at the records.
    NotFollowed,
    /// Nobody can say, and why.
    Unknown(Unavailable),
}

impl Pending {
    /// From the pending records of a release.
    pub fn of(records: &Lookup<Vec<Value>>) -> Self {
        match records {
            Lookup::Found(records) if !records.is_empty() => Self::Yes,
            Lookup::Found(_) | Lookup::NotFound => Self::No,
            Lookup::Unavailable(why) => Self::Unknown(*why),
        }
    }
}

/// What the rules may look at: the objects, and what is known beside them.
///
/// An implementation says each answer, and whoever asks has to handle that nobody knows. Only [`World::members`],
/// [`World::first_unready`] and [`World::names`] are worked out here, from [`Objects::list`], and [`World::lack`] and
/// [`World::behind`] by their looks; an index or a memory may answer them faster.
pub trait World: Objects {
    /// The kinds whose objects are looked for in a scope: [`scope::workloads`], and whatever else is known here; or why nobody
    /// can say yet which these are.
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable>;

    /// Whether two words mean one kind: `Certificate` and `certificates`.
    fn is_same(&self, one: &Kind, other: &Kind) -> bool;

    /// Whether sluice is meant to read the objects of a custom kind: the administrator has said so, or it is not known yet what he
    /// says. That it has read them before does not count: an operator that is removed leaves its definitions, and must not hold up
    /// every wave.
    fn is_granted(&self, kind: &Kind) -> bool;

    /// The objects of a kind that may be in a part ([`Part::may_hold`]) of the scopes called `scope` in a namespace, or,
    /// without a scope, anywhere in the namespace; in the order of their names.
    fn members(
        &self,
        kind: &Kind,
        namespace: &str,
        scope: Option<&str>,
        part: &Part,
    ) -> Lookup<Vec<Value>> {
        let listed = self.list(kind, Some(namespace), &Selector::default());
        let Lookup::Found(mut objects) = listed else {
            return listed;
        };
        objects.retain(|object| {
            let named = || Scope::of(object).is_some_and(|it| Some(it.name.as_str()) == scope);
            is_ordered(kind, object) && part.may_hold(object) && (scope.is_none() || named())
        });
        Lookup::Found(objects)
    }

    /// The first object in a scope, in the order of [`Position`], that is of one of these kinds, weighs less than `below` and is not
    /// ready. Every kind is asked for, also after one that cannot be read: who reads only what it is asked for, as the command line
    /// does, reads them all in one round then.
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

    /// Whether an object of a kind in a scope weighs less than `below`, where that is cheap to tell; in doubt one does.
    fn may_have_lower(&self, _kind: &Kind, _scope: &Scope, _below: i64) -> bool {
        true
    }

    /// When an object of the scope, plans apart, was last created or its spec written; `None` where it has none.
    ///
    /// # Errors
    ///
    /// Why nobody can say.
    fn active(&self, scope: &Scope) -> Result<Option<Timestamp>, Unavailable>;

    /// When somebody was last seen to change the spec of an object of the scope without a trace in the object: who only takes fields
    /// away owns none of them, so `metadata.managedFields` keeps no time of it. Known to those who watch; `now` is the time of asking.
    fn seen_to_change(&self, _scope: &Scope, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// Whether Helm is at work on the release of this scope, as the label of its Secret says.
    fn pending(&self, scope: &Scope) -> Pending;

    /// The plans of a namespace: ConfigMaps with the label [`crate::keys::PLAN`].
    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>>;

    /// Who holds the slots of a wave. To ask is to wish for one.
    fn slots(&self, wave: &Wave) -> Lookup<Running>;

    /// The pods of a namespace that have no node yet and that the selector selects. They only say why something takes so
    /// long, so their changes need to wake nobody.
    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>>;

    /// The names of the objects of a kind in a namespace, as far as they are known anyway, on the same terms.
    fn names(&self, kind: &Kind, namespace: &str) -> Vec<String> {
        let listed = self.list(kind, Some(namespace), &Selector::default());
        match listed {
            Lookup::Found(objects) => objects.iter().map(name).map(str::to_owned).collect(),
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    /// The gated pods among those, with a node or without, on the same terms.
    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>>;

    /// What `look` finds of a workload of this name (`Deployment/db`); `None` where its pods lack no room. It looks at every
    /// pod that waits in the namespace, and finds the same for whoever asks. So an implementation may let one look serve all
    /// of them for a while.
    fn lack(
        &self,
        _namespace: &str,
        _workload: &str,
        look: &dyn Fn() -> Option<Lack>,
    ) -> Option<Arc<Lack>> {
        look().map(Arc::new)
    }

    /// What `look` finds behind a Service, on the same terms: it looks at every workload in the namespace. `service` also says what
    /// else the outcome depends on.
    fn behind(
        &self,
        _namespace: &str,
        _service: &str,
        look: &dyn Fn() -> Vec<Link<(Kind, Value)>>,
    ) -> Vec<Link<(Kind, Value)>> {
        look()
    }

    /// The pod behind an object that tells the most of why it is not ready, as a look at some of them has found a while ago;
    /// `None` where none has anything to tell, or nobody has looked yet. Whoever asks is woken when that changes.
    fn stuck(&self, _behind: &Behind, _now: Timestamp) -> Option<Stuck> {
        None
    }

    /// Since when whoever answers has seen an edge satisfied without a break, by what was found of it now; `None` where it is not
    /// (`satisfied`), or where nobody can say from here. `edge` tells it from every other.
    fn satisfied_since(&self, _edge: &str, _satisfied: bool, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// Since when whoever answers has seen an object satisfied after it was seen otherwise, by what was found of it now; `None` where it
    /// is not (`satisfied`), or was never seen otherwise while somebody waited. `object` tells it, and the state that is asked of it,
    /// from every other.
    fn recovered(&self, _object: &str, _satisfied: bool, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// A Job, or another object that comes to an end, of that name that was seen complete and has been removed since.
    fn completed_job(&self, what: Completing, namespace: &str, name: &str) -> Lookup<CompletedJob>;

    /// All such objects of a namespace that the selector selects, by their names. Some may still be there.
    fn completed_jobs(
        &self,
        what: Completing,
        namespace: &str,
        selector: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>>;

    /// Whether a pod of this revision has passed its gate before.
    fn has_passed(&self, revision: &str) -> Lookup<bool>;

    /// What the kind's CustomResourceDefinition says of the status of its objects; not found for a kind without one.
    fn declared(&self, kind: &Kind) -> Lookup<Declared>;

    /// Whether the health rule for the object's kind reads a generation, and so knows whether a status is of the latest spec.
    fn rule_reads_a_generation(&self, _object: &Value) -> bool {
        false
    }

    /// What the health rule for the object's kind says: the administrator's, else the library's; `None` where there is no
    /// rule. Rules that cannot be read are an answer of their own. `statusless`: its kind is known to have no status.
    fn health(&self, object: &Value, statusless: bool) -> Option<Judged>;
}

/// Whether waves and parts look at an object of a kind. Of pods they look at those with a gate, which are all that is watched.
fn is_ordered(kind: &Kind, object: &Value) -> bool {
    !kind.is_pod() || gate::is_gated(object)
}

/// Whether the workload with this UID has made a pod, itself or by what it made.
pub fn has_made(objects: &dyn Objects, namespace: &str, uid: &str, pod: &Value) -> bool {
    let Some(owner) = controller_of(pod) else {
        return false;
    };
    if owner["uid"] == uid {
        return true;
    }
    let (group, kind) = group_kind(owner);
    // What stands between a pod and the workload that somebody wrote.
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

/// Whether two words mean one kind. Of custom kinds of one group only the API server can tell.
pub(crate) fn means_same(world: &dyn World, one: &Kind, other: &Kind) -> bool {
    let custom = |kind: &Kind| matches!(kind, Kind::Custom { .. });
    let may_be = custom(one) && custom(other) && one.group() == other.group();
    one.is_spelled(other) || may_be && world.is_same(one, other)
}

/// Whether a kind that cannot be read is left out where the objects of many kinds are looked for: in waves, groups,
/// sub-charts and releases.
///
/// Everybody in the cluster may name a custom kind in a list, and that must not hold up everybody else. So one that
/// is refused, or that nobody knows yet whether it will be, counts only where the administrator has granted it. A built-in kind is
/// never taken for empty.
pub fn leaves_out<W: World + ?Sized>(world: &W, kind: &Kind, why: Unavailable) -> bool {
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
