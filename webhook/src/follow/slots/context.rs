//! The client, the known cluster and the other parts that the tasks of all namespaces share.

use super::finished_holders::HolderCheck;
use crate::clock::Clock;
use crate::follow::shards::{Losses, Shards};
use crate::known::Known;
use std::sync::Arc;
use std::time::Duration;

/// The pause after a look at the slots of a wave, or the restoring of their ConfigMap, has failed.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(2);
/// The time after which the slots of a namespace are looked through without a known change: time alone makes some dependents ready, and
/// lets others give up.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The parts that the tasks of all namespaces share.
pub(super) struct SlotContext {
    pub(super) shards: Shards,
    pub(super) known: Arc<Known>,
    pub(super) clock: Clock,
    pub(super) losses: Losses,
    pub(super) holders: HolderCheck,
}
