//! The policy of the administrator, and whether a dependent may be told of an object outside of its namespace.

use crate::annotation;
use crate::dependency::NodeRules;
use crate::dependent::EdgeSources;
use crate::judged::{Judged, Reason, unavailable, unmet};
use crate::keys;
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::{Lookup, Unavailable};
use crate::terms::Regate;
use crate::world::{World, means_same};
use serde_json::Value;

const NAMESPACE: Kind = Kind::Builtin(kinds::NAMESPACE);

/// The administrator's settings, from the chart's values, that verdicts depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The pairs of namespaces of which one may depend on the other without its consent.
    pub cross_namespace: CrossNamespace,
    /// The kinds of cluster-scoped objects that dependents may wait for, with the namespaces of these dependents.
    pub cluster_scoped: ClusterScoped,
    /// Whether the foreign annotation [`crate::keys::CONFIG_DEPENDS_ON`] counts as a list.
    pub config_depends_on: bool,
    /// The node rules: each holds the pods of every labelled namespace until an agent of their node is ready.
    pub node_rules: NodeRules,
    /// The value of [`crate::keys::REGATE`] for a dependent that carries none.
    pub regate: Regate,
}

impl Policy {
    /// The settings of the chart's default values.
    pub fn of_the_chart() -> Self {
        Self {
            cross_namespace: CrossNamespace::default(),
            cluster_scoped: ClusterScoped::default(),
            config_depends_on: true,
            node_rules: NodeRules::default(),
            regate: Regate::default(),
        }
    }

    /// The settings that decide which edges a dependent has: whether the foreign annotation counts, and the node rules.
    pub fn edge_sources(&self) -> EdgeSources<'_> {
        EdgeSources {
            config_depends_on: self.config_depends_on,
            node_rules: &self.node_rules,
        }
    }
}

/// The dependencies on other namespaces that need no consent of the target namespace: `(from, to)`, `*` for any namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrossNamespace(pub Vec<(String, String)>);

impl CrossNamespace {
    fn allows(&self, from: &str, to: &str) -> bool {
        self.0.iter().any(|(f, t)| fits(f, from) && fits(t, to))
    }
}

/// The dependencies on cluster-scoped objects that the administrator allows: `(from, kind)`, `*` for any namespace. No namespace can
/// consent for such an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterScoped(pub Vec<(String, Kind)>);

impl ClusterScoped {
    fn allows(&self, from: &str, kind: &Kind, world: &dyn World) -> bool {
        let mut allowed = self.0.iter();
        allowed.any(|(f, it)| fits(f, from) && means_same(world, it, kind))
    }
}

/// Allows dependents of every namespace to wait for CustomResourceDefinitions and APIServices: these only tell which kinds are served, and the
/// API server's discovery tells that to every account.
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

/// Whether the annotation [`keys::ALLOW_DEPENDENTS_FROM`] of a Namespace names `from`, or `*`, so that dependents in `from` may wait for objects
/// in it.
pub fn consents(namespace: &Value, from: &str) -> bool {
    let listed = namespace["metadata"]["annotations"][keys::ALLOW_DEPENDENTS_FROM].as_str();
    let mut listed = listed.unwrap_or_default().split(',');
    listed.any(|name| fits(name.trim(), from))
}

/// The first word of a value of [`keys::ALLOW_DEPENDENTS_FROM`] that is neither `*` nor a valid name of a namespace, so that it consents to
/// none; `None` where all words are valid.
pub fn consents_to_nobody(listed: &str) -> Option<&str> {
    let mut words = listed.split(',').map(str::trim);
    words.find(|word| *word != "*" && !annotation::names_namespace(word))
}

/// Whether the dependents of a namespace may be told of objects in another namespace, or of cluster-scoped objects.
pub(super) enum Consent {
    Given,
    /// The dependents may not be told. The text says how consent can be given.
    Withheld(String),
    /// The Namespace that could consent cannot be read.
    Unknown(Unavailable),
}

impl Consent {
    /// Whether the dependents of the namespace `from` may be told of objects in the namespace `to`: by the policy, or by the annotation of the
    /// Namespace `to`. Withheld where there is no such Namespace.
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
                // The dependent's own namespace is read in its place, so that the time does not tell that there is none.
                let _ = world.object(&NAMESPACE, None, from);
                withheld()
            }
            Lookup::Unavailable(why) => Self::Unknown(why),
        }
    }

    /// Whether the dependents of the namespace `from` may be told of the cluster-scoped objects of a kind: only by the policy, since no namespace can
    /// consent.
    pub(super) fn of_cluster(from: &str, kind: &Kind, policy: &Policy, world: &dyn World) -> Self {
        if policy.cluster_scoped.allows(from, kind, world) {
            return Self::Given;
        }
        Self::Withheld(format!(
            "it is in no namespace; the administrator of sluice has to allow it, by the chart's value clusterScoped.allow: \
             {{from: {from}, kind: {kind}}}"
        ))
    }

    /// The finding about a dependency without consent, or whose consent cannot be read; `None` with consent.
    pub(super) fn refusal(self) -> Option<Judged> {
        match self {
            Self::Given => None,
            Self::Withheld(way_out) => Some(unmet(Status::Unknown, Reason::NotPermitted, way_out)),
            Self::Unknown(why) => Some(unavailable(why, &NAMESPACE, false)),
        }
    }
}
