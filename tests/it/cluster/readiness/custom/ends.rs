//! Tests of custom kinds that complete or fail as a Job does.

use harness::cluster::{Defined, deployment, with_namespace};
use jiff::Timestamp;
use serde_json::{Value, json};

fn status(condition: &str) -> Value {
    // An object that completed before its namespace was made is not remembered.
    let now = Timestamp::now().strftime("%FT%TZ").to_string();
    let condition = json!({"type": condition, "status": "True", "reason": "Test", "message": "of this test", "lastTransitionTime": now});
    json!({"conditions": [condition]})
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_set_fails_for_good_and_is_remembered_when_it_has_completed() {
    with_namespace("ends", async |ns| {
        let kind = Defined::new("jobset.x-k8s.io", "v1alpha2", "JobSet");
        let (reference, listed) = (kind.reference("train"), kind.dependency("train:complete"));
        kind.define(ns).await;
        kind.grant(ns).await;
        let train = kind
            .one("train")
            .annotated("sluice.dev/depends-on", "job/seed");
        let told = ns.apply([train]).await;
        let idle = "sluice.dev/depends-on has no effect on a JobSet; only workloads and pods wait";
        assert!(told.stderr.contains(idle), "{told}");

        ns.apply([deployment("api").depends_on(&listed)]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for(&listed, "NoStatusYet").await;
        ns.set_status(&reference, &status("Failed")).await;
        let line = api.waits_for(&listed, "FailedForGood").await;
        assert!(
            line.contains("condition Failed is True: Test: of this test"),
            "{line}"
        );
        ns.set_status(&reference, &status("Completed")).await;
        api.starts().await;

        // Its time to live is over.
        ns.kubectl(["delete", &reference]).await.ok();
        ns.apply([deployment("late").depends_on(&listed)])
            .await
            .ok();
        let late = ns.pod_of("late").await;
        late.starts().await;
    })
    .await;
}
