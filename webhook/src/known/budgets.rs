//! The budgets of memory that namespaces share: one for each sort of data that tenants can make many or large.

use super::byte_budget::ByteBudget;
use super::kept_whole::WholeBudget;
use super::large_objects::LargeBudget;
use super::stores::BYTES_OF_A_KIND;
use crate::memory_alarm::MemoryAlarm;
use std::sync::Arc;

/// The divisor of the process's memory that gives the limit for the subscriptions of all views: an eighth.
const WAITS_IN_ALL: usize = 8;
/// The divisor of the process's memory that gives the limit for the subscriptions of one namespace: a sixteenth. An ordinary dependent
/// takes one KiB or two.
const WAITS_OF_A_NAMESPACE: usize = 16;

/// The divisor of the process's memory that gives the limit for all objects whose annotations ask to be kept whole: a sixteenth.
const WISHES_IN_ALL: usize = 16;
/// The divisor of the process's memory that gives the limit for the objects of one namespace that ask to be kept whole: a thirty-second.
const WISHES_OF_A_NAMESPACE: usize = 32;

/// The divisor of the process's memory that gives the limit for the bytes of large objects beyond 4 KiB each: an eighth.
const LARGE_IN_ALL: usize = 8;
/// The divisor of the process's memory that gives the limit for the bytes of one namespace's large objects beyond 4 KiB each: a sixteenth.
const LARGE_OF_A_NAMESPACE: usize = 16;

/// The divisor of the process's memory that gives the limit for all objects that are read whole at one moment: a sixteenth.
const READINGS_IN_ALL: usize = 16;
/// The divisor of the process's memory that gives the limit for the objects of one namespace that are read whole at one moment: a
/// thirty-second.
const READINGS_OF_A_NAMESPACE: usize = 32;
/// The least memory for the objects of one namespace that are read whole, in bytes: the longest object that the API server stores.
const ONE_READING: usize = 2 << 20;

/// The divisor of the process's memory that gives the limit for all held creations: a thirty-second.
const CREATIONS_IN_ALL: usize = 32;
/// The divisor of the process's memory that gives the limit for the held creations of one namespace: a sixty-fourth. One creation takes
/// some three KiB.
const CREATIONS_OF_A_NAMESPACE: usize = 64;

/// The divisor of the process's memory that gives the limit for all held pods and suspended Jobs that the status service judges at a time: an
/// eighth.
const HOLDS_IN_ALL: usize = 8;
/// The divisor of the process's memory that gives the limit for the held pods and suspended Jobs of one namespace: a sixteenth. One takes
/// some 6.5 KiB.
const HOLDS_OF_A_NAMESPACE: usize = 16;

/// The divisor of the process's memory that gives the limit for all remembered reviews of tokens: a sixteenth.
const TOKENS_IN_ALL: usize = 16;
/// The divisor of the process's memory that gives the limit for the tokens of one namespace's pods: a thirty-second. A token takes half a
/// KiB, and a gate has one or two of them at a time.
const TOKENS_OF_A_NAMESPACE: usize = 32;

/// The most custom kinds that lists name and that cannot be read, over all namespaces.
const UNREAD_KINDS: usize = 256;
/// The most custom kinds that the lists of one namespace name and that cannot be read.
pub(super) const UNREAD_KINDS_OF_A_NAMESPACE: usize = 128;

/// The budgets of memory that namespaces share, one for each sort of data.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// The budget of the subscriptions of waiting views.
    pub(super) waits: Arc<ByteBudget>,
    /// The budget of the custom kinds that lists name and that cannot be read.
    pub(super) unread_kinds: Arc<ByteBudget>,
    /// The budget of the objects that stores keep with all of their fields, because their annotations ask for that.
    pub(crate) wishes: Arc<WholeBudget>,
    /// The budget of the objects that are followed one by one, with all of their fields, at one moment.
    pub(crate) readings: Arc<WholeBudget>,
    /// The budget of the bytes that large objects take beyond 4 KiB each.
    pub(crate) large: Arc<LargeBudget>,
    /// The budget of the creations that are held.
    pub(super) creations: Arc<ByteBudget>,
    /// The budget of the held pods and suspended Jobs that the status service judges at a time.
    pub(crate) holds: Arc<ByteBudget>,
    /// The budget of the gates' tokens that the API server has reviewed.
    pub(crate) tokens: Arc<ByteBudget>,
}

impl Budgets {
    /// The budgets of a process that may take `memory` bytes. `alarm` tells when these are nearly used up.
    pub(super) fn new(memory: usize, alarm: &MemoryAlarm) -> Self {
        let of = |name, in_all: usize, of_one: usize| {
            ByteBudget::new(name, memory / in_all, memory / of_one, alarm)
        };
        let readings = [READINGS_IN_ALL, READINGS_OF_A_NAMESPACE];
        let [in_all, of_one] = readings.map(|part| (memory / part).max(ONE_READING));
        let wishes = of("kept_whole", WISHES_IN_ALL, WISHES_OF_A_NAMESPACE);
        Self {
            waits: of("waits", WAITS_IN_ALL, WAITS_OF_A_NAMESPACE),
            unread_kinds: ByteBudget::new(
                "unread_kinds",
                UNREAD_KINDS * BYTES_OF_A_KIND,
                UNREAD_KINDS_OF_A_NAMESPACE * BYTES_OF_A_KIND,
                alarm,
            ),
            wishes: WholeBudget::new(wishes).into(),
            readings: WholeBudget::new(ByteBudget::new("read_whole", in_all, of_one, alarm)).into(),
            large: LargeBudget::new(of("large", LARGE_IN_ALL, LARGE_OF_A_NAMESPACE)).into(),
            creations: of("creations", CREATIONS_IN_ALL, CREATIONS_OF_A_NAMESPACE),
            holds: of("holds", HOLDS_IN_ALL, HOLDS_OF_A_NAMESPACE),
            tokens: of("tokens", TOKENS_IN_ALL, TOKENS_OF_A_NAMESPACE),
        }
    }

    /// Each budget, for metrics.
    pub(super) fn each(&self) -> [&ByteBudget; 8] {
        [
            &self.waits,
            &self.unread_kinds,
            self.wishes.budget(),
            self.readings.budget(),
            self.large.budget(),
            &self.creations,
            &self.holds,
            &self.tokens,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_namespace_takes_more_than_half_of_a_budget() {
        for memory in [64 << 20, 256 << 20, 4 << 30] {
            for budget in Budgets::new(memory, &MemoryAlarm::default()).each() {
                let (name, one, all) = (budget.name(), budget.of_one(), budget.limit());
                assert!(0 < one && one <= all / 2, "{name}: {one} of {all}");
            }
        }
    }
}
