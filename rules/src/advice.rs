//! Advice on a list that can be read: waits that end badly or never end, and words without an effect.
//!
//! Admission prints each advice as a warning, `kubectl sluice lint` as a finding. Both call this module, each with the objects
//! that it may look at ([`Seen`]), so that the same object gets the same advice from both.

mod expressions;
mod limits;
mod seen;
mod sentence;
mod spelling;
mod target;
mod template;

pub use limits::is_for_windows;
pub use seen::{Seen, Served, Target};
pub use spelling::{of_list, of_metadata};
pub use target::too_late;
pub use template::{of_hold, of_position, of_prefetch};

use crate::dependency::{Dependency, ObjectRef, Reference};
use crate::expression::NeverHolds;
use crate::installer::Installer;
use crate::kinds::Kind;
use crate::ordinals;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use strum::IntoStaticStr;

/// One advice: a fact that the author of a workload should know.
#[derive(Debug, Clone, PartialEq, Eq, IntoStaticStr)]
pub enum Advice {
    /// The workload waits for itself, so it would never start.
    SelfReference,
    /// The workload waits for a Service that only its own pods would serve.
    OwnService(String),
    /// A dependency is a hook that runs only after the dependent is healthy.
    RunsAfterwards {
        /// The dependency that is a hook: `Job/migrate`.
        dependency: String,
        /// The hook as which the dependency runs: `post-install`.
        hook: String,
    },
    /// A dependency is a hook that this operation of its installer does not make.
    NeverMade {
        /// The dependency that is never made: `Job/migrate`.
        dependency: String,
        /// The hook as which the dependency would run: `pre-upgrade`.
        hook: String,
        /// The operation of the installer that does not make the dependency: `an installation`.
        by: &'static str,
    },
    /// The dependent is a hook that runs before its release is created, so its dependency does not exist yet.
    RunsBefore {
        /// The dependency that does not exist yet: `Job/migrate`.
        dependency: String,
        /// The installer that runs the dependent as a hook.
        installer: Installer,
    },
    /// The dependent and the dependency are hooks of one phase, and Helm runs the dependency's only after the dependent's.
    LaterHook {
        /// The dependency that runs later: `Job/migrate`.
        dependency: String,
        /// The hook weight of the dependency.
        theirs: i64,
        /// The hook weight of the dependent.
        own: i64,
    },
    /// A dependency is in a later sync wave of Argo CD, so it is applied only after the dependent is healthy.
    LaterWave {
        /// The dependency that is applied later: `Job/migrate`.
        dependency: String,
        /// The sync wave of the dependency.
        theirs: i64,
        /// The sync wave of the dependent.
        own: i64,
    },
    /// A sub-chart is in another namespace than the one in which the entry looks.
    PartElsewhere {
        /// The name of the sub-chart whose objects are elsewhere.
        subchart: String,
        /// The namespace of the sub-chart's objects.
        namespace: String,
    },
    /// A dependency is a Job that goes away after its end.
    Removed {
        /// The Job that goes away: `Job/migrate`.
        dependency: String,
        /// When the Job is removed, and by which mechanism.
        removal: Removal,
    },
    /// A dependency is a Job that is suspended, so it is not run.
    Suspended(String),
    /// A dependency is a Service without a selector, of which nothing but its existence is waited for.
    NoSelector(String),
    /// A dependency is a Service that selects no pod.
    NoPods(String),
    /// A dependency is a Service whose pods' workloads are scaled to zero.
    NoReplicas(String),
    /// A dependency is a workload that is scaled to zero, and so is ready without a pod.
    ScaledToZero(String),
    /// A dependency is a workload whose pods have no readiness probe, startup probe or readiness gate, so it counts as ready as soon as its
    /// containers run.
    NoReadinessProbe(String),
    /// A dependency is a CronJob, of which nothing but its existence is waited for.
    OnlyExists(String),
    /// sluice may not watch the kind of a dependency.
    KindForbidden(Kind),
    /// The wait counts against the `progressDeadlineSeconds` of this many seconds.
    ProgressDeadline(i64),
    /// The wait of a Rollout counts against the `progressDeadlineSeconds` of this many seconds, and its `progressDeadlineAbort`
    /// ends an update then.
    ProgressAbort(i64),
    /// The wait counts against the `activeDeadlineSeconds` of this many seconds.
    ActiveDeadline(i64),
    /// The workload's pods run on Windows, for which there is no gate.
    Windows(Windows),
    /// A container or a volume of the workload's pods has a name that the gate needs.
    NameTaken {
        /// Whether a `container` or a `volume` has the name.
        what: &'static str,
        /// The name that the gate needs.
        name: &'static str,
    },
    /// The annotations say what happens when the wait takes too long (`fail` or `proceed`), but not how long that is.
    NoTimeout,
    /// The timeout of an entry is longer than the whole wait.
    EntryTimeout {
        /// The dependency that the entry names: `Service/cache`.
        dependency: String,
        /// The timeout of the entry of the list.
        timeout: Duration,
        /// The timeout of the whole wait.
        whole: Duration,
    },
    /// An annotation has a key that no controller reads, but that resembles one of sluice's: from a proposal for Helm, or with a misspelt prefix.
    ForeignKey {
        /// The key that no controller reads: `helm.sh/weight`.
        key: String,
        /// The key to write in its place.
        ours: String,
    },
    /// The value of `config.kubernetes.io/depends-on` is no list of cli-utils, so another product's, and nothing waits for it. Holds its first
    /// entry that cli-utils could not read.
    ForeignList(String),
    /// A label has a key that sluice reads only as an annotation there. Holds the key.
    LabelOnly(String),
    /// A label of sluice has no effect: it counts only on another kind of object, or with another value.
    IdleLabel {
        /// The key of the label: `sluice.dev/inject`.
        key: &'static str,
        /// The kind of object on which the label counts: `Namespace`.
        of: &'static str,
        /// The only value of the label that counts: `enabled`.
        value: &'static str,
    },
    /// A health expression of an entry that can hold on no object.
    NeverHolds {
        /// The object or objects that the entry names: `ConfigMap/flags`.
        dependency: String,
        /// Why the expression never holds, and the way out.
        why: NeverHolds,
    },
    /// The annotation for the gate's position stands on the workload and not on its pod template, so no pod carries it.
    PositionOnWorkload,
    /// The annotation that holds pods stands on the workload and not on its pod template, so no pod carries it.
    HoldOnWorkload,
    /// The annotation that pulls images early stands on the workload and not on its pod template, so no pod carries it.
    PrefetchOnWorkload,
    /// The gate is to stand after an init container that the pod template does not have. Holds the container's name.
    NoSuchInitContainer(String),
}

/// A mechanism that removes a Job after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// The field `ttlSecondsAfterFinished` of the Job, in seconds.
    Ttl(i64),
    /// The word `hook-succeeded` in the annotation `helm.sh/hook-delete-policy`.
    HookSucceeded,
}

/// How an installation treats pods that ask for a gate and run on Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// The pods for Windows are refused.
    Refused,
    /// The pods for Windows start without a gate.
    Skipped,
    /// Refused or skipped: the installation of sluice decides.
    Unknown,
}

/// The severity of an advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    /// Advice that is worth knowing; the workload may well be meant so.
    Note,
    /// Advice about a workload that is most likely a mistake.
    Warning,
    /// Admission refuses the object, or its pods never start.
    Error,
}

/// A workload, or a pod, as it is written.
#[derive(Debug, Clone, Copy)]
pub struct Workload<'a> {
    /// The API group of the workload, empty for the core group.
    pub group: &'a str,
    /// The kind of the workload: `Deployment`.
    pub kind: &'a str,
    /// `metadata.namespace` of the workload; empty where a manifest leaves it open.
    pub namespace: &'a str,
    /// `metadata.name` of the workload.
    pub name: &'a str,
    /// The whole object of the workload.
    pub object: &'a Value,
    /// The pod template of a workload; for a pod, the pod itself.
    pub template: &'a Value,
}

/// Returns the advice on a workload that asks for a gate: on its dependencies, their health expressions, and its own limits. Not on keys that have no
/// effect, nor on its pod template. For a workload on Windows there is no other advice than that.
pub fn of(
    workload: &Workload<'_>,
    dependencies: &[Dependency],
    windows: Windows,
    known: &dyn Seen,
) -> Vec<Advice> {
    if is_for_windows(workload.template) {
        return vec![Advice::Windows(windows)];
    }
    let of_each = dependencies.iter();
    of_each
        .flat_map(|it| {
            target::of(workload, it, known)
                .into_iter()
                .chain(expressions::of(it))
        })
        .chain(limits::of(workload))
        .chain(limits::of_entries(workload, dependencies))
        .collect()
}

/// Whether a dependency is the workload itself, or a pod of it other than its first. A selector or a part leaves the workload out, and alternatives
/// are the workload only if each of them is.
fn is_itself(dependency: &Dependency, workload: &Workload<'_>) -> bool {
    match &dependency.reference {
        Reference::Object(object) => {
            let named = object.kind.group() == workload.group
                && object.kind.word().eq_ignore_ascii_case(workload.kind)
                && object.name == workload.name;
            (named || is_later_ordinal(object, workload))
                && is_here(object.namespace.as_ref(), workload)
        }
        Reference::Selected(_) | Reference::Part(_) | Reference::Address(_) => false,
        // Another alternative may still open the gate.
        Reference::Any(alternatives) => alternatives.of.iter().all(|it| is_itself(it, workload)),
    }
}

/// Whether an object is a pod of the workload, a StatefulSet, for which its other pods may not wait: any but ordinal 0.
fn is_later_ordinal(object: &ObjectRef, workload: &Workload<'_>) -> bool {
    let is_set = (workload.group, workload.kind) == ("apps", "StatefulSet");
    let ordinal = ordinals::of(&object.name).filter(|_| is_set && object.kind.is_pod());
    ordinal.is_some_and(|(set, ordinal)| set == workload.name && ordinal > 0)
}

/// Whether a reference with this namespace, or without one, looks in the workload's own namespace.
fn is_here(namespace: Option<&String>, workload: &Workload<'_>) -> bool {
    namespace.is_none_or(|namespace| namespace == workload.namespace)
}

impl Advice {
    /// The name of the variant, such as `SelfReference`.
    pub fn label(&self) -> &'static str {
        self.into()
    }

    /// The severity of the advice: an error where the pods never start or the object is refused, a note for a missing readiness probe, else a
    /// warning. The workload and its dependency are taken to be of one release.
    pub fn level(&self) -> Level {
        match self {
            Self::SelfReference
            | Self::OwnService(_)
            | Self::NeverMade { .. }
            | Self::RunsBefore { .. }
            | Self::LaterHook { .. }
            | Self::LaterWave { .. }
            | Self::NeverHolds { .. }
            | Self::NameTaken { .. } => Level::Error,
            // Argo CD always waits; Helm does with --wait.
            Self::RunsAfterwards { hook, .. } if hook == "PostSync" => Level::Error,
            Self::ForeignKey { key, .. } if spelling::is_refused(key) => Level::Error,
            Self::NoReadinessProbe(_) => Level::Note,
            _ => Level::Warning,
        }
    }
}

impl Level {
    /// The word for the severity of an advice.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests;
