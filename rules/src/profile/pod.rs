//! Judges whether a Pod is ready, or has completed, for its dependents.

use super::{Subject, failed, from_kstatus, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kstatus::text;
use crate::path::get;
use serde_json::Value;

/// The kubelet's reasons for a container that waits and has no trouble.
const ORDINARY: [&str; 2] = ["PodInitializing", "ContainerCreating"];

/// Judges whether a pod is ready. A pod that has succeeded counts as ready. A pod that has failed is judged as failed, although kstatus
/// calls it current.
pub(super) fn ready(subject: Subject<'_>) -> Judged {
    let object = subject.object;
    if phase(object) == "Failed" {
        return failed(Reason::Failed, failure(object));
    }
    let mut judged = from_kstatus(subject.evaluation);
    if !judged.satisfied {
        add_trouble(object, &mut judged.message);
    }
    judged
}

/// Judges whether a pod has succeeded; being ready is not enough.
pub(super) fn complete(subject: Subject<'_>) -> Judged {
    match phase(subject.object) {
        "Succeeded" => satisfied("Pod has completed successfully"),
        _ => match ready(subject) {
            judged if judged.satisfied => {
                waiting(Reason::InProgress, "Pod runs and has not completed yet")
            }
            judged => judged,
        },
    }
}

fn phase(object: &Value) -> &str {
    text(object, &["status", "phase"], "")
}

fn failure(object: &Value) -> String {
    match text(object, &["status", "reason"], "") {
        "" => "Pod has completed, but not successfully".to_owned(),
        reason => format!("Pod has completed, but not successfully: {reason}"),
    }
}

/// Appends each container that does not start, with the reason, the init containers first: `, container "web": ImagePullBackOff`. A container that
/// only waits for its turn is left out.
fn add_trouble(object: &Value, message: &mut String) {
    let statuses = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .filter_map(|field| get(object, &["status", field])?.as_array())
        .flatten();
    for status in statuses {
        let reason = text(status, &["state", "waiting", "reason"], "");
        if !reason.is_empty() && !ORDINARY.contains(&reason) {
            let name = text(status, &["name"], "");
            message.push_str(", container \"");
            message.push_str(name);
            message.push_str("\": ");
            message.push_str(reason);
        }
    }
}
