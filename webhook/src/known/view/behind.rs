//! The objects behind a Service: one search serves all views that wait for the Service, and each view reads the objects again.

use super::View;
use rules::edges::Link;
use rules::kinds::Kind;
use rules::lookup::Lookup;
use rules::object::name;
use rules::world::Objects;
use serde_json::{Value, json};

type ObjectLink = Link<(Kind, Value)>;

/// The links from a Service to the workloads behind it, by `look` or by a recent search, with the workloads as they are now. A workload that is
/// gone or cannot be read is left out; a pod is as the search found it.
pub(super) fn links(
    view: &View,
    namespace: &str,
    service: &str,
    look: &dyn Fn() -> Vec<ObjectLink>,
) -> Vec<ObjectLink> {
    let of = (namespace.to_owned(), service.to_owned());
    let look = || look().into_iter().map(in_short).collect();
    let found = view.known.behind.find(of, look).into_iter();
    let links = found.filter_map(|link| as_it_is(view, namespace, link));
    links.collect()
}

/// Keeps only the name of a workload, because each view reads the workload again. A pod is kept whole: only gated pods are
/// followed, and their changes wake no view.
fn in_short(Link { to, must }: ObjectLink) -> ObjectLink {
    let (kind, object) = to;
    let object = match kind.word() {
        "Pod" => object,
        _ => json!({"metadata": {"name": name(&object)}}),
    };
    let to = (kind, object);
    Link { to, must }
}

fn as_it_is(view: &View, namespace: &str, Link { to, must }: ObjectLink) -> Option<ObjectLink> {
    let (kind, object) = to;
    let object = match kind.word() {
        "Pod" => object,
        _ => match view.object(&kind, Some(namespace), name(&object)) {
            Lookup::Found(object) => object,
            Lookup::NotFound | Lookup::Unavailable(_) => return None,
        },
    };
    let to = (kind, object);
    Some(Link { to, must })
}
