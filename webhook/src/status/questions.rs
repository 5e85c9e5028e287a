//! The questions that are held: how many of one pod, whose gate has one, so that nobody fills a replica with few pods; and what
//! each pod that asks waits for.

use super::Identity;
use dashmap::DashMap;
use jiff::Timestamp;
use std::sync::Arc;

/// A gate has one question; one before may not be known to be gone yet, and each replica counts by itself.
const MOST: u32 = 4;

/// The questions that are held, by the UID of the pod.
#[derive(Debug, Default)]
pub(crate) struct Questions(DashMap<String, Held>);

#[derive(Debug)]
struct Held {
    namespace: String,
    count: u32,
    /// As it was told last.
    wait: Option<Wait>,
}

/// What a pod waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    /// A word of the closed set of reasons.
    pub(super) reason: &'static str,
    /// When the pod was started.
    pub(super) since: Timestamp,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Question {
    all: Arc<Questions>,
    uid: String,
}

impl Questions {
    /// One more question of a pod, unless it has as many as it may.
    pub(super) fn begin(self: &Arc<Self>, pod: &Identity) -> Option<Question> {
        let mut held = self.0.entry(pod.uid.clone()).or_insert_with(|| Held {
            namespace: pod.namespace.clone(),
            count: 0,
            wait: None,
        });
        if held.count >= MOST {
            return None;
        }
        held.count += 1;
        Some(Question {
            all: Arc::clone(self),
            uid: pod.uid.clone(),
        })
    }

    /// Looks at each pod that asks and waits: its namespace, and its wait.
    pub(super) fn each_wait(&self, mut look: impl FnMut(&str, Wait)) {
        for held in &self.0 {
            if let Some(wait) = held.wait {
                look(&held.namespace, wait);
            }
        }
    }
}

impl Question {
    /// What its pod waits for from now on.
    pub(super) fn waits(&self, wait: Wait) {
        if let Some(mut held) = self.all.0.get_mut(&self.uid) {
            held.wait = Some(wait);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.all.0.remove_if_mut(&self.uid, |_, held| {
            held.count -= 1;
            held.count == 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(uid: &str) -> Identity {
        Identity {
            namespace: "shop".to_owned(),
            pod: uid.to_owned(),
            uid: uid.to_owned(),
            expires: Timestamp::MAX,
        }
    }

    #[test]
    fn a_pod_has_few_questions_and_another_one_its_own() {
        let questions = Arc::<Questions>::default();
        let mut held: Vec<_> = (0..MOST)
            .map(|_| questions.begin(&pod("u1")).unwrap())
            .collect();
        assert!(questions.begin(&pod("u1")).is_none());
        assert!(questions.begin(&pod("u2")).is_some());
        held.pop();
        assert!(questions.begin(&pod("u1")).is_some());
        held.clear();
        assert!(questions.0.is_empty(), "who has none is forgotten");
    }
}
