//! Whether a dependency outside of the dependent's namespace may be told of at all.

use super::Policy;
use crate::annotation;
use crate::judged::{Judged, Reason, unavailable, unmet};
use crate::keys;
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::{Lookup, Unavailable};
use crate::world::{World, means_same};
use serde_json::Value;

const NAMESPACE: Kind = Kind::Builtin(kinds::NAMESPACE);

/// What the administrator allows beyond the consent of the target namespaces: `(from, to)`, `*` for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrossNamespace(pub Vec<(String, String)>);

impl CrossNamespace {
    fn allows(&self, from: &str, to: &str) -> bool {
        self.0.iter().any(|(f, t)| fits(f, from) && fits(t, to))
    }
}

/// What the administrator allows of objects that are in no namespace, where nobody else could consent: `(from, kind)`, `*`
/// for any namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterScoped(pub Vec<(String, Kind)>);

impl ClusterScoped {
    fn allows(&self, from: &str, kind: &Kind, world: &dyn World) -> bool {
        let mut allowed = self.0.iter();
        allowed.any(|(f, it)| fits(f, from) && means_same(world, it, kind))
    }
}

/// What the API server's discovery tells every account of a cluster anyway: which kinds are served.
impl Default for ClusterScoped {
    fn default() -> Self {
        let discovered = [kinds::CUSTOM_RESOURCE_DEFINITION, kinds::API_SERVICE];
        Self(
            discovered
                .map(|kind| ("*".to_owned(), Kind::Builtin(kind)))
                .into(),
        )
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    pattern == "*" || pattern == name
}

/// Whether a Namespace consents to dependents in the namespace `from`.
pub fn consents(namespace: &Value, from: &str) -> bool {
    let listed = namespace["metadata"]["annotations"][keys::ALLOW_DEPENDENTS_FROM].as_str();
    let mut listed = listed.unwrap_or_default().split(',');
    listed.any(|name| fits(name.trim(), from))
}

/// Of what a Namespace consents to ([`keys::ALLOW_DEPENDENTS_FROM`]), the first word that can be the name of no namespace.
pub fn consents_to_nobody(listed: &str) -> Option<&str> {
    let mut words = listed.split(',').map(str::trim);
    words.find(|word| *word != "*" && !annotation::names_namespace(word))
}

/// Whether the dependents of a namespace may be told of something elsewhere.
pub(super) enum Consent {
    Given,
    /// Who has to agree, and how.
    Withheld(String),
    Unknown(Unavailable),
}

impl Consent {
    /// To what is in namespace `to`.
    pub(super) fn of_namespace(from: &str, to: &str, policy: &Policy, world: &dyn World) -> Self {
        if policy.cross_namespace.allows(from, to) {
            return Self::Given;
        }
        let withheld = || {
            let key = keys::ALLOW_DEPENDENTS_FROM;
            Self::Withheld(format!(
                "Namespace {to} has not agreed; add {from} to its annotation {key}"
            ))
        };
        match world.object(&NAMESPACE, None, to) {
            Lookup::Found(namespace) if consents(&namespace, from) => Self::Given,
            Lookup::Found(_) => withheld(),
            Lookup::NotFound => {
                // The dependent's own namespace is read in its place, so that the time tells nobody that there is none.
                let _ = world.object(&NAMESPACE, None, from);
                withheld()
            }
            Lookup::Unavailable(why) => Self::Unknown(why),
        }
    }

    /// To objects that are in no namespace.
    pub(super) fn of_cluster(from: &str, kind: &Kind, policy: &Policy, world: &dyn World) -> Self {
        if policy.cluster_scoped.allows(from, kind, world) {
            return Self::Given;
        }
        Self::Withheld(format!(
            "it is in no namespace; the administrator of sluice has to allow it, by the chart's value clusterScoped.allow: \
             {{from: {from}, kind: {kind}}}"
        ))
    }

    /// What a dependency is without it.
    pub(super) fn refusal(self) -> Option<Judged> {
        match self {
            Self::Given => None,
            Self::Withheld(way_out) => Some(unmet(Status::Unknown, Reason::NotPermitted, way_out)),
            Self::Unknown(why) => Some(unavailable(why, &NAMESPACE, false)),
        }
    }
}
