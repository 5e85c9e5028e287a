//! How many questions of one pod are held at a time: its gate has one, and so nobody fills a replica with few pods.

use dashmap::DashMap;
use std::sync::Arc;

/// A gate has one question; one before may not be known to be gone yet, and each replica counts by itself.
const MOST: u32 = 4;

/// The questions that are held, by the UID of the pod.
#[derive(Debug, Default)]
pub(crate) struct Questions(DashMap<String, u32>);

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
        if *held >= MOST {
            return None;
        }
        *held += 1;
        Some(Question {
            all: Arc::clone(self),
            uid: uid.to_owned(),
        })
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.all.0.remove_if_mut(&self.uid, |_, held| {
            *held -= 1;
            *held == 0
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
