//! The condition `sluice.dev/Released` of pods: the answer that the gate got last, for programs that read conditions.
//!
//! A condition is written only if the chart's value `podConditions.enabled` grants the right. The writer takes one pod after the other,
//! by turns of their namespaces, and writes only the newest condition of each pod. A pod that is released before its turn is never said
//! to wait.

use crate::fair_queue::{FairQueue, Queued};
use crate::status::wait_registry::Waiter;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, PodCondition, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::sleep;
use tracing::debug;

const TYPE: &str = "sluice.dev/Released";

/// The pause between two conditions that one replica writes.
const PACE: Duration = Duration::from_millis(10);
/// The most pods whose condition is still to be written; and, in the line below, the most of one namespace. Beyond them the newest condition of the
/// namespace with the most makes room, or the condition of one more pod is left out until its answer changes.
const MOST: usize = 20_000;
const SHARE: usize = 10_000;

/// The conditions of pods that are still to be written.
#[derive(Debug, Default)]
pub(crate) struct PodConditions {
    pending: Mutex<Pending>,
    added: Notify,
}

#[derive(Debug)]
struct Pending {
    /// The newest condition of each pod, by the UID of the pod.
    words: HashMap<String, Word>,
    /// The UIDs of the pods in the order of writing, by turns of their namespaces, each UID once.
    turns: FairQueue<String>,
}

impl Default for Pending {
    fn default() -> Self {
        Self {
            words: HashMap::new(),
            turns: FairQueue::new(SHARE, MOST),
        }
    }
}

/// The condition `sluice.dev/Released` of one pod.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    namespace: String,
    pod: String,
    released: bool,
    reason: String,
    message: Option<String>,
    since: Timestamp,
}

impl PodConditions {
    /// Makes the table of conditions, still empty, and the task that writes them, which the caller has to run.
    pub(crate) fn new(client: Client) -> (Arc<Self>, impl Future<Output = ()>) {
        let conditions = Arc::<Self>::default();
        let writer = write(client, Arc::clone(&conditions));
        (conditions, writer)
    }

    /// Queues the condition that a pod waits, in place of an unwritten one of that pod. `since`: the start of the wait. Does nothing where too many
    /// conditions of the namespace, or in all, are queued.
    pub(super) fn waits(
        &self,
        pod: &Waiter,
        reason: &str,
        message: Option<String>,
        since: Timestamp,
    ) {
        self.tell(pod, false, reason, message, since);
    }

    /// Queues the condition that the gate of a pod opens now, in place of an unwritten one of that pod. Does nothing where too many conditions of the
    /// namespace, or in all, are queued.
    pub(super) fn released(&self, pod: &Waiter, reason: &str, now: Timestamp) {
        self.tell(pod, true, reason, None, now);
    }

    /// Forgets the condition that a pod waits, if it is not written yet, because the hold has ended: another replica may have released the gate by
    /// now.
    pub(super) fn was_let_go(&self, pod: &Waiter) {
        self.with(|pending| pending.forget_wait(&pod.uid));
    }

    fn tell(
        &self,
        pod: &Waiter,
        released: bool,
        reason: &str,
        message: Option<String>,
        since: Timestamp,
    ) {
        let word = Word {
            namespace: pod.namespace.clone(),
            pod: pod.name.clone(),
            released,
            reason: reason.to_owned(),
            message,
            since,
        };
        self.with(|pending| pending.add(&pod.uid, word));
        self.added.notify_one();
    }

    /// Waits for the next condition that is to be written, and takes it with the UID of its pod. Cancel-safe.
    async fn next(&self) -> (String, Word) {
        loop {
            if let Some(next) = self.with(Pending::next) {
                return next;
            }
            self.added.notified().await;
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Pending) -> T) -> T {
        // A panic while the lock is held loses one condition at worst.
        act(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Pending {
    fn add(&mut self, uid: &str, word: Word) {
        if let Some(before) = self.words.get_mut(uid) {
            *before = word;
            return;
        }
        match self.turns.add(&word.namespace, uid.to_owned()) {
            Queued::Refused(_) => return,
            Queued::Waits => {}
            Queued::InsteadOf(dropped) => drop(self.words.remove(&dropped)),
        }
        self.words.insert(uid.to_owned(), word);
    }

    fn forget_wait(&mut self, uid: &str) {
        if let Some(word) = self.words.get(uid).filter(|word| !word.released) {
            self.turns.remove(&word.namespace, &uid.to_owned());
            self.words.remove(uid);
        }
    }

    fn next(&mut self) -> Option<(String, Word)> {
        let uid = self.turns.next()?;
        let word = self.words.remove(&uid)?;
        Some((uid, word))
    }
}

/// Returns the patch of a pod's status with our condition alone, which a strategic merge finds by its key. The API server refuses the patch for a
/// pod of another UID.
fn patch(uid: String, word: Word) -> Pod {
    let condition = PodCondition {
        type_: TYPE.to_owned(),
        status: if word.released { "True" } else { "False" }.to_owned(),
        reason: Some(word.reason),
        message: Some(word.message.unwrap_or_default()),
        last_transition_time: Some(Time(word.since)),
        ..PodCondition::default()
    };
    Pod {
        metadata: ObjectMeta {
            uid: Some(uid),
            ..ObjectMeta::default()
        },
        status: Some(PodStatus {
            conditions: Some(vec![condition]),
            ..PodStatus::default()
        }),
        ..Pod::default()
    }
}

async fn write(client: Client, conditions: Arc<PodConditions>) {
    loop {
        let (uid, word) = conditions.next().await;
        let pods = Api::<Pod>::namespaced(client.clone(), &word.namespace);
        let name = word.pod.clone();
        let patch = Patch::Strategic(patch(uid, word));
        // Nothing depends on the condition, and the pod may be gone.
        if let Err(error) = pods
            .patch_status(&name, &PatchParams::default(), &patch)
            .await
        {
            debug!(%error, pod = name, "Condition not written");
        }
        sleep(PACE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::wait_registry::waiter;
    use kube::Resource;
    use serde_json::{Value, json, to_value};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[tokio::test]
    async fn of_each_pod_the_newest_word_is_written_in_turn() {
        let conditions = PodConditions::default();
        conditions.waits(&waiter("u1"), "NotFound", Some("a".to_owned()), at(5));
        conditions.waits(&waiter("u2"), "NotFound", Some("b".to_owned()), at(6));
        conditions.released(&waiter("u1"), "Satisfied", at(9));
        let (first, word) = conditions.next().await;
        let written: Value = to_value(patch(first, word)).unwrap();
        assert_eq!(
            written,
            json!({
                "apiVersion": Pod::api_version(&()),
                "kind": "Pod",
                "metadata": {"uid": "u1"},
                "status": {"conditions": [{
                    "type": "sluice.dev/Released",
                    "status": "True",
                    "reason": "Satisfied",
                    "message": "",
                    "lastTransitionTime": "1970-01-01T00:00:09Z",
                }]},
            })
        );
        let (second, word) = conditions.next().await;
        assert_eq!(
            (second.as_str(), word.message.as_deref()),
            ("u2", Some("b"))
        );
        assert!(conditions.with(|pending| pending.words.is_empty()));
    }

    #[tokio::test]
    async fn of_a_pod_that_is_held_no_more_nothing_older_is_written() {
        let conditions = PodConditions::default();
        for uid in ["u1", "u2"] {
            conditions.waits(&waiter(uid), "NotFound", None, at(5));
        }
        conditions.was_let_go(&waiter("u1"));
        conditions.released(&waiter("u1"), "Satisfied", at(9));
        conditions.was_let_go(&waiter("u1"));
        assert_eq!(conditions.next().await.0, "u2");
        let (uid, word) = conditions.next().await;
        assert_eq!((uid.as_str(), word.released), ("u1", true));
        assert!(conditions.with(Pending::next).is_none());
    }

    #[tokio::test]
    async fn a_namespace_with_many_pods_delays_no_other() {
        let conditions = PodConditions::default();
        for number in 0..SHARE + 1_000 {
            conditions.waits(&waiter(&format!("u{number}")), "NotFound", None, at(5));
        }
        let other = Waiter {
            namespace: "other".to_owned(),
            ..waiter("other")
        };
        conditions.waits(&other, "NotFound", None, at(5));
        let first = [conditions.next().await.0, conditions.next().await.0];
        assert_eq!(first, ["u0", "other"]);
        let left = std::iter::from_fn(|| conditions.with(Pending::next));
        assert_eq!(left.count(), SHARE - 1);
    }
}
