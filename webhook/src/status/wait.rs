//! The one loop of all waits, of gates and of held objects: look at the waiter, tell its user the news, and rest until something may have
//! changed.

use super::rounds::{Rest, Round};
use super::service::Service;
use super::tell::SETTLE;
use super::wait_registry::Waiter;
use crate::known::View;
use jiff::Timestamp;
use rules::judged::Reason;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use wire::said;

/// The time after which a waiter is judged again even where nothing has changed: no change wakes it for the words that explain a reason.
pub(super) const ANEW: Duration = Duration::from_mins(1);

/// A wait of one waiter: an open request of its gate, or a hold.
pub(super) trait WaitSubject {
    /// The result with which a wait of this sort ends.
    type End;

    /// The moment at which the wait began on this replica.
    fn began(&self) -> Instant;

    /// Judges the waiter once, tells its user the news, and returns whether the wait is over.
    fn look(&mut self, look: &Look<'_>) -> WaitStep<Self::End>;

    /// Returns when the waiter has to be looked at again at once, such as when its place is needed. By default never. Cancel-safe.
    async fn interrupted(&mut self, _: &Service) {
        pending::<()>().await;
    }
}

/// One look at a waiter, to judge whether its wait is over.
pub(super) struct Look<'l> {
    /// The status service, which all waits share.
    pub(super) service: &'l Service,
    /// The waiter that is looked at.
    pub(super) waiter: &'l Waiter,
    /// The reader of the cluster for this look. A change of any object that the look has read through it ends the rest.
    pub(super) view: &'l View,
    /// The time of the look, by the API server's clock.
    pub(super) now: Timestamp,
    /// Whether the wait has lasted for [`SETTLE`], so that a provisional answer, from before all kinds were read, is told too.
    pub(super) settled: bool,
}

/// The step that follows a look at a waiter.
pub(super) enum WaitStep<E> {
    /// The waiter's wait is over.
    Over(E),
    /// The waiter rests until this moment, until an object that the look has read changes, or until the round of judging changes that its answer
    /// rests on; and for no longer than [`ANEW`].
    Rest(Option<Instant>, Option<Arc<Round>>),
}

/// Looks at the waiter, and again whenever its verdict may have changed, until its wait is over. Returns the result, and the view of the last look.
pub(super) async fn wait<S: WaitSubject>(
    service: &Service,
    waiter: &Waiter,
    subject: &mut S,
) -> (S::End, View) {
    loop {
        let turn = service.turns.take(&waiter.namespace).await;
        let view = service.known.view();
        let step = subject.look(&Look {
            service,
            waiter,
            view: &view,
            now: service.clock.now(),
            settled: subject.began().elapsed() >= SETTLE,
        });
        drop(turn);
        // The view and the rest are all that is kept while the subject rests.
        let (at, rest) = match step {
            WaitStep::Over(end) => return (end, view),
            WaitStep::Rest(at, round) => (at, round.map(Round::rest)),
        };
        let anew = service.beat.within(ANEW);
        let at = at.map_or(anew, |at| at.min(anew));
        tokio::select! {
            biased;
            // Each arm only wakes the loop, so losing one to another loses nothing.
            () = subject.interrupted(service) => {}
            () = view.changed() => {}
            () = view.doubted() => {}
            () = over(rest.as_ref()) => {}
            () = sleep_until(at) => {}
        }
    }
}

/// Returns when the round of judging that the last answer rests on may no longer hold; never where there is no round.
async fn over(rest: Option<&Rest>) {
    match rest {
        Some(rest) => rest.over().await,
        None => pending().await,
    }
}

/// The instant at which the API server's clock, which shows `now`, will show `at`; the present one if `at` has passed. `None` where no instant is
/// so late.
pub(super) fn instant(at: Timestamp, now: Timestamp) -> Option<Instant> {
    let left = Duration::try_from(at.duration_since(now)).unwrap_or_default();
    Instant::now().checked_add(left)
}

/// The label of the reason of the unsatisfied dependency whose name comes first in an answer; `Unread` where the answer has none, or a reason without
/// a known label.
pub(super) fn reason(answer: &wire::Answer) -> &'static str {
    let first = said::first(answer);
    let reason = first.and_then(|first| first.reason.parse().ok());
    reason.map_or("Unread", Reason::label)
}
