//! Notes that wait to be written. Namespaces take turns, so a namespace with many notes delays no other.

use super::{Note, Regarding};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// The most notes of one namespace that wait to be written as Events.
const SHARE: usize = 1_000;
/// The most notes that wait in all. Beyond them, the newest note of the namespace with the most notes makes room.
const MOST: usize = 5_000;

/// The notes that wait to be written as Events, by namespace.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    notes: Mutex<Notes>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Notes {
    of: HashMap<String, VecDeque<(Regarding, Note)>>,
    /// The order of turns: each namespace with notes, once.
    turns: VecDeque<String>,
    count: usize,
}

impl Backlog {
    /// Adds a note behind the others of its namespace. Returns `false` where there is no room.
    pub(super) fn add(&self, regarding: Regarding, note: Note) -> bool {
        let added = self.with(|notes| notes.add(regarding, note));
        if added {
            self.added.notify_one();
        }
        added
    }

    /// Returns the next note, as soon as there is one. Cancel-safe.
    pub(super) async fn next(&self) -> (Regarding, Note) {
        loop {
            if let Some(next) = self.with(Notes::next) {
                return next;
            }
            self.added.notified().await;
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Notes) -> T) -> T {
        // A panic under the lock leaves at worst a note out of turn.
        act(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Notes {
    fn add(&mut self, regarding: Regarding, note: Note) -> bool {
        let namespace = regarding.namespace.clone();
        let waiting = self.of.get(&namespace).map_or(0, VecDeque::len);
        if waiting >= SHARE || (self.count >= MOST && !self.make_room(waiting + 1)) {
            return false;
        }
        if waiting == 0 {
            self.turns.push_back(namespace.clone());
        }
        self.of
            .entry(namespace)
            .or_default()
            .push_back((regarding, note));
        self.count += 1;
        true
    }

    /// Drops a note of a namespace with more than `than` notes. Returns `false` where there is no such namespace.
    fn make_room(&mut self, than: usize) -> bool {
        let most = self.of.values_mut().max_by_key(|notes| notes.len());
        let Some(most) = most.filter(|notes| notes.len() > than) else {
            return false;
        };
        most.pop_back();
        self.count -= 1;
        true
    }

    fn next(&mut self) -> Option<(Regarding, Note)> {
        let namespace = self.turns.pop_front()?;
        let notes = self.of.get_mut(&namespace)?;
        let next = notes.pop_front();
        if notes.is_empty() {
            self.of.remove(&namespace);
        } else {
            self.turns.push_back(namespace);
        }
        self.count -= 1;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Telling;
    use futures::FutureExt;

    #[tokio::test]
    async fn many_notes_of_one_namespace_silence_no_other() {
        let backlog = Backlog::default();
        let add = |namespace: &str, name: usize| {
            let regarding = Regarding {
                api_version: None,
                kind: "Pod".to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_string(),
                uid: None,
            };
            let note = Note {
                severity: "Normal",
                action: "Gate",
                reason: "Waiting",
                text: String::new(),
                wait: None,
                telling: Telling::Once,
            };
            backlog.add(regarding, note)
        };
        assert_eq!((0..5_000).filter(|name| add("loud", *name)).count(), SHARE);
        assert!(add("a", 0) && add("b", 0) && add("a", 1));
        let mut told = Vec::new();
        while let Some((regarding, _)) = backlog.next().now_or_never() {
            told.push(format!("{}/{}", regarding.namespace, regarding.name));
        }
        assert_eq!(told.len(), SHARE + 3);
        assert_eq!(
            told[..6],
            ["loud/0", "a/0", "b/0", "loud/1", "a/1", "loud/2"]
        );
        assert!(add("loud", 0), "there is room again");

        let loud: Vec<String> = (0..6).map(|number| format!("loud-{number}")).collect();
        for name in 0..SHARE {
            for namespace in &loud {
                let _ = add(namespace, name);
            }
        }
        assert!(
            (0..100).all(|name| add("quiet", name)),
            "all of them are full"
        );
    }
}
