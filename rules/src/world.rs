//! How the rules look at the cluster: a trait, so that they stay pure.

use crate::kinds::Kind;
use crate::selector::Selector;
use crate::verdict::Judged;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is known of something in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// It is there.
    Found(T),
    /// It is not there, and we would know.
    NotFound,
    /// Nobody can say, and why.
    Unavailable(Unavailable),
}

/// What is remembered of a Job that completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedJob {
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.creationTimestamp`, in seconds since 1970.
    pub created: i64,
    /// `status.completionTime`, in seconds since 1970.
    pub completed: i64,
    /// The value of `sluice.dev/revision`, for dependents in lockstep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Why nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The first list has not arrived yet.
    Syncing,
    /// The API server does not serve this kind; its CustomResourceDefinition may come later.
    NotServed,
    /// The API server forbids sluice to list or watch this kind.
    Forbidden,
    /// The watch has been disconnected for longer than the bound; what it said last may no longer hold.
    Stale,
}

/// What the rules may look at. Every call is answered from memory; an implementation may note what was asked, so that
/// it knows which change can alter the verdict.
pub trait World {
    /// One object. `namespace` is `None` for a cluster-scoped kind.
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value>;

    /// The objects of a kind, in one namespace or in all, that the selector selects, in the order of their names.
    /// An empty list is `Found`.
    fn list(&self, kind: &Kind, namespace: Option<&str>, selector: &Selector)
    -> Lookup<Vec<Value>>;

    /// Whether objects of this kind live in a namespace.
    fn namespaced(&self, kind: &Kind) -> Lookup<bool>;

    /// A Job of that name that was seen complete and has been removed since, where somebody remembers one.
    fn completed_job(&self, _namespace: &str, _name: &str) -> Option<CompletedJob> {
        None
    }

    /// Whether the kind's CustomResourceDefinition declares the status subresource; `None` where nobody can say.
    fn declares_status(&self, kind: &Kind) -> Option<bool>;

    /// What the health rule for the object's kind says, where there is one: the administrator's, else the library's.
    /// Unless an implementation knows better it is the library's, where that is built in (feature `cel`).
    fn health(&self, object: &Value) -> Option<Judged> {
        #[cfg(feature = "cel")]
        return crate::health::builtin(object);
        #[cfg(not(feature = "cel"))]
        {
            let _ = object;
            None
        }
    }
}
