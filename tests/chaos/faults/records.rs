//! The ConfigMaps in which sluice remembers: deleted, garbled, full.

use crate::site::Site;
use crate::trial::{Admission, Broken, Trial};
use harness::cluster::{LIMIT, Manifest, Namespace, Runs, await_until, deployment, job, sluice};
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

const INSTANCE: &str = "/metadata/labels/app.kubernetes.io~1instance";
const PARALLELISM: &str = "sluice.dev/parallelism";

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name, fault| Trial {
        gates: 5,
        ..Trial::of(name, Admission::Open, fault)
    };
    vec![
        trial("sluice-slots deleted, emptied, garbled, full", |site| {
            Box::pin(slots(site))
        }),
        trial("sluice-memory deleted, emptied, garbled, full", |site| {
            Box::pin(memory(site))
        }),
    ]
}

/// A damage to a ConfigMap of sluice's memory or slots.
#[derive(Debug, Clone, Copy)]
enum Spoilt {
    Deleted,
    Emptied,
    Garbled,
    Full,
}

const EVERY: [Spoilt; 4] = [
    Spoilt::Deleted,
    Spoilt::Emptied,
    Spoilt::Garbled,
    Spoilt::Full,
];

async fn spoil(site: &Site<'_>, name: &str, how: Spoilt) {
    let config_maps = site.config_maps();
    let data = match how {
        Spoilt::Deleted => {
            // It may have been spoilt before, and not be there yet.
            let _ = config_maps.delete(name, &DeleteParams::default()).await;
            return;
        }
        Spoilt::Emptied => Value::Null,
        Spoilt::Garbled => {
            let now = config_maps.get_opt(name).await.ok().flatten();
            let keys = now.and_then(|it| it.data).unwrap_or_default();
            let garbled = keys.into_keys().map(|key| (key, json!("{garbage")));
            Value::Object(garbled.collect())
        }
        Spoilt::Full => json!({"zz-somebody-else": "x".repeat(1_000_000)}),
    };
    let patch = Patch::Merge(json!({"data": data}));
    // There may be none, and a full one takes no more: both are what is tried.
    let _ = config_maps
        .patch(name, &PatchParams::default(), &patch)
        .await;
}

/// Removes the key by which `Spoilt::Full` has filled the ConfigMap, as an administrator would. A refusal is ignored.
async fn relieve(site: &Site<'_>, name: &str) {
    let patch = Patch::Merge(json!({"data": {"zz-somebody-else": null}}));
    let _ = site
        .config_maps()
        .patch(name, &PatchParams::default(), &patch)
        .await;
}

/// Starts three Jobs of a release with a cap of 1, for each damage, and damages the ConfigMap of the slots as soon as one Job runs. Fails if two ever
/// run at the same time.
async fn slots(site: &Site<'_>) -> Broken {
    for how in EVERY {
        let ns = site.ns.another("slots").await;
        let jobs: Vec<Manifest> = (0..3)
            .map(|number| {
                job(&format!("seed-{number}"))
                    .with(INSTANCE, "shop")
                    .annotated(PARALLELISM, "1")
                    .runs("sleep 6")
            })
            .collect();
        ns.pipe("apply", &jobs, &[]).await.ok();
        one_runs(&ns).await;
        spoil(site, "sluice-slots", how).await;
        sleep(Duration::from_secs(10)).await;
        relieve(site, "sluice-slots").await;
        let runs = Runs::of(&ns, "", jobs.len()).await;
        assert_eq!(runs.most_at_once(), 1, "the cap of 1 is broken: {how:?}");
        ns.kubectl(["delete", "namespace", &ns.name, "--wait=false"])
            .await
            .ok();
    }
    Broken::times(EVERY.len()).seen("a cap of 1 held")
}

async fn one_runs(ns: &Namespace) {
    await_until("a Job runs", LIMIT, async || {
        let pods = ns.look.list("pod", "").await;
        let runs =
            |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["running"].is_object();
        if pods.iter().any(runs) {
            Ok(())
        } else {
            Err("none".to_owned())
        }
    })
    .await;
}

/// Damages the ConfigMap of the memory, in each way, once a Job is remembered and removed, and replaces the replicas. Fails unless a gate that waits
/// for the Job still opens.
async fn memory(site: &Site<'_>) -> Broken {
    for how in EVERY {
        let ns = site.ns.another("memory").await;
        seeded(&ns).await;
        spoil(site, "sluice-memory", how).await;
        sleep(Duration::from_secs(10)).await;
        relieve(site, "sluice-memory").await;
        sluice::roll().await;
        ns.apply([deployment("late").depends_on("job/seed")])
            .await
            .ok();
        ns.pod_of("late").await.starts().await;
        ns.kubectl(["delete", "namespace", &ns.name, "--wait=false"])
            .await
            .ok();
    }
    Broken::times(EVERY.len()).seen("a removed Job still counts, after a roll too")
}

/// Makes a Job that the list of a Deployment names, waits until it has completed and the Deployment's pod has started, and until the Job is removed.
pub(super) async fn seeded(ns: &Namespace) {
    let seed = job("seed").with("/spec/ttlSecondsAfterFinished", 0);
    let api = deployment("api").depends_on("job/seed");
    ns.apply([api, seed]).await.ok();
    ns.pod_of("api").await.starts().await;
    await_until("job/seed is removed", LIMIT, async || {
        let found = ns.look.find("job/seed").await;
        found.map_or(Ok(()), |_| Err("it is there".to_owned()))
    })
    .await;
}
