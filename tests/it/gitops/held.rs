use super::in_sync::{
    annotated, order_was_kept, ordered, roll_nothing, stays_in_sync,
    what_is_changed_by_hand_is_put_back,
};
use super::site::Site;
use super::way::{Says, Way};
use super::{deployed, each, soak, under_engines};
use harness::cluster::{Manifest, Namespace, Pod, deployment, job, sluice, text};
use jiff::Timestamp;
use serde_json::Value;

/// The values with which sluice holds every waiting pod, and may suspend Jobs that ask for it.
const HOLDS: [&str; 2] = ["--set", "holds.enabled=true,holds.default=true"];

pub(super) fn suspended(job: Manifest) -> Manifest {
    job.annotated("sluice.dev/hold", "suspend")
}

/// Returns the application of [`ordered`], whose Job is created suspended and so has no pod until its turn comes.
fn held() -> Vec<Manifest> {
    let one = |it: Manifest| match it.kind() {
        "Job" => suspended(it),
        _ => it,
    };
    ordered().into_iter().map(one).collect()
}

/// Returns the next version of the application: another Job, which waits for a new Deployment, and a new revision of the Deployment `api`, which
/// waits for the Job.
fn next() -> Vec<Manifest> {
    let cache = deployment("cache").with("/spec/replicas", 1);
    let cache = cache.ready_after(3);
    let one = |it: Manifest| match (it.kind(), it.name()) {
        ("Job", _) => {
            let migrate = job("migrate-2").runs("sleep 1; echo done");
            suspended(migrate.depends_on("deployment/cache"))
        }
        ("Deployment", "api") => it
            .depends_on("job/migrate-2, statefulset/db")
            .template_annotated("example.com/version", "2"),
        _ => it,
    };
    held().into_iter().map(one).chain([cache]).collect()
}

/// Runs a test while sluice holds every pod that waits.
pub(super) async fn under_holds(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    under_engines(prefix, async |root| {
        sluice::with_values_alone(&HOLDS, async || test(root).await).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice, Argo CD and Flux: make test-gitops"]
async fn an_application_that_is_held_comes_in_order_and_stays_in_sync() {
    under_holds("held", async |root| {
        deployed(
            root,
            &root.name,
            &Way::ALL,
            &held(),
            async |source, sites| {
                each(sites, async |site| {
                    site.comes_to(&Says::Settled).await;
                    order_was_kept(site).await;
                    let api = was_held(site, "db", "migrate").await;
                    let agent = site.ns.pod_of("agent").await;
                    let times = [api, taken(&agent).await];
                    assert!(times.is_sorted(), "{times:?}");
                    site.note().await;
                    stays_in_sync(site, soak() / 3).await;
                })
                .await;

                source
                    .publish_again("1.1.0", &annotated(held(), "1h"))
                    .await;
                each(sites, async |site| roll_nothing(site, "1h").await).await;

                source.publish_again("1.2.0", &next()).await;
                each(sites, async |site| {
                    site.brings("job/migrate-2", |_| true).await;
                    site.comes_to(&Says::Settled).await;
                    was_held(site, "cache", "migrate-2").await;
                    site.note().await;
                    stays_in_sync(site, soak() / 3).await;
                    what_is_changed_by_hand_is_put_back(site).await;
                })
                .await;
                each(sites, Site::remove).await;
            },
        )
        .await;
    })
    .await;
}

/// Fails where a step began before the one before it had ended, by the times that the cluster wrote: the Job's dependency `before` is ready, the
/// Job's pod is made and gets a node, the Job `name` is complete, the API gets a node. By PUT the Job may be resumed earlier, and its pod is held
/// then. The time at which the Job was resumed does not count, since its controller may write it late. Returns the time at which the API was ready.
async fn was_held(site: &Site, before: &str, name: &str) -> Timestamp {
    let ready = site.ns.pod_of(before).await.since("Ready").await;
    let job = site.ns.look.get(&format!("job/{name}")).await;
    let complete = time(&job, "/status/completionTime");
    let pod = site.ns.pod_of(name).await;
    let made = time(&pod.now().await, "/metadata/creationTimestamp");
    let runs = taken(&pod).await;
    let api = site.ns.pod_of("api").await;
    let (api, api_ready) = (taken(&api).await, api.since("Ready").await);
    let mut times = vec![ready];
    if site.way != Way::Replace {
        times.push(made);
    }
    times.extend([runs, complete, api, api_ready]);
    assert!(times.is_sorted(), "{times:?}");
    api_ready
}

/// Waits until a pod has a node, and returns the time at which it got it.
pub(super) async fn taken(pod: &Pod) -> Timestamp {
    pod.since("PodScheduled").await
}

/// Returns the time at a JSON pointer of an object, which the cluster writes in whole seconds. Fails where there is none.
pub(super) fn time(object: &Value, pointer: &str) -> Timestamp {
    text(object, pointer).parse().expect("a time")
}
