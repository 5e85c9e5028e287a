//! What takes too long for every run: `cargo test -p tests --test it -- --ignored --nocapture --test-threads 1 measured`
//! prints its figures.

use crate::cluster::slots::seeds;
use futures::future::join_all;
use harness::cluster::{Chart, Runs, job, sluice, with_namespace};
use jiff::SignedDuration;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often, for each cap.
const RUNS: usize = 20;
/// So many run at the same time, each in a namespace of its own.
const TOGETHER: usize = 4;

/// Ten Jobs of two seconds each, while a replica is deleted.
async fn one_run(cap: usize) -> (usize, SignedDuration) {
    let figures = Mutex::default();
    with_namespace(&format!("soak-{cap}"), async |ns| {
        ns.pipe("apply", &seeds(10, 2, cap), &[]).await.ok();
        let runs = Runs::of(ns, "", 10).await;
        *figures.lock().expect("nobody panics with it") = (runs.most_at_once(), runs.length());
    })
    .await;
    figures.into_inner().expect("nobody panics with it")
}

#[tokio::test]
#[ignore = "a quarter of an hour in a cluster with sluice"]
async fn caps_hold_in_every_run_with_a_replica_deleted() {
    for cap in [1, 3] {
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
        assert!(most.contains(&cap), "{most:?}");
    }
}

/// Twenty Jobs of three seconds each: as Helm's hooks, and as weighted Jobs under a cap.
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
