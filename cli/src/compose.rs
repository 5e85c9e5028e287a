//! Reads a Compose file, and writes its `depends_on` as labels, from which kompose makes annotations.
//!
//! kompose leaves `depends_on` out, makes a Deployment of most services and a Service only of those with ports, and makes a liveness probe
//! of a health check. The names and kinds here are those that kompose gives.

mod additions;
mod probe;
mod service;
mod unlabelled;

pub(crate) use additions::Additions;
pub(crate) use unlabelled::Unlabelled;

use crate::manifest::Entries;
use serde_json::Value;

/// Reads the first document of a text as a Compose file; `None` where it has no mapping `services`, or is a Kubernetes object (`kind`,
/// `apiVersion`).
pub(crate) fn of(text: &[u8]) -> Option<Value> {
    let mut documents = Entries::new(text).filter_map(Result::ok);
    let says = documents.next()?.object;
    let is_object = ["kind", "apiVersion"]
        .iter()
        .any(|it| says.get(it).is_some());
    (says["services"].is_object() && !is_object).then_some(says)
}
