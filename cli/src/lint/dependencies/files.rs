//! Lets the advice of admission look at the objects of the input in place of a cluster.

use crate::objects::Graph;
use rules::advice::{Seen, Served, Target, Workload};
use rules::dependency::{ObjectRef, Part, Selection};
use rules::kinds::Kind;
use rules::lookup::{Lookup, Unavailable};

/// The objects of the input, as one of them sees the others.
#[derive(Debug)]
pub(super) struct Files<'g, 'o> {
    pub(super) graph: &'g Graph<'o>,
    /// The index of the object from which the others are seen.
    pub(super) at: usize,
}

impl Files<'_, '_> {
    fn target(&self, to: usize) -> Target {
        Target {
            object: self.graph.objects[to].value.clone(),
            same_release: Some(self.graph.is_of_one_release(self.at, to)),
        }
    }
}

impl Seen for Files<'_, '_> {
    fn object(&self, _: &Workload<'_>, named: &ObjectRef) -> Lookup<Target> {
        match self.graph.find(self.at, named) {
            Some(to) if to != self.at => Lookup::Found(self.target(to)),
            // The object may be in the cluster.
            _ => Lookup::Unavailable(Unavailable::NotServed),
        }
    }

    fn selected(&self, _: &Workload<'_>, selection: &Selection) -> Lookup<Vec<Target>> {
        let found = self.graph.selected(self.at, selection).into_iter();
        let others = found.filter(|to| *to != self.at);
        Lookup::Found(others.map(|to| self.target(to)).collect())
    }

    fn served_by_others(&self, _: &Workload<'_>, service: &ObjectRef) -> Served {
        let service = self.graph.find(self.at, service);
        let Some(behind) = service.and_then(|service| self.graph.backends(service)) else {
            return Served::Unknown;
        };
        let others = behind.into_iter().filter(|at| *at != self.at);
        let stopped = others.map(|at| self.graph.objects[at].value["spec"]["replicas"] == 0);
        // A Service is stopped only if each workload behind it is.
        match stopped.reduce(|one, other| one && other) {
            None => Served::Never,
            Some(true) => Served::Stopped,
            Some(false) => Served::Yes,
        }
    }

    fn elsewhere(&self, _: &Workload<'_>, part: &Part) -> Vec<String> {
        self.graph.elsewhere(self.at, part)
    }

    fn is_forbidden(&self, _: &Kind) -> bool {
        false
    }

    fn tells_of_other_namespaces(&self) -> bool {
        true
    }
}
