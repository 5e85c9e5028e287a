//! What a view has read, as what wakes it: one subscription for each store, one for all kinds together, and what all of them take.

use crate::known::lookers::{Limit, Look, LookedAt, Lookers};
use crate::known::shares::Allotment;
use crate::known::store::{Interest, Interests, Store};
use crate::known::waiters::Bell;
use rules::lookup::Unavailable;
use rules::selector::Selector;
use std::fmt;
use std::sync::Arc;

/// So many bytes are taken of the share at a time: hardly any view takes more than once, so it is asked for once in each.
const AT_A_TIME: usize = 1024;
/// What counts for a subscription of another kind, with what it points to.
const ANOTHER: usize = 256;

/// All that a view has read.
#[derive(Default)]
pub(super) struct Reads {
    stores: Vec<(Arc<Store>, Interests)>,
    looks: Option<LookedAt>,
    others: Vec<Box<dyn Send>>,
    /// `None` where nobody counts: those views are few and short-lived.
    part: Option<Allotment>,
    spent: usize,
    /// The share that was too small, in bytes. Nothing is read any more then.
    over: Option<usize>,
}

impl Reads {
    /// Nothing yet; what wakes is taken out of this part.
    pub(super) fn of(part: Option<Allotment>) -> Self {
        Self {
            part,
            ..Self::default()
        }
    }

    /// From now on `bell` is rung by changes of this; the selector narrows a list down.
    pub(super) fn of_store(
        &mut self,
        store: &Arc<Store>,
        bell: &Arc<Bell>,
        interest: Interest<'_>,
        selector: Option<&Selector>,
    ) -> Result<(), Unavailable> {
        self.check()?;
        let place = self
            .stores
            .iter()
            .position(|(it, _)| Arc::ptr_eq(it, store));
        let place = place.unwrap_or_else(|| {
            let own = (Arc::clone(store), store.subscription(bell));
            self.stores.push(own);
            self.stores.len() - 1
        });
        let interests = &mut self.stores[place].1;
        let is_new = interests.add(store.fingerprint(interest), selector.cloned());
        let texts = selector.map_or(0, |it| size_of::<Selector>() + it.to_string().len() * 2);
        self.spend(is_new, Interests::EACH + texts)
    }

    /// The same by changes of what is looked at over all kinds. Returns whether it was not looked at before.
    pub(super) fn of_all_kinds(
        &mut self,
        lookers: &Lookers,
        bell: &Arc<Bell>,
        look: Look<'_>,
        limit: Option<Limit>,
    ) -> Result<bool, Unavailable> {
        self.check()?;
        let looks = self.looks.get_or_insert_with(|| lookers.subscription(bell));
        let bytes = LookedAt::EACH + limit.as_ref().map_or(0, Limit::bytes);
        let is_new = looks.add(lookers.fingerprint(look), limit);
        self.spend(is_new, bytes)?;
        Ok(is_new)
    }

    /// Leaves only what stands before the new limit of a look.
    pub(super) fn narrow(
        &mut self,
        lookers: &Lookers,
        bell: &Arc<Bell>,
        look: Look<'_>,
        (before, now): (&Limit, Limit),
    ) -> Result<(), Unavailable> {
        // First the new one, so that no change falls in between.
        self.of_all_kinds(lookers, bell, look, Some(now))?;
        if let Some(looks) = &mut self.looks {
            looks.remove(&lookers.fingerprint(look), Some(before));
        }
        Ok(())
    }

    /// Keeps what something else is woken by.
    pub(super) fn keep(&mut self, other: Box<dyn Send>) -> Result<(), Unavailable> {
        self.check()?;
        self.others.push(other);
        self.spend(true, ANOTHER)
    }

    fn check(&self) -> Result<(), Unavailable> {
        match self.over {
            Some(share) => Err(Unavailable::OverBudget { share }),
            None => Ok(()),
        }
    }

    /// Where there is no more, what was read makes room at once: it is judged anew after a while in any case.
    fn spend(&mut self, is_new: bool, bytes: usize) -> Result<(), Unavailable> {
        let Some(part) = self.part.as_mut().filter(|_| is_new) else {
            return Ok(());
        };
        self.spent += bytes;
        let missing = self.spent.saturating_sub(part.bytes());
        if missing == 0 || part.take(missing.max(AT_A_TIME)) {
            return Ok(());
        }
        let over = Some(part.share());
        *self = Self {
            over,
            ..Self::default()
        };
        self.check()
    }
}

impl fmt::Debug for Reads {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stores,
            others,
            spent,
            over,
            ..
        } = self;
        let counts = (stores.len(), others.len());
        write!(out, "Reads {counts:?} of {spent} bytes, over {over:?}")
    }
}
