//! One status for many objects.

use super::Status;

/// The status of a set (cli-utils `polling/aggregator`): any `Failed`, else any `Unknown`, else `desired` where every
/// object has it, else `InProgress`. The empty set is as desired.
pub fn aggregate(statuses: &[Status], desired: Status) -> Status {
    if statuses.contains(&Status::Failed) {
        Status::Failed
    } else if statuses.contains(&Status::Unknown) {
        Status::Unknown
    } else if statuses.iter().all(|status| *status == desired) {
        desired
    } else {
        Status::InProgress
    }
}

/// The status of a `StatefulSet` or `ReplicaSet` seen with its pods (cli-utils `statusreaders/pod_controller`): one
/// failed pod fails a set that is in progress.
pub fn with_pods(own: Status, pods: &[Status]) -> Status {
    if own == Status::InProgress && pods.contains(&Status::Failed) {
        Status::Failed
    } else {
        own
    }
}
