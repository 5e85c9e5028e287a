//! What the administrator has chosen.

use rules::verdict::Policy;

/// What decides, beside the cluster's state.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What the administrator has chosen.
    pub policy: Policy,
    /// Custom kinds that a controller reference is followed through, `(group, kind)`.
    pub workloads: Vec<(String, String)>,
}
