//! The target of a wait, and the entry of a list for it.

use super::outcome::{self, ListEntry};
use super::wait::Asks;

/// The target of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) form: Form,
    /// The name of the object, or the selector of several objects.
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    /// The number of the target among the rendered objects; `None` where it is none of them.
    pub(super) object: Option<usize>,
    pub(super) asks: Option<Asks>,
}

/// How a target is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    Object {
        kind: String,
        state: Option<&'static str>,
    },
    SameNode {
        kind: String,
    },
    Selected {
        kind: String,
    },
    /// An address, whose entry is the name; and whether the chart's values say it.
    Address {
        of_values: bool,
    },
}

impl Target {
    /// The entry, by what the name and the namespace are written as.
    pub(super) fn entry(&self, name: &str, namespace: Option<&str>) -> ListEntry {
        let text = match &self.form {
            Form::Object { kind, state } => outcome::object(namespace, kind, name, *state),
            Form::SameNode { kind } => format!("{{kind: {kind}, name: {name}, sameNode: true}}"),
            Form::Selected { kind } => outcome::selected(namespace, kind, name),
            Form::Address { .. } => name.to_owned(),
        };
        ListEntry {
            text,
            asks: self.asks,
        }
    }

    /// The entry with its own names.
    pub(super) fn plain(&self) -> ListEntry {
        self.entry(&self.name, self.namespace.as_deref())
    }
}
