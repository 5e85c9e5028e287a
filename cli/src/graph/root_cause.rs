//! Why the pods of an object are not ready, for a program to read.

use rules::cause::{Cause, Stuck};
use serde::Serialize;

/// The most telling trouble among the pods of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RootCause {
    /// The pod that has the trouble.
    pod: String,
    /// Whether the pod needs a hand: it will not become ready by time alone.
    broken: bool,
    /// The trouble, as it follows the name of the pod: `cannot pull image docker.io/postgres:17.2: not found`.
    message: String,
}

impl RootCause {
    pub(super) fn of(stuck: &Stuck) -> Self {
        Self {
            pod: stuck.name.clone(),
            broken: is_broken(&stuck.cause),
            message: stuck.cause.to_string(),
        }
    }
}

/// Whether a user has to do something. A pod that starts slowly needs time alone, although a probe fails until then.
fn is_broken(cause: &Cause) -> bool {
    match cause {
        Cause::Image { .. }
        | Cause::Container { .. }
        | Cause::Crash { .. }
        | Cause::Failed(_)
        | Cause::Claim { .. }
        | Cause::NoNode { .. }
        | Cause::Lingers { .. }
        | Cause::NoPods { .. } => true,
        Cause::Gate
        | Cause::Init(_)
        | Cause::NotStarted(_)
        | Cause::NotReady(_)
        | Cause::Unready(_)
        | Cause::NotMade => false,
    }
}
