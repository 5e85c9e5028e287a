//! The resource that a kind stands for, as the definition of the kind or discovery tells it.

use crate::known::Details;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::discovery::ApiResource;
use rules::definition::Declared;
use rules::kinds::Builtin;
use serde_json::Value;
use std::sync::Arc;

/// A kind as the API server serves it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Served {
    pub(super) resource: ApiResource,
    pub(super) details: Details,
}

/// Finds the resource whose kind or plural is `word`, in any case, among those of one version of a group, as discovery lists them. `None` if
/// there is none. Subresources are passed over: they name a kind of another resource.
pub(super) fn among(served: &APIResourceList, word: &str) -> Option<Served> {
    let (group, version) = served.group_version.split_once('/')?;
    let mut resources = served.resources.iter().filter(|it| !it.name.contains('/'));
    let found = resources
        .find(|it| it.kind.eq_ignore_ascii_case(word) || it.name.eq_ignore_ascii_case(word))?;
    let resource = ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: served.group_version.clone(),
        kind: found.kind.clone(),
        plural: found.name.clone(),
    };
    let details = Details {
        namespaced: Some(found.namespaced),
        declared: None,
    };
    Some(Served { resource, details })
}

/// The resource of a built-in kind.
pub(super) fn resource(builtin: &Builtin) -> ApiResource {
    ApiResource {
        group: builtin.group.to_owned(),
        version: builtin.version.to_owned(),
        api_version: builtin.api_version(),
        kind: builtin.kind.to_owned(),
        plural: builtin.plural.to_owned(),
    }
}

/// The resource that a CustomResourceDefinition defines, in the version that is stored, else in the first that is served. `None` unless the
/// definition is established, serves a version, and has `word` as kind, plural, singular or short name.
pub(super) fn defined(definition: &Value, word: &str) -> Option<Served> {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let short = names["shortNames"].as_array().into_iter().flatten();
    let fits = |name: &Value| {
        name.as_str()
            .is_some_and(|name| name.eq_ignore_ascii_case(word))
    };
    if ![&names["kind"], &names["plural"], &names["singular"]]
        .into_iter()
        .chain(short)
        .any(fits)
    {
        return None;
    }
    let conditions = definition["status"]["conditions"].as_array()?;
    conditions
        .iter()
        .find(|freshness| freshness["type"] == "Established" && freshness["status"] == "True")?;
    let versions = spec["versions"].as_array()?;
    let served = || versions.iter().filter(|version| version["served"] == true);
    let version = served()
        .find(|version| version["storage"] == true)
        .or_else(|| served().next())?;
    let (group, name) = (spec["group"].as_str()?, version["name"].as_str()?);
    let resource = ApiResource {
        group: group.to_owned(),
        version: name.to_owned(),
        api_version: format!("{group}/{name}"),
        kind: names["kind"].as_str()?.to_owned(),
        plural: names["plural"].as_str()?.to_owned(),
    };
    let details = Details {
        namespaced: Some(spec["scope"] == "Namespaced"),
        declared: Some(Arc::new(Declared::of(version))),
    };
    Some(Served { resource, details })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::definition::Summary;
    use serde_json::json;

    fn definition() -> Value {
        json!({
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "shortNames": ["wd"]},
                "versions": [
                    {"name": "v1alpha1", "served": true, "storage": false},
                    {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}},
                ],
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        })
    }

    #[test]
    fn a_definition_is_found_by_each_of_its_names() {
        for word in ["Widget", "widget", "widgets", "WIDGETS", "wd"] {
            let found = defined(&definition(), word).unwrap();
            assert_eq!(
                (
                    found.resource.plural.as_str(),
                    found.resource.api_version.as_str()
                ),
                ("widgets", "example.com/v1")
            );
            assert_eq!(
                found.details,
                Details {
                    namespaced: Some(true),
                    declared: Some(Arc::new(Declared {
                        status: true,
                        summary: Some(Summary::default())
                    }))
                }
            );
        }
        assert_eq!(defined(&definition(), "gadget"), None);
    }

    #[test]
    fn a_definition_counts_from_the_moment_it_is_established() {
        let mut early = definition();
        early["status"]["conditions"][0]["status"] = json!("False");
        assert_eq!(defined(&early, "widget"), None);
    }

    #[test]
    fn a_served_version_is_taken_where_the_stored_one_is_not_served() {
        let mut old = definition();
        old["spec"]["versions"][1]["served"] = json!(false);
        let found = defined(&old, "widget").unwrap();
        assert_eq!(found.resource.version, "v1alpha1");
        assert_eq!(found.details.declared.map(|it| it.status), Some(false));
    }
}
