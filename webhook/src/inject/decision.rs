//! The decisions as data. Each has a label for metrics and audit, and a sentence for users.

use super::patch::Misshapen;
use super::{Edit, Subject, Warning};
use jiff::SignedDuration;
use rules::annotation::ParseError;
use rules::creation;
use rules::dependency::Dependency;
use rules::keys;
use std::fmt;
use std::net::IpAddr;
use strum::IntoStaticStr;

/// The decision of admission on a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The answer to the admission request.
    pub action: Action,
    /// Warnings for the user of the request, beside the answer.
    pub warnings: Vec<Warning>,
    /// The entries of all lists of the object, where the decision has read them: advice need not read them again.
    pub(crate) entries: Option<Vec<Dependency>>,
}

impl From<Skip> for Decision {
    fn from(skip: Skip) -> Self {
        Self {
            action: Action::Skip(skip),
            warnings: Vec::new(),
            entries: None,
        }
    }
}

impl From<Deny> for Decision {
    fn from(deny: Deny) -> Self {
        Self {
            action: Action::Deny(deny),
            warnings: Vec::new(),
            entries: None,
        }
    }
}

/// The answer of admission to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Allowed, with these operations; the list is never empty.
    Patch(Change, Vec<Edit>),
    /// The request is allowed, and the object stays unchanged.
    Skip(Skip),
    /// The request is refused.
    Deny(Deny),
}

impl Action {
    /// The word for the answer in metrics and the audit log.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Patch(change, _) => change.label(),
            Self::Skip(skip) => skip.label(),
            Self::Deny(deny) => deny.label(),
        }
    }
}

/// The effect of the patch by which admission changes an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Change {
    /// The pod template gets the marker, the annotation `sluice.dev/gated`.
    Marked,
    /// The pod template gets back the marker (`sluice.dev/gated`) that the stored template has and the request lacks or alters.
    MarkerRestored,
    /// The pod template loses the marker (`sluice.dev/gated`): nothing asks for a gate, or the stored template has none and this request must not
    /// roll the pods.
    MarkerRemoved,
    /// The Job is created suspended, and its pod template has the marker.
    Suspended,
    /// The pod gets the gate and the gate's volumes.
    Injected,
    /// The pod comes with a gate of another time or cluster, and that gate gets the present parts.
    Renewed,
    /// The pod has a gate already, and gets sluice's scheduling gate, which holds it before it takes a node.
    Held,
    /// The pod has a gate, and gets image volumes, or other images in them.
    Prefetched,
    /// The pod has a gate, and gets the annotation that lets the gate's ports past a mesh that was added later.
    PortExcluded,
    /// The pod is a copy of a gated pod, and gets the label by which the status service finds it.
    Labelled,
}

impl Change {
    /// The word for the effect of the patch in metrics and the audit log.
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// The reason why admission leaves an object unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// The part of admission that was asked (for workloads, for pods, or for held creations) does nothing on this operation.
    Operation,
    /// A controller created the object from its own template, and would create it again if it were changed.
    ControllerOwned,
    /// The object is being deleted, so admission leaves it unchanged.
    Deleting,
    /// The object has no pod template.
    NoTemplate,
    /// The object asks for no gate; or, where held creations are decided on, it does not ask for its creation to be held.
    NotAsked,
    /// The pod template has its marker (`sluice.dev/gated`) already, as it has to be.
    MarkerInPlace,
    /// The object asks for a gate, but to mark its pod template now would roll its pods or change a Job that exists.
    NotRolled,
    /// The kubelet created the pod from a file, and would not see a change of the API server's copy.
    MirrorPod,
    /// The pod has its gate already, and nothing has to be added to it.
    AlreadyInjected,
    /// The pod asks for a gate and is for Windows, for which there is none; the administrator lets such pods start without one.
    Windows,
    /// A dry run creates nothing, so its creation is not held.
    DryRun,
    /// The object asks for its creation to be held, and nothing holds it back any more.
    MayBeCreated,
}

impl Skip {
    /// The word for the reason in metrics and the audit log.
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
            Self::DryRun => "skipped-dry-run",
            Self::MayBeCreated => "may-be-created",
        }
    }
}

/// The place of a dependent's list of dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListPlace {
    /// The list is in the object's own annotations.
    Object,
    /// The list is in the annotations of the object's pod template.
    Template,
}

impl fmt::Display for ListPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Object => "the annotations",
            Self::Template => "the annotations of the pod template",
        })
    }
}

/// The reason why admission refuses a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deny {
    /// A list of dependencies, or another annotation of sluice, cannot be read.
    BadList {
        /// The place of the annotation that cannot be read.
        place: ListPlace,
        /// The error in the annotation.
        error: ParseError,
    },
    /// A container or a volume of the pod has the name of one of our parts.
    NameTaken {
        /// Whether a `container` or a `volume` has the name.
        what: &'static str,
        /// The name that one of the gate's parts needs.
        name: &'static str,
    },
    /// The pod is for Windows, for which there is no gate.
    Windows,
    /// A field that must be a mapping or a list is something else.
    Misshapen {
        /// A JSON pointer to the misshapen field.
        path: String,
        /// The shape that the field must have: `mapping` or `list`.
        expected: &'static str,
    },
    /// The gate's parts are not known yet. Controllers try again; an admitted pod would start without a gate.
    Starting,
    /// The creation waits for the object's list: the client is to try again.
    CreationHeld {
        /// The unsatisfied dependencies: the text after "waits for".
        why: String,
        /// The number of this try among the tries of the client's request, from 1.
        tries: usize,
        /// The pause before the next try, in whole seconds.
        pause: SignedDuration,
    },
    /// The wait of the creation has ended, and the object's terms refuse the creation, for this reason.
    CreationRefused(String),
    /// The held creations of the object's namespace fill its share of memory.
    NoRoomToHold {
        /// The share of the namespace, in bytes.
        share: usize,
        /// The pause before the next try, in whole seconds.
        pause: SignedDuration,
    },
    /// The client at this address may be any program: a held creation is judged for an API server alone.
    NoApiServer(IpAddr),
}

impl From<Misshapen> for Deny {
    fn from(Misshapen { path, expected }: Misshapen) -> Self {
        Self::Misshapen { path, expected }
    }
}

impl Deny {
    /// The word for the refusal in metrics and the audit log.
    pub fn label(&self) -> &'static str {
        match self {
            Self::BadList { .. } => "denied-bad-list",
            Self::NameTaken { .. } => "denied-name-taken",
            Self::Windows => "denied-windows",
            Self::Misshapen { .. } => "denied-misshapen",
            Self::Starting => "denied-starting",
            Self::CreationHeld { .. } => "creation-held",
            Self::CreationRefused(_) => "creation-refused",
            Self::NoRoomToHold { .. } => "denied-no-room",
            Self::NoApiServer(_) => "denied-no-api-server",
        }
    }

    /// Returns the message for the user whose request is refused: the error, its place, and the way out.
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
            Self::CreationHeld { why, tries, .. } => format!(
                "{subject} is not created yet, since {hold} holds it: it waits for {why}; this was try {tries} of {most}; create it again \
                 once that is ready, or at once with {skip}: \"true\"",
                hold = keys::HOLD,
                most = creation::TRIES,
                skip = keys::SKIP,
            ),
            Self::CreationRefused(why) => {
                format!(
                    "{subject} is not created, since {} holds it: {why}",
                    keys::HOLD
                )
            }
            Self::NoRoomToHold { share, .. } => format!(
                "sluice has no room to hold the creation of {subject}: the held creations of its namespace fill their share of {} KiB; try \
                 again when some are created, or hold fewer at once",
                share / 1024
            ),
            Self::NoApiServer(address) => format!(
                "{subject} is held by {}, and sluice judges that for API servers alone: {address} shows no certificate of \
                 admission.clientCA and is in no block of creationHolds.apiServers; set one of these values of the chart",
                keys::HOLD
            ),
        }
    }

    /// Returns the HTTP code and `reason` of the status. 422 `Invalid` and 409 `Conflict` are never used: Flux with
    /// `force` and `kubectl apply --force` answer both by deleting the object and creating it again.
    pub fn status(&self) -> (u16, &'static str) {
        match self {
            Self::Starting => (503, "ServiceUnavailable"),
            Self::CreationHeld { .. } | Self::NoRoomToHold { .. } => (429, "TooManyRequests"),
            _ => (403, "Forbidden"),
        }
    }

    /// Returns the seconds after which the client is to try again; `None` for every refusal but that of a held creation and of one without
    /// room.
    pub fn retry_after(&self) -> Option<i64> {
        match self {
            Self::CreationHeld { pause, .. } | Self::NoRoomToHold { pause, .. } => {
                Some(pause.as_secs())
            }
            _ => None,
        }
    }
}
