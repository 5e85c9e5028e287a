//! The objects that advice may look at beside the workload: its dependencies, as far as they are known.

use super::Workload;
use crate::dependency::{ObjectRef, Part, Selection};
use crate::kinds::Kind;
use crate::lookup::{Lookup, Unavailable};
use serde_json::Value;
use std::fmt;

/// The objects that advice may look at beside the workload. Advice asks for nothing else: an unknown object gives no advice.
pub trait Seen: fmt::Debug {
    /// An object that a workload names. `NotFound` only where the cluster has none of that name.
    fn object(&self, from: &Workload<'_>, named: &ObjectRef) -> Lookup<Target>;

    /// The objects that a selector of a workload's dependency selects.
    fn selected(&self, from: &Workload<'_>, selection: &Selection) -> Lookup<Vec<Target>>;

    /// Whether pods other than the workload's serve a Service that the workload names.
    fn served_by_others(&self, from: &Workload<'_>, service: &ObjectRef) -> Served;

    /// The other namespaces in which the workload's release has objects of a sub-chart, as far as the user may be told of them.
    /// Empty where the release has objects of the sub-chart in the workload's own namespace.
    fn elsewhere(&self, from: &Workload<'_>, part: &Part) -> Vec<String>;

    /// Whether the API server has forbidden sluice to watch the kind.
    fn is_forbidden(&self, kind: &Kind) -> bool;

    /// Whether advice may rest on a dependency in another namespace. Admission may not: its answer would tell the user that applies
    /// the object whether the dependency exists. Only `elsewhere` names another namespace to that user.
    fn tells_of_other_namespaces(&self) -> bool;
}

/// A `Seen` that knows no object of the cluster.
impl Seen for () {
    fn object(&self, _: &Workload<'_>, _: &ObjectRef) -> Lookup<Target> {
        Lookup::Unavailable(Unavailable::Syncing)
    }

    fn selected(&self, _: &Workload<'_>, _: &Selection) -> Lookup<Vec<Target>> {
        Lookup::Unavailable(Unavailable::Syncing)
    }

    fn served_by_others(&self, _: &Workload<'_>, _: &ObjectRef) -> Served {
        Served::Unknown
    }

    fn elsewhere(&self, _: &Workload<'_>, _: &Part) -> Vec<String> {
        Vec::new()
    }

    fn is_forbidden(&self, _: &Kind) -> bool {
        false
    }

    fn tells_of_other_namespaces(&self) -> bool {
        false
    }
}

/// An object that a dependency of a workload names.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The object, as far as it is known.
    pub object: Value,
    /// Whether the object is of the workload's release; `None` where that is unknown.
    pub same_release: Option<bool>,
}

/// Whether a Service has pods to serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Pods serve the Service, or are going to.
    Yes,
    /// No pod serves the Service yet.
    NotYet,
    /// No pod serves the Service, since the workloads that would make the pods are scaled to zero.
    Stopped,
    /// No pod serves the Service, and none ever will.
    Never,
    /// sluice cannot tell whether pods serve the Service.
    Unknown,
}
