//! The readings of a view as subscriptions: one for each store, one for all scopes, and their total size.

use crate::known::byte_budget::Allotment;
use crate::known::scope_waiters::{ScopeSubscription, ScopeWaiters};
use crate::known::scopes::{Limit, ScopeInterest};
use crate::known::store::{Interest, Interests, Store};
use crate::known::waiters::Bell;
use rules::lookup::Unavailable;
use rules::selector::Selector;
use std::fmt;
use std::sync::Arc;

/// The bytes that a view takes from the share of its namespace at a time. Few views take more than once, so the share is asked once for
/// each view.
const AT_A_TIME: usize = 1024;
/// The bytes that are charged for a subscription other than those to stores and scopes, with its heap.
const ANOTHER: usize = 256;

/// All subscriptions of a view to the changes of its reads.
#[derive(Default)]
pub(super) struct Reads {
    stores: Vec<(Arc<Store>, Interests)>,
    looks: Option<ScopeSubscription>,
    others: Vec<Box<dyn Send>>,
    /// The part of the namespace's share that pays for the subscriptions; `None` for the few short-lived views that are not charged.
    part: Option<Allotment>,
    spent: usize,
    /// The share of the namespace, in bytes, once it was too small. The view reads nothing more then.
    over: Option<usize>,
}

impl Reads {
    /// The subscriptions of a view that has read nothing yet. They are charged to `part`.
    pub(super) fn of(part: Option<Allotment>) -> Self {
        Self {
            part,
            ..Self::default()
        }
    }

    /// Subscribes `bell` to an interest in a store; the selector narrows a list down. An error if the share of the namespace is used up.
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

    /// Subscribes `bell` to an interest in a scope, over all kinds. Returns whether the interest is new. An error if the share of the
    /// namespace is used up.
    pub(super) fn of_all_kinds(
        &mut self,
        scope_waiters: &ScopeWaiters,
        bell: &Arc<Bell>,
        look: ScopeInterest<'_>,
        limit: Option<Limit>,
    ) -> Result<bool, Unavailable> {
        self.check()?;
        let looks = self
            .looks
            .get_or_insert_with(|| scope_waiters.subscription(bell));
        let bytes = ScopeSubscription::EACH + limit.as_ref().map_or(0, Limit::bytes);
        let is_new = looks.add(scope_waiters.fingerprint(look), limit);
        self.spend(is_new, bytes)?;
        Ok(is_new)
    }

    /// Replaces the limit of an interest in a scope by a narrower one. An error if the share of the namespace is used up.
    pub(super) fn narrow(
        &mut self,
        scope_waiters: &ScopeWaiters,
        bell: &Arc<Bell>,
        look: ScopeInterest<'_>,
        (before, now): (&Limit, Limit),
    ) -> Result<(), Unavailable> {
        // The new interest comes first, so that no change is missed between the two.
        self.of_all_kinds(scope_waiters, bell, look, Some(now))?;
        if let Some(looks) = &mut self.looks {
            looks.remove(&scope_waiters.fingerprint(look), Some(before));
        }
        Ok(())
    }

    /// Keeps a subscription to anything but stores and scopes until the view is dropped, and charges it to the share of the namespace. An error
    /// if the share is used up.
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

    /// Charges bytes for a new subscription. If the share is used up, all subscriptions of the view are dropped at once, since the view
    /// is judged again after a while in any case.
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
