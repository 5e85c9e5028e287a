//! The target of a wait, which is an object, several objects or an address, and the entry of a list for the target.

use super::outcome::{self, ListEntry};
use super::wait::Asks;

/// The target of a wait, which an entry of a list can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) form: Form,
    /// The name of the object, the selector of several objects, or the whole entry of an address.
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    /// The index of the target among the rendered objects; `None` where the target is none of them.
    pub(super) object: Option<usize>,
    pub(super) asks: Option<Asks>,
}

/// The form in which an entry names the target.
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
        same_node: bool,
    },
    /// The target is an address, and its name is the whole entry. `of_values`: the address comes from the chart's values.
    Address {
        of_values: bool,
    },
}

impl Target {
    /// Whether the target is an address that the gate tries itself, and no object.
    pub(super) fn is_address(&self) -> bool {
        matches!(self.form, Form::Address { .. })
    }

    /// The entry with this name and namespace, such as texts of a template, in place of the target's own.
    pub(super) fn entry(&self, name: &str, namespace: Option<&str>) -> ListEntry {
        let text = match &self.form {
            Form::Object { kind, state } => outcome::object(namespace, kind, name, *state),
            Form::SameNode { kind } => format!("{{kind: {kind}, name: {name}, sameNode: true}}"),
            Form::Selected { kind, same_node } => {
                outcome::selected(namespace, kind, name, *same_node)
            }
            Form::Address { .. } => name.to_owned(),
        };
        ListEntry {
            text,
            asks: self.asks,
        }
    }

    /// The entry with the target's own name and namespace, as they were rendered.
    pub(super) fn plain(&self) -> ListEntry {
        self.entry(&self.name, self.namespace.as_deref())
    }
}
