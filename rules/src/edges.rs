//! The graph of dependents and dependencies: the objects that an edge means, and whether the dependent can become ready without
//! one of them.
//!
//! Three searches follow edges by these rules: the search for the cycle that a gate reports, `kubectl sluice graph`, and `lint`.
//! They differ in where they look ([`Targets`]): the controller in the namespace that it watches, the command line in all its
//! files.

mod cycles;

pub use cycles::cycles;

use crate::dependency::{
    Alternatives, Dependency, Edge, Min, ObjectRef, Parts, Reference, Selection, State,
};
use crate::kinds::Kind;

/// One object that an edge of a dependent means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link<O> {
    /// The object that the dependent waits for.
    pub to: O,
    /// Whether the dependent can never become ready without the object. An alternative, or a state that asks for existence alone,
    /// makes the answer no.
    pub must: bool,
}

/// Finds the objects of the edges of one dependent. A reference to several objects leaves the dependent itself out.
pub trait Targets {
    /// The object, as the graph holds it.
    type Object;

    /// The object that a reference names; `None` where the graph does not have it.
    fn named(&self, named: &ObjectRef) -> Option<Self::Object>;

    /// The objects that a selector selects.
    fn selected(&self, selection: &Selection) -> Vec<Self::Object>;

    /// The objects of a group, a sub-chart or a release.
    fn part(&self, parts: &Parts) -> Vec<Self::Object>;

    /// The objects of the dependent's scope that weigh less than `below`: all of them, or only the first that the dependent waits for.
    fn lighter(&self, below: i64) -> Vec<Self::Object>;
}

/// The objects that an edge of a dependent means, each with whether the dependent needs it. None for a slot and for an address.
pub fn links<O: Targets>(edge: &Edge, objects: &O) -> Vec<Link<O::Object>> {
    let (found, must) = match edge {
        Edge::Listed(entry) | Edge::NodeRule(entry) => {
            (meant(entry, objects), has_no_way_around(entry))
        }
        Edge::Wave(below) => (objects.lighter(*below), true),
        Edge::Slot(_) => (Vec::new(), false),
    };
    found.into_iter().map(|to| Link { to, must }).collect()
}

/// The objects that an entry of a list means.
fn meant<O: Targets>(entry: &Dependency, objects: &O) -> Vec<O::Object> {
    match &entry.reference {
        Reference::Object(named) => objects.named(named).into_iter().collect(),
        Reference::Selected(selection) => objects.selected(selection),
        Reference::Part(parts) => objects.part(parts),
        // No object of the cluster is behind it.
        Reference::Address(_) => Vec::new(),
        Reference::Any(alternatives) => {
            let of = alternatives.of.iter();
            of.flat_map(|it| meant(it, objects)).collect()
        }
    }
}

/// Links from a Service to the workloads whose pods it selects. A single workload is needed, because the Service has no endpoint without it;
/// of several none is, because each of the others is enough.
pub fn behind<O>(workloads: Vec<O>) -> Vec<Link<O>> {
    let must = workloads.len() == 1;
    let link = |to| Link { to, must };
    workloads.into_iter().map(link).collect()
}

/// Whether the dependent of an entry cannot become ready before each object of the entry is.
fn has_no_way_around(entry: &Dependency) -> bool {
    !has_choice(entry) && !is_met_by_one_that_waits(entry)
}

/// Whether an entry may be satisfied although one of its objects never becomes ready.
pub fn has_choice(entry: &Dependency) -> bool {
    let some_are_enough = match &entry.reference {
        Reference::Selected(selection) => selection.min.is_some_and(leaves_some),
        Reference::Part(parts) => parts.min.is_some_and(leaves_some),
        // Where all are needed, each has to leave no way around itself.
        Reference::Any(Alternatives { of, min }) => {
            let needed = min.map_or(1, |min| min.of(of.len()));
            needed < of.len() || !of.iter().all(has_no_way_around)
        }
        Reference::Object(_) | Reference::Address(_) => false,
    };
    entry.optional || some_are_enough
}

/// Whether this minimum may be less than the number of objects: any but 100%.
fn leaves_some(min: Min) -> bool {
    min != Min::Percent(100)
}

/// Whether an object may reach the asked state while it waits itself: the state is existence or an address, an expression decides
/// it, or objects of this kind count as started while their pods are at their gates.
fn is_met_by_one_that_waits(entry: &Dependency) -> bool {
    let by_kind = match (entry.state, &entry.reference) {
        // The kinds of a part's objects are not written anywhere.
        (State::Present | State::Addressed, _) | (State::Started, Reference::Part(_)) => true,
        (State::Started, Reference::Object(it)) => !starts_with_its_pods(&it.kind),
        (State::Started, Reference::Selected(it)) => !starts_with_its_pods(&it.kind),
        _ => false,
    };
    by_kind || !entry.health.is_empty()
}

/// Whether kstatus takes an object of this kind for current only with its pods: a Pod, or a workload of the group `apps`.
fn starts_with_its_pods(kind: &Kind) -> bool {
    let by_controller = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];
    kind.is_pod() || kind.group() == "apps" && by_controller.contains(&kind.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::parse_depends_on;

    /// A fake that answers each question with one object or two, named after the question.
    struct All;

    impl Targets for All {
        type Object = &'static str;

        fn named(&self, _: &ObjectRef) -> Option<&'static str> {
            Some("named")
        }

        fn selected(&self, _: &Selection) -> Vec<&'static str> {
            vec!["selected", "selected too"]
        }

        fn part(&self, _: &Parts) -> Vec<&'static str> {
            vec!["part"]
        }

        fn lighter(&self, _: i64) -> Vec<&'static str> {
            vec!["lighter"]
        }
    }

    #[test]
    fn there_is_a_way_around_what_others_can_stand_for() {
        for (list, found, must) in [
            ("deploy/a", 1, true),
            ("deploy/a:available", 1, true),
            ("deploy/a:started", 1, true),
            ("deploy/a:present", 1, false),
            ("job/a", 1, true),
            ("job/a:started", 1, false),
            ("[{kind: Deployment, name: a, optional: true}]", 1, false),
            ("[{kind: Deployment, selector: app=a}]", 2, true),
            ("[{kind: Deployment, selector: app=a, min: 1}]", 2, false),
            ("[{kind: Deployment, selector: app=a, min: 99%}]", 2, false),
            ("[{kind: Deployment, selector: app=a, min: 100%}]", 2, true),
            ("[{kind: Job, selector: app=a, state: started}]", 2, false),
            ("svc/a", 1, true),
            ("svc/a:started", 1, false),
            ("svc/a:addressed", 1, false),
            (
                "[{kind: Service, selector: app=a, state: started}]",
                2,
                false,
            ),
            (
                "[{kind: Deployment, name: a, health: /status/replicas >= 1}]",
                1,
                false,
            ),
            (
                "[{kind: Deployment, selector: app=a, state: started}]",
                2,
                true,
            ),
            ("pod/a:started", 1, true),
            ("rollout.argoproj.io/a", 1, true),
            ("rollout.argoproj.io/a:started", 1, false),
            ("group/a", 1, true),
            ("group/a:started", 1, false),
            ("[{group: a, min: 1}]", 1, false),
            ("[{group: a, min: 100%}]", 1, true),
            ("[{any: [deploy/a, group/b]}]", 2, false),
            ("[{any: [deploy/a, group/b], min: 1}]", 2, false),
            ("[{any: [deploy/a, group/b], min: 2}]", 2, true),
            ("[{any: [deploy/a, group/b], min: 51%}]", 2, true),
            ("[{any: [deploy/a, group/b:present], min: 2}]", 2, false),
            ("[{any: [deploy/a]}]", 1, true),
            ("[{any: [deploy/a], optional: true}]", 1, false),
            ("[{any: [svc/a:started]}]", 1, false),
        ] {
            let mut list = parse_depends_on(list).expect(list);
            let links = links(&Edge::Listed(list.remove(0)), &All);
            assert_eq!(links.len(), found, "{list:?}");
            assert!(links.iter().all(|link| link.must == must), "{list:?}");
        }
        let wave = links(&Edge::Wave(1), &All);
        let to = "lighter";
        assert_eq!(wave, [Link { to, must: true }]);
        assert_eq!(links(&Edge::Slot(1), &All), []);
    }

    #[test]
    fn one_endpoint_is_enough() {
        assert_eq!(
            behind(vec!['a']),
            [Link {
                to: 'a',
                must: true
            }]
        );
        assert!(behind(vec!['a', 'b']).iter().all(|link| !link.must));
    }
}
