//! Tests of caps, `sluice.dev/parallelism`: the number of workloads that run at the same time.

use harness::cluster::{
    LIMIT, Manifest, Namespace, Pod, Program, Runs, UNTIL_ENOUGH, await_until, config_map,
    cron_job, deployment, items, job, text, with_namespace,
};
use harness::process::binary;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PARALLELISM: &str = "sluice.dev/parallelism";
const INSTANCE: &str = "/metadata/labels/app.kubernetes.io~1instance";
/// The text in a gate's line about a Job that has no slot yet under a cap of 1.
const SLOT: &str = "one of 1 slots";

/// Returns `count` Jobs, each of which runs for `seconds` and has `cap` as its `sluice.dev/parallelism`.
pub(crate) fn seeds(count: usize, seconds: u32, cap: usize) -> Vec<Manifest> {
    let script = format!("sleep {seconds}");
    (0..count)
        .map(|number| capped(job(&format!("seed-{number}")), cap).runs(&script))
        .collect()
}

fn capped(manifest: Manifest, cap: usize) -> Manifest {
    manifest
        .with(INSTANCE, "shop")
        .annotated(PARALLELISM, &cap.to_string())
}

const JOBS: usize = 10;

async fn ten(cap: usize) {
    with_namespace(&format!("cap-{cap}"), async |ns| {
        ten_of(ns, cap, |_, job| job).await;
    })
    .await;
}

/// Applies ten Jobs with a cap, each changed by `own`, and checks that as many run at once as the cap allows.
pub(crate) async fn ten_of(ns: &Namespace, cap: usize, own: impl Fn(usize, Manifest) -> Manifest) {
    let job = |number| until_told(&format!("seed-{number}"), 0);
    let job = |number| own(number, job(number).annotated(PARALLELISM, &cap.to_string()));
    let jobs: Vec<_> = (0..JOBS).map(job).collect();
    ns.pipe("apply", &jobs, &[]).await.ok();
    run_at_once(ns, "", JOBS, cap).await;
}

/// Checks that `count` Jobs, whose pods have these labels and run [`UNTIL_ENOUGH`], run as many at once as their cap allows, and never one more. Each
/// runs until it was seen beside the other ones, however long a pod takes to start.
pub(crate) async fn run_at_once(ns: &Namespace, selector: &str, count: usize, cap: usize) {
    let mut seen = BTreeSet::new();
    while seen.len() < count {
        let together = cap.min(count - seen.len());
        let what = format!("{together} run beside {} that were told to end", seen.len());
        let fresh = await_until(&what, LIMIT, async || {
            let mut run = running(ns, selector).await;
            assert!(run.len() <= cap, "{run:?}");
            run.retain(|name| !seen.contains(name));
            if run.len() == together {
                Ok(run)
            } else {
                Err(format!("{run:?}"))
            }
        });
        for name in fresh.await {
            ns.tell_enough(&format!("job/{name}")).await;
            seen.insert(name);
        }
    }
}

/// Returns the names of the Jobs with these labels on their pods whose application runs.
async fn running(ns: &Namespace, selector: &str) -> Vec<String> {
    let pods = ns.look.list("pod", selector).await;
    let runs = |pod: &&Value| {
        let state = pod.pointer("/status/containerStatuses/0/state/running");
        state.is_some()
    };
    let name = |pod: &Value| text(pod, "/metadata/labels/app").to_owned();
    pods.iter().filter(runs).map(name).collect()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_ten_jobs_with_a_cap_of_one_each_runs_alone() {
    ten(1).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_ten_jobs_with_a_cap_of_two_two_run_at_once() {
    ten(2).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_ten_jobs_with_a_cap_of_three_three_run_at_once() {
    ten(3).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_cap_beyond_all_of_them_holds_nobody_back() {
    ten(10_000).await;
}

/// Returns a Job with a cap of 1 that runs until `/tmp/enough` is there, and then exits with this code.
fn until_told(name: &str, code: u8) -> Manifest {
    let script = format!("{UNTIL_ENOUGH}; exit {code}");
    capped(job(name), 1).runs(&script)
}

/// Applies a workload, checks that its pod waits for the only slot and stays shut, and returns the pod.
async fn waits(ns: &Namespace, manifest: Manifest) -> Pod {
    let name = manifest.name().to_owned();
    ns.apply([manifest]).await.ok();
    let pod = ns.pod_of(&name).await;
    pod.waits_for(SLOT, "NoSlot").await;
    pod.stays_shut().await;
    pod
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_that_fails_and_one_that_is_deleted_make_room() {
    with_namespace("slot-freed", async |ns| {
        ns.apply([until_told("fails", 1)]).await.ok();
        ns.pod_of("fails").await.starts().await;
        let gone = waits(ns, until_told("gone", 0)).await;
        ns.tell_enough("job/fails").await;
        gone.starts().await;

        let last = waits(ns, capped(job("last"), 1)).await;
        ns.kubectl(["delete", "job/gone", "--wait=false"])
            .await
            .ok();
        last.starts().await;
        let pods = ns.look.list("pod", "app=gone").await;
        for pod in &pods {
            let app = &items(pod, "/status/containerStatuses")[0];
            assert!(app["state"]["running"].is_null(), "{pod:#}");
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_suspended_job_keeps_its_slot() {
    with_namespace("slot-suspended", async |ns| {
        ns.apply([until_told("first", 0)]).await.ok();
        let first = ns.pod_of("first").await;
        first.starts().await;
        let suspend = |it: bool| json!({"spec": {"suspend": it}});
        ns.patch("job/first", &suspend(true)).await;
        ns.until("job/first", "has no pod", |it| {
            it["status"]["active"].as_i64().unwrap_or(0) == 0
        })
        .await;
        let second = waits(ns, capped(job("second"), 1)).await;
        let status = Program::new(binary("kubectl-sluice"))
            .args(["status", &second.name, "--namespace", &ns.name])
            .run()
            .await;
        assert!(status.stdout.contains("1 of 1 run: Job/first"), "{status}");

        ns.patch("job/first", &suspend(false)).await;
        ns.next_pod_of("first", &first).await.starts().await;
        second.is_shut().await;
        ns.tell_enough("job/first").await;
        second.starts().await;
    })
    .await;
}

/// A Deployment keeps its slot until it is rolled out, so under a cap of 1 the next one starts only then.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn deployments_with_a_cap_of_one_become_ready_one_after_another() {
    with_namespace("slot-deployments", async |ns| {
        let names = ["a", "b", "c"];
        ns.apply(names.map(|name| capped(deployment(name).ready_after(2), 1)))
            .await
            .ok();
        let mut turns = Vec::new();
        for name in names {
            let pod = ns.pod_of(name).await;
            turns.push((pod.starts().await, pod.says("ready").await));
        }
        turns.sort();
        for turn in turns.windows(2) {
            assert!(turn[0].1 <= turn[1].0, "{turns:?}");
        }
    })
    .await;
}

/// A new revision of a Deployment takes over the slot of a revision that never becomes ready: the Deployment is ready once its new pods are.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_new_revision_shares_the_slot_of_one_that_never_gets_ready() {
    with_namespace("slot-revision", async |ns| {
        let web = || capped(deployment("web"), 1);
        ns.apply([web().ready_when_told()]).await.ok();
        let broken = ns.pod_of("web").await;
        broken.starts().await;
        let next = waits(ns, capped(job("next"), 1)).await;

        ns.apply([web().ready_after(1)]).await.ok();
        ns.next_pod_of("web", &broken).await.starts().await;
        next.starts().await;
    })
    .await;
}

/// A Job of a CronJob keeps its slot until it is complete, although the CronJob counts as ready all the time.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_of_a_cron_job_has_its_slot_until_it_is_complete() {
    with_namespace("slot-cron", async |ns| {
        let never = |name: &str| cron_job(name).with("/spec/suspend", true);
        let nightly = ["a", "b"].map(|name| capped(never(name), 1).runs(UNTIL_ENOUGH));
        ns.apply(nightly).await.ok();
        let run = async |name: &str| {
            let from = format!("--from=cronjob/{name}");
            ns.kubectl(["create", "job", &format!("{name}-1"), &from])
                .await
                .ok();
            ns.pod_of(name).await
        };
        run("a").await.starts().await;
        let second = run("b").await;
        second.waits_for(SLOT, "NoSlot").await;
        second.stays_shut().await;
        ns.tell_enough("job/a-1").await;
        second.starts().await;
    })
    .await;
}

/// Each wave has slots of its own. Within one, the smallest cap counts for as long as its Job waits.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn each_wave_has_slots_of_its_own_and_the_smallest_cap_counts() {
    with_namespace("slot-waves", async |ns| {
        let small = capped(job("small"), 1).depends_on("configmap/go");
        ns.apply([small]).await.ok();
        let small = ns.pod_of("small").await;
        small.waits_for("ConfigMap/go", "NotFound").await;

        let wave = |wave: &str, weight: &str| {
            ["1", "2", "3"].map(|number| {
                let seed = capped(job(&format!("{wave}-{number}")), 3).runs(UNTIL_ENOUGH);
                seed.in_pod("/metadata/labels/wave", wave)
                    .annotated("sluice.dev/weight", weight)
            })
        };
        let both = [wave("heavy", "1"), wave("light", "0")].concat();
        ns.pipe("apply", &both, &[]).await.ok();
        run_at_once(ns, "wave=light", 3, 1).await;
        small.is_shut().await;

        ns.apply([config_map("go")]).await.ok();
        let small = small.starts().await;
        run_at_once(ns, "wave=heavy", 3, 3).await;
        let heavy = Runs::of(ns, "wave=heavy", 3).await;
        // In whole seconds.
        assert!(small.as_second() <= heavy.first_start().as_second());
    })
    .await;
}
