//! The model of what a dependent waits for.

use crate::kinds::Kind;
use std::fmt;

/// One edge: what is waited for, and the state it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// How it is named.
    pub object: ObjectRef,
    /// What the edge asks for.
    pub state: State,
    /// Not found counts as satisfied.
    pub optional: bool,
}

/// An object by name. `namespace` is `None` where the user wrote none: the dependent's own, or none at all for a
/// cluster-scoped kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// What kind of object.
    pub kind: Kind,
    /// The namespace that the user wrote.
    pub namespace: Option<String>,
    /// `metadata.name`, checked as Kubernetes checks names.
    pub name: String,
}

/// What an edge asks of its dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// It exists.
    Present,
    /// kstatus says `Current`; a Job that runs counts.
    Started,
    /// The rules of [`crate::profile`].
    #[default]
    Ready,
    /// A Deployment with condition Available; `ready` for everything else.
    Available,
    /// A Job that completed, a Pod that succeeded.
    Complete,
    /// A load balancer or an ingress with an address.
    Addressed,
}

impl State {
    /// Every state, in the order in which the documentation lists them.
    pub const ALL: [Self; 6] = [
        Self::Present,
        Self::Started,
        Self::Ready,
        Self::Available,
        Self::Complete,
        Self::Addressed,
    ];

    /// The word that a user writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Started => "started",
            Self::Ready => "ready",
            Self::Available => "available",
            Self::Complete => "complete",
            Self::Addressed => "addressed",
        }
    }

    /// The state of this word, exactly as [`State::word`] spells it.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// `Job/migrate`, `data/StatefulSet/postgres`: one spelling for logs, events and answers.
impl fmt::Display for ObjectRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(out, "{namespace}/")?;
        }
        write!(out, "{}/{}", self.kind, self.name)
    }
}

/// The short form: the object, and `:state` unless it is `ready`. The short form has no word for `optional`.
impl fmt::Display for Dependency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.object)?;
        // A ClusterRole may be called `audit:present`: there the state is always written, so that the text reads back.
        if self.state != State::Ready || self.object.name.contains(':') {
            write!(out, ":{}", self.state.word())?;
        }
        Ok(())
    }
}
