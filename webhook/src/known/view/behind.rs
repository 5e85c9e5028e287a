//! What is behind a Service: looked for once for all who wait for it, and read anew by each of them.

use super::View;
use rules::edges::Link;
use rules::kinds::Kind;
use rules::lookup::Lookup;
use rules::object::name;
use rules::world::Objects;
use serde_json::{Value, json};

type Found = Link<(Kind, Value)>;

/// What `look` finds, or has found a while ago, as it is now.
pub(super) fn links(
    view: &View,
    namespace: &str,
    service: &str,
    look: &dyn Fn() -> Vec<Found>,
) -> Vec<Found> {
    let of = (namespace.to_owned(), service.to_owned());
    let look = || look().into_iter().map(in_short).collect();
    let found = view.known.behind.find(of, look).into_iter();
    let links = found.filter_map(|link| as_it_is(view, namespace, link));
    links.collect()
}

/// Of a workload the name is kept, since it is read anew. Of the pods only those with a gate are followed, and a change of
/// them wakes nobody.
fn in_short(Link { to, must }: Found) -> Found {
    let (kind, object) = to;
    let object = match kind.word() {
        "Pod" => object,
        _ => json!({"metadata": {"name": name(&object)}}),
    };
    let to = (kind, object);
    Link { to, must }
}

fn as_it_is(view: &View, namespace: &str, Link { to, must }: Found) -> Option<Found> {
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
