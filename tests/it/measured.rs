//! Measurements that take too long for every run: `cargo test --workspace --test it -- --ignored --nocapture --test-threads 1
//! measured` prints the figures.

mod held; // very many pods that take no node

use crate::cluster::order::slots::seeds;
use futures::future::join_all;
use harness::cluster::{Chart, Namespace, Runs, items, job, sluice, text, with_namespace};
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The number of Jobs that run under a cap.
const JOBS: usize = 10;
/// The duration of one Job by itself, in seconds.
const SECONDS: u32 = 3;
/// The number of runs for each cap.
const RUNS: usize = 20;
/// The number of runs at the same time, each in a namespace of its own.
const TOGETHER: usize = 4;

/// Returns the caps of `SLUICE_CAPS`, comma separated, so that a long measurement can be made in parts; without it 1, 2, 3 and 10000.
fn caps() -> Vec<usize> {
    let said = std::env::var("SLUICE_CAPS").unwrap_or_else(|_| "1,2,3,10000".to_owned());
    let number = |word: &str| {
        word.trim()
            .parse()
            .expect("SLUICE_CAPS is a list of numbers")
    };
    said.split(',').map(number).collect()
}

/// Runs ten Jobs of three seconds each under a cap. Returns the most that ran at once, and the time from the first start to the last end.
async fn one_run(cap: usize) -> (usize, SignedDuration) {
    let figures = Mutex::default();
    with_namespace(&format!("soak-{cap}"), async |ns| {
        ns.pipe("apply", &seeds(JOBS, SECONDS, cap), &[]).await.ok();
        let runs = Runs::of(ns, "", JOBS).await;
        *figures.lock().expect("nobody panics with it") = (runs.most_at_once(), runs.length());
    })
    .await;
    figures.into_inner().expect("nobody panics with it")
}

#[tokio::test]
#[ignore = "a quarter of an hour in a cluster with sluice"]
async fn caps_hold_in_every_run_with_a_replica_deleted() {
    for cap in caps() {
        let mut figures = Vec::new();
        for batch in 0..RUNS / TOGETHER {
            let random = RandomState::new().build_hasher().finish();
            let moment = Duration::from_millis(2000 + random % 20_000);
            let delete = async {
                tokio::time::sleep(moment).await;
                sluice::delete_one(batch).await;
            };
            let runs = join_all((0..TOGETHER).map(|_| one_run(cap)));
            let ((), runs) = tokio::join!(delete, runs);
            sluice::start().await;
            println!("cap {cap}, a replica deleted after {moment:?}: {runs:?}");
            figures.extend(runs);
        }
        let most: Vec<usize> = figures.iter().map(|(most, _)| *most).collect();
        let longest = figures.iter().map(|(_, length)| *length).max();
        println!("cap {cap}: at most {most:?} at once; the longest run took {longest:?}");
        // On a node that is busy with others a run may be over before so many have begun.
        assert!(most.iter().all(|most| *most <= cap), "{most:?}");
        assert!(cap > JOBS || most.contains(&cap), "{most:?}");
    }
}

/// Returns the time that ten Jobs take under a cap, from the start of `kubectl apply` until the last is complete.
async fn by_sluice(ns: &Namespace, cap: usize) -> Duration {
    let start = Instant::now();
    ns.pipe("apply", &seeds(JOBS, SECONDS, cap), &[]).await.ok();
    until_complete(ns, JOBS).await;
    start.elapsed()
}

/// Returns the time that ten Jobs take where the test itself resumes the next Job as soon as one is complete, so that `cap` run at a time. The time
/// contains that of Kubernetes itself for a Job, and none of sluice's.
async fn by_hand(ns: &Namespace, cap: usize) -> Duration {
    let name = |number: usize| format!("seed-{number}");
    let script = format!("sleep {SECONDS}");
    let seed = |number| job(&name(number)).runs(&script).with("/spec/suspend", true);
    let seeds: Vec<_> = (0..JOBS).map(seed).collect();
    ns.pipe("apply", &seeds, &[]).await.ok();
    let start = Instant::now();
    for number in 0..JOBS {
        if let Some(done) = (number + 1).checked_sub(cap) {
            until_complete(ns, done).await;
        }
        let go = json!({"spec": {"suspend": false}});
        ns.patch(&format!("job/{}", name(number)), &go).await;
    }
    until_complete(ns, JOBS).await;
    start.elapsed()
}

/// Waits until `count` Jobs of the namespace are complete. Looks more often than a test would, since the time is measured.
async fn until_complete(ns: &Namespace, count: usize) {
    let complete = |job: &&Value| {
        let conditions = items(job, "/status/conditions").iter();
        let mut conditions = conditions.map(|it| (text(it, "/type"), text(it, "/status")));
        conditions.any(|it| it == ("Complete", "True"))
    };
    while ns
        .look
        .list("job", "")
        .await
        .iter()
        .filter(complete)
        .count()
        < count
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Ten Jobs under a cap take at most a quarter more time than those that the test starts by hand.
#[tokio::test]
#[ignore = "six minutes in a cluster with sluice where nothing else runs"]
async fn caps_cost_little_time() {
    let mut ratios = Vec::new();
    for cap in caps() {
        let took = Mutex::default();
        with_namespace("hand", async |ns| {
            let by_hand = by_hand(ns, cap).await;
            *took.lock().expect("nobody panics with it") = by_hand;
        })
        .await;
        let by_hand = took.into_inner().expect("nobody panics with it");
        with_namespace("timed", async |ns| {
            let by_sluice = by_sluice(ns, cap).await;
            let ratio = by_sluice.as_secs_f64() / by_hand.as_secs_f64();
            println!("cap {cap}: {by_sluice:.1?}, by hand {by_hand:.1?}, ratio {ratio:.2}");
            ratios.push(ratio);
        })
        .await;
    }
    assert!(ratios.iter().all(|ratio| *ratio <= 1.25), "{ratios:?}");
}

/// Twenty Jobs of three seconds each take less time as weighted Jobs under a cap of 20 than as Helm's hooks. The times under smaller caps are
/// printed.
#[tokio::test]
#[ignore = "five minutes in a cluster with sluice"]
async fn weighted_jobs_take_less_time_than_hooks() {
    let mut table = Vec::new();
    for cap in [None, Some(1), Some(4), Some(20)] {
        let manifests: Vec<_> = (0..20)
            .map(|number| {
                let seed = job(&format!("seed-{number}")).runs("sleep 3");
                match cap {
                    None => seed.annotated("helm.sh/hook", "post-install"),
                    Some(cap) => seed
                        .annotated("sluice.dev/weight", "1")
                        .annotated("sluice.dev/parallelism", &cap.to_string()),
                }
            })
            .collect();
        let chart = Chart::new("helm", &manifests);
        with_namespace("measured", async |ns| {
            let start = Instant::now();
            let wait = ["--wait", "--wait-for-jobs", "--timeout", "10m"];
            chart.upgrade(ns, &wait).await.ok();
            let took = start.elapsed();
            let most = Runs::of(ns, "", 20).await.most_at_once();
            println!("{cap:?}: {took:.1?}, at most {most} at once");
            table.push(took);
        })
        .await;
    }
    assert!(table[3] < table[0], "{table:?}");
}
