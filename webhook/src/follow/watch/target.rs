//! The objects that a watch follows, and the way in which they are kept.

use crate::known::{Entry, LargeBudget, Trimmed, WholeBudget};
use crate::lists::Selection;
use kube::discovery::ApiResource;
use rules::kept::{Detail, is_too_large, trim_object, trim_passed};
use rules::kinds::Kind;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// The objects that a watch follows, and the way in which they are kept.
#[derive(Clone)]
pub(in crate::follow) struct Target {
    /// The kind as the rules name it. The kind decides which fields are kept.
    pub kind: Kind,
    /// The followed resource as the API server names it.
    pub resource: ApiResource,
    /// The label selector of the watch; `None` for all objects.
    pub selector: Option<String>,
    /// The field selector of the watch; `None` for all objects.
    pub fields: Option<String>,
    /// The namespace of the watch; `None` for all namespaces.
    pub namespace: Option<Box<str>>,
    /// The part of each object that is asked for.
    pub detail: Detail,
    /// Receives each object as it arrives, beside the store.
    pub observer: Option<Observer>,
    /// The budget of objects that are kept with all of their fields; `None` if every object of the watch is trimmed.
    pub whole_budget: Option<Arc<WholeBudget>>,
    /// The budget of large objects; `None` for a watch of one object, and for pages that are read once.
    pub large_budget: Option<Arc<LargeBudget>>,
}

/// Receives each object that was listed, added or changed, as it is kept; not one that is too large, and no deletion.
pub(crate) type Observer = Arc<dyn Fn(&Value) + Send + Sync>;

/// An object as it is read from a list or a watch: the whole JSON (`Value`), or without the parts that sluice never uses (`Lean`).
pub(super) trait Arriving: Into<Value> + DeserializeOwned + Clone + Send + 'static {}

impl<T: Into<Value> + DeserializeOwned + Clone + Send + 'static> Arriving for T {}

/// Trims an object for its store, unless a budget lets it be kept whole, a pod that has passed its gate further; without room in the budget for large
/// objects it is cut. Shows it to the observer, unless it is too large. Sets `apiVersion` and `kind`: the items of a list lack their type, and a
/// request for metadata answers with another type.
pub(super) fn kept(target: &Target, mut object: Value) -> Entry {
    if let Some(map) = object.as_object_mut() {
        map.insert(
            "apiVersion".to_owned(),
            target.resource.api_version.clone().into(),
        );
        map.insert("kind".to_owned(), target.resource.kind.clone().into());
    }
    let mut kept = match (&target.whole_budget, target.detail) {
        (Some(whole_budget), Detail::Whole) => whole_budget.untrimmed(&target.kind, object),
        (Some(whole_budget), _) => whole_budget.trimmed(&target.kind, object),
        (None, _) => {
            trim_object(&target.kind, &mut object);
            Trimmed {
                object,
                permit: None,
            }
        }
    };
    if target.detail == Detail::Gated {
        trim_passed(&mut kept.object);
    }
    // The observer could make nothing of an object that is too large.
    let observer = target.observer.as_ref();
    if let Some(observer) = observer.filter(|_| !is_too_large(&kept.object)) {
        observer(&kept.object);
    }
    match &target.large_budget {
        Some(large_budget) => large_budget.entry(&target.kind, kept),
        None => kept.into(),
    }
}

/// The list request for the objects that a watch follows.
pub(in crate::follow) fn selection(target: &Target) -> Selection {
    Selection {
        path: path(target),
        labels: target.selector.clone(),
        fields: target.fields.clone(),
        metadata: target.detail == Detail::Metadata,
    }
}

pub(in crate::follow) fn path(target: &Target) -> String {
    let resource = &target.resource;
    let root = if resource.group.is_empty() {
        "/api"
    } else {
        "/apis"
    };
    let place = target.namespace.as_ref();
    let place = place.map_or_else(String::new, |it| format!("namespaces/{it}/"));
    format!("{root}/{}/{place}{}", resource.api_version, resource.plural)
}
