//! The views that wait for a scope, or for a part of a scope, over all kinds.
//!
//! A wave may contain objects of each granted kind, and contains none of most kinds. So a view subscribes here once for all kinds,
//! and each store of such objects reports its changes here.

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

    /// The fingerprint of an interest in a scope.
    pub(super) fn fingerprint(&self, look: ScopeInterest<'_>) -> Fingerprint {
        self.0.fingerprint(look)
    }

    /// Finds the views that a change concerns, of an object that stands at `place` now or stood there before.
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

    /// Finds every view: a kind can be read, or can no longer be read, or all verdicts have to be judged again.
    pub(super) fn find_all(&self, woken: &mut Woken) {
        self.0.find_all(woken);
    }

    /// Wakes every view that waits for a scope.
    pub(super) fn wake_all(&self) {
        self.0.wake_all();
    }
}
