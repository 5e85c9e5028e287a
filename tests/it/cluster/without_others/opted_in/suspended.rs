//! Tests of Jobs that are created suspended (`sluice.dev/hold: suspend`), which the chart's value `holds.enabled` turns on.

use crate::cluster::order::slots::run_at_once;
use harness::cluster::{
    Chart, LIMIT, Manifest, Namespace, Program, UNTIL_ENOUGH, await_until, config_map, deployment,
    job, opted_in, reported, text,
};
use harness::process::binary;
use serde_json::{Value, json};

const HOLD: &str = "sluice.dev/hold";
const NOTE: &str = "sluice.dev/suspended";

fn held(name: &str, list: &str) -> Manifest {
    job(name).depends_on(list).annotated(HOLD, "suspend")
}

fn note(job: &Value) -> Value {
    job["metadata"]["annotations"][NOTE].clone()
}

/// Waits until a Job carries sluice's note, and its own controller has reported that it is suspended: until then that may yet make a pod.
async fn is_suspended(ns: &Namespace, name: &str) {
    let job = format!("job/{name}");
    ns.until(&job, "is suspended, and noted", |job| {
        let conditions = job["status"]["conditions"].as_array();
        let seen = |it: &Value| it["type"] == "Suspended" && it["status"] == "True";
        note(job) == "true" && conditions.is_some_and(|all| all.iter().any(seen))
    })
    .await;
}

async fn pods_of(ns: &Namespace, name: &str) -> usize {
    let selector = format!("batch.kubernetes.io/job-name={name}");
    ns.look.list("pod", &selector).await.len()
}

/// Waits until `kubectl sluice status` of a Job prints this text and ends with code 3, which means that it waits.
async fn status_says(ns: &Namespace, name: &str, part: &str) {
    await_until(part, LIMIT, async || {
        let program = Program::new(binary("kubectl-sluice"));
        let args = ["status", name, "--namespace", &ns.name];
        let told = program.args(args).run().await;
        let said = told.stdout.contains(part) && told.code == Some(3);
        said.then_some(()).ok_or(told.to_string())
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_has_no_pod_before_its_list_is_satisfied() {
    opted_in("suspended", async |ns| {
        let theirs = held("theirs", "configmap/go").with("/spec/suspend", true);
        let api = deployment("api").depends_on("job/train");
        ns.apply([held("train", "configmap/go"), theirs, api])
            .await
            .ok();
        is_suspended(ns, "train").await;
        let api = ns.pod_of("api").await;
        api.waits_for("Job/train", "JobHeld").await;
        api.gate_says("it waits for ConfigMap/go").await;
        status_says(ns, "job/train", "ConfigMap/go").await;
        assert_eq!(pods_of(ns, "train").await, 0);

        ns.apply([config_map("go")]).await.ok();
        ns.until("job/train", "is complete", |job| {
            job["status"]["succeeded"] == 1
        })
        .await;
        assert_eq!(note(&ns.look.get("job/train").await), Value::Null);
        ns.pod_of("train").await.is_gated().await;
        api.starts().await;
        // The user's own suspended Job, with the same dependency, is the user's to resume.
        let theirs = ns.look.get("job/theirs").await;
        assert_eq!(
            (theirs["spec"]["suspend"].clone(), note(&theirs)),
            (json!(true), Value::Null)
        );

        somebody_else_resumes(ns).await;
        a_wait_that_takes_too_long(ns).await;
        caps(ns).await;
        let refused = deployment("web")
            .depends_on("configmap/go")
            .annotated(HOLD, "suspend");
        let told = ns.apply([refused]).await.refused();
        assert!(told.contains("only a Job can be suspended"), "{told}");
    })
    .await;
}

/// Checks a Job that a user resumes early: its pod waits at its gate, the note goes, and sluice does not suspend the Job again.
async fn somebody_else_resumes(ns: &Namespace) {
    ns.apply([held("early", "configmap/never")]).await.ok();
    is_suspended(ns, "early").await;
    ns.patch("job/early", &json!({"spec": {"suspend": false}}))
        .await;
    ns.until("job/early", "carries no note", |job| note(job).is_null())
        .await;
    let pod = ns.pod_of("early").await;
    pod.waits_for("ConfigMap/never", "NotFound").await;
}

async fn a_wait_that_takes_too_long(ns: &Namespace) {
    let late = held("late", "configmap/never")
        .annotated("sluice.dev/timeout", "8s")
        .annotated("sluice.dev/on-timeout", "fail");
    ns.apply([late]).await.ok();
    let why = ns.pod_of("late").await.is_refused().await;
    assert!(why.contains("the timeout of 8s"), "{why}");
    let late = ns.look.get("job/late").await;
    assert_eq!(note(&late), "timed-out");
    // It had no pod before, and its gate did not begin to count anew.
    let seconds = |at: &str| at.parse::<jiff::Timestamp>().expect("a time").as_second();
    let made = seconds(text(&late, "/metadata/creationTimestamp"));
    let pod = ns.pod_of("late").await.now().await;
    assert!(
        seconds(text(&pod, "/metadata/creationTimestamp")) >= made + 8,
        "{pod:#}"
    );
    let gate = &pod["status"]["initContainerStatuses"][0];
    let gate = [&gate["state"], &gate["lastState"]].map(|it| it["terminated"].clone());
    let gate = gate.iter().find(|it| it.is_object()).expect("it has ended");
    let [began, ended] = ["/startedAt", "/finishedAt"].map(|at| seconds(text(gate, at)));
    assert!(ended - began < 8, "{gate}");
}

/// Checks suspended Jobs under a cap: sluice never resumes more of them than may run, so that no pod ever waits for a slot.
async fn caps(ns: &Namespace) {
    let names = ["seed-1", "seed-2", "seed-3", "seed-4", "seed-5"];
    let seed = |name: &&str| {
        let seed = held(name, "configmap/seeds").annotated("sluice.dev/scope", "seeds");
        let seed = seed
            .annotated("sluice.dev/parallelism", "2")
            .runs(UNTIL_ENOUGH);
        seed.with("/spec/template/metadata/labels/sow", "yes")
    };
    let seeds: Vec<Manifest> = names.iter().map(seed).collect();
    ns.pipe("apply", &seeds, &[]).await.ok();
    for name in names {
        is_suspended(ns, name).await;
    }
    ns.apply([config_map("seeds")]).await.ok();
    run_at_once(ns, "sow=yes", names.len(), 2).await;
    // Not even the pods are there sooner: the Job above each had a slot.
    for name in names {
        let pod = ns.pod_of(name).await;
        assert!(
            pod.gate_log()
                .await
                .iter()
                .all(|line| !line.text.contains("NoSlot")),
            "{name}"
        );
    }
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn helm_3_and_4_wait_for_it_and_leave_it_alone() {
    opted_in("suspended-helm", async |ns| {
        let other = ns.another("suspended-helm3").await;
        let third = reported(&other, async || by_helm(&other, "helm3").await);
        tokio::join!(by_helm(ns, "helm"), third);
    })
    .await;
}

/// Installs a chart with suspended Jobs by a Helm that waits for all objects, and upgrades it: each Job runs once, and a Job that still waits is left
/// as it is.
async fn by_helm(ns: &Namespace, helm: &'static str) {
    let hook = |job: Manifest, weight: &str| {
        job.annotated("helm.sh/hook", "pre-install,pre-upgrade")
            .annotated("helm.sh/hook-weight", weight)
            .annotated("helm.sh/hook-delete-policy", "before-hook-creation")
    };
    let prepare = hook(job("prepare"), "1").runs("sleep 1; echo done");
    let check = hook(held("check", "job/prepare"), "2").runs("echo done");
    let db = deployment("db").ready_after(3);
    let migrate = held("migrate", "deployment/db").runs("sleep 1; echo done");
    let api = deployment("api").depends_on("job/migrate");
    let chart = Chart::new(helm, &[prepare, check, db, migrate, api]);
    let wait = ["--wait", "--wait-for-jobs"];
    chart.upgrade(ns, &wait).await.ok();
    let done = ns.pod_of("migrate").await.says("done").await;
    assert!(done <= ns.pod_of("api").await.starts().await);
    let migrate = ns.look.get("job/migrate").await;
    assert_eq!(
        (&migrate["status"]["succeeded"], note(&migrate)),
        (&json!(1), Value::Null)
    );
    for wait in [&wait[..], &wait[..1], &[]] {
        chart.upgrade(ns, wait).await.ok();
        let now = ns.look.get("job/migrate").await;
        assert_eq!(now["metadata"]["uid"], migrate["metadata"]["uid"]);
    }

    let waits = Chart::new(helm, &[held("waits", "configmap/later")]).called("other");
    for _ in 0..2 {
        waits.upgrade(ns, &[]).await.ok();
        is_suspended(ns, "waits").await;
    }
    assert_eq!(pods_of(ns, "waits").await, 0);
    let all = waits.upgrade(ns, &wait);
    let go = async {
        is_suspended(ns, "waits").await;
        ns.apply([config_map("later")]).await.ok();
    };
    let (upgraded, ()) = tokio::join!(all, go);
    upgraded.ok();
    ns.until("job/waits", "is complete", |job| {
        job["status"]["succeeded"] == 1
    })
    .await;
}
