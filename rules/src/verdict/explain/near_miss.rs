//! Suggests the object that a list may mean, where it names an object that does not exist or a namespace that has not consented. Only objects of
//! the dependent's own namespace are suggested.

use super::basis::Explain;
use crate::dependency::{Dependency, Edge, ObjectRef, Reference, Selection};
use crate::edges;
use crate::kinds::{self, Kind};
use crate::object::name;
use crate::scope;
use crate::suggest::{affixed, nearest, of_deployment};
use std::slice;

impl Explain<'_> {
    /// The words about a workload of the selection's kind whose pods, but not itself, have the selected labels; `None` where there is none.
    pub(super) fn labelled_pods(&self, selection: &Selection) -> Option<String> {
        let Selection { kind, selector, .. } = selection;
        if !scope::workloads().any(|it| it == *kind) {
            return None;
        }
        let key = format!("{kind} {selector}");
        let look = || edges::behind(self.selected_by(selector, slice::from_ref(kind)));
        let found = self.hints.behind(&self.dependent().namespace, &key, &look);
        let mut found = found.into_iter().map(|link| link.to);
        let (_, workload) =
            found.find(|(it, workload)| it == kind && !self.dependent().is_itself(it, workload))?;
        Some(format!(
            "the pods of {kind}/{} have them, and a selector looks at the labels of the {kind} itself: label that too, or write kind: Pod",
            name(&workload)
        ))
    }

    /// The object that the list may mean by the missing one, such as `Deployment/db`: one whose name has an added prefix or suffix as the dependent's
    /// own name has, one with a similar name, or a workload of another kind with this name. For a ReplicaSet it may be its Deployment. Objects that
    /// the list names already are not suggested. For an object of another namespace: the object of that name in the dependent's own.
    pub(super) fn near_miss(&self, missing: &ObjectRef) -> Option<String> {
        let ObjectRef {
            kind,
            name,
            namespace,
        } = missing;
        let (dependent, judge) = (self.dependent(), self.judge);
        let home = dependent.namespace.as_str();
        let is_foreign = namespace.as_ref().is_some_and(|it| it != home);
        let listed = dependent.edges(judge.policy.config_depends_on, judge.world);
        let listed = listed.unwrap_or_default();
        let others = |kind: &Kind| {
            let mut names = self.hints.names(kind, &dependent.namespace);
            names.retain(|name| {
                let is_listed = |edge: &Edge| {
                    edge.entry()
                        .is_some_and(|it| names_it(it, kind, name, home))
                };
                !dependent.is(kind, name) && !listed.iter().any(is_listed)
            });
            names
        };
        let mut near = others(kind);
        if is_foreign {
            // A tool that moves objects into a namespace changes no list.
            return near
                .contains(name)
                .then(|| format!("{kind}/{name} of this namespace"));
        }
        if kind.is_replica_set() {
            // Its name changes with each rollout, so no list is to name it.
            let deployment = of_deployment(name);
            let is_made = |it: &String| it != deployment && of_deployment(it) == deployment;
            let known = || others(&Kind::Builtin(kinds::DEPLOYMENT));
            if near.iter().any(is_made) || known().iter().any(|it| it == deployment) {
                return Some(format!("Deployment/{deployment}"));
            }
        }
        let names = || near.iter().map(String::as_str);
        let affixed = dependent
            .names()
            .find_map(|own| affixed(name, own, names()));
        if let Some(affixed) = affixed {
            return Some(format!("{kind}/{affixed}"));
        }
        near.retain(|other| !is_another_of_a_series(name, other));
        let near = nearest(name, near.iter().map(String::as_str));
        let called_so = || {
            let mut kinds = scope::workloads().filter(|other| other != kind);
            kinds.find(|other| others(other).contains(name))
        };
        let namesake = || {
            scope::workloads()
                .any(|it| it == *kind)
                .then(called_so)
                .flatten()
        };
        near.map(|near| format!("{kind}/{near}"))
            .or_else(|| namesake().map(|other| format!("{other}/{name}")))
    }
}

/// Whether an entry names this object of the namespace `home`, itself or as one of its alternatives.
fn names_it(entry: &Dependency, kind: &Kind, name: &str, home: &str) -> bool {
    match &entry.reference {
        Reference::Object(it) => {
            let is_here = it.namespace.as_ref().is_none_or(|it| it == home);
            is_here && it.kind == *kind && it.name == name
        }
        Reference::Any(of) => of.of.iter().any(|it| names_it(it, kind, name, home)),
        Reference::Selected(_) | Reference::Part(_) | Reference::Address(_) => false,
    }
}

/// Whether both names have digits and differ only in these: a list that names `migrate-2` does not mean `migrate-1`.
fn is_another_of_a_series(name: &str, other: &str) -> bool {
    let is_figure = |letter: char| letter.is_ascii_digit();
    let same = |name: &str| {
        let parts = name.split(is_figure).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    name.contains(is_figure) && other.contains(is_figure) && same(name) == same(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_of_a_series_is_no_slip() {
        for (name, other, expected) in [
            ("migrate-2", "migrate-1", true),
            ("migrate-10", "migrate-9", true),
            ("v1-db", "v2-db", true),
            ("migrate", "migrate-1", false),
            ("migrtae-1", "migrate-1", false),
            ("db", "dba", false),
        ] {
            assert_eq!(
                is_another_of_a_series(name, other),
                expected,
                "{name} {other}"
            );
        }
    }
}
