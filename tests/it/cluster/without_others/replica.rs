use crate::cluster::order::slots::seeds;
use harness::cluster::{Runs, alone, sluice};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_cap_holds_while_a_replica_is_deleted() {
    alone("cap-replica", async |ns| {
        let random = RandomState::new().build_hasher().finish();
        let moment = Duration::from_millis(random % 10_000);
        let delete = async {
            tokio::time::sleep(moment).await;
            sluice::delete_one(1).await;
        };
        let runs = async {
            ns.pipe("apply", &seeds(10, 5, 3), &[]).await.ok();
            Runs::of(ns, "", 10).await
        };
        let ((), runs) = tokio::join!(delete, runs);
        let (most, length) = (runs.most_at_once(), runs.length());
        eprintln!("a replica deleted after {moment:?}: at most {most} at once, {length:#} in all");
        assert!(most <= 3, "{most}"); // how many a busy node starts in time is its own affair
        sluice::start().await; // the next test finds both
    })
    .await;
}
