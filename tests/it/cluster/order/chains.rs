use harness::cluster::{Manifest, Namespace, deployment, job, stateful_set, with_namespace};

/// Returns a chain of three objects of different kinds: the Deployment `c` waits for the StatefulSet `b`, which waits for the Job `a`.
fn chain(tag: &str) -> [Manifest; 3] {
    let [a, b, c] = ["a", "b", "c"].map(|link| format!("{link}-{tag}"));
    [
        job(&a).runs("sleep 1; echo done"),
        stateful_set(&b)
            .ready_after(1)
            .depends_on(&format!("job/{a}")),
        deployment(&c).depends_on(&format!("statefulset/{b}")),
    ]
}

async fn went_in_order(ns: &Namespace, tag: &str) {
    let a = ns.pod_of(&format!("a-{tag}")).await;
    let b = ns.pod_of(&format!("b-{tag}")).await;
    let c = ns.pod_of(&format!("c-{tag}")).await;
    let (c_starts, b_starts) = (c.starts().await, b.starts().await);
    assert!(a.says("done").await < b_starts, "{tag}: a before b");
    assert!(b.says("ready").await < c_starts, "{tag}: b before c");
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn chains_in_one_apply_whatever_the_order_of_the_manifest() {
    with_namespace("chains", async |ns| {
        let ([a1, b1, c1], [a2, b2, c2], [a3, b3, c3]) = (chain("1"), chain("2"), chain("3"));
        ns.apply([c1, b1, a1, a2, b2, c2, b3, c3, a3]).await.ok();
        for tag in ["1", "2", "3"] {
            went_in_order(ns, tag).await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_chain_that_is_stuck_holds_up_no_other() {
    with_namespace("stuck", async |ns| {
        let ([a1, b1, c1], [a2, b2, c2]) = (chain("stuck"), chain("free"));
        let a1 = a1.with("/spec/suspend", true);
        ns.apply([a1, b1, c1, a2, b2, c2]).await.ok();
        went_in_order(ns, "free").await;
        ns.pod_of("b-stuck").await.is_shut().await;
        ns.pod_of("c-stuck").await.is_shut().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_diamond() {
    with_namespace("diamond", async |ns| {
        let side = |name| deployment(name).ready_after(1).depends_on("job/base");
        let top = deployment("top").depends_on("deployment/left, deployment/right");
        let base = job("base").runs("sleep 1; echo done");
        ns.apply([top, side("right"), base, side("left")])
            .await
            .ok();

        let (left, right) = (ns.pod_of("left").await, ns.pod_of("right").await);
        let top = ns.pod_of("top").await.starts().await;
        assert!(left.says("ready").await < top);
        assert!(right.says("ready").await < top);
        let done = ns.pod_of("base").await.says("done").await;
        assert!(done < left.starts().await);
        assert!(done < right.starts().await);
    })
    .await;
}
