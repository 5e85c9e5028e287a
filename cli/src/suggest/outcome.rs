//! The outcome of a wait: an entry of a list, or the reason why the wait stays.

use super::reason::Reason;
use super::wait::Asks;

/// The outcome of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// An entry of a list can replace the wait.
    Entry(ListEntry),
    /// The container waits for another container of its own pod, so no entry is needed.
    Itself,
    /// The wait stays, for this reason.
    Left(Reason),
}

/// An entry of a list, in the form in which the annotation has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListEntry {
    /// The text of the entry; an item of the long form begins with a brace.
    pub(super) text: String,
    /// How much the loop learns about the entry's address; `None` for an entry that stands for no address.
    pub(super) asks: Option<Asks>,
}

impl ListEntry {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            asks: None,
        }
    }
}

/// The entry for an object, such as `shop/service/db:present`. `namespace` is `None` where the object is in the dependent's own namespace.
pub(super) fn object(
    namespace: Option<&str>,
    kind: &str,
    name: &str,
    state: Option<&str>,
) -> String {
    let namespace = namespace.map_or(String::new(), |it| format!("{it}/"));
    let state = state.map_or(String::new(), |it| format!(":{it}"));
    format!("{namespace}{kind}/{name}{state}")
}

/// The entry for the objects that a selector selects, such as `{kind: Pod, selector: "app=db"}`.
pub(super) fn selected(
    namespace: Option<&str>,
    kind: &str,
    selector: &str,
    same_node: bool,
) -> String {
    let namespace = namespace.map_or(String::new(), |it| format!(", namespace: {it}"));
    let same_node = if same_node { ", sameNode: true" } else { "" };
    format!("{{kind: {kind}, selector: \"{selector}\"{namespace}{same_node}}}")
}

impl Outcome {
    /// The reason why a wait stays. `elsewhere` makes the reason for a wait with an entry. `None` where the wait is for the pod itself.
    pub(super) fn reason(&self, elsewhere: impl Fn(String) -> Reason) -> Option<Reason> {
        match self {
            Self::Entry(entry) => Some(elsewhere(entry.text.clone())),
            Self::Itself => None,
            Self::Left(reason) => Some(reason.clone()),
        }
    }
}
