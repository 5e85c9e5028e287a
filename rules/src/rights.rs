//! The kinds that an account may follow: the rules of its ClusterRoles that let it get, list and watch.

use crate::kinds::{self, Kind};
use serde_json::Value;

/// Rules that let an account get, list and watch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rights(Vec<Value>);

impl Rights {
    /// The rules of these ClusterRoles that let an account follow a kind: all of `get`, `list` and `watch`, and not only objects of some names.
    pub fn of<'a>(roles: impl IntoIterator<Item = &'a Value>) -> Self {
        let of_each = roles
            .into_iter()
            .filter_map(|role| role["rules"].as_array());
        let follows = |rule: &&Value| {
            let verbs = ["get", "list", "watch"];
            // A right to some names is none to follow a kind.
            verbs.iter().all(|verb| has(rule, "verbs", verb)) && rule["resourceNames"].is_null()
        };
        Self(of_each.flatten().filter(follows).cloned().collect())
    }

    /// Whether these rules let the account follow the resource.
    pub fn may_follow(&self, group: &str, resource: &str) -> bool {
        let fits = |rule: &Value| has(rule, "apiGroups", group) && has(rule, "resources", resource);
        self.0.iter().any(fits)
    }

    /// The API groups of the resources; `*` for all.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|rule| words(rule, "apiGroups"))
    }

    /// The custom kinds that the rules name. The kinds of a wildcard are unknown, so it adds none.
    pub fn custom(&self) -> impl Iterator<Item = Kind> {
        self.0.iter().flat_map(|rule| {
            words(rule, "apiGroups").flat_map(|group| {
                words(rule, "resources")
                    .filter(|resource| is_custom(group, resource))
                    .map(|resource| Kind::Custom {
                        group: group.to_owned(),
                        word: resource.to_owned(),
                    })
            })
        })
    }
}

/// Whether these words of a rule name one kind that is not built in, and not a part of it such as `widgets/status`.
fn is_custom(group: &str, resource: &str) -> bool {
    let named = !group.is_empty() && group != "*" && !resource.contains(['*', '/']);
    named && kinds::by_word_in(group, resource).is_none()
}

/// Whether a list of a rule names the word, or all.
fn has(rule: &Value, list: &str, word: &str) -> bool {
    words(rule, list).any(|it| it == word || it == "*")
}

fn words<'a>(rule: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    let words = rule[list].as_array().into_iter().flatten();
    words.filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn role(rules: &Value) -> Rights {
        Rights::of([&json!({"rules": rules})])
    }

    #[test]
    fn the_custom_kinds_are_those_that_are_named() {
        let verbs = json!(["get", "list", "watch"]);
        let rights = role(&json!([
            {"apiGroups": ["cert-manager.io"], "resources": ["certificates", "certificates/status", "*"], "verbs": verbs},
            {"apiGroups": ["*", "apps", ""], "resources": ["deployments", "widgets"], "verbs": verbs},
            {"apiGroups": ["a.io"], "resources": ["as"], "verbs": ["*"]},
            {"apiGroups": ["b.io"], "resources": ["bs"], "verbs": ["get", "list"]},
            {"apiGroups": ["c.io"], "resources": ["cs"], "verbs": verbs, "resourceNames": ["one"]},
        ]));
        let custom: Vec<String> = rights.custom().map(|kind| kind.to_string()).collect();
        let named = ["certificates.cert-manager.io", "widgets.apps", "as.a.io"];
        assert_eq!(custom, named);
    }

    /// A ClusterRole without rules gives no rights: an aggregated one has none until the API server has put the rules of other roles together.
    #[test]
    fn a_role_without_rules_names_nothing() {
        assert_eq!(role(&Value::Null), Rights::default());
    }
}
