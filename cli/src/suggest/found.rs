//! One wait that was found in a rendered container.

use super::reason::Reason;
use super::target::Target;

/// One wait of a rendered container.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The number of the wait among those that were read from the container. One wait may have two targets, and one target several waits.
    pub(super) wait: usize,
    pub(super) what: String,
    /// The target, or the reason why the wait stays; `None` where the container waits for another container of its own pod.
    pub(super) target: Result<Option<Target>, Reason>,
}
