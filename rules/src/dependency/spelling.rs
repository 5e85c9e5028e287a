//! The `Display` of dependencies: one spelling for logs, Events and answers, close to that of a list.

use super::{Alternatives, Dependency, Edge, Min, ObjectRef, Part, Reference, Selection, State};
use std::fmt;

/// Writes the object as a list names it: `Job/migrate`, `data/StatefulSet/postgres`.
impl fmt::Display for ObjectRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(out, "{namespace}/")?;
        }
        write!(out, "{}/{}", self.kind, self.name)
    }
}

/// Writes the selection as a list names it: `data/Deployment[app=web,tier!=canary]`.
impl fmt::Display for Selection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(out, "{namespace}/")?;
        }
        write!(out, "{}[{}]", self.kind, self.selector)
    }
}

/// Writes the part as a list names it: `subchart/postgresql`.
impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.word(), self.name())
    }
}

/// Writes the alternatives for a message, such as `any of (Service/a, Service/b)` or `2 of (Job/a, Job/b, Job/c)`.
impl fmt::Display for Alternatives {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.min {
            None => write!(out, "any of (")?,
            Some(min) => write!(out, "{min} of (")?,
        }
        for (index, alternative) in self.of.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(out, "{comma}{alternative}")?;
        }
        write!(out, ")")
    }
}

/// Writes the number as a list spells it: `2`, `50%`.
impl fmt::Display for Min {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(out, "{count}"),
            Self::Percent(percent) => write!(out, "{percent}%"),
        }
    }
}

/// Writes the edge: an entry as a list spells it, `every weight below 2`, `one of 3 slots`, or `storage/DaemonSet/csi-node (node rule)`.
impl fmt::Display for Edge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(entry) => write!(out, "{entry}"),
            Self::Wave(below) => write!(out, "every weight below {below}"),
            Self::Slot(most) => write!(out, "one of {most} slots"),
            Self::NodeRule(entry) => write!(out, "{entry} (node rule)"),
        }
    }
}

/// Writes the short form of the entry: the object or objects, and `:state` unless that is `ready`. Alternatives and addresses have no state. All
/// other fields, such as `optional`, are left out.
impl fmt::Display for Dependency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A ClusterRole may be called `audit:present`: there the state is always written, so that the text reads back.
        let colon = match &self.reference {
            Reference::Object(object) => {
                write!(out, "{object}")?;
                object.name.contains(':')
            }
            Reference::Selected(selection) => {
                write!(out, "{selection}")?;
                false
            }
            Reference::Part(parts) => {
                if let Some(namespace) = &parts.namespace {
                    write!(out, "{namespace}/")?;
                }
                write!(out, "{}", parts.part)?;
                false
            }
            Reference::Any(alternatives) => return write!(out, "{alternatives}"),
            Reference::Address(address) => return write!(out, "{address}"),
        };
        if self.state != State::Ready || colon {
            write!(out, ":{}", self.state.word())?;
        }
        Ok(())
    }
}
