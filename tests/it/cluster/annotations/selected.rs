//! Tests of entries of a list that mean several objects, or only some of an object's pods.

use harness::cluster::{
    LIMIT, Manifest, Namespace, await_until, config_map, daemon_set, deployment, job, pod,
    with_namespace,
};
use serde_json::json;

const TIER: &str = "/metadata/labels/tier";

/// Returns a suspended Job with the label that the lists select.
fn suspended(name: &str) -> Manifest {
    job(name).with("/spec/suspend", true).with(TIER, "seed")
}

async fn resume(ns: &Namespace, name: &str) {
    let job = format!("job/{name}");
    ns.patch(&job, &json!({"spec": {"suspend": false}})).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_what_a_selector_finds_all_have_to_count_or_as_many_as_the_list_says() {
    with_namespace("min", async |ns| {
        let list = |min: &str| format!("- kind: Job\n  selector: tier=seed\n{min}");
        let dependents = [
            ("all", list("")),
            ("half", list("  min: 50%\n")),
            ("one", list("  min: 1\n")),
        ];
        ns.apply(dependents.map(|(name, list)| deployment(name).depends_on(&list)))
            .await
            .ok();
        let (all, half, one) = (
            ns.pod_of("all").await,
            ns.pod_of("half").await,
            ns.pod_of("one").await,
        );
        for pod in [&all, &half, &one] {
            pod.waits_for("Job[tier=seed]", "NotFound").await;
        }
        ns.apply(["s-1", "s-2", "s-3"].map(suspended)).await.ok();
        for pod in [&all, &half, &one] {
            pod.waits_for("Job[tier=seed]", "JobSuspended").await;
        }

        resume(ns, "s-2").await;
        one.starts().await;
        // The gate's first line once the Job has begun, and the next once it is done.
        half.waits_for("Job[tier=seed]", "JobSuspended: 1 of 3 ready, 2 needed")
            .await;
        resume(ns, "s-3").await;
        half.starts().await;
        all.waits_for("Job[tier=seed]", "JobSuspended: 2 of 3 ready")
            .await;
        resume(ns, "s-1").await;
        all.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_alternatives_one_is_enough() {
    with_namespace("any", async |ns| {
        let list = "- any: [job/seed, configmap/dump]\n";
        let both = "- any: [job/seed, configmap/dump]\n  min: 2\n";
        ns.apply([
            suspended("seed"),
            deployment("api").depends_on(list),
            deployment("both").depends_on(both),
        ])
        .await
        .ok();
        let (api, both) = (ns.pod_of("api").await, ns.pod_of("both").await);
        api.waits_for("any of (Job/seed, ConfigMap/dump)", "JobSuspended")
            .await;

        ns.apply([config_map("dump")]).await.ok();
        api.starts().await;
        both.waits_for("2 of (Job/seed, ConfigMap/dump)", "JobSuspended")
            .await;
        resume(ns, "seed").await;
        both.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_optional_and_there_has_to_count() {
    with_namespace("optional-there", async |ns| {
        let list = "- kind: Job\n  name: seed\n  optional: true\n";
        ns.apply([suspended("seed"), deployment("api").depends_on(list)])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Job/seed", "JobSuspended").await;
        api.stays_shut().await;

        ns.kubectl(["delete", "job/seed"]).await.ok();
        api.starts().await;
    })
    .await;
}

/// A DaemonSet that has no pod counts as ready, except for an entry with `sameNode`, which needs its pod on the node.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_a_daemon_set_the_pod_on_the_same_node_has_to_count() {
    with_namespace("same-node", async |ns| {
        let nowhere = json!({"example.com/no-such": "node"});
        let csi = daemon_set("csi")
            .ready_when_told()
            .in_pod("/spec/nodeSelector", nowhere);
        let list = "- kind: DaemonSet\n  name: csi\n  sameNode: true\n";
        let here = deployment("here").depends_on(list);
        let anywhere = deployment("anywhere").depends_on("daemonset/csi");
        ns.apply([csi, here, anywhere]).await.ok();
        let here = ns.pod_of("here").await;
        here.waits_for("DaemonSet/csi", "NotFound").await;
        ns.pod_of("anywhere").await.starts().await;

        let everywhere = json!({"spec": {"template": {"spec": {"nodeSelector": null}}}});
        ns.patch("daemonset/csi", &everywhere).await;
        here.waits_for("DaemonSet/csi", "InProgress").await;
        let node = here.now().await["spec"]["nodeName"].clone();
        for pod in ns.pods_of("csi", 1).await {
            if pod.now().await["spec"]["nodeName"] == node {
                pod.says("started").await;
                ns.tell_ready(&format!("pod/{}", pod.name)).await;
            }
        }
        here.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_selected_pods_those_on_the_same_node_have_to_count() {
    with_namespace("node-pods", async |ns| {
        let agent = |name| pod(name).with("/metadata/labels/role", "agent");
        // Nothing runs there, so the test says that it is ready.
        let elsewhere = agent("elsewhere").with("/spec/nodeName", "no-such-node");
        let list = "- kind: Pod\n  selector: role=agent\n  sameNode: true\n";
        let anywhere = "- kind: Pod\n  selector: role=agent\n  min: 1\n";
        ns.apply([elsewhere]).await.ok();
        let ready = json!({"type": "Ready", "status": "True"});
        let status = json!({"phase": "Running", "conditions": [ready]});
        ns.set_status("pod/elsewhere", &status).await;
        ns.apply([
            deployment("here").depends_on(list),
            deployment("anywhere").depends_on(anywhere),
        ])
        .await
        .ok();
        let here = ns.pod_of("here").await;
        here.waits_for("Pod[role=agent]", "NotFound").await;
        ns.pod_of("anywhere").await.starts().await;

        let node = here.now().await["spec"]["nodeName"].clone();
        ns.apply([agent("beside").with("/spec/nodeName", node)])
            .await
            .ok();
        here.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_selected_jobs_only_the_fresh_ones_count() {
    with_namespace("fresh-jobs", async |ns| {
        let seed = |name| job(name).with(TIER, "seed");
        ns.apply([seed("old")]).await.ok();
        ns.until("job/old", "is complete", |job| {
            job["status"]["succeeded"] == 1
        })
        .await;
        let list = "- kind: Job\n  selector: tier=seed\n  fresh: true\n";
        ns.apply([deployment("api").depends_on(list)]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Job[tier=seed]", "NotFresh").await;

        ns.apply([seed("new")]).await.ok();
        api.starts().await; // the old Job holds nothing back
    })
    .await;
}

/// A Job that a selector has found counts also after its removal, for a later revision too: its name is unknown beforehand, and it is removed once it
/// is complete.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_removed_job_that_a_selector_found_goes_on_counting() {
    with_namespace("gone-jobs", async |ns| {
        let brief = |it: Manifest| it.with("/spec/ttlSecondsAfterFinished", 0);
        let seeded = |name: &str| deployment(name).depends_on("- {kind: Job, selector: tier=seed}");
        let first = brief(job("seed-1").with(TIER, "seed"));
        ns.apply([seeded("api"), first]).await.ok();
        let old = ns.pod_of("api").await;
        old.starts().await;
        await_until("job/seed-1 is removed", LIMIT, async || {
            match ns.look.find("job/seed-1").await {
                None => Ok(()),
                Some(job) => Err(format!("{:#}", job["status"])),
            }
        })
        .await;

        ns.apply([seeded("late")]).await.ok();
        ns.pod_of("late").await.starts().await;
        let patch = json!({"spec": {"template": {"metadata": {"labels": {"release": "2"}}}}});
        ns.patch("deployment/api", &patch).await;
        ns.next_pod_of("api", &old).await.starts().await;

        // Another that is there has to complete as well.
        ns.apply([brief(suspended("seed-2"))]).await.ok();
        ns.apply([seeded("later")]).await.ok();
        let later = ns.pod_of("later").await;
        later
            .waits_for("Job[tier=seed]", "JobSuspended: 1 of 2 ready")
            .await;
        resume(ns, "seed-2").await;
        later.starts().await;
    })
    .await;
}
