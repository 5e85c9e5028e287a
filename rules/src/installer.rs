//! The moment at which an installer makes an object: Helm's hooks, Argo CD's hooks and sync waves.
//!
//! An installer makes a hook, or a wave, only once the hooks and waves before it are done. So a dependent that waits for an
//! object that its installer makes later never starts, and the object is never made.

use crate::keys::{
    HELM_HOOK, HELM_RELEASE, HOOK_DELETE_POLICY, HOOK_WEIGHT, SYNC_HOOK, SYNC_WAVE, TRACKING_ID,
};
use serde_json::Value;
use std::cmp::Ordering;

/// Why a dependency is made too late for its dependent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Late {
    /// The dependency is a hook that runs after everything else: `post-install`, `PostSync`.
    RunsAfterwards(String),
    /// The dependency is a hook that this operation never makes.
    NeverMade {
        /// The hook as which the dependency would run: `pre-upgrade`.
        hook: String,
        /// The operation that does not make the dependency: `an installation`.
        by: &'static str,
    },
    /// The dependent is a hook of this installer that runs before everything else, the dependency included.
    RunsBefore(Installer),
    /// The dependent and the dependency are hooks of one phase, and Helm runs the dependency's hook later: by its
    /// weight, then by its name.
    LaterHook {
        /// The hook weight of the dependency.
        theirs: i64,
        /// The hook weight of the dependent.
        own: i64,
    },
    /// The dependency is in a later sync wave of Argo CD.
    LaterWave {
        /// The sync wave of the dependency.
        theirs: i64,
        /// The sync wave of the dependent.
        own: i64,
    },
}

/// The tool that makes the objects of a release or an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installer {
    /// The installer Helm, and Flux, which installs by Helm.
    Helm,
    /// The installer Argo CD.
    ArgoCd,
}

/// When an operation makes an object, in the order of the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// The object is made before every object that is no hook.
    Before,
    /// The object is made together with the objects that are no hooks.
    Main,
    /// The object is made after every object that is no hook.
    After,
    /// The operation does not make the object.
    Never,
}

/// Why the installer makes the dependency too late for the dependent, read from the annotations of both; `None` where it does
/// not. Both are taken to be of one release or application.
pub fn late(dependent: &Value, dependency: &Value) -> Option<Late> {
    by_helm(dependent, dependency).or_else(|| by_argo_cd(dependent, dependency))
}

/// The installer that runs an object as a hook before everything else of its release; `None` for any other object.
pub fn runs_first(object: &Value) -> Option<Installer> {
    if at_install(object) == Phase::Before {
        return Some(Installer::Helm);
    }
    (in_sync(object) == Phase::Before).then_some(Installer::ArgoCd)
}

/// The kinds that Helm sends in this order, all objects of a kind together (`InstallOrder` in `kind_sorter.go` of Helm 4.2). Other kinds
/// follow, by the alphabet.
const HELM_SENDS: [&str; 32] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Whether Helm sends the objects of the kind `theirs` only after those of the kind `own`, where no object is a hook.
pub fn helm_sends_later(own: &str, theirs: &str) -> bool {
    let turn = |kind: &str| {
        let known = HELM_SENDS.iter().position(|it| *it == kind);
        known.map_or((HELM_SENDS.len(), kind.to_owned()), |at| {
            (at, String::new())
        })
    };
    turn(theirs) > turn(own)
}

/// Whether an object has an annotation that tells Helm or Argo CD when to make it: a hook or a sync wave.
pub fn is_addressed(object: &Value) -> bool {
    let annotations = &object["metadata"]["annotations"];
    [HELM_HOOK, SYNC_HOOK, SYNC_WAVE]
        .iter()
        .any(|key| annotations[*key].is_string())
}

/// The operations at which Helm runs an object as a hook; none for an object that is no hook.
pub fn hooks(object: &Value) -> impl Iterator<Item = &str> {
    words(object, HELM_HOOK)
}

/// Whether Helm deletes an object as a hook that has succeeded.
pub fn is_deleted_on_success(object: &Value) -> bool {
    hooks(object).next().is_some()
        && words(object, HOOK_DELETE_POLICY).any(|policy| policy == "hook-succeeded")
}

/// The tool that would wait for the end of this Job, and the key of the Job that makes it wait, where the tool takes a Job that
/// is created suspended for done too soon: Argo CD once the Job is resumed, and Flux at once. Helm waits for the end.
pub fn goes_on_too_soon(metadata: &Value) -> Option<(&'static str, &'static str)> {
    let has = |key: &str| metadata["annotations"][key].is_string();
    let hooks = metadata["annotations"][SYNC_HOOK].as_str();
    let argo_cd = match hooks {
        Some(hooks) if hooks.split(',').any(|hook| hook.trim() != "Skip") => Some(SYNC_HOOK),
        _ if has(SYNC_WAVE) => Some(SYNC_WAVE),
        // Argo CD runs Helm's hooks as its own, where the object has no annotation of Argo CD's.
        None if has(HELM_HOOK) && has(TRACKING_ID) => Some(HELM_HOOK),
        _ => None,
    };
    let of_flux = has(HELM_HOOK) && metadata["labels"][HELM_RELEASE].is_string();
    let by_argo_cd = argo_cd.map(|key| (Installer::ArgoCd.name(), key));
    by_argo_cd.or_else(|| of_flux.then_some(("Flux", HELM_HOOK)))
}

impl Installer {
    /// The installer's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Helm => "Helm",
            Self::ArgoCd => "Argo CD",
        }
    }

    /// The installer's word for a hook that runs before everything else.
    pub fn first_hook(self) -> &'static str {
        match self {
            Self::Helm => "pre-install",
            Self::ArgoCd => "PreSync",
        }
    }

    fn hook_key(self) -> &'static str {
        match self {
            Self::Helm => HELM_HOOK,
            Self::ArgoCd => SYNC_HOOK,
        }
    }
}

fn by_helm(dependent: &Value, dependency: &Value) -> Option<Late> {
    let (own, theirs, by) = match (at_install(dependent), at_install(dependency)) {
        (Phase::Never, Phase::Never) => {
            (at_upgrade(dependent), at_upgrade(dependency), "an upgrade")
        }
        // At an upgrade, the objects of the installation already exist.
        (Phase::Never, _) => return None,
        (own, theirs) => (own, theirs, "an installation"),
    };
    // Helm runs a test, or a hook of a deletion, when nothing else of the release is to come.
    if own == Phase::Never {
        return None;
    }
    match theirs.cmp(&own) {
        Ordering::Less => None,
        Ordering::Equal if own == Phase::Main => None,
        Ordering::Equal => later_hook(dependent, dependency),
        Ordering::Greater => Some(later_phase(theirs, Installer::Helm, dependency, by)),
    }
}

/// Compares two hooks of one phase, which Helm runs one by one: by weight, then by name. `None` unless the dependency comes after the dependent.
fn later_hook(dependent: &Value, dependency: &Value) -> Option<Late> {
    let turn = |object: &Value| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        (number(object, HOOK_WEIGHT), name.to_owned())
    };
    let (own, theirs) = (turn(dependent), turn(dependency));
    (theirs > own).then_some(Late::LaterHook {
        theirs: theirs.0,
        own: own.0,
    })
}

fn by_argo_cd(dependent: &Value, dependency: &Value) -> Option<Late> {
    let [own, theirs] = [dependent, dependency].map(in_sync);
    if own == Phase::Never {
        return None;
    }
    match theirs.cmp(&own) {
        Ordering::Less => None,
        Ordering::Equal => {
            let [own, theirs] = [dependent, dependency].map(|it| number(it, SYNC_WAVE));
            (theirs > own).then_some(Late::LaterWave { theirs, own })
        }
        Ordering::Greater => Some(later_phase(theirs, Installer::ArgoCd, dependency, "a sync")),
    }
}

/// Why a dependency in a later phase than its dependent is made too late.
fn later_phase(theirs: Phase, installer: Installer, dependency: &Value, by: &'static str) -> Late {
    let hook = |late: fn(&str) -> bool| {
        let mut hooks = words(dependency, installer.hook_key());
        let hook = hooks.find(|hook| late(hook));
        hook.unwrap_or_default().to_owned()
    };
    match theirs {
        Phase::Before | Phase::Main => Late::RunsBefore(installer),
        Phase::After => {
            Late::RunsAfterwards(hook(|it| it.starts_with("post-") || it == "PostSync"))
        }
        Phase::Never => Late::NeverMade {
            hook: hook(|_| true),
            by,
        },
    }
}

/// The phase of a first installation by Helm in which it makes an object.
fn at_install(object: &Value) -> Phase {
    phase(object, HELM_HOOK, ["pre-install", "", "post-install"])
}

/// The phase of an upgrade by Helm in which it makes an object.
fn at_upgrade(object: &Value) -> Phase {
    phase(object, HELM_HOOK, ["pre-upgrade", "", "post-upgrade"])
}

/// The phase of a sync of Argo CD in which it makes an object.
fn in_sync(object: &Value) -> Phase {
    phase(object, SYNC_HOOK, ["PreSync", "Sync", "PostSync"])
}

/// The first phase in which an object is made; the array holds the hooks before, with and after everything else. An object without a hook is made
/// with everything else, and one that has only other hooks never.
fn phase(object: &Value, key: &str, [before, main, after]: [&str; 3]) -> Phase {
    let phase = |hook: &str| match hook {
        _ if hook == before => Phase::Before,
        _ if hook == main => Phase::Main,
        _ if hook == after => Phase::After,
        _ => Phase::Never,
    };
    words(object, key).map(phase).min().unwrap_or(Phase::Main)
}

fn words<'o>(object: &'o Value, key: &str) -> impl Iterator<Item = &'o str> {
    let text = object["metadata"]["annotations"][key].as_str();
    let words = text.into_iter().flat_map(|text| text.split(','));
    words.map(str::trim).filter(|word| !word.is_empty())
}

/// A hook's weight, or a wave. A text that is no number counts as 0, as it does for the installers.
fn number(object: &Value, key: &str) -> i64 {
    let text = object["metadata"]["annotations"][key].as_str();
    text.and_then(|text| text.trim().parse().ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
