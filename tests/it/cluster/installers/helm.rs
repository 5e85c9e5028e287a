use harness::cluster::{Namespace, Program, Runs, TIMEOUT, items, text, with_namespace};
use serde_json::Value;
use std::path::Path;
use tokio::sync::OnceCell;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop/chart");

const UMBRELLA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/umbrella");
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/seeds");

/// Loads the shop's image onto the node, once in a run of the tests. Returns the cause why the shop cannot run here; `None` where it can.
pub(in crate::cluster) async fn missing() -> Option<&'static str> {
    static LOADED: OnceCell<Option<&'static str>> = OnceCell::const_new();
    *LOADED.get_or_init(load).await
}

async fn load() -> Option<&'static str> {
    if !Path::new(CHART).exists() {
        return Some("examples/shop/chart is not there");
    }
    let cluster = format!("{ROOT}/tests/cluster/cluster");
    let own = Program::new(&cluster).args(["kubeconfig"]).run().await.ok();
    // As in the Makefile: only our own cluster is known to take image archives this way.
    let load = match (std::env::var("LOAD"), std::env::var("KUBECONFIG")) {
        (Ok(load), _) if !load.is_empty() => load,
        (_, Ok(used)) if used == own.trim() => format!("{cluster} load"),
        _ => return Some("LOAD does not say how an image gets onto the nodes"),
    };
    let archive = format!("{ROOT}/target/images/shop.tar");
    let make = format!("{ROOT}/examples/shop/image.sh");
    Program::new(make).args([&archive]).run().await.ok();
    let mut words = load.split_whitespace();
    let program = words.next().expect("it is not empty");
    Program::new(program)
        .args(words)
        .args([&archive])
        .run()
        .await
        .ok();
    None
}

/// Installs the shop by this Helm, then upgrades it to a release whose database needs another migration, while its two APIs stay available. An API
/// exits where its database lacks its schema: fails where a container started twice. Skipped where the shop cannot be installed.
async fn installs_and_upgrades(helm: &str) {
    if let Some(reason) = missing().await {
        eprintln!("skipped: {reason}");
        return;
    }
    with_namespace(&format!("shop-{helm}"), async |ns| {
        release(ns, helm, ["install", "shop", CHART]).await;
        assert_eq!(running(ns, "api").await, 2);
        nothing_started_twice(ns).await;

        let upgrade = release(ns, helm, ["upgrade", "shop", CHART, "--set", "schema=2"]);
        ns.keeps_available("deployment/api", 2, upgrade).await;
        assert_eq!(completed_jobs(ns).await, 1);
        nothing_started_twice(ns).await;
    })
    .await;
}

async fn release<const N: usize>(ns: &Namespace, helm: &str, args: [&str; N]) {
    let program = ns.program(helm).args(args);
    program.args(["--wait", TIMEOUT]).run().await.ok();
}

async fn running(ns: &Namespace, component: &str) -> usize {
    let selector = format!("app.kubernetes.io/component={component}");
    let pods = ns.look.list("pod", &selector).await;
    let runs = |pod: &&_| text(pod, "/status/phase") == "Running";
    pods.iter().filter(runs).count()
}

async fn completed_jobs(ns: &Namespace) -> usize {
    let jobs = ns.look.list("job", "").await;
    let completed = |job: &&Value| job["status"]["succeeded"] == 1;
    jobs.iter().filter(completed).count()
}

async fn nothing_started_twice(ns: &Namespace) {
    for pod in ns.look.list("pod", "").await {
        if !text(&pod, "/metadata/deletionTimestamp").is_empty() {
            continue; // of the release before
        }
        for list in ["/status/initContainerStatuses", "/status/containerStatuses"] {
            for container in items(&pod, list) {
                assert_eq!(container["restartCount"], 0, "{container:#}");
            }
        }
        assert_ne!(text(&pod, "/status/phase"), "Failed", "{pod:#}");
    }
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_shop_with_helm_4() {
    installs_and_upgrades("helm").await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_shop_with_helm_3() {
    installs_and_upgrades("helm3").await;
}

/// Installs and upgrades the umbrella chart, whose front exits where the store does not serve. Fails where a container was restarted, or the front
/// started before the store was ready. In the upgrade both have new pods, and the old store serves at first.
async fn the_umbrella(helm: &str) {
    with_namespace(&format!("example-{helm}"), async |ns| {
        release(ns, helm, ["install", "umbrella", UMBRELLA]).await;
        nothing_started_twice(ns).await;
        the_front_came_second(ns).await;

        let store = "--set=store.loadSeconds=4";
        let front = "--set-string=front.podAnnotations.release=2";
        release(ns, helm, ["upgrade", "umbrella", UMBRELLA, store, front]).await;
        the_front_came_second(ns).await;
    })
    .await;
}

/// Checks that the front started after the store was ready, by the whole seconds in the status of their pods.
async fn the_front_came_second(ns: &Namespace) {
    let pod = async |name: &str| {
        let selector = format!("app.kubernetes.io/name={name}");
        let pods = ns.look.list("pod", &selector).await;
        let stays = |pod: &Value| text(pod, "/metadata/deletionTimestamp").is_empty();
        pods.into_iter().find(stays).expect("it has a pod")
    };
    let (store, front) = (pod("store").await, pod("front").await);
    let conditions = items(&store, "/status/conditions");
    let ready = conditions.iter().find(|it| it["type"] == "Ready");
    let ready = text(ready.expect("it is ready"), "/lastTransitionTime");
    let started = text(
        &front,
        "/status/containerStatuses/0/state/running/startedAt",
    );
    // Both are UTC, and written alike.
    assert!(
        !ready.is_empty() && ready <= started,
        "{started} is before {ready}"
    );
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_umbrella_with_helm_4() {
    the_umbrella("helm").await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_umbrella_with_helm_3() {
    the_umbrella("helm3").await;
}

/// The umbrella chart's front crashes and restarts where its annotation is left out.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_umbrella_without_its_annotation_crashes_first() {
    with_namespace("example-crashes", async |ns| {
        let without = "--set=front.podAnnotations=null";
        release(ns, "helm", ["install", "umbrella", UMBRELLA, without]).await;
        let front = ns.look.list("pod", "app.kubernetes.io/name=front").await;
        let restarts = &items(&front[0], "/status/containerStatuses")[0]["restartCount"];
        assert!(restarts.as_u64() > Some(0), "{restarts}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_umbrella_by_a_plan() {
    with_namespace("example-plan", async |ns| {
        ns.kubectl(["label", "namespace", &ns.name, "sluice.dev/inject=enabled"])
            .await
            .ok();
        let planned = "--set=front.podAnnotations=null,plan=true";
        release(ns, "helm", ["install", "umbrella", UMBRELLA, planned]).await;
        nothing_started_twice(ns).await;
        the_front_came_second(ns).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_seeds() {
    with_namespace("example-seeds", async |ns| {
        let program = ns.program("helm").args(["install", "seeds", SEEDS]);
        program.run().await.ok();
        let most = Runs::of(ns, "", 10).await.most_at_once();
        assert!(most <= 3, "{most}"); // how many a busy node starts in time is its own affair
        ns.until("job/seeds-9", "is complete", |it| {
            it["status"]["succeeded"] == 1
        })
        .await;
        let jobs = ns.kubectl(["get", "jobs"]).await.ok();
        assert_eq!(jobs.lines().count(), 11, "{jobs}");
    })
    .await;
}
