//! The questions that are held: how many of one pod, whose gate has one, so that nobody fills a replica with few pods; and what
//! each pod that asks waits for.

use dashmap::DashMap;
use jiff::Timestamp;
use std::sync::Arc;

/// A gate has one question; one before may not be known to be gone yet, and each replica counts by itself.
const MOST: u32 = 4;

/// The questions that are held, by the UID of the pod.
#[derive(Debug, Default)]
pub(crate) struct Questions(DashMap<String, Held>);

#[derive(Debug, Default)]
struct Held {
    count: u32,
    /// As it was told last.
    wait: Option<Wait>,
}

/// What a pod waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) namespace: String,
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
    pub(super) fn begin(self: &Arc<Self>, uid: &str) -> Option<Question> {
        let mut held = self.0.entry(uid.to_owned()).or_default();
        if held.count >= MOST {
            return None;
        }
        held.count += 1;
        Some(Question {
            all: Arc::clone(self),
            uid: uid.to_owned(),
        })
    }

    /// Looks at the wait of each pod that asks and waits.
    pub(super) fn each_wait(&self, mut look: impl FnMut(&Wait)) {
        for held in &self.0 {
            held.wait.iter().for_each(&mut look);
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

    #[test]
    fn a_pod_has_few_questions_and_another_one_its_own() {
        let questions = Arc::<Questions>::default();
        let mut held: Vec<_> = (0..MOST).map(|_| questions.begin("u1").unwrap()).collect();
        assert!(questions.begin("u1").is_none());
        assert!(questions.begin("u2").is_some());
        held.pop();
        assert!(questions.begin("u1").is_some());
        held.clear();
        assert!(questions.0.is_empty(), "who has none is forgotten");
    }
}
