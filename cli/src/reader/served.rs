//! The kinds that the API server serves: one answer tells of all groups, except those whose server does not answer.

use kube::core::Version;
use kube::core::discovery::v2::APIGroupDiscovery;
use kube::discovery::{ApiGroup, ApiResource, Scope};
use rules::kinds::Kind;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A kind that the API server serves.
#[derive(Debug, Clone)]
pub(super) struct ServedKind {
    pub(super) resource: ApiResource,
    pub(super) namespaced: bool,
    /// Whether the kind has the subresource `status`.
    pub(super) has_status: bool,
}

/// The kinds of one group, the stable versions first.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupKinds(Vec<ServedKind>);

/// A group in the answer about all groups.
#[derive(Debug, Clone)]
pub(super) enum ServedGroup {
    /// The answer tells the kinds of the group.
    Told(GroupKinds),
    /// The kinds of the group have to be asked for.
    Untold,
}

/// The groups that the API server serves, but for the core group, by name: each with its kinds, as far as the answer told them.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups(HashMap<String, ServedGroup>);

/// The answer to the question for all groups, in the form with kinds, or in that without them.
#[derive(Debug, Deserialize)]
pub(super) struct GroupsAnswer {
    #[serde(default)]
    items: Vec<APIGroupDiscovery>,
    #[serde(default)]
    groups: Vec<GroupName>,
}

#[derive(Debug, Deserialize)]
struct GroupName {
    name: String,
}

/// The word for a version whose kinds are out of date, because its server does not answer.
const STALE: &str = "Stale";

impl Groups {
    /// The group of this name; `None` where the API server does not serve one.
    pub(super) fn get(&self, group: &str) -> Option<&ServedGroup> {
        self.0.get(group)
    }
}

impl From<GroupsAnswer> for Groups {
    fn from(answer: GroupsAnswer) -> Self {
        let named = answer
            .groups
            .into_iter()
            .map(|it| (it.name, ServedGroup::Untold));
        let told = answer.items.into_iter().map(|group| {
            let metadata = group.metadata.unwrap_or_default();
            let name = metadata.name.unwrap_or_default();
            let mut versions = group.versions.iter();
            let stale = versions.any(|it| it.freshness.as_deref() == Some(STALE));
            let served = if stale {
                ServedGroup::Untold
            } else {
                ServedGroup::Told(GroupKinds::aggregated(&name, &group.versions))
            };
            (name, served)
        });
        Self(named.chain(told).collect())
    }
}

impl GroupKinds {
    fn aggregated(
        group: &str,
        versions: &[kube::core::discovery::v2::APIVersionDiscovery],
    ) -> Self {
        let kinds = versions.iter().flat_map(|version| {
            let name = version.version.as_deref().unwrap_or_default();
            version.resources.iter().map(move |it| {
                let kind = it.response_kind.as_ref().and_then(|it| it.kind.clone());
                let mut below = it.subresources.iter();
                ServedKind {
                    resource: ApiResource {
                        group: group.to_owned(),
                        version: name.to_owned(),
                        api_version: format!("{group}/{name}"),
                        kind: kind.unwrap_or_default(),
                        plural: it.resource.clone().unwrap_or_default(),
                    },
                    namespaced: it.scope.as_deref() == Some("Namespaced"),
                    has_status: below.any(|it| it.subresource.as_deref() == Some("status")),
                }
            })
        });
        Self(kinds.collect()).sorted()
    }

    /// Sorts by the stability of the versions: some kinds are served only in a version that their group does not prefer.
    fn sorted(mut self) -> Self {
        let stability = |it: &ServedKind| Reverse(Version::parse(&it.resource.version).priority());
        self.0.sort_by_cached_key(stability);
        self
    }

    /// The served kind of the group that a kind's word means, as its singular or plural in any letter case, in its most stable version; `None`
    /// where there is none.
    pub(super) fn find(&self, kind: &Kind) -> Option<&ServedKind> {
        let word = kind.word();
        self.0.iter().find(|ServedKind { resource, .. }| {
            resource.kind.eq_ignore_ascii_case(word) || resource.plural.eq_ignore_ascii_case(word)
        })
    }
}

impl From<&ApiGroup> for GroupKinds {
    fn from(group: &ApiGroup) -> Self {
        let kinds = group.resources_by_stability().into_iter();
        let kinds = kinds.map(|(resource, capabilities)| {
            let mut below = capabilities.subresources.iter();
            ServedKind {
                has_status: below.any(|(it, _)| it.plural == "status"),
                namespaced: capabilities.scope == Scope::Namespaced,
                resource,
            }
        });
        Self(kinds.collect()).sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn groups(answer: serde_json::Value) -> Groups {
        serde_json::from_value::<GroupsAnswer>(answer)
            .unwrap()
            .into()
    }

    #[test]
    fn a_kind_is_read_in_its_most_stable_version() {
        let resource = |kind: &str, plural: &str| {
            json!({"resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced",
            "subresources": [{"subresource": "status"}]})
        };
        let version = |name: &str, resources: serde_json::Value| json!({"version": name, "resources": resources});
        let groups = groups(
            json!({"items": [{"metadata": {"name": "example.com"}, "versions": [
                version("v1alpha1", json!([resource("Widget", "widgets"), resource("Gauge", "gauges")])),
                version("v1", json!([resource("Widget", "widgets")])),
            ]}]}),
        );
        let Some(ServedGroup::Told(kinds)) = groups.get("example.com") else {
            panic!("{groups:?}");
        };
        for (word, expected) in [("widget", "v1"), ("widgets", "v1"), ("Gauge", "v1alpha1")] {
            let kind = Kind::Custom {
                group: "example.com".to_owned(),
                word: word.to_owned(),
            };
            let found = kinds.find(&kind).unwrap();
            assert_eq!(found.resource.version, expected, "{word}");
            assert!(found.namespaced && found.has_status, "{word}");
        }
        assert!(groups.get("example.org").is_none());
    }

    #[test]
    fn the_kinds_of_a_group_may_be_untold() {
        let stale = json!({"items": [{"metadata": {"name": "a.b"}, "versions": [{"version": "v1", "freshness": "Stale"}]}]});
        let old = json!({"kind": "APIGroupList", "groups": [{"name": "a.b", "versions": []}]});
        for answer in [stale, old] {
            assert!(matches!(
                groups(answer).get("a.b"),
                Some(ServedGroup::Untold)
            ));
        }
    }
}
