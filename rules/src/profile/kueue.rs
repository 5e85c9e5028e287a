//! Kueue: objects that are suspended until a queue admits them, and the queue's message.

use super::evidence::Evidence;
use crate::kinds::Kind;
use crate::kstatus::Conditions;
use crate::lookup::Lookup;
use crate::selector::Selector;
use crate::text::Quoted;
use crate::world::Objects;
use serde_json::Value;

/// The label by which an object is put into a queue.
const QUEUE_NAME: &str = "kueue.x-k8s.io/queue-name";
/// The label of a Workload that has the UID of the Job that it stands for.
const JOB_UID: &str = "kueue.x-k8s.io/job-uid";

/// The message about a Job that waits in a queue of Kueue: `queued in LocalQueue "team"; its Workload says QuotaReserved is False: Pending:
/// insufficient unused quota`; `None` for a Job in no queue. The Workload is read only where the administrator lets sluice read Workloads.
pub(super) fn queued(job: &Value, world: &Evidence<'_>) -> Option<String> {
    let queue = job["metadata"]["labels"][QUEUE_NAME].as_str()?;
    let queued = format!("queued in LocalQueue {}", Quoted(queue));
    Some(match reserved(job, world) {
        Some(says) => format!("{queued}; {says}"),
        None => queued,
    })
}

/// The message of a Job's Workload while it has no quota; `None` where it has, or where sluice cannot read it.
fn reserved(job: &Value, world: &Evidence<'_>) -> Option<String> {
    let kind = Kind::Custom {
        group: "kueue.x-k8s.io".to_owned(),
        word: "Workload".to_owned(),
    };
    if !world.is_granted(&kind) {
        return None;
    }
    let uid = job["metadata"]["uid"].as_str()?;
    let home = job["metadata"]["namespace"].as_str();
    let listed = world.list(&kind, home, &Selector::label(JOB_UID, uid));
    let Lookup::Found(workloads) = listed else {
        return None;
    };
    workloads.iter().find_map(|workload| {
        let conditions = Conditions::read(workload).ok()?;
        let it = conditions.find("QuotaReserved", "False")?;
        Some(format!(
            "its Workload says QuotaReserved is False: {}: {}",
            it.reason, it.message
        ))
    })
}
