use super::held::{suspended, taken, time, under_holds};
use super::in_sync::annotated;
use super::site::Site;
use super::way::{Says, Way};
use super::{deployed, each, soak};
use harness::cluster::{Manifest, Namespace, config_map, deployment, items, job, text};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const SYNC_HOOK: &str = "argocd.argoproj.io/hook";
const HELM_HOOK: &str = "helm.sh/hook";

/// The time for which the test watches an engine: long enough for it to act.
const AT_MOST: Duration = Duration::from_secs(60);

/// The value of `sluice.dev/timeout` that is published while everything waits.
const TIMEOUT: &str = "1h";

#[tokio::test]
#[ignore = "needs a cluster with sluice, Argo CD and Flux: make test-gitops"]
async fn what_is_held_is_progressing_and_no_write_of_an_engine_lets_it_go() {
    under_holds("held-on", async |root| {
        tokio::join!(
            an_application(root),
            nothing_but_a_job(root),
            hooks(root, Way::LastApplied, &[SYNC_HOOK, HELM_HOOK]),
            hooks(root, Way::HelmRelease, &[HELM_HOOK]),
        );
    })
    .await;
}

async fn an_application(root: &Namespace) {
    let settings = "configmap/settings";
    let seed = job("seed").depends_on(settings);
    let manifests = vec![deployment("api").depends_on(settings), suspended(seed)];
    deployed(
        root,
        &root.name,
        &Way::ALL,
        &manifests,
        async |source, sites| {
            each(sites, waits).await;
            let annotated = annotated(manifests.clone(), TIMEOUT);
            source.publish_again("1.1.0", &annotated).await;
            each(sites, async |site| {
                if site.way.is_argo() {
                    is_written_and_waits_on(site).await;
                }
                goes_on(site).await;
                site.remove().await;
            })
            .await;
        },
    )
    .await;
}

async fn waits(site: &Site) {
    site.comes_to(&Says::Progressing).await;
    is_withheld(site).await;
    site.ns.pod_of("api").await.is_held().await;
    site.note().await;
    let start = Instant::now();
    while start.elapsed() < soak().min(AT_MOST) {
        assert_eq!(site.says().await, Says::Progressing, "{}", site.ns.name);
        sleep(Duration::from_secs(1)).await;
    }
    site.is_as_noted().await;
}

/// Waits until the Job is suspended, or by PUT, which resumes it, until its pod is held: Argo CD writes a second time where it is late to see its
/// first write.
async fn is_withheld(site: &Site) {
    let may_resume = site.way == Way::Replace;
    let is = |seed: &Value| is_suspended(seed) || may_resume && is_resumed(seed);
    site.ns.until("job/seed", "is withheld", is).await;
    if is_resumed(&site.ns.look.get("job/seed").await) {
        site.ns.pod_of("seed").await.is_held().await;
    }
}

/// Waits until the engine has written the published change of the Job, and checks that the Job still waits: Argo CD writes at once, Flux when its
/// health check has ended. A PUT writes defaults for missing fields and so resumes the Job: its pod is held then.
async fn is_written_and_waits_on(site: &Site) {
    site.brings("job/seed", is_published).await;
    site.comes_to(&Says::Progressing).await;
    if site.way == Way::Replace {
        site.ns.pod_of("seed").await.is_held().await;
        return;
    }
    let seed = site.ns.look.get("job/seed").await;
    assert!(is_suspended(&seed), "{seed:#}");
    assert_eq!(pods_of(site, "seed").await, 0);
}

/// Makes the dependency, and checks that the held pods start after it, that the site settles, and that no Job or revision was made again.
async fn goes_on(site: &Site) {
    site.ns.apply([config_map("settings")]).await.ok();
    for name in ["api", "seed"] {
        let pod = site.ns.pod_of(name).await;
        pod.starts().await;
        let settings = site.ns.look.get("configmap/settings").await;
        assert!(time(&settings, "/metadata/creationTimestamp") <= taken(&pod).await);
    }
    site.brings("job/seed", is_published).await;
    site.comes_to(&Says::Settled).await;
    site.has_run_nothing_again().await;
}

/// Checks an application that is a suspended Job alone. Argo CD takes a Job that was suspended for healthy while it runs, and Flux takes a suspended
/// Job for done, so neither waits for its end. The way by PUT is left out, since it may resume the Job before the test has looked.
async fn nothing_but_a_job(root: &Namespace) {
    let name = format!("{}-job", root.name);
    let train = job("train").depends_on("configmap/go");
    let train = suspended(train.runs("until test -e /tmp/ready; do sleep 1; done"));
    let mut ways = Way::ALL.to_vec();
    ways.retain(|way| *way != Way::Replace);
    deployed(root, &name, &ways, &[train], async |_, sites| {
        each(sites, async |site| {
            let job = "job/train";
            site.ns.until(job, "is suspended", is_suspended).await;
            let held = if site.way.is_argo() {
                Says::Suspended
            } else {
                Says::Settled
            };
            site.comes_to(&held).await;
            let train = site.ns.look.get(job).await;
            assert!(is_suspended(&train), "{train:#}");
            assert_eq!(pods_of(site, "train").await, 0);

            site.ns.apply([config_map("go")]).await.ok();
            let pod = site.ns.pod_of("train").await;
            pod.starts().await;
            if site.way.is_argo() {
                site.comes_to(&Says::Settled).await;
            }
            let train = site.ns.look.get(job).await;
            assert_eq!(train["status"]["active"], 1, "{train:#}");

            site.ns.tell_ready(&format!("pod/{}", pod.name)).await;
            site.ns
                .until(job, "is complete", |job| job["status"]["succeeded"] == 1)
                .await;
            site.comes_to(&Says::Settled).await;
            site.remove().await;
        })
        .await;
    })
    .await;
}

/// Checks that hooks with these keys and `sluice.dev/hold: suspend` are refused with a message that names the key, and that held hooks instead run
/// before the pods of the application are made.
async fn hooks(root: &Namespace, way: Way, keys: &[&str]) {
    let name = format!("{}-hook-{}", root.name, way.label());
    let hook = |key: &&str| {
        let (name, when) = match *key {
            HELM_HOOK => ("of-helm", "pre-install,pre-upgrade"),
            _ => ("own", "PreSync"),
        };
        job(name).annotated(key, when).depends_on("configmap/go")
    };
    let with_api = |how: fn(Manifest) -> Manifest| -> Vec<Manifest> {
        let hooks = keys.iter().map(hook).map(how);
        hooks.chain([deployment("api")]).collect()
    };
    let held = with_api(|hook| hook.held("true"));
    let refused = with_api(suspended);
    deployed(root, &name, &[way], &refused, async |source, sites| {
        each(sites, async |site| {
            site.until("is refused its hooks", |own| {
                let said = own["status"].to_string();
                let told =
                    |key| said.contains(&format!("for the end of this Job, which has {key}"));
                keys.iter().all(told)
            })
            .await;

            source.publish_again("1.1.0", &held).await;
            site.ask().await;
            for hook in &held[..keys.len()] {
                site.ns.pod_of(hook.name()).await.is_held().await;
            }
            assert_eq!(pods_of(site, "api").await, 0);
            site.ns.apply([config_map("go")]).await.ok();
            let api = site.ns.pod_of("api").await.now().await;
            site.comes_to(&Says::Settled).await;
            for hook in &held[..keys.len()] {
                let hook = site.ns.look.get(&format!("job/{}", hook.name())).await;
                let done = time(&hook, "/status/completionTime");
                assert!(
                    done <= time(&api, "/metadata/creationTimestamp"),
                    "{hook:#}"
                );
            }
            // Helm leaves its hooks behind.
            site.abandon().await;
        })
        .await;
    })
    .await;
}

/// Whether a Job is suspended and its own controller has reported it: until then that may yet make a pod.
fn is_suspended(job: &Value) -> bool {
    let mut conditions = items(job, "/status/conditions").iter();
    job["spec"]["suspend"] == true
        && conditions.any(|it| it["type"] == "Suspended" && it["status"] == "True")
}

/// Whether the Job, which sluice made suspended, runs again because a writer set the default.
fn is_resumed(job: &Value) -> bool {
    job["spec"]["suspend"] == false
}

fn is_published(job: &Value) -> bool {
    text(job, "/metadata/annotations/sluice.dev~1timeout") == TIMEOUT
}

async fn pods_of(site: &Site, workload: &str) -> usize {
    let selector = format!("app={workload}");
    site.ns.look.list("pod", &selector).await.len()
}
