//! A budget of memory that tenants share: a limit in bytes for all, and a share for each namespace.

use crate::memory_alarm::MemoryAlarm;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tracing::warn;

/// The pause after which the log tells again that a namespace fills its share.
const TOLD_AGAIN_AFTER: Duration = Duration::from_mins(10);

/// A budget in bytes, and the bytes that each namespace has taken.
///
/// A namespace takes bytes up to its share. When the budget is used up, a namespace still gets as much as each would if all
/// namespaces with bytes had the same. So the namespaces that fill the budget cannot keep others out. Never more than twice the
/// budget is given. While memory is nearly used up, the budget is half of what it is else.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    /// The word for the budget in metrics and in the log.
    name: &'static str,
    in_all: usize,
    of_one: usize,
    alarm: MemoryAlarm,
    taken: Mutex<Taken>,
    refused: AtomicU64,
    given_back: AtomicU64,
}

#[derive(Debug, Default)]
struct Taken {
    by: HashMap<Box<str>, usize>,
    in_all: usize,
    /// The namespaces that were refused bytes, and the moments at which the log told of them.
    told: HashMap<Box<str>, Instant>,
}

/// The bytes that one owner has taken from the share of its namespace. The bytes are returned when this is dropped.
#[derive(Debug)]
pub(crate) struct Allotment {
    shares: Arc<ByteBudget>,
    namespace: Box<str>,
    bytes: usize,
    /// The share of the namespace, in bytes; after a refusal, the bytes that the namespace could have had then.
    most: usize,
}

impl ByteBudget {
    /// A budget of `in_all` bytes, of which one namespace may take `of_one`. `name` is the word for the budget in metrics and in the log.
    /// `alarm` tells when memory is nearly used up.
    pub(crate) fn new(
        name: &'static str,
        in_all: usize,
        of_one: usize,
        alarm: &MemoryAlarm,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            in_all,
            of_one,
            alarm: alarm.clone(),
            taken: Mutex::default(),
            refused: AtomicU64::default(),
            given_back: AtomicU64::default(),
        })
    }

    /// The word for the budget in metrics and in the log.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// The most bytes of the budget that one namespace may take.
    pub(super) fn of_one(&self) -> usize {
        self.of_one
    }

    /// The limit of the budget for all namespaces together, in bytes.
    pub(super) fn limit(&self) -> usize {
        self.in_all
    }

    /// The bytes that all namespaces have taken from the budget now.
    pub(crate) fn taken(&self) -> usize {
        self.lock().in_all
    }

    /// The number of times that a namespace was refused more bytes.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The number of times that bytes were returned. A caller that was refused bytes tries again when this number has grown.
    pub(super) fn given_back(&self) -> u64 {
        self.given_back.load(Ordering::Relaxed)
    }

    /// An allotment of a namespace's share of the budget, without bytes yet.
    pub(crate) fn part(self: &Arc<Self>, namespace: &str) -> Allotment {
        Allotment {
            shares: Arc::clone(self),
            namespace: namespace.into(),
            bytes: 0,
            most: self.of_one,
        }
    }

    /// Takes bytes of the budget for a namespace, all of them or none.
    ///
    /// # Errors
    ///
    /// The namespace would have more than its share; or the budget, half as large during the alarm, is full, and the namespace would have more than
    /// an equal part of it, or all together more than twice of it. The error is the number of bytes that the namespace may have.
    fn take(&self, namespace: &str, bytes: usize) -> Result<(), usize> {
        let in_all = if self.alarm.is_raised() {
            self.in_all / 2
        } else {
            self.in_all
        };
        let mut taken = self.lock();
        let own = taken.by.get(namespace).copied();
        let takers = taken.by.len() + usize::from(own.is_none());
        let more = own.unwrap_or_default() + bytes;
        let sum = taken.in_all + bytes;
        let part = in_all / takers;
        let is_fair = more <= part && sum <= in_all * 2;
        let fits = sum <= in_all || is_fair;
        if more <= self.of_one && fits {
            taken.in_all += bytes;
            taken.by.insert(namespace.into(), more);
            return Ok(());
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        let is_news = taken.is_news(namespace);
        drop(taken);
        // Beside many namespaces, the equal part of a full budget is smaller than the share of a namespace.
        let is_full = !fits && part < self.of_one;
        let (of, share) = (self.name, if is_full { part } else { self.of_one });
        if is_news && is_full {
            warn!(
                namespace,
                of,
                share,
                "All namespaces together have filled their memory: a namespace has an equal part of it, in bytes, and is refused more"
            );
        } else if is_news {
            warn!(
                namespace,
                of,
                share,
                "A namespace has filled its share of the memory, in bytes, and is refused more"
            );
        }
        Err(share)
    }

    fn give_back(&self, namespace: &str, bytes: usize) {
        let mut taken = self.lock();
        taken.in_all -= bytes;
        self.given_back.fetch_add(1, Ordering::Relaxed);
        if let Some(own) = taken.by.get_mut(namespace) {
            *own -= bytes;
            if *own == 0 {
                taken.by.remove(namespace);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Nothing below panics half way.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Whether the log has not told for a while ([`TOLD_AGAIN_AFTER`]) that a namespace was refused bytes. If so, this counts as told.
    fn is_news(&mut self, namespace: &str) -> bool {
        let now = Instant::now();
        self.told
            .retain(|_, told| now.duration_since(*told) < TOLD_AGAIN_AFTER);
        let is_news = !self.told.contains_key(namespace);
        if is_news {
            self.told.insert(namespace.into(), now);
        }
        is_news
    }
}

impl Allotment {
    /// Takes more bytes of the namespace's share, all of them or none. Returns whether they were granted.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        match self.shares.take(&self.namespace, bytes) {
            Ok(()) => self.bytes += bytes,
            Err(most) => {
                self.most = most;
                return false;
            }
        }
        true
    }

    /// The bytes that this allotment has taken.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The share of the allotment's namespace, in bytes: after a refusal, the share that was too small.
    pub(crate) fn share(&self) -> usize {
        self.most
    }

    /// Returns all bytes of the allotment to the budget.
    pub(super) fn give_back(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            self.shares.give_back(&self.namespace, bytes);
        }
    }
}

impl Drop for Allotment {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::tests::Lines;

    #[tokio::test(start_paused = true)]
    async fn a_namespace_that_fills_its_share_is_told_of_once() {
        let (lines, _guard) = Lines::listen();
        let shares = ByteBudget::new("waits", 100, 60, &MemoryAlarm::default());
        let (mut loud, mut quiet) = (shares.part("loud"), shares.part("quiet"));
        assert_eq!((0..100).filter(|_| loud.take(10)).count(), 6);
        assert!(quiet.take(10));
        let told = || lines.text().matches("has filled its share").count();
        assert_eq!((told(), shares.refused()), (1, 94));
        assert!(lines.text().contains("loud") && !lines.text().contains("quiet"));
        tokio::time::advance(TOLD_AGAIN_AFTER).await;
        assert!(!loud.take(10) && !loud.take(10));
        assert_eq!(told(), 2);
    }

    #[test]
    fn the_share_that_is_told_is_the_one_that_was_too_small() {
        let (lines, _guard) = Lines::listen();
        let shares = ByteBudget::new("waits", 100, 60, &MemoryAlarm::default());
        let [mut first, mut second, mut third] = ["a", "b", "c"].map(|it| shares.part(it));
        assert!(!first.take(61));
        assert_eq!(first.share(), 60);
        assert!(lines.text().contains("has filled its share") && lines.text().contains("60"));
        assert!(first.take(60) && second.take(40) && !third.take(34));
        assert_eq!(third.share(), 33, "an equal part");
        let told = lines.text();
        let told = told.lines().find(|line| line.contains("All namespaces"));
        assert!(told.is_some_and(|it| it.contains("33")), "{told:?}");
    }

    #[test]
    fn a_namespace_has_its_share_and_cannot_keep_others_out() {
        let shares = ByteBudget::new("test", 100, 60, &MemoryAlarm::default());
        let mut first = shares.part("a");
        assert!(first.take(40) && first.take(20) && !first.take(1));
        let mut other = shares.part("b");
        assert!(
            other.take(40) && other.take(10),
            "half of it, though it is full"
        );
        assert!(!other.take(1));
        let mut third = shares.part("c");
        assert!(third.take(33) && !third.take(1), "a third");
        assert_eq!((shares.taken(), shares.refused()), (143, 3));
        drop(first);
        assert!(third.take(17), "half again");
        drop((other, third));
        assert_eq!(shares.taken(), 0);
    }

    #[test]
    fn while_memory_is_nearly_used_up_the_budget_is_half() {
        let alarm = MemoryAlarm::default();
        let shares = ByteBudget::new("test", 100, 60, &alarm);
        let [mut first, mut second] = ["a", "b"].map(|it| shares.part(it));
        assert!(first.take(60));
        alarm.set(95, 100);
        assert!(
            !first.take(1) && second.take(25) && !second.take(1),
            "a half of 50"
        );
        assert_eq!((first.bytes(), second.share()), (60, 25));
        alarm.set(50, 100);
        assert!(second.take(15));
    }
}
