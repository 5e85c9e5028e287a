//! Fields that are texts on every object, and expressions that compare such a field with a number or a boolean.

use super::Expression;
use crate::comparison::Operator;
use std::fmt;
use wire::said::clean;

/// The longest shown text of an expression, in characters.
const LONGEST: usize = 80;

/// An expression that never holds, because the field that it reads is a text and the literal is none. The sentence says so, with the
/// way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeverHolds {
    expression: String,
    operator: Operator,
    literal: String,
}

/// Fields of `metadata` whose values are texts.
const METADATA: [&str; 7] = [
    "creationTimestamp",
    "deletionTimestamp",
    "generateName",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
];
/// Fields of a condition that are texts.
const CONDITION: [&str; 5] = ["lastTransitionTime", "message", "reason", "status", "type"];

impl Expression {
    /// Why the expression can hold on no object of this API group and kind (`ConfigMap`): its field is always a text, and its literal is none.
    /// `None` where the expression may hold. Group and kind are empty where they are not known.
    pub fn never_holds(&self, group: &str, kind: &str) -> Option<NeverHolds> {
        let never = !self.literal.is_string() && self.reads_a_text(group, kind);
        never.then(|| NeverHolds {
            expression: self.text.clone(),
            operator: self.operator,
            literal: self.literal.to_string(),
        })
    }

    fn reads_a_text(&self, group: &str, kind: &str) -> bool {
        let steps: Vec<_> = self.steps().collect();
        // Kinds of other projects may have conditions of their own form.
        let is_kubernetes =
            !kind.is_empty() && (!group.contains('.') || group.ends_with(".k8s.io"));
        match steps[..] {
            [Some("apiVersion" | "kind")]
            | [Some("metadata"), Some("labels" | "annotations"), Some(_)]
            | [Some("metadata"), Some("finalizers"), None] => true,
            [Some("metadata"), Some(field)] => METADATA.contains(&field),
            [Some("data" | "binaryData"), Some(_)] => (group, kind) == ("", "ConfigMap"),
            [Some("status"), Some("conditions"), None, Some(field)] => {
                is_kubernetes && CONDITION.contains(&field)
            }
            _ => false,
        }
    }
}

impl fmt::Display for NeverHolds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expression = clean(&self.expression, LONGEST);
        write!(out, "{expression} never holds, since that field is a text")?;
        if self.operator.orders() {
            return out.write_str(" and texts have no order; compare it with == or !=");
        }
        write!(
            out,
            "; write {} \"{}\"",
            self.operator.sign(),
            clean(&self.literal, LONGEST / 4)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_neither_a_number_nor_a_boolean() {
        let config = ("", "ConfigMap");
        for (of, expression, told) in [
            (
                config,
                "/data/migrated == true",
                Some("; write == \"true\""),
            ),
            (config, "/data/version != 3", Some("; write != \"3\"")),
            (
                config,
                "/data/version >= 3",
                Some(" and texts have no order; compare it with == or !="),
            ),
            (config, "/data/migrated == \"true\"", None),
            (config, "/data/migrated == yes", None),
            (("batch", "Job"), "/data/migrated == true", None),
            (
                ("", ""),
                "/metadata/labels/done == true",
                Some("; write == \"true\""),
            ),
            (
                ("a.b", "C"),
                "/metadata/annotations/a_db_sdone == 1",
                Some("; write == \"1\""),
            ),
            (("a.b", "C"), "/metadata/generation >= 2", None),
            (
                ("a.b", "C"),
                "/metadata/name == 2",
                Some("; write == \"2\""),
            ),
            (("a.b", "C"), "/status/conditions/any/status == true", None),
            (
                ("apps", "Deployment"),
                "/status/conditions/any/status == true",
                Some("; write == \"true\""),
            ),
            (("apps", "Deployment"), "/status/replicas == 1", None),
        ] {
            let read = Expression::parse(expression).unwrap();
            let found = read.never_holds(of.0, of.1).map(|it| it.to_string());
            let expected = told
                .map(|told| format!("{expression} never holds, since that field is a text{told}"));
            assert_eq!(found, expected);
        }
    }
}
