//! The settings of the administrator from which verdicts follow.

use super::freshness::WallClock;
use super::health_rules::HealthSources;
use crate::memory_alarm::MemoryAlarm;
use rules::verdict::Policy;

/// The memory of the process where no limit is known, in bytes: the memory that the chart grants.
pub(crate) const MEMORY: usize = 256 << 20;

/// The settings of the administrator that decide verdicts.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The settings that the rules read ([`Policy`]).
    pub policy: Policy,
    /// The custom kinds, `(group, kind)`, through which an owner reference is followed.
    pub workloads: Vec<(String, String)>,
    /// Whether a ClusterRole names the custom kinds that sluice may read. Without the ClusterRole sluice may read none.
    pub reads_by_role: bool,
    /// Whether the metadata of all Secrets is followed, to read Helm's records of releases. If not, a Secret is read only where a list
    /// names it.
    pub follows_helm_releases: bool,
    /// The memory that the process may take, in bytes.
    pub memory: usize,
    /// Tells when that memory is nearly used up.
    pub memory_alarm: MemoryAlarm,
    /// The sources of the health rules.
    pub health_rules: HealthSources,
    /// The clock by which followed data grows old while the node is suspended.
    pub wall: WallClock,
}

impl Settings {
    /// The settings of the chart's default values, for tests: the wall clock stands still.
    pub fn of_the_chart() -> Self {
        Self {
            policy: Policy::of_the_chart(),
            workloads: Vec::new(),
            reads_by_role: false,
            follows_helm_releases: false,
            memory: MEMORY,
            memory_alarm: MemoryAlarm::default(),
            health_rules: HealthSources {
                administrator: false,
                builtin: true,
            },
            wall: WallClock::STILL,
        }
    }
}
