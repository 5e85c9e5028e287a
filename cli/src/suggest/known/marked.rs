//! Compares a container with itself in the sets of values that differ only in marks, which are made-up hosts and ports. There a list may be able
//! to say a wait that no list can say in the container's own set.

use super::Known;
use crate::suggest::found::Found;
use crate::suggest::reason::Reason;
use crate::suggest::survey::SeenContainer;
use crate::suggest::traces;

impl Known<'_> {
    /// Whether the container has waits that no list can say now, while a list can say all of them once the values of its addresses are set.
    pub(in crate::suggest) fn is_said_with_values(&self, seen: &SeenContainer) -> bool {
        let mut followed = self
            .with_other_marks(seen)
            .filter(|it| traces::follow(&self.sets[it.set]));
        !seen.is_listed() && (followed.any(SeenContainer::is_listed) || self.lacks_values(seen))
    }

    /// Whether some waits of the container only lack the user's address, a list can say the others, and a set with such an address, and with no
    /// switch that the container's own set lacks, has a list for all.
    fn lacks_values(&self, seen: &SeenContainer) -> bool {
        let may_be_said = |it: &Found| matches!(it.target, Ok(Some(_)) | Err(Reason::NoValue(_)));
        let has_address = |it: &&SeenContainer| {
            let own = &self.sets[seen.set];
            let mut plain = traces::without(&self.sets[it.set]).peekable();
            let is_marked = traces::follow(&self.sets[it.set]) && plain.peek().is_some();
            is_marked
                && it.is_the_same(seen)
                && it.has_addresses(seen)
                && plain.all(|it| own.contains(it))
        };
        seen.found.iter().all(may_be_said)
            && self
                .seen
                .iter()
                .filter(has_address)
                .any(SeenContainer::is_listed)
    }

    /// Whether a set without made-up addresses (marks), and otherwise with the values of the container's own set, shows the container as well.
    pub(in crate::suggest) fn is_in_plain_set(&self, seen: &SeenContainer) -> bool {
        let mut plain = self
            .with_other_marks(seen)
            .filter(|it| !traces::follow(&self.sets[it.set]));
        plain.next().is_some()
    }

    /// The container as it is in the sets of values that differ from its own set only in made-up addresses (marks); not as it is in its own set.
    pub(super) fn with_other_marks<'k>(
        &'k self,
        seen: &'k SeenContainer,
    ) -> impl Iterator<Item = &'k SeenContainer> {
        let plain = |set: usize| traces::without(&self.sets[set]);
        let differs_in_marks = move |it: &&SeenContainer| {
            it.set != seen.set && it.is_the_same(seen) && plain(it.set).eq(plain(seen.set))
        };
        self.seen.iter().filter(differs_in_marks)
    }
}
