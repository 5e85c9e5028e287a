//! The decisions as data: each has a label for metrics and audit, and a sentence for people.

use super::{Edit, Subject, Warning};
use rules::annotation::ParseError;
use rules::keys;
use std::fmt;

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The answer.
    pub action: Action,
    /// What the user should know all the same.
    pub warnings: Vec<Warning>,
}

impl From<Skip> for Decision {
    fn from(skip: Skip) -> Self {
        Self {
            action: Action::Skip(skip),
            warnings: Vec::new(),
        }
    }
}

impl From<Deny> for Decision {
    fn from(deny: Deny) -> Self {
        Self {
            action: Action::Deny(deny),
            warnings: Vec::new(),
        }
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Allowed, with these operations, never none.
    Patch(Change, Vec<Edit>),
    /// Allowed as it is.
    Skip(Skip),
    /// Refused.
    Deny(Deny),
}

impl Action {
    /// The label for metrics and audit.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Patch(change, _) => change.label(),
            Self::Skip(skip) => skip.label(),
            Self::Deny(deny) => deny.label(),
        }
    }
}

/// What a patch does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The pod template gets the marker.
    Marked,
    /// The pod template gets back the marker that the stored one has.
    MarkerRestored,
    /// The marker goes, because nothing asks for it.
    MarkerRemoved,
    /// The Job is created suspended, and its pod template has the marker.
    Suspended,
    /// The pod gets the gate.
    Injected,
    /// The pod comes with a gate of another time or cluster, which gets what gates are made of today.
    Renewed,
    /// The pod has its gate; it is held before that.
    Held,
    /// The pod has its gate; a mesh that came later gets its exclusion.
    PortExcluded,
    /// The pod is a copy of a gated one, gate and all; it gets the label by which the status service finds it.
    Labelled,
}

impl Change {
    /// The label for metrics and audit.
    pub fn label(self) -> &'static str {
        match self {
            Self::Marked => "marked",
            Self::MarkerRestored => "marker-restored",
            Self::MarkerRemoved => "marker-removed",
            Self::Suspended => "suspended",
            Self::Injected => "injected",
            Self::Renewed => "renewed",
            Self::Held => "held",
            Self::PortExcluded => "port-excluded",
            Self::Labelled => "labelled",
        }
    }
}

/// Why an object is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// An operation that this half has nothing to do with.
    Operation,
    /// A controller made it from a template of its own; changing it would make that controller start over.
    ControllerOwned,
    /// It is being deleted.
    Deleting,
    /// It has no pod template.
    NoTemplate,
    /// Nothing in it asks for a gate.
    NotAsked,
    /// The marker is as it should be.
    MarkerInPlace,
    /// It asks for a gate, and marking it now would roll its pods, or change a Job that runs.
    NotRolled,
    /// The kubelet made it from a file; a change here would not reach the real pod.
    MirrorPod,
    /// The gate is there.
    AlreadyInjected,
    /// There is no gate for Windows, and the administrator lets such pods start without one.
    Windows,
}

impl Skip {
    /// The label for metrics and audit.
    pub fn label(self) -> &'static str {
        match self {
            Self::Operation => "skipped-operation",
            Self::ControllerOwned => "skipped-controller-owned",
            Self::Deleting => "skipped-deleting",
            Self::NoTemplate => "skipped-no-template",
            Self::NotAsked => "skipped-not-asked",
            Self::MarkerInPlace => "skipped-marker-in-place",
            Self::NotRolled => "skipped-not-rolled",
            Self::MirrorPod => "skipped-mirror-pod",
            Self::AlreadyInjected => "skipped-already-injected",
            Self::Windows => "skipped-windows",
        }
    }
}

/// Where a list stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the object's own annotations.
    Object,
    /// In the annotations of its pod template.
    Template,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Object => "its annotations",
            Self::Template => "the annotations of its pod template",
        })
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deny {
    /// A list that cannot be read.
    BadList {
        /// Where it stands.
        place: Place,
        /// What is wrong with it.
        error: ParseError,
    },
    /// Something in the pod has the name of one of our parts and is not ours.
    NameTaken {
        /// `container` or `volume`
        what: &'static str,
        /// The name.
        name: &'static str,
    },
    /// There is no gate for Windows.
    Windows,
    /// A field that must be a mapping or a list is something else.
    Misshapen {
        /// A JSON pointer.
        path: String,
        /// `mapping` or `list`
        expected: &'static str,
    },
    /// The gate's settings are not known yet. Controllers try again; letting the pod pass would start it ungated.
    Starting,
}

impl Deny {
    /// The label for metrics and audit.
    pub fn label(&self) -> &'static str {
        match self {
            Self::BadList { .. } => "denied-bad-list",
            Self::NameTaken { .. } => "denied-name-taken",
            Self::Windows => "denied-windows",
            Self::Misshapen { .. } => "denied-misshapen",
            Self::Starting => "denied-starting",
        }
    }

    /// What is wrong, where, and the way out.
    pub fn sentence(&self, subject: &Subject) -> String {
        match self {
            Self::BadList { place, error } => {
                format!("{error} (in {place} of {subject}); correct it, or remove the annotation")
            }
            Self::NameTaken { what, name } => format!(
                "{subject} has a {what} named \"{name}\", a name that sluice needs for its gate; give yours another name"
            ),
            Self::Windows => format!(
                "{subject} runs on Windows, for which sluice has no gate; remove {} and {} from its annotations to run \
                 it ungated",
                keys::DEPENDS_ON,
                keys::GATED
            ),
            Self::Misshapen { path, expected } => {
                format!(
                    "{subject} cannot be gated, because {path} is not a {expected}; correct the field"
                )
            }
            Self::Starting => format!(
                "sluice is starting and cannot gate {subject} yet; try again in a few seconds"
            ),
        }
    }

    /// HTTP code and `reason` of the status. Never 422 `Invalid` nor 409 `Conflict`, although they would fit: Flux with
    /// `force` and `kubectl apply --force` answer both by deleting the object and making it anew.
    pub fn status(&self) -> (u16, &'static str) {
        match self {
            Self::Starting => (503, "ServiceUnavailable"),
            _ => (403, "Forbidden"),
        }
    }
}
