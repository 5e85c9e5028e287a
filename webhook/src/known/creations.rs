//! The creations that are held: the tries of their clients, and the standing of each creation.
//!
//! Admission notes each try and answers by the standing that is known; the status service judges the creation meanwhile. A replica keeps
//! only the tries that reached it, and forgets a creation soon after its client could have tried again.

use super::byte_budget::{Allotment, ByteBudget};
use jiff::Timestamp;
use rules::creation::{Standing, of_request};
use rules::dependent::Dependent;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// The delay by which a try may miss its time: a client is slow, or has to wait for other requests of its own.
const LATE: Duration = Duration::from_secs(30);

/// The bytes that a creation takes beside its texts: the task that judges it, and its places in tables.
const EACH: usize = 2 * 1024;

/// The creations of objects that admission holds back until their lists are satisfied, by key.
#[derive(Debug)]
pub(crate) struct Creations {
    held: Mutex<HashMap<String, Arc<HeldCreation>>>,
    budget: Arc<ByteBudget>,
    begun: mpsc::UnboundedSender<Arc<HeldCreation>>,
    begins: tokio::sync::Mutex<mpsc::UnboundedReceiver<Arc<HeldCreation>>>,
}

/// The creation of one object, which admission holds back until the object's list is satisfied.
#[derive(Debug)]
pub(crate) struct HeldCreation {
    /// The key of the creation, from the object, its list and the terms of its wait. It is equal for every try.
    pub(crate) key: String,
    /// The object that the client wants to create, as the dependent that it would be.
    pub(crate) dependent: Dependent,
    /// The time of the first try that this replica has seen.
    pub(crate) first: Timestamp,
    tries: Mutex<Tries>,
    standing: watch::Sender<Standing>,
    /// Rings when the creation has passed or was refused, and when a client has begun another request.
    turned: Notify,
    _room: Allotment,
}

/// The tries to create one object.
#[derive(Debug)]
struct Tries {
    count: usize,
    /// The time of the first try since the client began to try, or began anew after it had given up.
    began: Timestamp,
    /// The moment at which the creation is forgotten unless another try comes.
    until: Instant,
}

/// The error that a namespace has no room for one more held creation, with the share of the namespace in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoCreationRoom(pub(crate) usize);

impl Creations {
    /// Makes the table of held creations, whose memory `budget` bounds.
    pub(super) fn within(budget: Arc<ByteBudget>) -> Self {
        let (begun, begins) = mpsc::unbounded_channel();
        Self {
            held: Mutex::default(),
            budget,
            begun,
            begins: begins.into(),
        }
    }

    /// Notes a try at `now` of the creation with this key, and returns the creation. `make` makes the dependent of a creation that is tried
    /// for the first time, and tells the bytes of its texts.
    ///
    /// # Errors
    ///
    /// The namespace has no room for one more creation.
    pub(crate) fn tried(
        &self,
        key: String,
        namespace: &str,
        make: impl FnOnce() -> (Dependent, usize),
        now: Timestamp,
    ) -> Result<Arc<HeldCreation>, NoCreationRoom> {
        let mut held = self.lock();
        if let Some(creation) = held.get(&key) {
            if creation.tries().again(now) {
                creation.turned.notify_one();
            }
            return Ok(Arc::clone(creation));
        }
        let (dependent, bytes) = make();
        let mut room = self.budget.part(namespace);
        if !room.take(EACH + 2 * key.len() + bytes) {
            return Err(NoCreationRoom(room.share()));
        }
        let creation = Arc::new(HeldCreation {
            key: key.clone(),
            dependent,
            first: now,
            tries: Mutex::new(Tries {
                count: 1,
                began: now,
                until: Instant::now() + LATE,
            }),
            standing: watch::Sender::new(Standing::Unread),
            turned: Notify::new(),
            _room: room,
        });
        held.insert(key, Arc::clone(&creation));
        // The receiver lives as long as this table.
        let _ = self.begun.send(Arc::clone(&creation));
        Ok(creation)
    }

    /// Waits for the next creation that is tried for the first time, and returns it.
    pub(crate) async fn begun(&self) -> Arc<HeldCreation> {
        match self.begins.lock().await.recv().await {
            Some(creation) => creation,
            // This table has a sender itself.
            None => std::future::pending().await,
        }
    }

    /// Forgets a creation at once, because its client was told that it may pass or is refused.
    pub(crate) fn end(&self, creation: &HeldCreation) {
        creation.tries().until = Instant::now();
        creation.turned.notify_one();
        self.forget(creation);
    }

    /// Forgets a creation if the time in which a client could try it again is over. Returns whether that time is over.
    pub(crate) fn forget(&self, creation: &HeldCreation) -> bool {
        let mut held = self.lock();
        let over = creation.tries().until <= Instant::now();
        let is_it = |it: &Arc<HeldCreation>| std::ptr::eq(Arc::as_ptr(it), creation);
        if over && held.get(&creation.key).is_some_and(is_it) {
            held.remove(&creation.key);
        }
        over
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<HeldCreation>>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tries {
    /// Counts one more try. Returns whether the client begins anew with it, after it had given up.
    fn again(&mut self, now: Timestamp) -> bool {
        self.count += 1;
        let begins = of_request(self.count) == 1;
        if begins {
            self.began = now;
        }
        begins
    }
}

impl HeldCreation {
    /// The number of tries that this replica has seen.
    pub(crate) fn count(&self) -> usize {
        self.tries().count
    }

    /// The time of the first try since the client began to try, or began anew after it had given up.
    pub(crate) fn began(&self) -> Timestamp {
        self.tries().began
    }

    /// Notes that the client was told to pause this long before its next try. Without that try the creation is forgotten [`LATE`] after the
    /// pause.
    pub(crate) fn expects(&self, pause: Duration) {
        self.tries().until = Instant::now() + pause + LATE;
    }

    /// The standing of the creation. While the creation has not been judged, the call waits for at most `longest`, and then returns
    /// [`Standing::Unread`].
    pub(crate) async fn stands(&self, longest: Duration) -> Standing {
        let mut seen = self.standing.subscribe();
        let read = seen.wait_for(|standing| *standing != Standing::Unread);
        let read = timeout(longest, read).await;
        match read {
            Ok(Ok(standing)) => standing.clone(),
            Ok(Err(_)) | Err(_) => Standing::Unread,
        }
    }

    /// Notes the standing of the creation. Returns whether it has changed.
    pub(crate) fn stand(&self, now: Standing) -> bool {
        self.standing.send_if_modified(|standing| {
            let is_new = *standing != now;
            *standing = now;
            is_new
        })
    }

    /// Returns when no client may try any more, the creation has ended, or a client has begun another request. Cancel-safe.
    pub(crate) async fn turns(&self) {
        loop {
            let until = self.tries().until;
            if until <= Instant::now() {
                return;
            }
            tokio::select! {
                biased;
                () = self.turned.notified() => return,
                () = sleep_until(until) => {}
            }
        }
    }

    fn tries(&self) -> MutexGuard<'_, Tries> {
        // Every change is one assignment, so a panic leaves nothing half done.
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_alarm::MemoryAlarm;
    use rules::kinds::Kind;
    use serde_json::json;
    use tokio::time::advance;

    fn creations() -> Creations {
        Creations::within(ByteBudget::new(
            "creations",
            100 * 1024,
            20 * 1024,
            &MemoryAlarm::default(),
        ))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn tries(
        creations: &Creations,
        namespace: &str,
        name: &str,
        second: i64,
    ) -> Result<Arc<HeldCreation>, NoCreationRoom> {
        let kind = Kind::Custom {
            group: "cert-manager.io".to_owned(),
            word: "Issuer".to_owned(),
        };
        let object = json!({"metadata": {"name": name}});
        let make = || {
            let of = Dependent::to_create(kind, &object, (namespace, name), at(second));
            (of, object.to_string().len())
        };
        creations.tried(format!("{namespace}/{name}"), namespace, make, at(second))
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_try_is_kept_while_a_client_may_try_again() {
        let creations = creations();
        let first = tries(&creations, "shop", "ca", 0).unwrap();
        first.expects(Duration::from_secs(60));
        advance(Duration::from_secs(80)).await;
        let again = tries(&creations, "shop", "ca", 80).unwrap();
        assert_eq!((again.first, again.count()), (at(0), 2));
        assert!(!creations.forget(&again));
        advance(Duration::from_secs(20)).await;
        assert!(creations.forget(&again), "nobody asks any more");
        let anew = tries(&creations, "shop", "ca", 100).unwrap();
        assert_eq!((anew.first, anew.count()), (at(100), 1));
        assert!(creations.forget(&again) && creations.lock().len() == 1);
        creations.end(&anew);
        assert_eq!(creations.lock().len(), 0);
        anew.turns().await;
    }

    /// Argo CD and Flux send the object again soon after they gave up: the wait goes on, and its client tries for as long once more.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_begins_again_goes_on_with_the_wait() {
        let creations = creations();
        for second in 0..11 {
            let creation = tries(&creations, "shop", "ca", second).unwrap();
            assert_eq!(creation.began(), at(0));
        }
        let again = tries(&creations, "shop", "ca", 20).unwrap();
        assert_eq!(
            (again.first, again.began(), again.count()),
            (at(0), at(20), 12)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_without_room_keeps_no_other_out() {
        let creations = creations();
        let many = (0..100).map(|it| tries(&creations, "shop", &format!("n{it}"), 0));
        let (held, refused): (Vec<_>, Vec<_>) = many.partition(Result::is_ok);
        assert!((5..15).contains(&held.len()), "{}", held.len());
        assert_eq!(refused[0].as_ref().unwrap_err(), &NoCreationRoom(20 * 1024));
        assert!(tries(&creations, "bank", "ca", 0).is_ok());
        for creation in held.iter().flatten() {
            creations.end(creation);
        }
        drop(held);
        // A creation keeps its room until the task that judges it has ended, and `begins` holds those that no task has taken.
        while let Ok(creation) = creations.begins.lock().await.try_recv() {
            drop(creation);
        }
        assert!(tries(&creations, "shop", "another", 0).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_look_is_waited_for_and_not_for_long() {
        let creations = creations();
        let creation = tries(&creations, "shop", "ca", 0).unwrap();
        let longest = Duration::from_millis(250);
        let looks = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert!(creation.stand(Standing::Open));
            assert!(!creation.stand(Standing::Open));
        };
        let began = Instant::now();
        let (standing, ()) = tokio::join!(creation.stands(longest), looks);
        assert_eq!(
            (standing, began.elapsed().as_millis()),
            (Standing::Open, 100)
        );
        let other = tries(&creations, "shop", "other", 0).unwrap();
        assert_eq!(other.stands(longest).await, Standing::Unread);
        assert_eq!(began.elapsed().as_millis(), 350);
    }
}
