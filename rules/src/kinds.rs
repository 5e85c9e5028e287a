//! The built-in Kubernetes kinds, in every spelling that kubectl accepts, and the way other kinds are named.

use std::fmt;

/// One kind that every Kubernetes cluster serves.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Builtin {
    /// API group, empty for the core group.
    pub group: &'static str,
    /// The stable version, served since Kubernetes 1.30 at the latest.
    pub version: &'static str,
    /// `Deployment`
    pub kind: &'static str,
    /// `deployments`
    pub plural: &'static str,
    /// kubectl's short names, `["deploy"]`
    pub short: &'static [&'static str],
    /// Whether its objects live in a namespace.
    pub namespaced: bool,
}

/// The kind that a reference names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A kind that every cluster has.
    Builtin(&'static Builtin),
    /// A kind that somebody installed: known by its group, and by its kind, plural, singular or short name.
    /// Only the API server can say which of those `word` is.
    Custom {
        /// API group, never empty.
        group: String,
        /// As the user wrote it, e.g. `Certificate` or `certificates`.
        word: String,
    },
}

impl Kind {
    /// API group, empty for the core group.
    pub fn group(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.group,
            Self::Custom { group, .. } => group,
        }
    }

    /// The kind's name: exact for a built-in one, as the user wrote it for another.
    pub fn word(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.kind,
            Self::Custom { word, .. } => word,
        }
    }
}

/// `Deployment` or `Certificate.cert-manager.io`.
impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(builtin) => out.write_str(builtin.kind),
            Self::Custom { group, word } => write!(out, "{word}.{group}"),
        }
    }
}
