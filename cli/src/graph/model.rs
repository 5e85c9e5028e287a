//! The graph as it is printed: the objects, their waits, and their order.

use rules::cause::RootCause;
use rules::judged::Judged;
use serde::Serialize;
use std::collections::BTreeMap;

/// The graph as it is drawn: its nodes in the order in which they start, and its edges.
#[derive(Debug, Serialize)]
pub(super) struct Model {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// The cycles: objects that wait for each other and never start.
    pub(super) cycles: Vec<Cycle>,
    /// The node of each object of the input, by the object's index.
    #[serde(skip)]
    pub(super) at: BTreeMap<usize, usize>,
}

/// One node of the graph: an object, a missing object that an entry names, or an address outside of the cluster.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node {
    /// `Deployment/api`; with its namespace in front where most objects of the graph are in another one. An address is its own id.
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    /// The wave of the node's object, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wave: Option<i64>,
    /// The object's own cap on how many objects of its wave run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallelism: Option<usize>,
    /// The step at which the object can start, from 1; `None` where it never starts: it or an object that it waits for is in a cycle, or has a
    /// list that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<usize>,
    /// Whether the node's object is in a cycle.
    pub(super) cycle: bool,
    /// Whether the object is missing, as far as sluice may know.
    pub(super) missing: bool,
    /// Whether the object holds a dependent back; `None` where that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) holds_up: Option<bool>,
    #[serde(flatten)]
    pub(super) health: Option<Health>,
    /// The reason why the pods of the node's object are not ready; `None` where it is not known, and while they only wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root_cause: Option<RootCause>,
    /// The texts of everything that the object waits for: its entries in their written form, waves and plans too.
    pub(super) waits_for: Vec<String>,
}

/// The health of an object: as a dependent that the object holds back judges it, else by the object itself, else as any dependent judges
/// it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Health {
    pub(super) ready: bool,
    /// The status of the object: a word of kstatus, or [`WAITS`].
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
}

/// The status of an object whose pods wait at their gates, and that has no other trouble.
pub(super) const WAITS: &str = "Waits";

/// An edge of the graph: the node `from` waits for the node `to`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Edge {
    #[serde(skip)]
    pub(super) from_node: usize,
    #[serde(skip)]
    pub(super) to_node: usize,
    pub(super) from: String,
    pub(super) to: String,
    /// The reason of the wait, where no entry names the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) because: Option<String>,
    /// Whether `from` cannot start without `to`.
    pub(super) must: bool,
    /// Whether the edge of the graph is in a cycle.
    pub(super) cycle: bool,
    /// Whether `to` holds `from` back at this moment; `None` where nothing is known of the two objects in a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) holds: Option<bool>,
    /// The reason that `from` is told about `to`, from the closed set of reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
    /// Whether a way over other edges leads from `from` to `to` as well, so that a drawing is clearer without this edge.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) implied: bool,
}

impl Edge {
    /// Whether a drawing of the graph shows the edge.
    pub(super) fn is_drawn(&self) -> bool {
        self.cycle || !self.implied
    }
}

/// A cycle of the graph: objects that wait for each other.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cycle {
    /// The whole way through the cycle, which ends where it begins.
    pub(super) path: String,
    pub(super) way_out: String,
}

impl From<Judged> for Health {
    fn from(judged: Judged) -> Self {
        Self {
            ready: judged.satisfied,
            status: judged.status.word().to_owned(),
            reason: judged.reason.label().to_owned(),
            message: judged.message,
        }
    }
}

impl Model {
    /// Sorts by step, then scope, wave and name; nodes that never start come last.
    pub(super) fn sorted(mut self) -> Self {
        let mut places: Vec<usize> = (0..self.nodes.len()).collect();
        places.sort_by_key(|at| {
            let node = &self.nodes[*at];
            let step = node.step.unwrap_or(usize::MAX);
            (step, node.scope.clone(), node.wave, node.id.clone())
        });
        let mut moved = vec![0; places.len()];
        for (new, old) in places.iter().enumerate() {
            moved[*old] = new;
        }
        self.nodes = places.iter().map(|at| self.nodes[*at].clone()).collect();
        for edge in &mut self.edges {
            edge.from_node = moved[edge.from_node];
            edge.to_node = moved[edge.to_node];
        }
        self.edges.sort_by_key(|it| (it.from_node, it.to_node));
        for node in self.at.values_mut() {
            *node = moved[*node];
        }
        self
    }
}
