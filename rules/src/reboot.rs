//! A boot of the dependent's node that its gate has told of: the pod had passed its gate before.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use wire::reboot;

/// The time after which the status alone decides, counted from the moment at which the gate began to ask. By then Kubernetes has marked
/// a node that does not report: its controller needs up to 20 s to begin, and then bears 50 s of silence.
pub const LONGEST: SignedDuration = SignedDuration::from_secs(90);

/// The time between the first report of a kubelet and the report on its pods, for which a kubelet needs a few seconds.
pub const PODS_AFTER_NODE: SignedDuration = SignedDuration::from_secs(15);

/// The present boot of the dependent's node. The gate opened in an earlier boot, and asks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reboot {
    /// The boot ID of the node.
    pub id: String,
    /// The time of the boot, by the clock of the node; the beginning of time where the gate cannot tell.
    pub booted: Timestamp,
    /// The time at which the gate began to ask.
    pub asked: Timestamp,
}

impl Reboot {
    /// Reads what a gate has told at the time `now`. A gate can only make its own pod wait longer or shorter by it.
    pub fn told(told: reboot::Reboot, now: Timestamp) -> Self {
        let reboot::Reboot { id, booted, asked } = told;
        let asked = i64::try_from(asked).map_or(SignedDuration::MAX, SignedDuration::from_secs);
        Self {
            id,
            booted: Timestamp::from_second(booted).unwrap_or(Timestamp::UNIX_EPOCH),
            asked: now.checked_sub(asked).unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }

    /// Whether a container of a pod, by its status, has been running since before the boot. On a node that was booted too, such a status is out of
    /// date.
    pub(crate) fn precedes(&self, pod: &Value) -> bool {
        let statuses = ["containerStatuses", "initContainerStatuses"];
        let statuses = statuses
            .into_iter()
            .filter_map(|it| pod["status"][it].as_array());
        let began = |status: &Value| -> Option<Timestamp> {
            status["state"]["running"]["startedAt"]
                .as_str()?
                .parse()
                .ok()
        };
        let mut began = statuses.flatten().filter_map(began);
        began.any(|began| began < self.booted)
    }
}

/// The last time at which the kubelet of a node reported that the node is ready; `None` for a node that is not.
pub(crate) fn reported(node: &Value) -> Option<Timestamp> {
    let mut conditions = node["status"]["conditions"].as_array()?.iter();
    let ready = conditions.find(|it| it["type"] == "Ready" && it["status"] == "True")?;
    ready["lastHeartbeatTime"].as_str()?.parse().ok()
}
