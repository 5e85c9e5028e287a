//! Room: a workload whose pod fits on no node, and the pods at their gates that hold what it lacks.

/// What a look at the pods of a namespace found of one workload there. It is told and decides nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Lack {
    /// A pod of the workload that no node takes.
    pub pod: String,
    /// What the scheduler says of that.
    pub says: String,
    /// What no node has enough of, and who holds some of it at a gate.
    pub lacking: Vec<(String, Vec<Occupant>)>,
}

/// A pod at its gate, which has its node and holds there what it requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Occupant {
    /// `metadata.name`
    pub pod: String,
    /// The name of what waits there: `Deployment/api`.
    pub dependent: String,
    /// Whether that waits for the workload, directly or through others.
    pub waits: bool,
    /// How much it holds.
    pub amount: f64,
}
