//! Tests dependencies on Jobs that wait in a queue of Kueue.

#![expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]

use super::*;

fn prep(labels: Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"namespace": "shop", "name": "prep", "uid": "u1", "labels": labels, "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"suspend": true}, "status": {},
    })
}

fn workload(job: &str) -> Value {
    let says = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 600m more needed";
    json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
        "metadata": {"namespace": "shop", "name": "job-prep-1", "labels": {"kueue.x-k8s.io/job-uid": job}},
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": says}]},
    })
}

#[test]
fn a_suspended_job_says_in_which_queue_it_is_and_what_that_lacks() {
    let told = |labels: Value, job: &str, granted: bool| {
        let mut cluster = Cluster::of(vec![prep(labels), workload(job)]);
        let kind = Kind::Custom {
            group: "kueue.x-k8s.io".to_owned(),
            word: "Workload".to_owned(),
        };
        cluster.custom.push((kind, granted));
        let edges = edges_of(&pod("job/prep"), &cluster, &Policy::of_the_chart());
        assert_eq!(edges[0].judged.reason, Reason::JobSuspended);
        edges[0].judged.message.clone()
    };
    let queued = || json!({"kueue.x-k8s.io/queue-name": "team"});
    let in_queue = "job is suspended: queued in LocalQueue \"team\"";
    assert_eq!(
        told(json!({}), "u1", true),
        "job is suspended; set spec.suspend to false"
    );
    assert_eq!(told(queued(), "u1", false), in_queue);
    assert_eq!(told(queued(), "another", true), in_queue);
    assert_eq!(
        told(queued(), "u1", true),
        format!(
            "{in_queue}; its Workload says QuotaReserved is False: Pending: couldn't assign flavors to pod set main: insufficient unused \
             quota for cpu in flavor default, 600m more needed"
        )
    );
}
