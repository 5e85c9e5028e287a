//! The state after the colon of an entry, such as `:present`: for each state an object that is in it and in no further one.

use harness::cluster::{UNTIL_ENOUGH, deployment, job, other, pod, service, with_namespace};
use serde_json::json;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn present_is_enough_for_who_asks_for_no_more() {
    with_namespace("present", async |ns| {
        ns.apply([
            deployment("present").depends_on("deployment/db:present"),
            deployment("ready").depends_on("deployment/db"),
        ])
        .await
        .ok();
        let (present, ready) = (ns.pod_of("present").await, ns.pod_of("ready").await);
        present.waits_for("Deployment/db:present", "NotFound").await;
        ns.apply([deployment("db").ready_when_told()]).await.ok();
        present.starts().await;
        ready.waits_for("Deployment/db", "InProgress").await;

        ns.pod_of("db").await.says("started").await;
        ns.tell_ready("deployment/db").await;
        ready.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_that_runs_has_started_and_is_not_complete() {
    with_namespace("started", async |ns| {
        let seed = job("seed").runs(UNTIL_ENOUGH).with("/spec/suspend", true);
        ns.apply([
            seed,
            deployment("started").depends_on("job/seed:started"),
            deployment("complete").depends_on("job/seed:complete"),
        ])
        .await
        .ok();
        let (started, complete) = (ns.pod_of("started").await, ns.pod_of("complete").await);
        started.waits_for("Job/seed:started", "JobSuspended").await;
        ns.patch("job/seed", &json!({"spec": {"suspend": false}}))
            .await;
        started.starts().await;
        complete
            .waits_for("Job/seed:complete", "JobNotComplete")
            .await;

        ns.pod_of("seed").await.says("started").await;
        ns.tell_enough("job/seed").await;
        complete.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_is_complete_when_it_has_succeeded_and_ready_before() {
    with_namespace("complete", async |ns| {
        let seed = pod("seed")
            .runs(UNTIL_ENOUGH)
            .in_pod("/spec/restartPolicy", "Never");
        ns.apply([
            seed,
            deployment("ready").depends_on("pod/seed"),
            deployment("complete").depends_on("pod/seed:complete"),
        ])
        .await
        .ok();
        ns.pod_of("ready").await.starts().await;
        let complete = ns.pod_of("complete").await;
        complete.waits_for("Pod/seed:complete", "InProgress").await;

        ns.tell_enough("pod/seed").await;
        complete.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_deployment_that_is_rolled_is_available_and_not_ready() {
    with_namespace("available", async |ns| {
        let db = deployment("db").ready_when_told();
        ns.apply([
            db.clone(),
            deployment("first").depends_on("deployment/db:available"),
        ])
        .await
        .ok();
        let first = ns.pod_of("first").await;
        first
            .waits_for("Deployment/db:available", "InProgress")
            .await;
        let old = ns.pod_of("db").await;
        old.says("started").await;
        ns.tell_ready(&format!("pod/{}", old.name)).await;
        first.starts().await;

        let db = db.template_annotated("example.com/release", "2");
        ns.apply([db]).await.ok();
        let new = ns.next_pod_of("db", &old).await; // beside the old one, which stays available
        ns.apply([
            deployment("available").depends_on("deployment/db:available"),
            deployment("ready").depends_on("deployment/db"),
        ])
        .await
        .ok();
        ns.pod_of("available").await.starts().await;
        let ready = ns.pod_of("ready").await;
        ready.waits_for("Deployment/db", "InProgress").await;

        new.says("started").await;
        ns.tell_ready(&format!("pod/{}", new.name)).await;
        ready.starts().await;
    })
    .await;
}

/// `:addressed` holds for a Service with a load balancer and for an Ingress once each has an address. This cluster has no load balancer, so the test
/// writes the addresses.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_load_balancer_and_an_ingress_are_addressed_when_they_have_an_address() {
    with_namespace("addressed", async |ns| {
        let ingress = other(json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web"},
            "spec": {"ingressClassName": "nobody", "defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
        }));
        let balancer = service("web").with("/spec/type", "LoadBalancer");
        let balancer = balancer.with("/spec/loadBalancerClass", "example.com/nobody");
        ns.apply([
            ingress,
            balancer,
            deployment("exists").depends_on("ingress/web"),
            deployment("one").depends_on("svc/web:addressed"),
            deployment("two").depends_on("ingress/web:addressed"),
        ])
        .await
        .ok();
        let (one, two) = (ns.pod_of("one").await, ns.pod_of("two").await);
        one.waits_for("Service/web:addressed", "NoAddress").await;
        two.waits_for("Ingress/web:addressed", "NoAddress").await;
        ns.pod_of("exists").await.starts().await;

        let address = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}});
        ns.set_status("service/web", &address).await;
        one.starts().await;
        two.is_shut().await;
        ns.set_status("ingress/web", &address).await;
        two.starts().await;
    })
    .await;
}
