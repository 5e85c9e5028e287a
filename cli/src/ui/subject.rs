//! The subject of a page.

/// The namespace, and the release in it, that a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PageSubject {
    pub(super) namespace: String,
    pub(super) release: Option<String>,
}
