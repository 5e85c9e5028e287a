//! From the edges of one dependent to what its gate is told.

use crate::dependency::{Dependency, ObjectRef, State};
use crate::dependent::Dependent;
use crate::keys;
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::profile;
use crate::wire::{self, Answer};
use crate::world::{Lookup, Unavailable, World};
use jiff::Timestamp;
use serde_json::Value;
use std::fmt;

/// Why an edge is satisfied or not: the closed set that may leave the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The edge's state holds.
    Satisfied,
    /// Not found, and the edge is optional.
    OptionalNotFound,
    /// A Job that was seen complete and has been removed since.
    Remembered,
    /// Not created yet, or misspelt.
    NotFound,
    /// Being deleted.
    Terminating,
    /// Its controller has not looked at the latest change yet.
    NotObserved,
    /// Being rolled out, started or reconciled.
    InProgress,
    /// It reports a failure that it may recover from.
    Failed,
    /// A Job that has not completed.
    JobNotComplete,
    /// A Job that is suspended.
    JobSuspended,
    /// A Job that failed: for good.
    JobFailed,
    /// A Service with no endpoint that serves.
    NoEndpoints,
    /// A claim that is not bound.
    ClaimNotBound,
    /// No address was assigned yet.
    NoAddress,
    /// An expression on the object does not hold yet.
    HealthNotMet,
    /// An expression on the object says that it has failed.
    HealthFailed,
    /// The kind has a status and nobody has written it yet.
    NoStatusYet,
    /// The API server does not serve this kind yet.
    KindNotServed,
    /// sluice may not watch this kind.
    KindForbidden,
    /// The target namespace has not consented.
    NotPermitted,
    /// The dependent waits for itself.
    SelfReference,
    /// The first list of this kind has not arrived yet.
    Syncing,
    /// The API server cannot be reached; what is known may be stale.
    Stale,
    /// The object, or an expression on it, cannot be read as it is.
    Unjudgeable,
    /// The object asks for something that this version does not do.
    NotSupported,
    /// The health rule of its kind is broken, or cannot be evaluated on the object.
    RuleError,
}

impl Reason {
    /// Every reason, in the order of the enum.
    pub const ALL: [Self; 26] = [
        Self::Satisfied,
        Self::OptionalNotFound,
        Self::Remembered,
        Self::NotFound,
        Self::Terminating,
        Self::NotObserved,
        Self::InProgress,
        Self::Failed,
        Self::JobNotComplete,
        Self::JobSuspended,
        Self::JobFailed,
        Self::NoEndpoints,
        Self::ClaimNotBound,
        Self::NoAddress,
        Self::HealthNotMet,
        Self::HealthFailed,
        Self::NoStatusYet,
        Self::KindNotServed,
        Self::KindForbidden,
        Self::NotPermitted,
        Self::SelfReference,
        Self::Syncing,
        Self::Stale,
        Self::Unjudgeable,
        Self::NotSupported,
        Self::RuleError,
    ];

    /// The word for answers, events and metrics.
    pub fn label(self) -> &'static str {
        match self {
            Self::Satisfied => "Satisfied",
            Self::OptionalNotFound => "OptionalNotFound",
            Self::Remembered => "Remembered",
            Self::NotFound => "NotFound",
            Self::Terminating => "Terminating",
            Self::NotObserved => "NotObserved",
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::JobNotComplete => "JobNotComplete",
            Self::JobSuspended => "JobSuspended",
            Self::JobFailed => "JobFailed",
            Self::NoEndpoints => "NoEndpoints",
            Self::ClaimNotBound => "ClaimNotBound",
            Self::NoAddress => "NoAddress",
            Self::HealthNotMet => "HealthNotMet",
            Self::HealthFailed => "HealthFailed",
            Self::NoStatusYet => "NoStatusYet",
            Self::KindNotServed => "KindNotServed",
            Self::KindForbidden => "KindForbidden",
            Self::NotPermitted => "NotPermitted",
            Self::SelfReference => "SelfReference",
            Self::Syncing => "Syncing",
            Self::Stale => "Stale",
            Self::Unjudgeable => "Unjudgeable",
            Self::NotSupported => "NotSupported",
            Self::RuleError => "RuleError",
        }
    }

    /// What it means, and the way out where there is one: for a place that may not quote the object.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Satisfied => "it is in the state that was asked for",
            Self::OptionalNotFound => "it does not exist, and the dependency is optional",
            Self::Remembered => "the Job completed, and was removed since",
            Self::NotFound => "it does not exist yet; check its kind, name and namespace",
            Self::Terminating => "it is being deleted",
            Self::NotObserved => "its controller has not looked at its latest change yet",
            Self::InProgress => "it is being rolled out, started or reconciled",
            Self::Failed => "it reports a failure, from which it may recover",
            Self::JobNotComplete => "the Job has not completed yet",
            Self::JobSuspended => "the Job is suspended; set spec.suspend to false",
            Self::JobFailed => "the Job has failed for good; delete it and create it again",
            Self::NoEndpoints => {
                "no endpoint of the Service serves yet; check the pods that it selects"
            }
            Self::ClaimNotBound => "the PersistentVolumeClaim is not bound",
            Self::NoAddress => "no address has been assigned yet",
            Self::HealthNotMet => {
                "an expression on it, which says when it is healthy, does not hold"
            }
            Self::HealthFailed => {
                "an expression on it says that it has failed, from which it may recover"
            }
            Self::NoStatusYet => {
                "its controller has not written a status yet; check that the controller runs"
            }
            Self::KindNotServed => {
                "the API server does not serve this kind yet; install its CustomResourceDefinition"
            }
            Self::KindForbidden => {
                "sluice may not watch this kind; add it to the chart's RBAC values"
            }
            Self::NotPermitted => {
                "its namespace has not agreed; annotate that Namespace with sluice.dev/allow-dependents-from"
            }
            Self::SelfReference => "the dependent waits for itself; take the entry out of its list",
            Self::Syncing => "the first list of this kind has not arrived yet",
            Self::Stale => "the API server cannot be reached, so what is known may be out of date",
            Self::Unjudgeable => "its fields, or the health expressions on it, cannot be read",
            Self::NotSupported => "it asks for something that this version of sluice does not do",
            Self::RuleError => {
                "the health rule of its kind cannot be evaluated; ask the administrator of sluice to correct it"
            }
        }
    }
}

/// [`Reason::label`].
impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.label())
    }
}

/// What was found of one edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Whether the edge holds nobody back.
    pub satisfied: bool,
    /// The word of kstatus for it, by the rules of the state that was asked for: a running Job is `InProgress` to
    /// `ready` and `Current` to `started`. Except under `present`, `Current` says the same as `satisfied`.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// One line for people; may quote the object, so it stays within the object's namespace.
    pub message: String,
}

/// One edge and what was found of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// What the dependent wrote.
    pub dependency: Dependency,
    /// Whether the dependency is in another namespace, so that its message texts stay there.
    pub foreign: bool,
    /// What was found.
    pub judged: Judged,
}

/// What the administrator allows beyond the consent of the target namespaces: `(from, to)`, `*` for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrossNamespace(pub Vec<(String, String)>);

impl CrossNamespace {
    fn allows(&self, from: &str, to: &str) -> bool {
        let fits = |pattern: &str, name: &str| pattern == "*" || pattern == name;
        self.0.iter().any(|(f, t)| fits(f, from) && fits(t, to))
    }
}

/// Judges every edge of one dependent, in the order of its list.
pub fn judge(
    dependent: &Dependent,
    dependencies: Vec<Dependency>,
    allowed: &CrossNamespace,
    world: &dyn World,
    now: Timestamp,
) -> Vec<Edge> {
    let judge_one = |dependency: Dependency| {
        let (foreign, judged) = judge_edge(dependent, &dependency, allowed, world, now);
        Edge {
            dependency,
            foreign,
            judged,
        }
    };
    dependencies.into_iter().map(judge_one).collect()
}

/// What the gate is told of its edges. An empty list opens: a marker without a list is inert.
pub fn answer(edges: &[Edge]) -> Answer {
    let open = edges.iter().all(|edge| edge.judged.satisfied);
    let verdict = if open {
        wire::Decision::Open
    } else {
        wire::Decision::Wait
    };
    Answer {
        verdict,
        digest: String::new(),
        dependencies: edges.iter().map(report).collect(),
        note: None,
    }
}

fn report(edge: &Edge) -> wire::Report {
    let message =
        Some(edge.judged.message.clone()).filter(|text| !edge.foreign && !text.is_empty());
    wire::Report {
        dependency: edge.dependency.to_string(),
        name: edge.dependency.object.name.clone(),
        satisfied: edge.judged.satisfied,
        status: edge.judged.status.word().to_owned(),
        reason: edge.judged.reason.label().to_owned(),
        message,
    }
}

fn judge_edge(
    dependent: &Dependent,
    dependency: &Dependency,
    allowed: &CrossNamespace,
    world: &dyn World,
    now: Timestamp,
) -> (bool, Judged) {
    let object = &dependency.object;
    let namespace = match namespaced(&object.kind, world) {
        Lookup::Found(true) => Some(object.namespace.as_deref().unwrap_or(&dependent.namespace)),
        Lookup::Found(false) => None,
        Lookup::NotFound => {
            return (
                false,
                unavailable(Unavailable::NotServed, &object.kind, dependency.optional),
            );
        }
        Lookup::Unavailable(why) => {
            return (false, unavailable(why, &object.kind, dependency.optional));
        }
    };
    let foreign = namespace.is_some_and(|namespace| namespace != dependent.namespace);
    if let Some(target) = namespace.filter(|_| foreign) {
        // Asked before anything is looked up, so that the answer cannot depend on whether the target exists.
        if let Some(judged) = consent(&dependent.namespace, target, allowed, world) {
            return (true, judged);
        }
    } else if dependent.is(&object.kind, &object.name) {
        let message = "the dependent waits for itself; remove this entry from its list".to_owned();
        return (
            false,
            unmet(Status::InProgress, Reason::SelfReference, message),
        );
    }
    let judged = match world.object(&object.kind, namespace, &object.name) {
        Lookup::Found(found) => profile::judge(&object.kind, &found, dependency.state, world, now),
        Lookup::NotFound => {
            gone(dependency, namespace, world).unwrap_or_else(|| not_found(dependency.optional))
        }
        Lookup::Unavailable(why) => unavailable(why, &object.kind, dependency.optional),
    };
    (foreign, judged)
}

fn namespaced(kind: &Kind, world: &dyn World) -> Lookup<bool> {
    match kind {
        Kind::Builtin(builtin) => Lookup::Found(builtin.namespaced),
        Kind::Custom { .. } => world.namespaced(kind),
    }
}

/// `None` where namespace `to` lets objects of `from` depend on what is in it.
fn consent(from: &str, to: &str, allowed: &CrossNamespace, world: &dyn World) -> Option<Judged> {
    if allowed.allows(from, to) {
        return None;
    }
    let not_permitted = Some(unmet(Status::Unknown, Reason::NotPermitted, String::new()));
    let Some(kind) = kinds::builtin("", "Namespace") else {
        return not_permitted;
    };
    let consents = |namespace: &Value| {
        let listed = namespace["metadata"]["annotations"][keys::ALLOW_DEPENDENTS_FROM]
            .as_str()
            .unwrap_or_default();
        listed
            .split(',')
            .map(str::trim)
            .any(|name| name == "*" || name == from)
    };
    match world.object(&Kind::Builtin(kind), None, to) {
        Lookup::Found(namespace) if consents(&namespace) => None,
        Lookup::Found(_) | Lookup::NotFound => not_permitted,
        Lookup::Unavailable(why) => Some(unavailable(why, &Kind::Builtin(kind), false)),
    }
}

/// A Job that completed before it was removed (by its TTL, by a hook's delete policy) goes on counting.
fn gone(dependency: &Dependency, namespace: Option<&str>, world: &dyn World) -> Option<Judged> {
    let ObjectRef { kind, name, .. } = &dependency.object;
    let is_job = kind.group() == "batch" && kind.word() == "Job";
    let lasting = matches!(
        dependency.state,
        State::Ready | State::Available | State::Complete
    );
    if !is_job || !lasting {
        return None;
    }
    let job = world.completed_job(namespace?, name)?;
    let when = Timestamp::from_second(job.completed).ok()?;
    Some(Judged {
        satisfied: true,
        status: Status::Current,
        reason: Reason::Remembered,
        message: format!("completed at {when} and was removed since"),
    })
}

fn not_found(optional: bool) -> Judged {
    if optional {
        let message = "not found, and optional".to_owned();
        return Judged {
            satisfied: true,
            status: Status::NotFound,
            reason: Reason::OptionalNotFound,
            message,
        };
    }
    unmet(
        Status::NotFound,
        Reason::NotFound,
        "not created yet, or misspelt".to_owned(),
    )
}

/// What an edge is when nothing can be known of its object.
pub(crate) fn unavailable(why: Unavailable, kind: &Kind, optional: bool) -> Judged {
    let (status, reason, message) = match why {
        Unavailable::NotServed if optional => return not_found(true),
        Unavailable::NotServed => {
            let message = format!(
                "the API server serves no kind {kind} yet; its CustomResourceDefinition is missing"
            );
            (Status::NotFound, Reason::KindNotServed, message)
        }
        Unavailable::Forbidden => {
            let message =
                format!("sluice may not watch {kind}; add it to the chart's value rbac.kinds");
            (Status::Unknown, Reason::KindForbidden, message)
        }
        Unavailable::Syncing => (
            Status::Unknown,
            Reason::Syncing,
            format!("sluice is reading {kind} objects"),
        ),
        Unavailable::Stale => {
            let message =
                "sluice has lost its connection to the API server; what it knows may be stale"
                    .to_owned();
            (Status::Unknown, Reason::Stale, message)
        }
    };
    unmet(status, reason, message)
}

/// An edge that holds its dependent back.
pub(crate) fn unmet(status: Status, reason: Reason, message: String) -> Judged {
    Judged {
        satisfied: false,
        status,
        reason,
        message,
    }
}

#[cfg(test)]
mod tests;
