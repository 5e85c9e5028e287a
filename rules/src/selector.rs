//! Label selectors, as `kubectl get -l` takes them.

use crate::path::get;
use serde_json::Value;
use std::fmt;

/// Requirements on the labels of an object: every one must hold. Without any, every object is selected.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Selector(pub Vec<Requirement>);

/// A requirement on one label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The key of the label.
    pub key: String,
    /// How the label is compared: in, not in, exists, or is absent.
    pub test: Test,
}

/// A test of one label. The negative ones hold for an object without the label, as in Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Test {
    /// The label has one of the values: `key in (a,b)`; with one value also `key=a`.
    In(Vec<String>),
    /// The label has none of the values: `key notin (a,b)`; with one value also `key!=a`.
    NotIn(Vec<String>),
    /// The object has the label: `key`.
    Exists,
    /// The object lacks the label: `!key`.
    Absent,
}

impl Selector {
    /// The selector of the objects whose label `key` is `value`.
    pub fn label(key: &str, value: &str) -> Self {
        Self(vec![Requirement::equals(key, value)])
    }

    /// The selector of the objects with all of these labels, e.g. of a `spec.selector.matchLabels`. A value that is not a text is ignored.
    pub fn labels(labels: &Value) -> Self {
        let pairs = labels.as_object().into_iter().flatten();
        let equals = |(key, value): (&String, &Value)| {
            value.as_str().map(|value| Requirement::equals(key, value))
        };
        Self(pairs.filter_map(equals).collect())
    }

    /// Whether an object is selected; `label` returns the value of one of its labels.
    pub fn matches<T: AsRef<str>>(&self, label: impl Fn(&str) -> Option<T>) -> bool {
        self.0.iter().all(|Requirement { key, test }| {
            let label = label(key);
            test.holds(label.as_ref().map(AsRef::as_ref))
        })
    }

    /// Whether this object is selected.
    pub fn selects(&self, object: &Value) -> bool {
        let labels = get(object, &["metadata", "labels"]);
        self.matches(|key| labels?.get(key)?.as_str())
    }

    /// The key and value of a label that every selected object has, so that an index may find the objects; `None` where the selector demands none.
    pub fn indexable(&self) -> Option<(&str, &str)> {
        self.0
            .iter()
            .find_map(|requirement| match &requirement.test {
                Test::In(values) => match values.as_slice() {
                    [value] => Some((requirement.key.as_str(), value.as_str())),
                    _ => None,
                },
                Test::NotIn(_) | Test::Exists | Test::Absent => None,
            })
    }
}

impl Requirement {
    fn equals(key: &str, value: &str) -> Self {
        Self {
            key: key.to_owned(),
            test: Test::In(vec![value.to_owned()]),
        }
    }
}

impl Test {
    fn holds(&self, label: Option<&str>) -> bool {
        let among =
            |values: &[String]| label.is_some_and(|label| values.iter().any(|it| it == label));
        match self {
            Self::In(values) => among(values),
            Self::NotIn(values) => !among(values),
            Self::Exists => label.is_some(),
            Self::Absent => label.is_none(),
        }
    }
}

/// Writes the selector as `app=web,tier!=canary,zone in (a,b)`: in one spelling, which the API server and our own grammar read back.
impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, test } = self;
        match test {
            Test::In(values) => match values.as_slice() {
                [value] => write!(out, "{key}={value}"),
                values => write!(out, "{key} in ({})", values.join(",")),
            },
            Test::NotIn(values) => match values.as_slice() {
                [value] => write!(out, "{key}!={value}"),
                values => write!(out, "{key} notin ({})", values.join(",")),
            },
            Test::Exists => out.write_str(key),
            Test::Absent => write!(out, "!{key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(test: Test) -> Selector {
        Selector(vec![Requirement {
            key: "app".to_owned(),
            test,
        }])
    }

    fn values(values: &[&str]) -> Vec<String> {
        values.iter().map(|it| (*it).to_owned()).collect()
    }

    /// The table of `k8s.io/apimachinery/pkg/labels`: a missing label is not among any values.
    #[test]
    fn every_test_knows_equal_other_and_missing_labels() {
        for (test, web, other, missing) in [
            (Test::In(values(&["web"])), true, false, false),
            (Test::In(values(&["web", "db"])), true, false, false),
            (Test::In(vec![]), false, false, false),
            (Test::NotIn(values(&["web"])), false, true, true),
            (Test::NotIn(vec![]), true, true, true),
            (Test::Exists, true, true, false),
            (Test::Absent, false, false, true),
        ] {
            let selector = one(test);
            let labelled =
                |labels: &Value| selector.selects(&json!({"metadata": {"labels": labels}}));
            assert_eq!(labelled(&json!({"app": "web"})), web, "{selector}");
            assert_eq!(labelled(&json!({"app": "other"})), other, "{selector}");
            assert_eq!(labelled(&json!({"x": "web"})), missing, "{selector}");
            assert_eq!(selector.selects(&json!({})), missing, "{selector}");
        }
    }

    #[test]
    fn every_requirement_must_hold_and_none_selects_all() {
        let both = Selector::labels(&json!({"app": "web", "tier": "front"}));
        let object = |labels: Value| json!({"metadata": {"labels": labels}});
        assert!(both.selects(&object(json!({"app": "web", "tier": "front", "x": "y"}))));
        assert!(!both.selects(&object(json!({"app": "web"}))));
        assert!(Selector::default().selects(&json!({})));
    }

    #[test]
    fn an_index_is_asked_only_for_what_is_required() {
        assert_eq!(
            Selector::label("app", "web").indexable(),
            Some(("app", "web"))
        );
        for test in [
            Test::In(values(&["web", "db"])),
            Test::NotIn(values(&["web"])),
            Test::Exists,
            Test::Absent,
        ] {
            assert_eq!(one(test).indexable(), None);
        }
        let mut mixed = one(Test::Exists);
        mixed.0.extend(Selector::label("tier", "front").0);
        assert_eq!(mixed.indexable(), Some(("tier", "front")));
    }
}
