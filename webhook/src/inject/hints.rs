//! Warnings about a request that is allowed, by [`rules::advice`].
//!
//! Beside the request, only objects that the process happens to watch are looked at; a kind without a watch gives no
//! warning, and no watch is begun. So a warning may be missing, and the patch never depends on a warning.

use super::lists::Lists;
use super::template::template;
use super::{Operation, Options, Request, Subject};
use rules::advice::{self, Advice, Seen, Windows, Workload};
use rules::dependency::Dependency;
use rules::object::controller_of;
use serde_json::Value;

/// Returns the advice on one request that is allowed. `entries` are those of the object's lists, where they have been read. Empty for the object
/// of a controller, for one without pods, for one that asks for no gate, and for an update that does not change a list, a weight or a cap.
pub(crate) fn hints(
    request: &Request<'_>,
    options: Options,
    entries: Option<Vec<Dependency>>,
    known: &dyn Seen,
) -> Vec<Advice> {
    let object = request.object;
    // Warnings to a controller reach no user.
    if request.operation == Operation::Other || controller_of(object).is_some() {
        return Vec::new();
    }
    let pod = request.subject.group.is_empty() && request.subject.kind == "Pod";
    let template = if pod {
        Some(object)
    } else {
        template(request.subject, object)
    };
    let Some(template) = template else {
        return Vec::new();
    };
    let lists = Lists::of(request);
    if !lists.asked(options) || (request.operation == Operation::Update && !lists.changed(options))
    {
        return Vec::new();
    }
    let entries = entries.or_else(|| lists.declared(options).ok());
    let dependencies = entries.unwrap_or_default();
    let windows = if options.skip_windows {
        Windows::Skipped
    } else {
        Windows::Refused
    };
    let workload = workload(request.subject, object, template);
    let mut told = advice::of(&workload, &dependencies, windows, known);
    told.extend(advice::of_metadata(
        &request.subject.kind,
        &object["metadata"],
    ));
    if !pod {
        told.extend(advice::of_metadata("", &template["metadata"]));
    }
    told
}

/// Returns the object of a request, in the form that advice reads.
pub(super) fn workload<'a>(
    subject: &'a Subject,
    object: &'a Value,
    template: &'a Value,
) -> Workload<'a> {
    Workload {
        group: &subject.group,
        kind: &subject.kind,
        namespace: &subject.namespace,
        name: &subject.name,
        object,
        template,
    }
}

#[cfg(test)]
mod tests;
