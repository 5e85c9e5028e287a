//! The root cause of a wait: the end of the chain of dependencies, and what is wrong there.

use super::{Cause, Stuck};
use serde::Serialize;
use std::fmt;

/// The end of the chain from an unsatisfied edge: an object that waits for no other, or the last one that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RootCause {
    /// The object at the end of the chain: `Deployment/db`, or an entry of a list as `Display` writes it.
    pub object: String,
    /// The name of the object's pod that has the trouble; `None` where the trouble is not that of a pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// A word for the trouble: [`Cause::word`], or the label of the edge's reason.
    pub reason: String,
    /// Whether a user has to do something: time alone does not make the object ready.
    pub broken: bool,
    /// The trouble in words that follow the name of the pod, or of the object where there is no pod.
    pub message: String,
}

impl RootCause {
    /// The root cause for `object`, from the cause of its pod; an empty `pod` gives no pod.
    pub fn of_pod(object: String, pod: &str, cause: &Cause) -> Self {
        Self {
            object,
            pod: (!pod.is_empty()).then(|| pod.to_owned()),
            reason: cause.word().to_owned(),
            broken: cause.is_broken(),
            message: cause.to_string(),
        }
    }

    /// The root cause for `object`, from the pod, or other object, that was found behind it. An object other than a pod is named in the message.
    pub fn of_stuck(object: String, stuck: &Stuck) -> Self {
        match stuck.kind {
            "Pod" => Self::of_pod(object, &stuck.name, &stuck.cause),
            _ => Self {
                message: stuck.to_string(),
                ..Self::of_pod(object, "", &stuck.cause)
            },
        }
    }
}

/// Writes the root cause as one line: `Service/db: its pod db-0 cannot pull image docker.io/postgres:17.2: not found`.
impl fmt::Display for RootCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            object,
            pod,
            message,
            ..
        } = self;
        match pod {
            Some(pod) if *object == format!("Pod/{pod}") => write!(out, "{object} {message}"),
            Some(pod) => write!(out, "{object}: its pod {pod} {message}"),
            None if message.is_empty() => out.write_str(object),
            None => write!(out, "{object}: {message}"),
        }
    }
}

impl Cause {
    /// A word for the cause, of a closed set.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Image { .. } => "ImagePull",
            Self::Container { .. } => "ContainerStart",
            Self::Crash { .. } => "Crash",
            Self::Failed(_) => "PodFailed",
            Self::Claim { .. } => "ClaimUnbound",
            Self::NoNode { .. } => "NoNode",
            Self::Gate => "Gate",
            Self::Init(_) => "InitContainer",
            Self::NotStarted(_) => "StartupProbe",
            Self::NotReady(_) => "ReadinessProbe",
            Self::Lingers { .. } => "Lingers",
            Self::Unready(_) => "NotReady",
            Self::NotMade => "NotMade",
            Self::NoPods { .. } => "NoPods",
        }
    }

    /// Whether a user has to do something. `false` for a gate, an init container, a probe, a pod in the making, and an object that is unready for a
    /// reason of its own: those may only need time.
    pub fn is_broken(&self) -> bool {
        match self {
            Self::Image { .. }
            | Self::Container { .. }
            | Self::Crash { .. }
            | Self::Failed(_)
            | Self::Claim { .. }
            | Self::NoNode { .. }
            | Self::Lingers { .. }
            | Self::NoPods { .. } => true,
            Self::Gate
            | Self::Init(_)
            | Self::NotStarted(_)
            | Self::NotReady(_)
            | Self::Unready(_)
            | Self::NotMade => false,
        }
    }
}
