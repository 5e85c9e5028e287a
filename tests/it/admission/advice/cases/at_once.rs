//! Dependencies that count as ready without a pod.

use super::{Case, case, object, on};
use serde_json::{Value, json};

pub(in super::super) fn of_what_counts_at_once() -> Vec<Case> {
    vec![
        case(
            "scaled to zero",
            on("deploy/db"),
            scaled(0),
            &["ScaledToZero"],
        ),
        case("one replica", on("deploy/db"), scaled(1), &[]),
        case(
            "a CronJob",
            on("cronjob/nightly"),
            object("batch/v1", "CronJob", "nightly", json!({}), json!({})),
            &["OnlyExists"],
        ),
    ]
}

/// Returns the Deployment `db` as a dependency, with this many replicas and a readiness probe.
fn scaled(replicas: u32) -> Value {
    let pods = json!({"spec": {"containers": [{"readinessProbe": {"exec": {}}}]}});
    let spec = json!({"replicas": replicas, "template": pods});
    object("apps/v1", "Deployment", "db", json!({}), spec)
}
