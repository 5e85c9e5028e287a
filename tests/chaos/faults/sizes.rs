//! The largest objects that one tenant may create.

use super::records::seeded;
use crate::site::Site;
use crate::trial::{Admission, Broken, Trial};
use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use harness::cluster::{deployment, job, sluice};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use serde_json::{Value, json};

const INSTANCE: &str = "/metadata/labels/app.kubernetes.io~1instance";
/// The number of objects that are created at the same time; each is nearly too large for the API server.
const AT_ONCE: usize = 4;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial {
            gates: 5,
            ..Trial::of(
                "100 Jobs of 1.4 MiB, as many plans, then a restart",
                Admission::Interrupted,
                |site| Box::pin(large(site)),
            )
        },
        Trial {
            gates: 5,
            ..Trial::of(
                "a name of 250 letters, a revision of 220 KiB, releases of 250 KiB",
                Admission::Open,
                |site| Box::pin(long(site)),
            )
        },
    ]
}

async fn large(site: &Site<'_>) -> Broken {
    const COUNT: usize = 100;
    let ns = site.ns.another("large").await;
    let jobs = Api::<Job>::namespaced(site.client.clone(), &ns.name);
    let plans = Api::<ConfigMap>::namespaced(site.client.clone(), &ns.name);
    let made = async {
        let all = stream::iter(0..COUNT).map(|number| make(&jobs, big_job(number)));
        all.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        let all = stream::iter(0..COUNT).map(|number| make(&plans, big_plan(number)));
        all.buffer_unordered(AT_ONCE).try_collect::<()>().await
    };
    let made: Result<()> = made.await;
    made.expect("the API server takes them");
    sluice::delete_all_by_force().await;
    sluice::start().await;
    let (all, now) = (ListParams::default(), DeleteParams::default());
    jobs.delete_collection(&now, &all).await.expect("they go");
    plans.delete_collection(&now, &all).await.expect("they go");
    Broken::times(1)
}

async fn make<K>(api: &Api<K>, object: Value) -> Result<()>
where
    K: serde::Serialize + serde::de::DeserializeOwned + Clone + std::fmt::Debug,
{
    let object = serde_json::from_value(object)?;
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}

fn big_job(number: usize) -> Value {
    let env: Vec<Value> = (0..14)
        .map(|it| json!({"name": format!("V{it}"), "value": "x".repeat(100_000)}))
        .collect();
    let container = json!({"name": "app", "image": "localhost/pause:none", "env": env});
    json!({
        "metadata": {"name": format!("large-{number}")},
        "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    })
}

fn big_plan(number: usize) -> Value {
    let labels =
        json!({"sluice.dev/plan": "true", "app.kubernetes.io/instance": format!("large-{number}")});
    json!({
        "metadata": {"name": format!("plan-{number}"), "labels": labels},
        "data": {"order": "x".repeat(1_000_000)},
    })
}

async fn long(site: &Site<'_>) -> Broken {
    let ns = site.ns.another("long").await;
    // The name of the Job's pod is cut. A Job's name is limited to 63 letters, unless its author chooses the selector.
    let name = "j".repeat(250);
    let chosen = json!({"matchLabels": {"app": "chosen"}});
    let named = job(&name)
        .with("/spec/manualSelector", true)
        .with("/spec/selector", chosen)
        .in_pod("/metadata/labels", json!({"app": "chosen"}))
        .with("/spec/completions", 0);
    let revised = job("revised").annotated("sluice.dev/revision", &"r".repeat(220 << 10));
    ns.pipe("create", &[named, revised], &[]).await.ok();
    let capped: Vec<_> = (0..4)
        .map(|number| {
            let release = format!("{number}{}", "n".repeat(250 << 10));
            job(&format!("capped-{number}"))
                .annotated("meta.helm.sh/release-name", &release)
                .annotated("sluice.dev/parallelism", "1")
        })
        .collect();
    for one in capped {
        // One of them may be refused, by name; the others count.
        ns.pipe("create", &[one], &[]).await;
    }

    // The cap and the memory of another tenant, meanwhile.
    let other = ns.another("other").await;
    let seeds = ["seed-a", "seed-b"].map(|name| {
        let seed = job(name).with(INSTANCE, "shop");
        seed.annotated("sluice.dev/parallelism", "1")
    });
    other.apply(seeds).await.ok();
    for seed in ["seed-a", "seed-b"] {
        other
            .until(&format!("job/{seed}"), "is complete", |job| {
                job["status"]["succeeded"] == 1
            })
            .await;
    }
    seeded(&other).await;
    sluice::roll().await;
    other
        .apply([deployment("late").depends_on("job/seed")])
        .await
        .ok();
    other.pod_of("late").await.starts().await;
    Broken::times(1).seen("caps and memory of another namespace went on")
}
