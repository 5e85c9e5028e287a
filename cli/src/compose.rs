//! A Compose file: its `depends_on` as labels, of which kompose makes annotations.
//!
//! kompose leaves `depends_on` out, makes a Deployment of most services and a Service only of those with ports, and makes a liveness
//! probe of a health check. The names and kinds here are those that kompose gives.

mod additions;
mod probe;
mod service;
mod unlabelled;

pub(crate) use additions::Additions;
pub(crate) use unlabelled::Unlabelled;

use crate::manifest::Entries;
use serde_json::Value;

/// The Compose file that a text is, if it is one.
pub(crate) fn of(text: &[u8]) -> Option<Value> {
    let mut documents = Entries::new(text).filter_map(Result::ok);
    let says = documents.next()?.object;
    let is_object = ["kind", "apiVersion"]
        .iter()
        .any(|it| says.get(it).is_some());
    (says["services"].is_object() && !is_object).then_some(says)
}
