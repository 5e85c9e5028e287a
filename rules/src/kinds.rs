//! The built-in Kubernetes kinds, in every spelling that kubectl accepts, and the way other kinds are named.

mod table;

use crate::keys;
use crate::suggest;
use std::fmt;

/// One kind that every Kubernetes cluster serves.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Builtin {
    /// The API group of the kind, empty for the core group.
    pub group: &'static str,
    /// The stable version, served since Kubernetes 1.30 at the latest.
    pub version: &'static str,
    /// The kind's name: `Deployment`.
    pub kind: &'static str,
    /// The plural by which the API names the kind: `deployments`.
    pub plural: &'static str,
    /// The short names of the kind in kubectl: `["deploy"]`.
    pub short: &'static [&'static str],
    /// Whether the kind's objects live in a namespace.
    pub namespaced: bool,
}

/// The kind that a reference names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A kind that every cluster has.
    Builtin(&'static Builtin),
    /// A kind that an administrator installed: known by its group, and by its kind, plural, singular or short name. Only the API
    /// server knows which of these `word` is.
    Custom {
        /// The API group of the kind, never empty.
        group: String,
        /// The word of the user, e.g. `Certificate` or `certificates`.
        word: String,
    },
}

impl Kind {
    /// The API group of the kind, empty for the core group.
    pub fn group(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.group,
            Self::Custom { group, .. } => group,
        }
    }

    /// The kind's name: exact for a built-in one, as the user wrote it for another.
    pub fn word(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.kind,
            Self::Custom { word, .. } => word,
        }
    }

    /// The value of sluice's Helm chart by which an administrator lets sluice watch the kind.
    pub fn chart_value(&self) -> &'static str {
        match (self.group(), self.word()) {
            ("", "Secret") => "rbac.secrets",
            _ => "rbac.kinds",
        }
    }

    /// The grant by which an administrator lets sluice watch the kind, as words of a sentence: a value of the chart, or a label of a ClusterRole.
    pub fn allowed_by(&self) -> String {
        let value = self.chart_value();
        match self {
            Self::Builtin(_) => format!("the chart's value {value}"),
            Self::Custom { .. } => {
                format!(
                    "a ClusterRole with the label {}, or the chart's value {value},",
                    keys::AGGREGATE_TO_WATCH
                )
            }
        }
    }

    /// The `apiVersion` of an object of the kind; `None` where only the API server knows the version.
    pub fn api_version(&self) -> Option<String> {
        match self {
            Self::Builtin(builtin) => Some(builtin.api_version()),
            Self::Custom { .. } => None,
        }
    }
}

impl Builtin {
    /// The API version of the kind's objects: `apps/v1`.
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Whether `word` is a spelling of this kind that kubectl accepts: kind, singular (the kind in lower case), plural
    /// or short name. Letter case does not matter.
    fn answers_to(&self, word: &str) -> bool {
        [self.kind, self.plural]
            .iter()
            .chain(self.short)
            .any(|spelling| spelling.eq_ignore_ascii_case(word))
    }

    /// Whether the kind belongs to `group`: where it is served now, or a group that served it once and that charts
    /// still write (`extensions`), or a second group that serves the same objects (`events.k8s.io`).
    fn belongs_to(&self, group: &str) -> bool {
        group == self.group
            || match group {
                "extensions" => matches!(
                    self.kind,
                    "DaemonSet" | "Deployment" | "Ingress" | "NetworkPolicy" | "ReplicaSet"
                ),
                "events.k8s.io" => self.kind == "Event",
                _ => false,
            }
    }
}

/// The built-in kind `Pod`.
pub const POD: &Builtin = exactly("", "Pod");
/// The built-in kind `Namespace`.
pub const NAMESPACE: &Builtin = exactly("", "Namespace");
/// The built-in kind `Node`.
pub const NODE: &Builtin = exactly("", "Node");
/// The built-in kind `ConfigMap`.
pub const CONFIG_MAP: &Builtin = exactly("", "ConfigMap");
/// The built-in kind `Secret`.
pub const SECRET: &Builtin = exactly("", "Secret");
/// The built-in kind `ServiceAccount`.
pub const SERVICE_ACCOUNT: &Builtin = exactly("", "ServiceAccount");
/// The built-in kind `Job`.
pub const JOB: &Builtin = exactly("batch", "Job");
/// The built-in kind `Deployment`.
pub const DEPLOYMENT: &Builtin = exactly("apps", "Deployment");
/// The built-in kind `StatefulSet`.
pub const STATEFUL_SET: &Builtin = exactly("apps", "StatefulSet");
/// The built-in kind `DaemonSet`.
pub const DAEMON_SET: &Builtin = exactly("apps", "DaemonSet");
/// The built-in kind `ControllerRevision`.
pub const CONTROLLER_REVISION: &Builtin = exactly("apps", "ControllerRevision");
/// The built-in kind `EndpointSlice`.
pub const ENDPOINT_SLICE: &Builtin = exactly("discovery.k8s.io", "EndpointSlice");
/// The built-in kind `PersistentVolumeClaim`.
pub const PERSISTENT_VOLUME_CLAIM: &Builtin = exactly("", "PersistentVolumeClaim");
/// The built-in kind `ClusterRole`.
pub const CLUSTER_ROLE: &Builtin = exactly("rbac.authorization.k8s.io", "ClusterRole");
/// The built-in kind `StorageClass`.
pub const STORAGE_CLASS: &Builtin = exactly("storage.k8s.io", "StorageClass");
/// The built-in kind `CustomResourceDefinition`.
pub const CUSTOM_RESOURCE_DEFINITION: &Builtin =
    exactly("apiextensions.k8s.io", "CustomResourceDefinition");
/// The built-in kind `APIService`.
pub const API_SERVICE: &Builtin = exactly("apiregistration.k8s.io", "APIService");

/// The entry of the table for a kind; a kind that the table lacks does not compile.
const fn exactly(group: &str, kind: &str) -> &'static Builtin {
    let mut at = 0;
    while !(same(table::BUILTINS[at].kind, kind) && same(table::BUILTINS[at].group, group)) {
        at += 1;
    }
    &table::BUILTINS[at]
}

/// Whether two texts are equal: `==`, which a constant may not use.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Every built-in kind, those of the core group first.
pub fn all() -> &'static [Builtin] {
    table::BUILTINS
}

/// The built-in kind of an object with this API group and `kind`, both spelled exactly; `None` for any other kind. A former or second group of the
/// kind counts too, such as `extensions`.
pub fn builtin(group: &str, kind: &str) -> Option<&'static Builtin> {
    all()
        .iter()
        .find(|builtin| builtin.kind == kind && builtin.belongs_to(group))
}

/// The built-in kind that kubectl knows by this word: `deploy`, `deployments`, `Deployment`. `None` for any other word.
pub fn by_word(word: &str) -> Option<&'static Builtin> {
    all().iter().find(|builtin| builtin.answers_to(word))
}

/// The built-in kind of `group` that kubectl knows by this word: `deployment` and `apps`. `None` for any other word.
pub fn by_word_in(group: &str, word: &str) -> Option<&'static Builtin> {
    all()
        .iter()
        .find(|builtin| builtin.belongs_to(group) && builtin.answers_to(word))
}

/// Whether a built-in kind belongs to this group.
pub fn knows_group(group: &str) -> bool {
    all().iter().any(|builtin| builtin.belongs_to(group))
}

/// The built-in kind, or its plural, that a misspelt `word` is likely to mean, in the letter case in which the user writes; `None` for a word that
/// is like none of them.
pub fn nearest(word: &str) -> Option<String> {
    nearest_of(word, all().iter())
}

/// The built-in kind of one group, or its plural, that a misspelt `word` is likely to mean, in the letter case in which the user writes; `None` for
/// a word that is like none of them.
pub fn nearest_in(group: &str, word: &str) -> Option<String> {
    nearest_of(
        word,
        all().iter().filter(|builtin| builtin.belongs_to(group)),
    )
}

/// The API group of Kubernetes that a misspelt `group` is likely to mean; `None` for a text that is like none of them.
pub fn nearest_group(group: &str) -> Option<&'static str> {
    suggest::nearest(group, all().iter().map(|builtin| builtin.group))
}

fn nearest_of(word: &str, builtins: impl Iterator<Item = &'static Builtin>) -> Option<String> {
    let likely = suggest::nearest(word, builtins.flat_map(|it| [it.kind, it.plural]))?;
    if word.starts_with(|first: char| first.is_uppercase()) {
        Some(likely.to_owned())
    } else {
        Some(likely.to_ascii_lowercase())
    }
}

impl Kind {
    /// Whether the kind is Pod.
    pub fn is_pod(&self) -> bool {
        self.group().is_empty() && self.word() == "Pod"
    }

    /// Whether the kind is the Service of Kubernetes itself.
    pub fn is_service(&self) -> bool {
        self.group().is_empty() && self.word() == "Service"
    }

    /// Whether the kind is the Job of Kubernetes itself.
    pub fn is_job(&self) -> bool {
        self.group() == "batch" && self.word() == "Job"
    }

    /// Whether the kind is the ReplicaSet of Kubernetes itself.
    pub fn is_replica_set(&self) -> bool {
        self.group() == "apps" && self.word() == "ReplicaSet"
    }

    /// Whether another reference names this kind: in one group by one word, in any letter case. A plural beside a singular is not recognised here,
    /// since only the kind's definition knows both.
    pub fn is_spelled(&self, other: &Self) -> bool {
        self.group() == other.group() && self.word().eq_ignore_ascii_case(other.word())
    }
}

/// Writes the kind as references name it: `Deployment` or `Certificate.cert-manager.io`.
impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(builtin) => out.write_str(builtin.kind),
            Self::Custom { group, word } => write!(out, "{word}.{group}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_spelling_names_one_kind() {
        let mut owners = BTreeMap::new();
        for builtin in all() {
            let singular = builtin.kind.to_ascii_lowercase();
            for word in [builtin.kind, builtin.plural, &singular]
                .into_iter()
                .chain(builtin.short.iter().copied())
            {
                for spelling in [word.to_owned(), word.to_ascii_uppercase()] {
                    assert_eq!(by_word(&spelling), Some(builtin), "{spelling}");
                    assert_eq!(
                        by_word_in(builtin.group, &spelling),
                        Some(builtin),
                        "{spelling}.{}",
                        builtin.group
                    );
                    let owner = owners
                        .entry(spelling.to_ascii_lowercase())
                        .or_insert(builtin.kind);
                    assert_eq!(*owner, builtin.kind, "{spelling} names two kinds");
                }
            }
        }
    }

    #[test]
    fn objects_are_known_by_their_exact_names() {
        for (group, kind, expected) in [
            ("apps", "Deployment", Some("apps")),
            ("extensions", "Deployment", Some("apps")),
            ("extensions", "Ingress", Some("networking.k8s.io")),
            ("networking.k8s.io", "Ingress", Some("networking.k8s.io")),
            ("", "Pod", Some("")),
            ("events.k8s.io", "Event", Some("")),
            ("extensions", "StatefulSet", None),
            ("apps", "deployment", None),
            ("apps", "deployments", None),
            ("", "Deployment", None),
            ("serving.knative.dev", "Service", None),
        ] {
            let group_of = builtin(group, kind).map(|found| found.group);
            assert_eq!(group_of, expected, "{group}/{kind}");
        }
    }

    #[test]
    fn the_likely_word_keeps_the_writers_letter_case() {
        for (word, expected) in [
            ("Deploymnt", Some("Deployment")),
            ("deploymnt", Some("deployment")),
            ("deploymets", Some("deployments")),
            ("STATEFULSTE", Some("StatefulSet")),
            ("ingres", Some("ingress")),
            ("certificate", None),
        ] {
            assert_eq!(nearest(word).as_deref(), expected, "{word}");
        }
        assert_eq!(nearest_in("apps", "jobs"), None);
        assert_eq!(nearest_group("app"), Some("apps"));
    }
}
