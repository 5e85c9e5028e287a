//! Traces of an older state, which an upgrade, a rollback or a late controller leaves behind, open no gate.

use harness::cluster::{
    Chart, LIMIT, Manifest, TIMEOUT, await_until, config_map, daemon_set, deployment, items, job,
    stateful_set, text, with_namespace,
};
use serde_json::{Value, json};
use std::time::Duration;

const REVISION: &str = "sluice.dev/revision";

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_completed_job_of_the_revision_before_is_not_fresh() {
    with_namespace("fresh", async |ns| {
        let list = "- kind: Job\n  name: seed\n  fresh: true\n";
        let seed = job("seed").runs("sleep 1; echo done");
        ns.apply([deployment("api").depends_on(list)]).await.ok();
        let old = ns.pod_of("api").await;
        old.waits_for("Job/seed", "NotFound").await;
        ns.apply([seed.clone()]).await.ok();
        old.starts().await;

        // Times are whole seconds: one that was made in the same second as the revision counts as fresh.
        ns.kubectl(["rollout", "restart", "deployment/api"])
            .await
            .ok();
        let new = ns.next_pod_of("api", &old).await;
        new.waits_for("Job/seed", "NotFresh").await;
        new.stays_shut().await;
        old.is_ready().await;
        ns.kubectl(["delete", "job/seed"]).await.ok();
        new.waits_for("Job/seed", "NotFound").await; // what is remembered is no fresher

        ns.apply([seed]).await.ok();
        let done = ns.pod_of("seed").await.says("done").await;
        assert!(done < new.starts().await);
    })
    .await;
}

/// `fresh: true` works for StatefulSets and DaemonSets too: their revisions are ControllerRevisions, which each kind names in its own way.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_stateful_set_and_a_daemon_set_know_what_is_fresh_too() {
    with_namespace("fresh-sets", async |ns| {
        ns.apply([job("seed")]).await.ok();
        ns.until("job/seed", "is complete", |job| {
            job["status"]["succeeded"] == 1
        })
        .await;
        let list = "- kind: Job\n  name: seed\n  fresh: true\n";
        ns.apply([
            stateful_set("db").depends_on(list),
            daemon_set("agent").depends_on(list),
        ])
        .await
        .ok();
        let (db, agent) = (ns.pod_of("db").await, ns.pod_of("agent").await);
        db.waits_for("Job/seed", "NotFresh").await;
        agent.waits_for("Job/seed", "NotFresh").await;

        ns.kubectl(["delete", "job/seed"]).await.ok();
        ns.apply([job("seed")]).await.ok();
        db.starts().await;
        agent.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_that_takes_the_place_of_another_does_not_wait_again() {
    with_namespace("replaced", async |ns| {
        let db = stateful_set("db").depends_on("configmap/go");
        ns.apply([config_map("go"), db]).await.ok();
        let old = ns.pod_of("db").await;
        old.starts().await;

        ns.kubectl(["delete", "configmap/go", "pod/db-0"])
            .await
            .ok();
        let new = ns.next_pod_of("db", &old).await;
        new.starts().await;
        let log = new.gate_log().await;
        assert!(
            log.iter().all(|line| !line.text.contains("waiting")),
            "{log:?}"
        );
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_dependency_that_waited_beyond_its_deadline_counts_when_it_recovers() {
    with_namespace("deadline", async |ns| {
        let up = deployment("up").with("/spec/progressDeadlineSeconds", 2);
        let up = up.depends_on("configmap/go");
        ns.apply([deployment("down").depends_on("deployment/up"), up])
            .await
            .ok();
        let (up, down) = (ns.pod_of("up").await, ns.pod_of("down").await);
        up.waits_for("ConfigMap/go", "NotFound").await;
        ns.until("deployment/up", "is late", |up| {
            let conditions = items(up, "/status/conditions");
            let late = |it: &&_| text(it, "/reason") == "ProgressDeadlineExceeded";
            conditions.iter().any(|it| late(&it))
        })
        .await;
        down.waits_for("Deployment/up", "Failed").await;

        ns.apply([config_map("go")]).await.ok();
        assert!(up.starts().await < down.starts().await);
    })
    .await;
}

/// In lockstep the API of a rollback waits for the rolled-back database. Helm writes a Deployment before a StatefulSet, so the database of the newer
/// release is still there, and ready, when the API's new pod asks.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn in_lockstep_a_rollback_waits_for_what_is_rolled_back() {
    with_namespace("lockstep-back", async |ns| {
        let tagged = |manifest: Manifest| {
            let revision = "{{ .Release.Revision }}";
            manifest
                .annotated(REVISION, revision)
                .template_annotated("example.com/release", revision)
        };
        let db = tagged(stateful_set("db").ready_after(2));
        let api = tagged(deployment("api").depends_on("statefulset/db"));
        let chart = Chart::new("helm", &[db, api]);
        chart.upgrade(ns, &["--wait"]).await.ok();
        let mut old = (ns.pod_of("db").await, ns.pod_of("api").await);

        for back in [false, true] {
            if back {
                chart.rollback(ns, &["--wait"]).await.ok();
            } else {
                chart.upgrade(ns, &["--wait"]).await.ok();
            }
            let db = ns.next_pod_of("db", &old.0).await;
            let api = ns.next_pod_of("api", &old.1).await;
            let ready = db.says("ready").await;
            let starts = api.starts().await;
            assert!(
                ready <= starts,
                "{starts} is before {ready}; rollback: {back}"
            );
            old = (db, api);
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn out_of_lockstep_an_object_counts_only_where_the_list_says_so() {
    with_namespace("lockstep", async |ns| {
        let config = config_map("config").annotated(REVISION, "1");
        let any = "- kind: ConfigMap\n  name: config\n  revision: any\n";
        let [strict, lenient] = [("strict", "configmap/config"), ("lenient", any)]
            .map(|(name, list)| deployment(name).depends_on(list).annotated(REVISION, "2"));
        ns.apply([config, strict, lenient]).await.ok();
        ns.pod_of("lenient").await.starts().await;
        let strict = ns.pod_of("strict").await;
        strict.waits_for("ConfigMap/config", "OtherRevision").await;

        ns.annotate("configmap/config", REVISION, "2").await;
        strict.starts().await;
    })
    .await;
}

/// A completed and removed Job counts also for the next revision of its dependent, which asks long after the removal.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_removed_job_counts_for_the_next_revision_too() {
    with_namespace("removed-job", async |ns| {
        let seed = job("seed").with("/spec/ttlSecondsAfterFinished", 1);
        let api = deployment("api").depends_on("job/seed");
        ns.apply([api, seed]).await.ok();
        let old = ns.pod_of("api").await;
        old.starts().await;
        await_until("job/seed is removed", LIMIT, async || {
            match ns.look.find("job/seed").await {
                None => Ok(()),
                Some(job) => Err(format!("{:#}", job["status"])),
            }
        })
        .await;

        let patch = json!({"spec": {"template": {"metadata": {"labels": {"release": "2"}}}}});
        ns.patch("deployment/api", &patch).await;
        ns.next_pod_of("api", &old).await.starts().await;
    })
    .await;
}

/// In an upgrade or a rollback by a slow installer, the API waits until the database is replaced too. The installer writes the API first, other
/// objects next, and the database last; only the age of the old, ready database tells that it is about to be replaced. A rollback leaves no time of
/// its change in an object.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_old_database_does_not_count_for_the_api_of_an_upgrade_or_a_rollback() {
    with_namespace("settle", async |ns| {
        let of_shop =
            |it: Manifest| it.with("/metadata/labels/app.kubernetes.io~1instance", "shop");
        let manifests = [
            deployment("api").depends_on("statefulset/db"),
            deployment("other"),
            stateful_set("db").ready_after(2),
        ];
        ns.apply(manifests.map(of_shop)).await.ok();
        let mut old = (ns.pod_of("db").await, ns.pod_of("api").await);
        old.1.starts().await;
        tokio::time::sleep(TOGETHER).await;

        // An undone upgrade brings the first template back.
        for (step, version) in [("upgrade", json!("2")), ("undo", Value::Null)] {
            let mut moment = tokio::time::interval(Duration::from_secs(1));
            let others = ["a", "b", "c", "d", "e"].map(|label| ("deployment/other", label));
            let (first, last) = (("deployment/api", "a"), ("statefulset/db", "a"));
            for (written, label) in [first].into_iter().chain(others).chain([last]) {
                let labels = json!({label: version});
                let template = json!({"spec": {"template": {"metadata": {"labels": labels}}}});
                moment.tick().await;
                ns.look.patch(written, &template).await;
            }
            let db = ns.next_pod_of("db", &old.0).await;
            let api = ns.next_pod_of("api", &old.1).await;
            let ready = db.says("ready").await;
            let starts = api.starts().await;
            assert!(ready <= starts, "{step}: {starts} is before {ready}");
            old = (db, api);
            // While the pod of the revision before is there, an undone upgrade needs no other.
            ns.kubectl(["rollout", "status", "deployment/api", TIMEOUT])
                .await
                .ok();
        }
    })
    .await;
}

/// In an upgrade that leaves the database alone, the API waits until the installer has stopped writing for a moment. It writes until the gate has
/// said that it waits for that, so a pod may take its time to start.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_unchanged_database_counts_for_the_api_of_an_upgrade_after_a_moment() {
    with_namespace("settle-same", async |ns| {
        let of_shop =
            |it: Manifest| it.with("/metadata/labels/app.kubernetes.io~1instance", "shop");
        let manifests = [
            deployment("api").depends_on("statefulset/db"),
            deployment("other"),
            stateful_set("db"),
        ];
        ns.apply(manifests.map(of_shop)).await.ok();
        let old = ns.pod_of("api").await;
        old.starts().await;
        tokio::time::sleep(TOGETHER).await;

        let template = json!({"spec": {"template": {"metadata": {"labels": {"version": "2"}}}}});
        ns.look.patch("deployment/api", &template).await;
        let api = ns.next_pod_of("api", &old).await;
        tokio::select! {
            _ = api.waits_for("StatefulSet/db", "Settling") => {}
            () = ns.keeps_writing("deployment/other") => {}
        }
        api.starts().await;
    })
    .await;
}

/// The age below which an object counts as part of the same installation.
const TOGETHER: Duration = Duration::from_secs(6);
