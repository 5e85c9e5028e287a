use super::site::Site;
use super::source::Source;
use super::way::Says;
use super::{CLUSTER, each, everywhere, soak};
use harness::cluster::{
    LIMIT, Manifest, Program, await_until, cron_job, daemon_set, deployment, finally, job, service,
    sluice, stateful_set, text,
};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The pause between two comparisons that the test asks of the engines.
const PAUSE: Duration = Duration::from_secs(5);

/// The tag of the images to which sluice is upgraded.
const NEXT: &str = "next";

/// Returns an application in order: a database, a migration of it, an API on both, and the other kinds of workloads. An engine puts back only the
/// fields that are stated, hence the number of replicas.
pub(super) fn ordered() -> Vec<Manifest> {
    let api = deployment("api").with("/spec/replicas", 1);
    let migrate = job("migrate").runs("sleep 3; echo done");
    vec![
        api.depends_on("job/migrate, statefulset/db"),
        migrate.depends_on("svc/db"),
        daemon_set("agent").depends_on("deployment/api"),
        cron_job("report").depends_on("deployment/api"),
        stateful_set("db").ready_after(5),
        service("db"),
    ]
}

/// Returns these manifests with the timeout as one more annotation on each, which is no reason to roll or run anything again.
pub(super) fn annotated(manifests: Vec<Manifest>, timeout: &str) -> Vec<Manifest> {
    let annotate = |it: Manifest| it.annotated("sluice.dev/timeout", timeout);
    manifests.into_iter().map(annotate).collect()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice, Argo CD and Flux: make test-gitops"]
async fn an_ordered_application_stays_in_sync_through_an_upgrade_of_sluice() {
    everywhere("ordered", &ordered(), async |source, sites| {
        each(sites, async |site| {
            site.comes_to(&Says::Settled).await;
            order_was_kept(site).await;
            site.note().await;
            stays_in_sync(site, soak() / 3).await;
        })
        .await;
        upgraded(async || {
            each(sites, async |site| stays_in_sync(site, soak() / 3).await).await;
            each(sites, next_pods_have_the_next_gate).await;
            each(sites, Site::note).await;
            let annotated_once = annotated(ordered(), "1h");
            source.publish_again("1.1.0", &annotated_once).await;
            each(sites, async |site| roll_nothing(site, "1h").await).await;
            the_api_server_may_inject(source, sites).await;
            each(sites, what_is_changed_by_hand_is_put_back).await;
        })
        .await;
        each(sites, Site::remove).await;
    })
    .await;
}

/// Checks that an engine finds no difference when gates come from the API server's policies instead of the webhook, nor after the change back.
async fn the_api_server_may_inject(source: &Source, sites: &[Site]) {
    each(sites, Site::note).await;
    let policy = ["--set", "injection.backend=policy"];
    sluice::with_values(&policy, async || {
        each(sites, async |site| stays_in_sync(site, soak() / 3).await).await;
        let annotated_again = annotated(ordered(), "2h");
        source.publish_again("1.2.0", &annotated_again).await;
        each(sites, async |site| roll_nothing(site, "2h").await).await;
        each(sites, Site::note).await;
    })
    .await;
    let once = Duration::ZERO;
    each(sites, async |site| stays_in_sync(site, once).await).await;
}

pub(super) async fn order_was_kept(site: &Site) {
    let [db, migrate, api, agent] = ["db", "migrate", "api", "agent"];
    let ready = site.ns.pod_of(db).await.says("ready").await;
    let migrate = site.ns.pod_of(migrate).await;
    let begun = migrate.starts().await;
    let done = migrate.says("done").await;
    let api = site.ns.pod_of(api).await.starts().await;
    let agent = site.ns.pod_of(agent).await.starts().await;
    let times = [ready, begun, done, api, agent];
    assert!(times.is_sorted(), "{times:?}");
}

/// Has the engine compare again and again for `time`, at least once: it must find no difference, and no object may be written.
pub(super) async fn stays_in_sync(site: &Site, time: Duration) {
    let start = Instant::now();
    loop {
        site.refresh().await;
        assert_eq!(site.says().await, Says::Settled, "{}", site.ns.name);
        site.is_as_noted().await;
        if start.elapsed() >= time {
            return;
        }
        sleep(PAUSE).await;
    }
}

/// Runs a test while sluice is installed from images of another tag, for the webhook and for the gate.
async fn upgraded(test: impl AsyncFnOnce()) {
    let images = ["sluice-webhook", "sluice-gate"];
    let tagged = |image: &str, tag: &str| format!("localhost/{image}:{tag}");
    for image in images {
        let names = [tagged(image, "dev"), tagged(image, NEXT)];
        let tag = ["images", "tag", "--force", &names[0], &names[1]];
        containerd(&tag).await;
    }
    let values = ["image.tag", "gate.image.tag"].map(|value| format!("{value}={NEXT}"));
    let values = ["--set", &values[0], "--set", &values[1]];
    finally(
        async || sluice::with_values(&values, test).await,
        async |_| {
            for image in images {
                containerd(&["images", "rm", &tagged(image, NEXT)]).await;
            }
        },
    )
    .await;
}

async fn containerd(args: &[&str]) {
    let ctr = [
        "run",
        "ctr",
        "-a",
        "/run/containerd/containerd.sock",
        "-n",
        "k8s.io",
    ];
    Program::new(CLUSTER).args(ctr).args(args).run().await.ok();
}

/// Deletes a pod, and checks that its successor has the gate of the new image. It starts at once, since another pod of its revision has started.
async fn next_pods_have_the_next_gate(site: &Site) {
    let pod = site.replacement("api").await;
    pod.starts().await;
    let pod = pod.now().await;
    let image = text(&pod, "/spec/initContainers/0/image");
    assert_eq!(image, format!("localhost/sluice-gate:{NEXT}"));
    site.refresh().await;
    site.comes_to(&Says::Settled).await;
}

/// Waits until the engine has written the published timeout, and checks that it rolled no workload.
pub(super) async fn roll_nothing(site: &Site, timeout: &str) {
    let there = |it: &Value| text(it, "/metadata/annotations/sluice.dev~1timeout") == timeout;
    for object in ["deployment/api", "job/migrate"] {
        site.brings(object, there).await;
    }
    site.comes_to(&Says::Settled).await;
    site.has_rolled_nothing().await;
}

/// Scales a Deployment by hand, and waits until the engine has undone that: it looks, and writes where it finds a difference.
pub(super) async fn what_is_changed_by_hand_is_put_back(site: &Site) {
    let scale = ["scale", "deployment/api", "--replicas=2"];
    site.ns.kubectl(scale).await.ok();
    let what = format!("deployment/api of {} has one replica again", site.ns.name);
    await_until(&what, LIMIT, async || {
        site.refresh().await;
        let api = site.ns.look.get("deployment/api").await;
        match &api["spec"]["replicas"] {
            one if one == 1 => Ok(()),
            other => Err(format!("{other}, and {:?}", site.says().await)),
        }
    })
    .await;
    site.comes_to(&Says::Settled).await;
    site.has_run_nothing_again().await;
}
