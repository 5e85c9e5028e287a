//! What may be known of something in the cluster, and why nothing may be.

/// What is known of something in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// It is there.
    Found(T),
    /// It is not there, and we would know.
    NotFound,
    /// Nobody can say, and why.
    Unavailable(Unavailable),
}

impl<T> Lookup<T> {
    /// Another value of what is there.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Lookup<U> {
        self.and_then(|found| Lookup::Found(change(found)))
    }

    /// What is found by what is there.
    pub fn and_then<U>(self, next: impl FnOnce(T) -> Lookup<U>) -> Lookup<U> {
        match self {
            Self::Found(found) => next(found),
            Self::NotFound => Lookup::NotFound,
            Self::Unavailable(why) => Lookup::Unavailable(why),
        }
    }
}

/// What may be there.
impl<T> From<Option<T>> for Lookup<T> {
    fn from(found: Option<T>) -> Self {
        found.map_or(Self::NotFound, Self::Found)
    }
}

/// Why nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The first list has not arrived yet.
    Syncing,
    /// The API server does not serve this kind; its CustomResourceDefinition may come later.
    NotServed,
    /// The API server forbids sluice to list or watch this kind.
    Forbidden,
    /// The watch has been disconnected for longer than the bound; what it said last may no longer hold.
    Stale,
    /// Whether the API server serves this kind cannot be told: it was asked and did not say, as while an aggregated API
    /// is down.
    Undiscovered,
    /// So many objects of the namespace are read whole at a time, and it is the turn of others.
    AwaitsTurn {
        /// How many.
        places: usize,
    },
    /// What the dependents of the namespace wait for fills its share of the memory, so this is not looked at.
    OverBudget {
        /// The share, in bytes.
        share: usize,
    },
    /// It is there, and longer than sluice reads of one object ([`crate::kept::LONGEST`]).
    TooLarge,
    /// Whoever judges may not read it, though sluice may: so it is only to the command line.
    Hidden,
}
