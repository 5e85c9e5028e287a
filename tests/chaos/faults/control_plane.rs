//! Faults of the control plane: the API server, its store, the way to it, and DNS.

use crate::site::Site;
use crate::trial::{Admission, Broken, Trial};
use harness::cluster::{LIMIT, Program, await_until, config_map, deployment, sluice};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::of("the API server is restarted", Admission::Untried, |site| {
            Box::pin(restarted(site))
        }),
        Trial::of("etcd stands still for 30 s", Admission::Untried, |site| {
            Box::pin(no_store(site))
        }),
        Trial::of("no packet arrives for 3 min", Admission::Open, |site| {
            Box::pin(cut_off(site))
        }),
        Trial {
            // Check 8: a dead watch is noticed within a minute, although no side has closed it.
            latest: Duration::from_secs(60),
            ..Trial::of(
                "every watch dies silently",
                Admission::Interrupted,
                |site| Box::pin(black_hole(site)),
            )
        },
        Trial::of(
            "403 for one kind for 5 s, while a replica starts",
            Admission::Open,
            |site| Box::pin(forbidden(site)),
        ),
        Trial::of("CoreDNS stands still", Admission::Open, |site| {
            Box::pin(no_dns(site))
        }),
    ]
}

async fn restarted(site: &Site<'_>) -> Broken {
    const TIMES: usize = 3;
    for _ in 0..TIMES {
        site.node.restart("kube-apiserver").await;
        answers().await;
        // A gate that would be judged too early is judged as soon as the kinds are listed again.
        sleep(Duration::from_secs(5)).await;
    }
    Broken::times(TIMES)
}

async fn no_store(site: &Site<'_>) -> Broken {
    site.node.signal("etcd", "STOP").await;
    sleep(Duration::from_secs(30)).await;
    site.node.signal("etcd", "CONT").await;
    answers().await;
    Broken::times(1)
}

/// Waits until the API server says at `/readyz` that it is ready.
async fn answers() {
    await_until("the API server is ready", LIMIT, async || {
        let ready = Program::new("kubectl").args(["get", "--raw", "/readyz"]);
        let ready = ready.run().await;
        if ready.code == Some(0) {
            Ok(())
        } else {
            Err(ready.to_string())
        }
    })
    .await;
}

async fn cut_off(site: &Site<'_>) -> Broken {
    site.node.lose_packets_of(&sluice::addresses().await).await;
    sleep(Duration::from_secs(180)).await;
    site.node.lose_nothing().await;
    // Within the limits of a connection that has to be made anew.
    sluice::all_ready().await;
    Broken::times(1)
}

/// Makes the present connections of the replicas to the API server lose every packet until the trial is over; new connections work.
async fn black_hole(site: &Site<'_>) -> Broken {
    let connections = site.node.told(&sluice::addresses().await).await;
    site.node.lose_packets_between(connections.keys()).await;
    sleep(Duration::from_secs(2)).await;
    Broken::times(1).seen(format!("{} connections", connections.len()))
}

async fn forbidden(site: &Site<'_>) -> Broken {
    const ROLE: &str = "clusterrole/sluice";
    let role = site.sluice.get(ROLE).await;
    let mut rules = role["rules"].clone();
    for rule in rules.as_array_mut().into_iter().flatten() {
        if let Some(kinds) = rule["resources"].as_array_mut() {
            kinds.retain(|kind| kind != "configmaps");
        }
    }
    // The API server refuses a rule for nothing.
    if let Some(rules) = rules.as_array_mut() {
        rules.retain(|rule| rule["resources"].as_array().is_none_or(|it| !it.is_empty()));
    }
    assert_ne!(rules, role["rules"], "nobody may read ConfigMaps anyway");
    site.sluice.patch(ROLE, &json!({ "rules": rules })).await;
    sluice::delete_one(0).await;
    sleep(Duration::from_secs(5)).await;
    let back: Value = json!({"rules": role["rules"]});
    site.sluice.patch(ROLE, &back).await;
    sluice::all_ready().await;
    Broken::times(1)
}

/// Stops the cluster's DNS, checks that the gate of a new pod waits and opens, and starts DNS again.
async fn no_dns(site: &Site<'_>) -> Broken {
    site.node.signal("coredns", "STOP").await;
    let api = deployment("resolved").depends_on("configmap/resolved");
    let applied = site.ns.apply([api]).await;
    applied.ok();
    let pod = site.ns.pod_of("resolved").await;
    pod.waits_for("ConfigMap/resolved", "NotFound").await;
    site.ns.apply([config_map("resolved")]).await.ok();
    pod.starts().await;
    site.node.signal("coredns", "CONT").await;
    site.ns
        .kubectl(["delete", "deployment/resolved"])
        .await
        .ok();
    Broken::times(1).seen("a new pod waited, and opened")
}
