//! The views (the readers of waiting verdicts) that wait for a scope, or for a part of a scope, over all kinds.
//!
//! A wave may contain objects of each granted kind, and contains none of most kinds. So a view subscribes here once for all kinds, and
//! each store with objects of scopes reports its changes here.

use super::scopes::{Limit, ScopeInterest, Standing};
use super::waiters::{Bell, Fingerprint, Subscription, Waiters, Woken};
use std::sync::Arc;

/// The views that wait for changes of scopes.
#[derive(Debug, Clone, Default)]
pub(super) struct ScopeWaiters(Waiters<Fingerprint, Limit>);

/// The interests of one view in scopes.
pub(super) type ScopeSubscription = Subscription<Fingerprint, Limit>;

impl ScopeWaiters {
    /// A subscription of a view that rings `waiter`, without interests in scopes yet.
    pub(super) fn subscription(&self, waiter: &Arc<Bell>) -> ScopeSubscription {
        self.0.subscription(waiter)
    }

    /// The fingerprint of an interest in a scope, by which the interest is registered.
    pub(super) fn fingerprint(&self, look: ScopeInterest<'_>) -> Fingerprint {
        self.0.fingerprint(look)
    }

    /// Adds the views to `woken` that the change of an object concerns, where the object stands at `place` now or stood there before.
    pub(super) fn find(&self, namespace: &str, place: &Standing, woken: &mut Woken) {
        if self.0.is_empty() {
            return;
        }
        place.looks(namespace, &mut |look, position| {
            let here = self.0.fingerprint(look);
            let concerns = |limit: &Limit| position.is_some_and(|it| limit.holds(it));
            self.0.find(&here, concerns, woken);
        });
    }

    /// Adds every view that waits for a scope to `woken`, for a change that may concern each: a kind can be read, or can no longer be read, or
    /// all verdicts have to be judged again.
    pub(super) fn find_all(&self, woken: &mut Woken) {
        self.0.find_all(woken);
    }

    /// Wakes every view that waits for a scope.
    pub(super) fn wake_all(&self) {
        self.0.wake_all();
    }
}
