//! The answer to one question about the cluster: found, not found, or unavailable and why.

/// The answer to one question about the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// The object in question exists.
    Found(T),
    /// The object does not exist, and sluice would see it if it did.
    NotFound,
    /// The answer is unknown, and why.
    Unavailable(Unavailable),
}

impl<T> Lookup<T> {
    /// Changes the value that was found; any other answer stays as it is.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Lookup<U> {
        self.and_then(|found| Lookup::Found(change(found)))
    }

    /// Asks a second question with the value that was found, and returns its answer; any other first answer stays as it is.
    pub fn and_then<U>(self, next: impl FnOnce(T) -> Lookup<U>) -> Lookup<U> {
        match self {
            Self::Found(found) => next(found),
            Self::NotFound => Lookup::NotFound,
            Self::Unavailable(why) => Lookup::Unavailable(why),
        }
    }
}

/// Reads an option as a lookup: `None` becomes [`Lookup::NotFound`].
impl<T> From<Option<T>> for Lookup<T> {
    fn from(found: Option<T>) -> Self {
        found.map_or(Self::NotFound, Self::Found)
    }
}

/// Why the answer to a question about the cluster is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The first list of the kind has not arrived yet.
    Syncing,
    /// The API server does not serve this kind; its CustomResourceDefinition may come later.
    NotServed,
    /// The API server forbids sluice to list or watch this kind.
    Forbidden,
    /// The watch of the kind has heard nothing of the API server for so long that its last news may no longer hold.
    Stale,
    /// The API server did not say whether it serves this kind, as happens while an aggregated API is down.
    Undiscovered,
    /// The object waits for its turn to be read whole: other objects of the namespace have the turn.
    AwaitsTurn {
        /// The number of objects of a namespace that are read whole at a time.
        places: usize,
    },
    /// The dependencies of the namespace's dependents fill its share of the memory, so this one is not read.
    OverBudget {
        /// The namespace's share of the memory, in bytes.
        share: usize,
    },
    /// The object exists, and is longer than sluice reads of one object ([`crate::kept::LONGEST`]).
    TooLarge,
    /// The user of the command line may not read the object, though sluice may. Only the command line gives this reason.
    Hidden,
}
