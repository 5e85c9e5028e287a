//! Tests of weights: within one release, objects of less weight come first.

use harness::cluster::{
    Chart, Manifest, Namespace, Pod, config_map, deployment, job, pod, service, with_namespace,
};

const WEIGHT: &str = "sluice.dev/weight";
/// The JSON pointer of the label by which objects that kubectl applies belong to one release.
const INSTANCE: &str = "/metadata/labels/app.kubernetes.io~1instance";
const RELEASE: &str = "{{ .Release.Name }}";
const REVISION: &str = "{{ .Release.Revision }}";

/// Returns a chart with a database without a weight, a migration of weight 1, an API and a web front of weight 2, and a test of Helm that never
/// succeeds. Each release runs another migration and rolls the Deployments.
fn shop(helm: &'static str) -> Chart {
    let rolls = |it: Manifest| it.template_annotated("example.com/release", REVISION);
    // A test of Helm's that never succeeds.
    let probe = job("probe").runs("exit 1");
    let probe = probe.annotated("helm.sh/hook", "test");
    let manifests = [
        rolls(deployment("db").ready_after(2)),
        job("migrate")
            .with("/metadata/name", format!("migrate-{REVISION}"))
            .runs("sleep 1; echo done")
            .annotated(WEIGHT, "1"),
        rolls(deployment("api").ready_after(1).annotated(WEIGHT, "2")),
        rolls(deployment("web").ready_after(1).annotated(WEIGHT, "2")),
        probe.annotated(WEIGHT, "0"),
    ];
    Chart::new(helm, &manifests.map(|it| it.with(INSTANCE, RELEASE)))
}

/// One pod of each workload of the chart.
struct Pods {
    db: Pod,
    migrate: Pod,
    api: Pod,
    web: Pod,
}

impl Pods {
    async fn of(ns: &Namespace) -> Self {
        Self {
            db: ns.pod_of("db").await,
            migrate: ns.pod_of("migrate").await,
            api: ns.pod_of("api").await,
            web: ns.pod_of("web").await,
        }
    }

    async fn next(&self, ns: &Namespace) -> Self {
        Self {
            db: ns.next_pod_of("db", &self.db).await,
            migrate: ns.next_pod_of("migrate", &self.migrate).await,
            api: ns.next_pod_of("api", &self.api).await,
            web: ns.next_pod_of("web", &self.web).await,
        }
    }

    async fn come_in_order(&self) {
        let ready = self.db.says("ready").await;
        let migrates = self.migrate.starts().await;
        let done = self.migrate.says("done").await;
        assert!(ready <= migrates, "{migrates} is before {ready}");
        for last in [&self.api, &self.web] {
            let starts = last.starts().await;
            assert!(done <= starts, "{}: {starts} is before {done}", last.name);
            last.is_ready().await;
        }
    }
}

async fn installs_and_upgrades(helm: &'static str) {
    with_namespace(&format!("waves-{helm}"), async |ns| {
        let chart = shop(helm);
        chart.upgrade(ns, &["--wait"]).await.ok();
        let first = Pods::of(ns).await;
        first.come_in_order().await;

        let upgrade = async {
            chart.upgrade(ns, &["--wait"]).await.ok();
            first.next(ns).await.come_in_order().await;
        };
        ns.keeps_available("deployment/api", 1, upgrade).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn waves_follow_one_another_in_an_install_and_an_upgrade_with_helm_4() {
    installs_and_upgrades("helm").await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn waves_follow_one_another_in_an_install_and_an_upgrade_with_helm_3() {
    installs_and_upgrades("helm3").await;
}

/// Objects that kubectl applies come in waves too. For kubectl a test hook of Helm is an object like any other; it fails, and holds nothing back.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_kubectl_applies_comes_in_waves_too_and_a_test_hook_counts_for_none() {
    with_namespace("waves-kubectl", async |ns| {
        shop("helm").apply(ns).await.ok();
        Pods::of(ns).await.come_in_order().await;
        ns.until("job/probe", "has failed", |it| it["status"]["failed"] == 1)
            .await;
    })
    .await;
}

/// A test hook of Helm waits for no weight and for no cap, whether it is a pod or a Job; its own list holds it.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_test_of_helm_is_held_by_its_own_list_alone() {
    with_namespace("waves-test", async |ns| {
        let in_release = |it: Manifest| it.with(INSTANCE, "shop");
        let never = deployment("never").in_app("/image", "localhost/never:1");
        let capped = |it: Manifest| {
            let it = it.annotated(WEIGHT, "2");
            in_release(it.annotated("sluice.dev/parallelism", "1"))
        };
        let test = |it: Manifest| capped(it).annotated("helm.sh/hook", "test");
        ns.apply([
            in_release(never),
            capped(deployment("held")),
            test(pod("probe")),
            test(job("check")),
            test(pod("asks")).depends_on("configmap/go"),
        ])
        .await
        .ok();
        let held = ns.pod_of("held").await;
        held.waits_for("every weight below 2", "LowerWeight").await;
        ns.pod_of("probe").await.starts().await;
        ns.pod_of("check").await.starts().await;
        let asks = ns.pod_of("asks").await;
        asks.waits_for("ConfigMap/go", "NotFound").await;
        ns.apply([config_map("go")]).await.ok();
        asks.starts().await;
        held.is_shut().await;
    })
    .await;
}

/// A weight may be below zero. A Service has no pods to hold back, and with a weight it holds back heavier objects.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn weights_below_zero_come_first_and_what_has_no_pods_counts() {
    with_namespace("waves-below", async |ns| {
        let mine = |it: Manifest| it.with(INSTANCE, "shop");
        let front = mine(service("front").annotated(WEIGHT, "-2"));
        let migrate = job("migrate").annotated(WEIGHT, "-1");
        let api = deployment("api").annotated(WEIGHT, "0");
        ns.apply([front, mine(migrate), mine(api)]).await.ok();
        let (migrate, api) = (ns.pod_of("migrate").await, ns.pod_of("api").await);
        migrate
            .waits_for("every weight below -1", "LowerWeight")
            .await;
        api.waits_for("every weight below 0", "LowerWeight").await;

        // It belongs to nothing, and stands behind the Service.
        ns.apply([deployment("front")]).await.ok();
        let (migrates, starts) = (migrate.starts().await, api.starts().await);
        assert!(migrates < starts, "{starts} is before {migrates}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_of_its_own_is_in_the_wave_whose_weight_it_says() {
    with_namespace("waves-pod", async |ns| {
        let mine = |it: Manifest, weight: &str| it.with(INSTANCE, "shop").annotated(WEIGHT, weight);
        let first = mine(pod("first").ready_when_told(), "-1");
        let web = mine(deployment("web"), "0");
        ns.apply([first, web]).await.ok();
        let web = ns.pod_of("web").await;
        web.waits_for("every weight below 0", "LowerWeight").await;
        ns.pod_of("first").await.says("started").await;
        ns.tell_ready("pod/first").await;
        web.starts().await;
    })
    .await;
}

/// An API of weight 2 is created first, and still waits for the lighter objects that come a moment later.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_wave_that_is_empty_so_far_is_not_passed() {
    with_namespace("waves-late", async |ns| {
        let mine = |it: Manifest| it.with(INSTANCE, "shop");
        let api = deployment("api").annotated(WEIGHT, "2");
        let migrate = job("migrate").runs("sleep 1; echo done");
        let migrate = migrate.annotated(WEIGHT, "1");
        let db = deployment("db").ready_after(2);
        // Of one apply: another one may come later than a wave is waited for.
        ns.apply([api, migrate, db].map(mine)).await.ok();
        let (db, migrate, api) = (
            ns.pod_of("db").await,
            ns.pod_of("migrate").await,
            ns.pod_of("api").await,
        );
        let (ready, migrates) = (db.says("ready").await, migrate.starts().await);
        let (done, starts) = (migrate.says("done").await, api.starts().await);
        assert!(ready <= migrates, "{migrates} is before {ready}");
        assert!(done <= starts, "{starts} is before {done}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn two_releases_of_one_chart_do_not_wait_for_each_other() {
    with_namespace("waves-two", async |ns| {
        let chart = || {
            let named = |name: &str| format!("{RELEASE}-{name}");
            let db = deployment(&named("db")).ready_when_told();
            let api = deployment(&named("api")).annotated(WEIGHT, "1");
            Chart::new("helm", &[db, api])
        };
        chart().called("one").upgrade(ns, &[]).await.ok();
        chart().called("two").upgrade(ns, &[]).await.ok();
        let (one, two) = (ns.pod_of("one-api").await, ns.pod_of("two-api").await);
        for api in [&one, &two] {
            api.waits_for("every weight below 1", "LowerWeight").await;
        }
        ns.pod_of("one-db").await.says("started").await;
        ns.tell_ready("deployment/one-db").await;
        one.starts().await;
        two.stays_shut().await;

        ns.pod_of("two-db").await.says("started").await;
        ns.tell_ready("deployment/two-db").await;
        two.starts().await;
    })
    .await;
}
