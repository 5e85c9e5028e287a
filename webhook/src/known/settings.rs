//! What the administrator has chosen.

use super::health_rules::HealthSources;
use rules::verdict::Policy;

/// The bytes of memory that are reckoned with where nothing limits them: those that the chart grants.
pub(crate) const MEMORY: usize = 256 << 20;

/// What decides, beside the cluster's state.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What the verdicts follow.
    pub policy: Policy,
    /// Custom kinds that a controller reference is followed through, `(group, kind)`.
    pub workloads: Vec<(String, String)>,
    /// Whether a ClusterRole says which custom kinds sluice is meant to read; without one it is meant to read none.
    pub reads_by_role: bool,
    /// Whether the metadata of Secrets is looked at, not only where a list names one: so Helm's records of releases are.
    pub follows_helm_releases: bool,
    /// How many bytes of memory the process has.
    pub memory: usize,
    /// Where health rules come from.
    pub health_rules: HealthSources,
}

impl Settings {
    /// What the chart sets, unless the administrator says otherwise.
    pub fn of_the_chart() -> Self {
        Self {
            policy: Policy::of_the_chart(),
            workloads: Vec::new(),
            reads_by_role: false,
            follows_helm_releases: false,
            memory: MEMORY,
            health_rules: HealthSources {
                administrator: false,
                builtin: true,
            },
        }
    }
}
