use harness::cluster::{Defined, alone, deployment};
use serde_json::json;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_application_of_argo_cd_counts_when_it_is_healthy_and_synced_and_still() {
    alone("application", async |ns| {
        let application = Defined::new("argoproj.io", "v1alpha1", "Application");
        if ns.kubectl(["get", &application.definition()]).await.code == Some(0) {
            eprintln!("skipped: Argo CD is here");
            return;
        }
        application.grant(ns).await;
        application.define(ns).await;
        let (one, reference) = (application.dependency("one"), application.reference("one"));
        let api = deployment("api").depends_on(&one);
        ns.apply([application.one("one"), api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for(&one, "NoStatusYet").await;
        for (health, sync, phase, reason) in [
            ("Healthy", "OutOfSync", "Succeeded", "InProgress"),
            ("Progressing", "Synced", "Succeeded", "InProgress"),
            ("Healthy", "Synced", "Running", "InProgress"),
            ("Degraded", "Synced", "Succeeded", "Failed"),
        ] {
            let status = json!({
                "health": {"status": health}, "sync": {"status": sync}, "operationState": {"phase": phase},
            });
            ns.set_status(&reference, &status).await;
            api.waits_for(&one, reason).await;
        }
        let healthy = json!({"health": {"status": "Healthy"}});
        ns.set_status(&reference, &healthy).await;
        api.starts().await;
    })
    .await;
}

/// A Rollout whose `observedGeneration` is older than its generation does not count as ready. Argo Rollouts writes that number as a text.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_rollout_of_argo_that_is_behind_does_not_count() {
    alone("rollout-behind", async |ns| {
        let rollouts = Defined::new("argoproj.io", "v1alpha1", "Rollout");
        if ns.kubectl(["get", &rollouts.definition()]).await.code == Some(0) {
            eprintln!("skipped: Argo Rollouts is here");
            return;
        }
        rollouts.grant(ns).await;
        rollouts.define(ns).await;
        let (one, reference) = (rollouts.dependency("one"), rollouts.reference("one"));
        let canary = rollouts.one("one").with("/spec/replicas", 1);
        ns.apply([canary, deployment("api").depends_on(&one)])
            .await
            .ok();
        let status = json!({
            "observedGeneration": "1", "phase": "Healthy", "replicas": 1, "updatedReplicas": 1,
            "readyReplicas": 1, "availableReplicas": 1,
        });
        ns.set_status(&reference, &status).await;
        ns.pod_of("api").await.starts().await;

        ns.patch(&reference, &json!({"spec": {"replicas": 2}}))
            .await;
        ns.apply([deployment("late").depends_on(&one)]).await.ok();
        let late = ns.pod_of("late").await;
        late.waits_for(&one, "NotObserved").await;
        late.stays_shut().await;
        let seen = json!({
            "observedGeneration": "2", "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2,
            "availableReplicas": 2,
        });
        ns.set_status(&reference, &seen).await;
        late.starts().await;
    })
    .await;
}
