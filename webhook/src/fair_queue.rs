//! Items that wait for their turn. Namespaces take turns, so a namespace with many items delays no other.

use std::collections::{HashMap, VecDeque};

/// The items of all namespaces, each namespace's in the order in which they came.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    of: HashMap<String, VecDeque<T>>,
    /// The namespaces with items, each once, in the order of their turns.
    turns: VecDeque<String>,
    count: usize,
    share: usize,
    most: usize,
}

/// The result of adding an item to a queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Queued<T> {
    /// The item waits for its turn.
    Waits,
    /// The item waits, and the newest item of the namespace with the most items, which is given here, was dropped to make room for it.
    InsteadOf(T),
    /// The item, which is given back, was not added: its namespace has its share, or the queue is full and no namespace has more items.
    Refused(T),
}

impl<T> FairQueue<T> {
    /// Returns an empty queue for at most `most` items, of which at most `share` may be of one namespace.
    pub(crate) fn new(share: usize, most: usize) -> Self {
        Self {
            of: HashMap::new(),
            turns: VecDeque::new(),
            count: 0,
            share,
            most,
        }
    }

    /// Adds an item behind the others of its namespace, if need be in place of the newest item of the namespace with the most items.
    pub(crate) fn add(&mut self, namespace: &str, item: T) -> Queued<T> {
        let waiting = self.of.get(namespace).map_or(0, VecDeque::len);
        if waiting >= self.share {
            return Queued::Refused(item);
        }
        let dropped = if self.count >= self.most {
            match self.make_room(waiting + 1) {
                Some(dropped) => Some(dropped),
                None => return Queued::Refused(item),
            }
        } else {
            None
        };
        if waiting == 0 {
            self.turns.push_back(namespace.to_owned());
        }
        let of = self.of.entry(namespace.to_owned()).or_default();
        of.push_back(item);
        self.count += 1;
        dropped.map_or(Queued::Waits, Queued::InsteadOf)
    }

    /// Drops the newest item of the namespace with the most items, and returns it; `None` where no namespace has more than `than` items.
    fn make_room(&mut self, than: usize) -> Option<T> {
        let most = self.of.values_mut().max_by_key(|items| items.len());
        let dropped = most.filter(|items| items.len() > than)?.pop_back()?;
        self.count -= 1;
        Some(dropped)
    }

    /// Removes the items of a namespace that are equal to this one.
    pub(crate) fn remove(&mut self, namespace: &str, item: &T)
    where
        T: PartialEq,
    {
        let Some(items) = self.of.get_mut(namespace) else {
            return;
        };
        let before = items.len();
        items.retain(|it| it != item);
        self.count -= before - items.len();
        if items.is_empty() {
            self.of.remove(namespace);
            self.turns.retain(|turn| turn != namespace);
        }
    }

    /// Takes the oldest item of the namespace whose turn it is; `None` where the queue is empty.
    pub(crate) fn next(&mut self) -> Option<T> {
        let namespace = self.turns.pop_front()?;
        let items = self.of.get_mut(&namespace)?;
        let next = items.pop_front();
        if items.is_empty() {
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

    #[test]
    fn many_items_of_one_namespace_delay_no_other() {
        let mut queue = FairQueue::new(1_000, 5_000);
        let add = |queue: &mut FairQueue<String>, namespace: &str, number: usize| {
            let item = format!("{namespace}/{number}");
            matches!(
                queue.add(namespace, item),
                Queued::Waits | Queued::InsteadOf(_)
            )
        };
        let added = (0..5_000).filter(|number| add(&mut queue, "loud", *number));
        assert_eq!(added.count(), 1_000);
        assert!(add(&mut queue, "a", 0) && add(&mut queue, "b", 0) && add(&mut queue, "a", 1));
        let taken: Vec<String> = std::iter::from_fn(|| queue.next()).collect();
        assert_eq!(taken.len(), 1_003);
        assert_eq!(
            taken[..6],
            ["loud/0", "a/0", "b/0", "loud/1", "a/1", "loud/2"]
        );
        assert!(add(&mut queue, "loud", 0), "there is room again");
    }

    #[test]
    fn the_namespace_with_the_most_items_makes_room() {
        let mut queue = FairQueue::new(3, 4);
        for item in ["a", "b", "c"] {
            assert_eq!(queue.add("loud", item), Queued::Waits);
        }
        assert_eq!(queue.add("loud", "d"), Queued::Refused("d"));
        assert_eq!(queue.add("quiet", "e"), Queued::Waits);
        assert_eq!(queue.add("other", "f"), Queued::InsteadOf("c"));
        assert_eq!(queue.add("quiet", "g"), Queued::Refused("g"));
        queue.remove("other", &"f");
        let taken: Vec<&str> = std::iter::from_fn(|| queue.next()).collect();
        assert_eq!(taken, ["a", "e", "b"]);
        assert_eq!((queue.count, queue.turns.len()), (0, 0));
    }
}
