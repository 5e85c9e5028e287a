//! The objects that one tenant may make many or large. They cost that tenant alone: the gates of all other tenants open within a
//! second, and every pod of theirs is created.

use crate::attack::{Attack, Port, Target};
use crate::crowd::Waiting;
use crate::site::Site;
use crate::trial::{Admission, Broken, Fault, Trial};
use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use harness::cluster::{
    Manifest, Namespace, cron_job, daemon_set, deployment, job, pod, replica_set,
    replication_controller, sluice, stateful_set,
};
use harness::presets;
use harness::unscheduled::{AT_ONCE, Unscheduled, create};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, ReplicationController};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::time::Duration;

const INSTANCE: &str = "/metadata/labels/app.kubernetes.io~1instance";
const PARALLELISM: &str = "sluice.dev/parallelism";
/// The number of `<` that fit into an object of the API server's store, although JSON writes each with six bytes.
const ESCAPED: usize = 1_420_000;

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name, fault: Fault| Trial {
        gates: 5,
        latest: Duration::from_secs(1),
        ..Trial::of(name, Admission::Open, fault)
    };
    vec![
        trial(
            "an object of 8 MiB of JSON of each kind, then a roll",
            |site| Box::pin(longest(site)),
        ),
        trial(
            "10 000 ended pods and a capped Job that is deleted, then a roll",
            |site| Box::pin(ended(site)),
        ),
        trial(
            "220 plans and 100 lists at their limits with all presets, then a roll",
            |site| Box::pin(listed(site)),
        ),
        trial(
            "800 Jobs of 59 KB with health of their own, then a roll",
            |site| Box::pin(whole(site)),
        ),
        trial("40 pods that name 64 unknown kinds each", |site| {
            Box::pin(unknown(site))
        }),
        trial("48 bodies of 1 MB that stop before their end", |site| {
            Box::pin(bodies(site))
        }),
    ]
}

/// Adds a variable to an object that is so long that a list or a watch of its kind cannot bring the object whole.
fn long(manifest: Manifest) -> Manifest {
    let env = json!([{"name": "LONG", "value": "<".repeat(ESCAPED)}]);
    manifest.in_app("/env", env)
}

async fn longest(site: &Site<'_>) -> Broken {
    let ns = site.ns.another("longest").await;
    let none = |manifest: Manifest| long(manifest).with("/spec/replicas", 0);
    let nowhere = json!({"kubernetes.io/hostname": "nowhere"});
    let gated = || long(pod("gated")).with("/spec/schedulerName", "nobody");
    // Not by kubectl, which escapes each letter itself: the API server takes no request of that length.
    let client = &site.client;
    let made = async {
        one::<Pod>(client, &ns, gated()).await?;
        one::<Deployment>(client, &ns, none(deployment("long"))).await?;
        one::<StatefulSet>(client, &ns, none(stateful_set("long"))).await?;
        one::<ReplicaSet>(client, &ns, none(replica_set("long"))).await?;
        one::<ReplicationController>(client, &ns, none(replication_controller("long"))).await?;
        let nowhere = long(daemon_set("long")).in_pod("/spec/nodeSelector", nowhere);
        one::<DaemonSet>(client, &ns, nowhere).await?;
        let suspended = long(job("long")).with("/spec/suspend", true);
        one::<Job>(client, &ns, suspended).await?;
        let suspended = long(cron_job("long")).with("/spec/suspend", true);
        one::<CronJob>(client, &ns, suspended).await
    };
    let made: Result<()> = made.await;
    made.expect("the API server takes them");
    // With the label from the start, admission would be asked, which takes no body of that size.
    let marked = ["label", "pod", "gated", "sluice.dev/gated=true"];
    ns.kubectl(marked).await.ok();
    others_go_on(site).await;
    sluice::roll().await;
    others_go_on(site).await;
    gone(&ns).await;
    Broken::times(1).seen("another namespace's edge on a Deployment opened, before and after")
}

async fn one<K>(client: &Client, ns: &Namespace, manifest: Manifest) -> Result<()>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    K: Serialize + DeserializeOwned + Clone + Debug,
{
    let api = Api::<K>::namespaced(client.clone(), &ns.name);
    make(&api, manifest.into_object()).await
}

/// Fails unless a new Deployment in a namespace of another tenant starts, which waits for a new Deployment there.
async fn others_go_on(site: &Site<'_>) {
    let ns = site.ns.another("other").await;
    let late = deployment("late").depends_on("deployment/db");
    ns.apply([late, deployment("db")]).await.ok();
    ns.pod_of("late").await.starts().await;
    gone(&ns).await;
}

async fn ended(site: &Site<'_>) -> Broken {
    const COUNT: usize = 10_000;
    let ns = site.ns.another("ended").await;
    let pods = Api::<Pod>::namespaced(site.client.clone(), &ns.name);
    let all = stream::iter(0..COUNT).map(|_| end(&pods));
    let all = all.buffer_unordered(AT_ONCE).try_collect::<()>().await;
    all.expect("the API server takes them");
    let capped = |name, script| {
        let capped = job(name).with(INSTANCE, "shop").runs(script);
        capped.annotated(PARALLELISM, "1")
    };
    let holder = capped("holder", "sleep 100000");
    ns.apply([holder]).await.ok();
    ns.pod_of("holder").await.starts().await;
    ns.apply([capped("next", "true")]).await.ok();
    ns.pod_of("next").await.is_shut().await;
    ns.kubectl(["delete", "job/holder"]).await.ok();
    ns.pod_of("next").await.starts().await;
    sluice::roll().await;
    gone(&ns).await;
    Broken::times(1).seen("the next Job got the slot")
}

/// Makes a pod of an ordinary size with the label of gated pods, and writes the status of one that has succeeded.
async fn end(pods: &Api<Pod>) -> Result<()> {
    let mut ended = harness::unscheduled::pod(&json!({}), 6000);
    ended["metadata"]["labels"] = json!({"sluice.dev/gated": "true"});
    let made: Pod = create(pods, ended).await?;
    let name = made.metadata.name.context("a pod has a name")?;
    let status = Patch::Merge(json!({"status": {"phase": "Succeeded"}}));
    let none = PatchParams::default();
    pods.patch_status(&name, &none, &status).await?;
    Ok(())
}

async fn listed(site: &Site<'_>) -> Broken {
    const PLANS: usize = 220;
    const PODS: usize = 100;
    let set = presets::setting().expect("the chart has presets");
    let mut seen = String::new();
    sluice::with_values_alone(&["--set", &set], async || {
        let ns = site.ns.another("listed").await;
        let defined = define(site).await;
        ns.kubectl(["label", "namespace", &ns.name, "sluice.dev/inject=enabled"])
            .await
            .ok();
        let plans = Api::<ConfigMap>::namespaced(site.client.clone(), &ns.name);
        let all = stream::iter(0..PLANS).map(|number| make(&plans, plan(number)));
        let all = all.buffer_unordered(AT_ONCE).try_collect::<()>().await;
        all.expect("the API server takes the plans");
        let lists = (0..PODS).map(|pod| {
            let groups = (0..64).map(|it| format!("group/g-{pod}-{it}"));
            groups.collect::<Vec<_>>().join(",")
        });
        let mut pods = vec![];
        for list in lists {
            let made = Unscheduled::make(&site.client, &ns.name, 1, &list).await;
            pods.extend(made.expect("the pods are made"));
        }
        let waiting = Waiting::gather(site, &pods).await.expect("each gate waits");
        sluice::roll().await;
        others_go_on(site).await;
        assert_eq!(waiting.ended(), 0, "gates that have opened");
        seen = format!("{defined} kinds defined");
        gone(&ns).await;
    })
    .await;
    Broken::times(1).seen(seen)
}

/// Defines every custom kind that the presets name and that is not defined yet, for as long as the namespace lasts. Returns the number of new
/// definitions.
async fn define(site: &Site<'_>) -> usize {
    let role = presets::role().expect("the chart has presets");
    let definitions = Api::<CustomResourceDefinition>::all(site.client.clone());
    let mut count = 0;
    for definition in presets::definitions(&role) {
        let params = PostParams::default();
        let made = definitions.create(&params, &definition).await;
        // A group of Kubernetes' own, and a definition of another test, are refused.
        if made.is_ok() {
            let name = definition.metadata.name.unwrap_or_default();
            site.ns
                .takes_along(&format!("customresourcedefinition/{name}"));
            count += 1;
        }
    }
    count
}

/// Returns the ConfigMap `plan-NUMBER` with a plan of 7.9 KB for the scope `s-NUMBER`, so that each number has a scope of its own.
fn plan(number: usize) -> Value {
    let names = (0..1180).map(|it| format!("p{it:03}"));
    let order = format!("a: [{}]", names.collect::<Vec<_>>().join(","));
    let labels = json!({"sluice.dev/plan": "true"});
    let scope = json!({"sluice.dev/scope": format!("s-{number}")});
    json!({
        "metadata": {"name": format!("plan-{number}"), "labels": labels, "annotations": scope},
        "data": {"order": order},
    })
}

async fn make<K>(api: &Api<K>, object: Value) -> Result<()>
where
    K: Serialize + DeserializeOwned + Clone + Debug,
{
    create(api, object).await?;
    Ok(())
}

async fn whole(site: &Site<'_>) -> Broken {
    const COUNT: usize = 800;
    let ns = site.ns.another("whole").await;
    let jobs = Api::<Job>::namespaced(site.client.clone(), &ns.name);
    let object = |number: usize| {
        let env = json!([{"name": "WIDE", "value": "x".repeat(58_000)}]);
        let container = json!({"name": "app", "image": "localhost/pause:none", "env": env});
        let health = json!({"sluice.dev/health": "/status/succeeded == 1"});
        json!({
            "metadata": {"name": format!("wide-{number}"), "annotations": health},
            "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
        })
    };
    // The store of Jobs is filled because of this gate.
    let late = deployment("late").depends_on("job/wide-0");
    ns.apply([late]).await.ok();
    let all = stream::iter(0..COUNT).map(|number| make(&jobs, object(number)));
    let all = all.buffer_unordered(AT_ONCE).try_collect::<()>().await;
    all.expect("the API server takes them");
    sluice::roll().await;
    others_go_on(site).await;
    ns.pod_of("late").await.is_shut().await;
    gone(&ns).await;
    Broken::times(1)
}

async fn unknown(site: &Site<'_>) -> Broken {
    const PODS: usize = 40;
    let ns = site.ns.another("unknown").await;
    let mut pods = vec![];
    for pod in 0..PODS {
        let kinds = (0..64).map(|it| format!("thing.g{pod}-{it}.example.com/a"));
        let list = kinds.collect::<Vec<_>>().join(",");
        let made = Unscheduled::make(&site.client, &ns.name, 1, &list).await;
        pods.extend(made.expect("the pods are made"));
    }
    let waiting = Waiting::gather(site, &pods).await.expect("each gate waits");
    others_go_on(site).await;
    assert_eq!(waiting.ended(), 0, "gates that have opened");
    gone(&ns).await;
    Broken::times(1)
}

async fn bodies(site: &Site<'_>) -> Broken {
    const CONNECTIONS: usize = 48;
    const REVIEWS: usize = 32;
    let clients = site.node.more_addresses(1).await;
    let targets = Target::all(&sluice::addresses().await, &site.trusted().await);
    let head = "POST /admit/pods HTTP/1.1\r\nHost: x\r\nContent-Length: 1040100\r\n\r\n";
    let cut = [head.as_bytes(), &vec![b' '; 1_040_000]].concat();
    let mut attack = Attack::lasts(Duration::from_secs(25));
    for target in targets.iter().filter(|it| it.port == Port::Admission) {
        for _ in 0..CONNECTIONS {
            let cut = cut.clone();
            attack.ask(clients[0], target, Duration::ZERO, move |_| cut.clone());
        }
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut refused = vec![];
    for bytes in [110_000, 300_000] {
        for _ in 0..REVIEWS {
            refused.extend(refusal(site, bytes).await);
        }
    }
    let seen = attack.ended().await;
    let tried = 2 * REVIEWS;
    let first = refused.first();
    assert!(
        first.is_none(),
        "{} of {tried} refused: {first:?}",
        refused.len()
    );
    Broken::times(1).seen(format!(
        "0 of {tried} reviews of 110 and 300 KB refused; {seen}"
    ))
}

/// Tries to create a pod with about `bytes` bytes of environment, as a dry run, and returns the text of the refusal; `None` where it is admitted.
async fn refusal(site: &Site<'_>, bytes: usize) -> Option<String> {
    let annotations = json!({rules::keys::DEPENDS_ON: "configmap/dependency"});
    let pod = harness::unscheduled::pod(&annotations, bytes);
    let pod: Pod = serde_json::from_value(pod).expect("it is a pod");
    let pods = Api::<Pod>::namespaced(site.client.clone(), &site.namespace);
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let answer = pods.create(&dry, &pod).await;
    answer.err().map(|error| error.to_string())
}

/// Deletes a namespace, and does not wait until it is gone.
async fn gone(ns: &Namespace) {
    let delete = ["delete", "namespace", &ns.name, "--wait=false"];
    ns.kubectl(delete).await.ok();
}
