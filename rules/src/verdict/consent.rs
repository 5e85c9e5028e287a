//! Whether a dependency in another namespace may be told of at all.

use super::Policy;
use crate::judged::{Judged, Reason, unavailable, unmet};
use crate::keys;
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::Lookup;
use crate::world::World;
use serde_json::Value;

/// What the administrator allows beyond the consent of the target namespaces: `(from, to)`, `*` for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrossNamespace(pub Vec<(String, String)>);

impl CrossNamespace {
    fn allows(&self, from: &str, to: &str) -> bool {
        let fits = |pattern: &str, name: &str| pattern == "*" || pattern == name;
        self.0.iter().any(|(f, t)| fits(f, from) && fits(t, to))
    }
}

/// `None` where namespace `to` lets objects of `from` depend on what is in it.
pub(super) fn consent(from: &str, to: &str, policy: &Policy, world: &dyn World) -> Option<Judged> {
    if policy.cross_namespace.allows(from, to) {
        return None;
    }
    let not_permitted = Some(unmet(Status::Unknown, Reason::NotPermitted, String::new()));
    let kind = Kind::Builtin(kinds::NAMESPACE);
    let consents = |namespace: &Value| {
        let listed = namespace["metadata"]["annotations"][keys::ALLOW_DEPENDENTS_FROM]
            .as_str()
            .unwrap_or_default();
        listed
            .split(',')
            .map(str::trim)
            .any(|name| name == "*" || name == from)
    };
    match world.object(&kind, None, to) {
        Lookup::Found(namespace) if consents(&namespace) => None,
        Lookup::Found(_) | Lookup::NotFound => not_permitted,
        Lookup::Unavailable(why) => Some(unavailable(why, &kind, false)),
    }
}
