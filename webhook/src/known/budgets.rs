//! The budgets of memory that namespaces share: one for each sort of data that tenants can make many or large.

use super::byte_budget::ByteBudget;
use super::kept_whole::WholeBudget;
use super::large_objects::LargeBudget;
use super::stores::BYTES_OF_A_KIND;
use std::sync::Arc;

/// The divisor of the memory for the subscriptions of all views: they may take an eighth.
const WAITS_IN_ALL: usize = 8;
/// The divisor of the memory for the subscriptions of one namespace: they may take a sixteenth. An ordinary dependent takes one
/// KiB or two.
const WAITS_OF_A_NAMESPACE: usize = 16;

/// The divisor of the memory for all objects that ask to be kept whole: they may take a sixteenth.
const WISHES_IN_ALL: usize = 16;
/// The divisor of the memory for the objects of one namespace that ask to be kept whole: they may take a thirty-second.
const WISHES_OF_A_NAMESPACE: usize = 32;

/// The divisor of the memory for what large objects take beyond an ordinary size: they may take an eighth.
const LARGE_IN_ALL: usize = 8;
/// The divisor of the memory for the large objects of one namespace: they may take a sixteenth.
const LARGE_OF_A_NAMESPACE: usize = 16;

/// The divisor of the memory for all objects that are read whole at one moment: they may take a sixteenth.
const READINGS_IN_ALL: usize = 16;
/// The divisor of the memory for the objects of one namespace that are read whole at one moment: they may take a thirty-second.
const READINGS_OF_A_NAMESPACE: usize = 32;
/// The least memory for the objects of one namespace that are read whole, in bytes: the longest object that the API server stores.
const ONE_READING: usize = 2 << 20;

/// The divisor of the memory for all held creations: they may take a thirty-second.
const CREATIONS_IN_ALL: usize = 32;
/// The divisor of the memory for the held creations of one namespace: they may take a sixty-fourth. One takes some three KiB.
const CREATIONS_OF_A_NAMESPACE: usize = 64;

/// The divisor of the memory for all tokens that are remembered: they may take a sixteenth.
const TOKENS_IN_ALL: usize = 16;
/// The divisor of the memory for the tokens of one namespace's pods: they may take a thirty-second. A token takes half a KiB, and a
/// gate has one or two of them at a time.
const TOKENS_OF_A_NAMESPACE: usize = 32;

/// The most custom kinds that lists may name and that cannot be read, and the most of one namespace's lists.
const UNREAD_KINDS: usize = 256;
pub(super) const UNREAD_KINDS_OF_A_NAMESPACE: usize = 128;

/// The memory that namespaces share, by the data that fills it.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// The subscriptions of waiting views.
    pub(super) waits: Arc<ByteBudget>,
    /// Custom kinds that lists name and that cannot be read.
    pub(super) unread_kinds: Arc<ByteBudget>,
    /// Objects that ask to be kept whole.
    pub(crate) wishes: Arc<WholeBudget>,
    /// Objects that are read whole at one moment.
    pub(crate) readings: Arc<WholeBudget>,
    /// The bytes of large objects beyond an ordinary size.
    pub(crate) large: Arc<LargeBudget>,
    /// Creations that are held.
    pub(super) creations: Arc<ByteBudget>,
    /// The tokens of gates that the API server has reviewed.
    pub(crate) tokens: Arc<ByteBudget>,
}

impl Budgets {
    /// The budgets of a process that may take so many bytes of memory.
    pub(super) fn new(memory: usize) -> Self {
        let of = |name, in_all: usize, of_one: usize| {
            ByteBudget::new(name, memory / in_all, memory / of_one)
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
            ),
            wishes: WholeBudget::new(wishes).into(),
            readings: WholeBudget::new(ByteBudget::new("read_whole", in_all, of_one)).into(),
            large: LargeBudget::new(of("large", LARGE_IN_ALL, LARGE_OF_A_NAMESPACE)).into(),
            creations: of("creations", CREATIONS_IN_ALL, CREATIONS_OF_A_NAMESPACE),
            tokens: of("tokens", TOKENS_IN_ALL, TOKENS_OF_A_NAMESPACE),
        }
    }

    /// Each budget.
    pub(super) fn each(&self) -> [&ByteBudget; 7] {
        [
            &self.waits,
            &self.unread_kinds,
            self.wishes.budget(),
            self.readings.budget(),
            self.large.budget(),
            &self.creations,
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
            for budget in Budgets::new(memory).each() {
                let (name, one, all) = (budget.name(), budget.of_one(), budget.limit());
                assert!(0 < one && one <= all / 2, "{name}: {one} of {all}");
            }
        }
    }
}
