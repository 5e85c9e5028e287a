//! Room: a workload whose pod fits on no node, and the pods at their gates that hold the missing resources.

/// The result of a look at the pods of a namespace for one workload there. It is only shown; it decides nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Lack {
    /// A pod of the workload that no node takes.
    pub pod: String,
    /// The scheduler's message about the pod that no node takes.
    pub says: String,
    /// The resources that no node has enough of, each with the pods that hold some of it at a gate.
    pub lacking: Vec<(String, Vec<Occupant>)>,
}

/// A pod at its gate, which has its node and holds its requests there.
#[derive(Debug, Clone, PartialEq)]
pub struct Occupant {
    /// `metadata.name` of the pod.
    pub pod: String,
    /// The name of the pod's dependent: `Deployment/api`.
    pub dependent: String,
    /// Whether the dependent waits for the workload, directly or through others.
    pub waits: bool,
    /// The amount of the lacking resource that the pod holds.
    pub amount: f64,
}
