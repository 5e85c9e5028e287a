//! The place of an object in the input.

use crate::manifest::Origin;
use serde::Serialize;
use std::fmt;

/// The file, and the kind, namespace and name of the object in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub(crate) struct Place {
    /// The file of the object; empty for an object of a cluster.
    pub(crate) file: String,
    /// The number of the document, from 1; 0 where the file has none that can be read.
    pub(crate) document: usize,
    /// The place of the object in the file.
    #[serde(skip)]
    pub(crate) origin: Origin,
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Writes the object's kind and name: `Deployment shop/api`.
impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            namespace,
            name,
            ..
        } = self;
        write!(out, "{kind} ")?;
        if !namespace.is_empty() {
            write!(out, "{namespace}/")?;
        }
        out.write_str(name)
    }
}
