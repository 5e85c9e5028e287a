//! Why an edge is satisfied or not.

mod sentence;

use crate::lookup::Unavailable;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Why an edge is satisfied or not. Gates, Events and metrics are told no other words than these.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray,
)]
pub enum Reason {
    /// The object has the state that the edge asks for.
    Satisfied,
    /// The object does not exist, and the edge is optional.
    OptionalNotFound,
    /// A Job, or an object of a kind that ends like a Job, completed and has been removed since.
    Remembered,
    /// The object is not created yet, or its name is misspelt.
    NotFound,
    /// The object is being deleted.
    Terminating,
    /// The controller of the object has not looked at the latest change yet.
    NotObserved,
    /// The object is being rolled out, started or reconciled.
    InProgress,
    /// The object reports a failure that it may recover from.
    Failed,
    /// The object is a Job that has not completed.
    JobNotComplete,
    /// The object is a Job that is suspended.
    JobSuspended,
    /// A Job that sluice has suspended until the Job's dependencies are satisfied.
    JobHeld,
    /// The object is a Job that failed: for good.
    JobFailed,
    /// An object of a kind that ends like a Job failed: for good.
    FailedForGood,
    /// The object is a Service with no endpoint that serves.
    NoEndpoints,
    /// The object is a PersistentVolumeClaim that is not bound.
    ClaimNotBound,
    /// The object is a load balancer or an ingress without an address.
    NoAddress,
    /// An expression on the object, or in the entry, does not hold yet.
    HealthNotMet,
    /// An expression on the object says that it has failed.
    HealthFailed,
    /// The kind declares a status, and no controller has written that of the object yet.
    NoStatusYet,
    /// The API server does not serve this kind yet.
    KindNotServed,
    /// sluice may not watch this kind.
    KindForbidden,
    /// The API server cannot tell whether it serves this kind.
    DiscoveryFailed,
    /// The target namespace has not consented; for an object without a namespace, the administrator has not.
    NotPermitted,
    /// The object is of another revision than the dependent: `sluice.dev/revision` differs.
    OtherRevision,
    /// The object is older than the dependent's revision, and the edge asks for a fresh one.
    NotFresh,
    /// The object is satisfied, or has failed for good, but is older than the dependent's revision, so an upgrade may be about to
    /// replace it; or the object was written a moment ago; or it does not exist and may yet be created.
    Settling,
    /// The object is satisfied, but not yet for as long as the edge asks for.
    NotStable,
    /// The object is satisfied, but by a status that may be left from before the boot of the dependent's node.
    BeforeBoot,
    /// The entry is not satisfied, but its own timeout has passed, and the gate goes on without the entry.
    GivenUp,
    /// An object of a lower weight is not ready.
    LowerWeight,
    /// The dependent's wave has no free slot.
    NoSlot,
    /// A pod of the dependency fits on no node.
    Unschedulable,
    /// The dependent waits for an object that waits, directly or over further objects, for the dependent.
    Cycle,
    /// The dependent waits for itself.
    SelfReference,
    /// The first list of this kind has not arrived yet.
    Syncing,
    /// The API server cannot be reached; the known state may be stale.
    Stale,
    /// The object must be read with every field, which is done by turns, and other objects of the namespace have the turn.
    AwaitsTurn,
    /// The dependencies of the namespace's dependents fill its share of the memory.
    OverBudget,
    /// The object is longer than sluice reads of one object.
    TooLarge,
    /// A field of the object, or an expression on it, has a fault; or the user of the command line may not read the kind.
    Unjudgeable,
    /// The object asks for something that this version does not do.
    NotSupported,
    /// The health rule of the object's kind is broken, or cannot be evaluated on the object.
    RuleError,
    /// The gate has not reported the outcome of its try of an address yet.
    NotProbed,
    /// The gate is of a version that cannot try such an address.
    CannotProbe,
    /// No process listens at an address.
    ConnectionRefused,
    /// An address does not answer in time.
    ConnectionTimedOut,
    /// A connection was closed before the answer.
    ConnectionReset,
    /// No route leads to an address.
    Unreachable,
    /// No name server knows the name of an address.
    NoSuchName,
    /// No name server answers when the gate looks an address up.
    NoNameServer,
    /// The server at an address does not speak TLS.
    NoTls,
    /// The server at an address does not speak HTTP.
    NoHttp,
    /// An address answers with an HTTP status other than the entry asks for.
    HttpStatus,
    /// The gate has no environment variable of a name in the address.
    NoVariable,
    /// The values of the variables in an address do not make up a valid address.
    BadVariable,
}

impl Reason {
    /// Every reason, in the order of the enum.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Whether the reason is a failure for good: that of a Job, or of an object that ends like a Job.
    pub fn is_final_failure(self) -> bool {
        matches!(self, Self::JobFailed | Self::FailedForGood)
    }

    /// The word for the reason in answers, events and metrics: the name of the variant, which therefore never changes.
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// Names the reason of an edge that waits because its object or kind cannot be read.
impl From<Unavailable> for Reason {
    fn from(why: Unavailable) -> Self {
        match why {
            Unavailable::Syncing => Self::Syncing,
            Unavailable::NotServed => Self::KindNotServed,
            Unavailable::Forbidden => Self::KindForbidden,
            Unavailable::Stale => Self::Stale,
            Unavailable::Undiscovered => Self::DiscoveryFailed,
            Unavailable::AwaitsTurn { .. } => Self::AwaitsTurn,
            Unavailable::OverBudget { .. } => Self::OverBudget,
            Unavailable::TooLarge => Self::TooLarge,
            Unavailable::Hidden => Self::Unjudgeable,
        }
    }
}
