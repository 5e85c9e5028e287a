//! What a user is told of a request that is allowed: what, where, and the way out, each short enough for a header.

use super::Subject;
use rules::annotation::ParseError;
use rules::keys;

/// What the user should know of a request that is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The list is new and the pods are not rolled for it.
    NextRollout,
    /// The list is new and the Job is not: its pods cannot be changed any more.
    AlreadyStarted,
    /// It would wait for itself.
    SelfReference,
    /// A list that cannot be read and was stored before.
    StoredBadList(ParseError),
    /// The gate is to stand after an init container that is not there.
    NoSuchInitContainer(String),
    /// Its pods run on Windows, and start without a gate.
    Windows,
    /// The gate's position is written where no pod carries it.
    PositionOnWorkload,
    /// The wait counts against the `progressDeadlineSeconds` of this many seconds.
    ProgressDeadline(i64),
    /// The wait counts against the `activeDeadlineSeconds` of this many seconds.
    ActiveDeadline(i64),
    /// A dependency goes away after its end.
    Removed {
        /// `Job/migrate`
        dependency: String,
        /// When, and by what.
        removal: Removal,
    },
    /// A dependency is a hook that runs only after the dependent is healthy.
    RunsAfterwards {
        /// `Job/migrate`
        dependency: String,
        /// `post-install`
        hook: String,
    },
    /// A hook that runs before its release is created waits for what is not there.
    RunsBefore(String),
    /// A dependency is applied only after the dependent is healthy.
    LaterWave {
        /// `Job/migrate`
        dependency: String,
        /// The dependency's sync wave.
        theirs: i64,
        /// The dependent's.
        own: i64,
    },
    /// It waits for a Service that only its own pods would serve.
    OwnService(String),
    /// sluice may not watch the kind of a dependency.
    KindForbidden(String),
}

/// What takes a dependency away after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// `ttlSecondsAfterFinished`
    Ttl(i64),
    /// `hook-succeeded` in `helm.sh/hook-delete-policy`
    HookSucceeded,
}

impl Warning {
    /// What to know and, where there is one, the way out.
    pub fn sentence(&self, subject: &Subject) -> String {
        match self {
            Self::NextRollout => format!(
                "{subject}: its list takes effect at the next rollout; {}",
                way_to_roll(subject)
            ),
            Self::AlreadyStarted => {
                format!("{subject} was created before its list: already started; not gated")
            }
            Self::SelfReference => {
                format!(
                    "{subject} waits for itself and will never start; remove it from its own list"
                )
            }
            Self::StoredBadList(error) => format!("{subject}: {error}"),
            Self::NoSuchInitContainer(name) => format!(
                "{subject} has no init container \"{name}\", so unless something adds it first the gate stands where it \
                 would without {}; correct the name",
                keys::GATE_POSITION
            ),
            Self::Windows => format!(
                "{subject} runs on Windows, for which sluice has no gate: it starts without waiting"
            ),
            Self::PositionOnWorkload => format!(
                "{subject}: {} has no effect here; move it to the annotations of the pod template",
                keys::GATE_POSITION
            ),
            Self::ProgressDeadline(seconds) => format!(
                "{subject}: the wait counts against its progressDeadlineSeconds ({seconds}), after which it is reported as \
                 failed until it recovers; raise it where a dependency may take longer"
            ),
            Self::ActiveDeadline(seconds) => format!(
                "{subject}: the wait counts against activeDeadlineSeconds ({seconds}), after which its pods are ended as \
                 failed; raise it by what the dependencies may take"
            ),
            Self::Removed {
                dependency,
                removal,
            } => removal.sentence(subject, dependency),
            Self::RunsAfterwards { dependency, hook } => format!(
                "{subject}: {dependency} is a {hook} hook, which runs only once everything else is ready, so with --wait \
                 neither comes; make it a plain object"
            ),
            Self::RunsBefore(dependency) => format!(
                "{subject} is a pre-install hook, and Helm creates nothing else of a release before its end: if {dependency} \
                 is of the same release, neither comes; make it a plain object"
            ),
            Self::LaterWave {
                dependency,
                theirs,
                own,
            } => format!(
                "{subject}: {dependency} is in sync wave {theirs} of Argo CD, which comes only once wave {own}, where this \
                 one is, is healthy: neither comes; put it into an earlier wave"
            ),
            Self::OwnService(name) => format!(
                "{subject}: Service/{name} selects its own pods, and nobody else is behind it: it has no endpoint before \
                 they start, and they wait for it; remove it from the list"
            ),
            Self::KindForbidden(kind) => format!(
                "{subject}: sluice may not watch {kind}, so its pods would wait for ever; have it added to rbac.kinds of \
                 sluice's chart"
            ),
        }
    }
}

impl Removal {
    fn sentence(self, subject: &Subject, dependency: &str) -> String {
        let (when, way_out) = match self {
            Self::Ttl(seconds) => (
                format!("{seconds} s after its end (ttlSecondsAfterFinished)"),
                "keep it for a day",
            ),
            Self::HookSucceeded => (
                "when it succeeds (helm.sh/hook-delete-policy)".to_owned(),
                "take hook-succeeded away",
            ),
        };
        format!(
            "{subject}: {dependency} is removed {when}; if sluice misses its end, later pods wait for a Job that is gone; \
             {way_out}"
        )
    }
}

/// The way to roll a workload now, for the kinds that kubectl can restart.
fn way_to_roll(subject: &Subject) -> String {
    let Subject {
        group, kind, name, ..
    } = subject;
    match (group.as_str(), kind.as_str()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet") => {
            format!("run kubectl rollout restart {}/{name}", kind.to_lowercase())
        }
        _ => "that is when its pod template changes".to_owned(),
    }
}
