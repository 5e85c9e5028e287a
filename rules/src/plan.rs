//! Plans: order for charts that nobody can edit, written down beside them.

use crate::annotation::{self, ParseError};
use crate::dependency::{Dependency, Part, Parts, Reference};
use crate::keys::{self, ORDER};
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::scope::Scope;
use crate::world::{World, leaves_out};
use serde_json::Value;
use std::collections::BTreeSet;

/// What the plans of a namespace say of one dependent: of its scope, and under the names that it has there.
///
/// # Errors
///
/// A plan of the scope that cannot be read. Nobody knows then what comes first.
pub fn dependencies(
    plans: &[Value],
    scope: &Scope,
    called: &[Part],
) -> Result<Vec<Dependency>, ParseError> {
    let mut dependencies = Vec::new();
    for plan in plans
        .iter()
        .filter(|plan| Scope::of(plan).as_ref() == Some(scope))
    {
        let Some(text) = plan["data"][ORDER].as_str() else {
            continue;
        };
        for step in annotation::order(text)?.steps {
            if called.contains(&step.part) {
                dependencies.extend(step.after.into_iter().map(on));
            }
        }
    }
    Ok(dependencies)
}

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFlaw {
    /// It has no text.
    #[error("the plan has no key {ORDER:?}; write one such as \"api: [postgresql]\"")]
    NoOrder,
    /// Its text cannot be read.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// It belongs to nothing.
    #[error(
        "the plan is in no release, so it orders nothing; let its chart install it, or annotate it with {}",
        keys::SCOPE
    )]
    NoRelease,
    /// The pods of its namespace get no gate.
    #[error(
        "namespace {namespace:?} lacks the label {}: {}, so pods without annotations of ours start in any order",
        keys::INJECT,
        keys::INJECT_VALUE
    )]
    NoGates {
        /// The namespace.
        namespace: String,
    },
    /// It names what its release does not have.
    #[error("release {release} has no {}; check the spelling", parts.join(", "))]
    NoPart {
        /// The release.
        release: String,
        /// What it does not have: `subchart/postgresql`.
        parts: Vec<String>,
    },
}

/// What is wrong with a plan of a scope; `None` of one that does what it says, as far as anybody can tell. `gates` tells
/// whether every pod of a namespace gets a gate, `is_empty` whether a part of a scope is known to have no object.
pub fn flaw(
    plan: &Value,
    scope: Option<&Scope>,
    gates: impl Fn(&str) -> Option<bool>,
    is_empty: impl Fn(&Part, &Scope) -> bool,
) -> Option<PlanFlaw> {
    let Some(text) = plan["data"][ORDER].as_str() else {
        return Some(PlanFlaw::NoOrder);
    };
    let read = match annotation::order(text) {
        Ok(read) => read,
        Err(error) => return Some(error.into()),
    };
    let Some(scope) = scope else {
        return Some(PlanFlaw::NoRelease);
    };
    if gates(&scope.namespace) == Some(false) {
        return Some(PlanFlaw::NoGates {
            namespace: scope.namespace.clone(),
        });
    }
    let named = read
        .steps
        .iter()
        .flat_map(|step| step.after.iter().chain([&step.part]));
    let missing = named.filter(|part| is_empty(part, scope));
    let missing: BTreeSet<String> = missing.map(ToString::to_string).collect();
    (!missing.is_empty()).then(|| PlanFlaw::NoPart {
        release: scope.name.clone(),
        parts: missing.into_iter().collect(),
    })
}

/// What is wrong with a plan of the cluster. `quiet` tells whether everything of its release that will be there is there.
pub fn flaw_in(
    plan: &Value,
    world: &dyn World,
    quiet: impl Fn(&Scope) -> bool,
) -> Option<PlanFlaw> {
    let gates = |namespace: &str| is_injected(namespace, world);
    let is_empty = |part: &Part, scope: &Scope| quiet(scope) && is_empty(part, scope, world);
    flaw(plan, Scope::of(plan).as_ref(), gates, is_empty)
}

/// Whether every pod of a namespace gets a gate; `None` while nobody can say.
pub(crate) fn is_injected(namespace: &str, world: &dyn World) -> Option<bool> {
    let kind = Kind::Builtin(kinds::NAMESPACE);
    match world.object(&kind, None, namespace) {
        Lookup::Found(found) => {
            Some(found["metadata"]["labels"][keys::INJECT] == keys::INJECT_VALUE)
        }
        _ => None,
    }
}

/// Whether it is known that a part has no object.
fn is_empty(part: &Part, scope: &Scope, world: &dyn World) -> bool {
    let none = |kind: Kind| {
        let found = world.members(&kind, &scope.namespace, Some(&scope.name), part);
        match found {
            Lookup::Found(objects) => objects.is_empty(),
            Lookup::NotFound => true,
            Lookup::Unavailable(why) => leaves_out(world, &kind, why),
        }
    };
    world.kinds().into_iter().all(none)
}

fn on(part: Part) -> Dependency {
    Dependency::on(Reference::Part(Parts {
        part,
        namespace: None,
        min: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(text: &str) -> String {
        annotation::order(text).expect_err(text).to_string()
    }

    #[test]
    fn a_plan_names_sub_charts_and_groups() {
        let plan =
            annotation::order("postgresql: []\napi: [postgresql, group/data]\nweb: api\nredis:\n")
                .unwrap();
        let told: Vec<String> = plan
            .steps
            .iter()
            .map(|step| {
                let after: Vec<_> = step.after.iter().map(ToString::to_string).collect();
                format!("{} < {}", after.join(","), step.part)
            })
            .collect();
        assert_eq!(
            told,
            [
                " < subchart/postgresql",
                "subchart/postgresql,group/data < subchart/api",
                "subchart/api < subchart/web",
                " < subchart/redis",
            ]
        );
    }

    #[test]
    fn what_is_no_plan_is_refused_at_its_place() {
        assert_eq!(
            refused("- api"),
            "order: line 1, column 1: a plan is a mapping from a sub-chart to a list of those that come before it, e.g. \"api: [postgresql]\""
        );
        assert_eq!(
            refused("api: []\napi: []"),
            "order: line 2, column 1: \"subchart/api\" appears twice in the plan; write one list for it"
        );
        assert_eq!(
            refused("api: [wave/1]"),
            "order: line 1, column 7: \"wave/1\" is neither a sub-chart's name nor group/name"
        );
        assert_eq!(
            refused("api: [a b]"),
            "order: line 1, column 8: sub-chart \"a b\" has ' ' in it; letters, digits, \"-\", \"_\" and \".\" are allowed"
        );
    }

    #[test]
    fn an_order_that_nobody_can_keep_is_refused_with_the_way_round() {
        assert_eq!(
            refused("a: [a]"),
            "order: line 1, column 1: the plan has a cycle: subchart/a -> subchart/a; take one of these out"
        );
        assert!(
            refused("x: []\na: [b]\nb: [c]\nc: [a, x]")
                .contains("subchart/a -> subchart/b -> subchart/c -> subchart/a")
        );
        assert!(
            annotation::order("a: [b, c]\nb: [d]\nc: [d]").is_ok(),
            "two ways are no cycle"
        );
    }

    #[test]
    fn a_plan_counts_for_its_own_release() {
        let plan = |release: &str| {
            json!({
                "metadata": {"namespace": "shop", "annotations": {"meta.helm.sh/release-name": release}},
                "data": {"order": "api: [postgresql]"},
            })
        };
        let of = |name: &str| Scope::of(&plan(name)).unwrap();
        let called = [Part::SubChart("api".into())];
        let told = |scope: &Scope, called: &[Part]| {
            let found = dependencies(&[plan("r")], scope, called).unwrap();
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(told(&of("r"), &called), ["subchart/postgresql"]);
        assert_eq!(told(&of("other"), &called), [""; 0]);
        assert_eq!(told(&of("r"), &[Part::SubChart("web".into())]), [""; 0]);
    }
}
