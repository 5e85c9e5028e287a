//! Tests of `subchart/`, `group/` and `release/` in lists.

use harness::cluster::{Chart, Namespace, Pod, config_map, deployment, with_namespace, yaml};

const GROUP: &str = "sluice.dev/group";

/// A chart as third parties publish it: nothing in it knows sluice, and its values take annotations for its pods. Its pod is ready `values.ready`
/// seconds after its start, and is rolled when `values.stamp` changes; without that value every revision changes it.
const SERVICE: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-{{ .Chart.Name }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}-{{ .Chart.Name }}}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}-{{ .Chart.Name }}}
      annotations: {{- mustMergeOverwrite (dict "example.com/stamp" (toString (.Values.stamp | default .Release.Revision))) .Values.podAnnotations | toYaml | nindent 8 }}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: app
          image: docker.io/library/busybox:1.35
          imagePullPolicy: IfNotPresent
          command: [sh, -c, "echo started; sleep {{ .Values.ready }}; echo ready; touch /tmp/ready; exec sleep 100000"]
          readinessProbe: {exec: {command: [test, -e, /tmp/ready]}, periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 1}
"#;
const SERVICE_VALUES: &str = "podAnnotations: {}\nready: 1\n";
const SERVICE_CHART: &str = "apiVersion: v2\nname: service\nversion: 1.0.0\n";

/// The template of a sub-chart that has only a ConfigMap, without anything to wait for.
const CONFIG: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}-config\"}\n";
const CONFIG_CHART: &str = "apiVersion: v2\nname: config\nversion: 1.0.0\n";

/// The Chart.yaml of a sub-chart that only holds another sub-chart.
const NEST_CHART: &str = "apiVersion: v2\nname: nest\nversion: 1.0.0
dependencies: [{name: service, alias: inner, version: 1.0.0}]\n";

/// The Chart.yaml of the umbrella, which has a Deployment of its own that starts last. Helm writes Deployments in the order of their names, so
/// `early` and `first` come before the ones that they wait for.
const UMBRELLA_CHART: &str = "apiVersion: v2\nname: umbrella\nversion: 1.0.0
dependencies:
  - {name: service, alias: early, version: 1.0.0}
  - {name: service, alias: first, version: 1.0.0}
  - {name: service, alias: late, version: 1.0.0}
  - {name: service, alias: absent, version: 1.0.0, condition: absent.enabled}
  - {name: config, version: 1.0.0}
  - {name: nest, version: 1.0.0}
";
const UMBRELLA_VALUES: &str = "
ready: 1
podAnnotations:
  sluice.dev/depends-on: subchart/early, subchart/first
early:
  podAnnotations:
    sluice.dev/depends-on: subchart/late, subchart/config, subchart/absent
first:
  podAnnotations:
    sluice.dev/depends-on: subchart/inner
late: {ready: 8}
nest: {inner: {ready: 8}}
absent: {enabled: false}
";

fn umbrella(helm: &'static str) -> Chart {
    let files = [
        ("Chart.yaml", UMBRELLA_CHART),
        ("values.yaml", UMBRELLA_VALUES),
        ("templates/service.yaml", SERVICE),
        ("charts/service/Chart.yaml", SERVICE_CHART),
        ("charts/service/values.yaml", SERVICE_VALUES),
        ("charts/service/templates/service.yaml", SERVICE),
        ("charts/config/Chart.yaml", CONFIG_CHART),
        ("charts/config/templates/config.yaml", CONFIG),
        ("charts/nest/Chart.yaml", NEST_CHART),
        ("charts/nest/charts/service/Chart.yaml", SERVICE_CHART),
        ("charts/nest/charts/service/values.yaml", SERVICE_VALUES),
        ("charts/nest/charts/service/templates/service.yaml", SERVICE),
    ];
    Chart::of(helm, &files)
}

/// Pairs of a dependent Deployment and the one that it depends on. The latter becomes ready only when its release has long counted as quiet.
const PAIRS: [(&str, &str); 4] = [
    ("release-early", "release-late"),
    ("release-first", "release-inner"),
    ("release-umbrella", "release-early"),
    ("release-umbrella", "release-first"),
];

async fn pairs(ns: &Namespace) -> Vec<(Pod, Pod)> {
    let mut pods = Vec::new();
    for (waits, waited_for) in PAIRS {
        let pair = (ns.pod_of(waits).await, ns.pod_of(waited_for).await);
        pods.push(pair);
    }
    pods
}

/// Installs, upgrades and rolls back the umbrella, with new pods each time, and checks the order of the pairs.
async fn comes_in_order(helm: &'static str) {
    with_namespace(&format!("umbrella-{helm}"), async |ns| {
        let chart = umbrella(helm);
        chart.upgrade(ns, &["--wait"]).await.ok();
        let mut pods = pairs(ns).await;
        are_in_order(&pods).await;
        for back in [false, true] {
            if back {
                chart.rollback(ns, &["--wait"]).await.ok();
            } else {
                chart.upgrade(ns, &["--wait"]).await.ok();
            }
            for ((early, late), names) in pods.iter_mut().zip(PAIRS) {
                *early = ns.next_pod_of(names.0, early).await;
                *late = ns.next_pod_of(names.1, late).await;
            }
            are_in_order(&pods).await;
        }
    })
    .await;
}

async fn are_in_order(pods: &[(Pod, Pod)]) {
    for (early, late) in pods {
        let (starts, ready) = (early.starts().await, late.says("ready").await);
        assert!(
            ready <= starts,
            "{}: {starts} is before {ready}",
            early.name
        );
    }
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_umbrella_comes_in_order_by_pod_annotations_with_helm_4() {
    comes_in_order("helm").await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_umbrella_comes_in_order_by_pod_annotations_with_helm_3() {
    comes_in_order("helm3").await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_umbrella_that_kubectl_applies_comes_in_order() {
    with_namespace("umbrella-kubectl", async |ns| {
        umbrella("helm").apply(ns).await.ok();
        are_in_order(&pairs(ns).await).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_part_that_alone_is_upgraded_waits_for_no_rollout_of_another() {
    with_namespace("umbrella-part", async |ns| {
        let chart = umbrella("helm");
        let unchanged = "stamp=1,first.stamp=1,late.stamp=1,nest.inner.stamp=1";
        let args = ["--wait", "--set", unchanged];
        chart.upgrade(ns, &args).await.ok();
        let old = pairs(ns).await;
        chart.upgrade(ns, &args).await.ok();
        let early = ns.next_pod_of("release-early", &old[0].0).await;
        early.starts().await;
        for ((_, before), (_, after)) in old.iter().zip(pairs(ns).await).take(2) {
            assert_eq!(before.uid, after.uid, "{}", after.name);
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn two_releases_of_one_umbrella_have_parts_of_their_own() {
    with_namespace("umbrella-two", async |ns| {
        let [ready, never] = ["late.ready=2", "late.ready=100000"];
        for (release, late) in [("one", ready), ("two", never)] {
            let chart = umbrella("helm").called(release);
            chart.upgrade(ns, &["--set", late]).await.ok();
        }
        let two = ns.pod_of("two-early").await;
        two.waits_for("subchart/late", "InProgress").await;
        ns.pod_of("one-early").await.starts().await;
        two.stays_shut().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_group_is_what_says_that_it_is_in_it_and_at_least_one() {
    with_namespace("group", async |ns| {
        let in_release = |name: &str, release: &str| {
            deployment(name).with("/metadata/labels/app.kubernetes.io~1instance", release)
        };
        let api = in_release("api", "mine").depends_on("group/data");
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("group/data", "NotFound").await;

        // On the pod template, or on the object; that of another release is another group.
        let db = in_release("db", "mine").ready_when_told();
        let cache = in_release("cache", "mine").ready_when_told();
        let other = in_release("other", "theirs").ready_when_told();
        ns.apply([
            db.template_annotated(GROUP, "data"),
            cache.annotated("helm.sh/resource-group", "data"),
            other.annotated(GROUP, "data"),
        ])
        .await
        .ok();
        for name in ["db", "cache"] {
            api.waits_for("group/data", "").await;
            api.stays_shut().await;
            ns.pod_of(name).await.says("started").await;
            ns.tell_ready(&format!("deployment/{name}")).await;
        }
        api.starts().await;
    })
    .await;
}

/// Installs the release `store` with one Deployment, `db`, which is ready once the test says so.
async fn install_store(ns: &Namespace) {
    let store = Chart::new("helm", &[deployment("db").ready_when_told()]);
    store.called("store").upgrade(ns, &[]).await.ok();
}

async fn is_told(ns: &Namespace) {
    ns.pod_of("db").await.says("started").await;
    ns.tell_ready("deployment/db").await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_release_is_all_that_belongs_to_it() {
    with_namespace("release", async |ns| {
        let api = deployment("api").depends_on("release/store");
        Chart::new("helm", &[api]).upgrade(ns, &[]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("release/store", "NotFound").await;
        // An object outside of the release does not count.
        ns.apply([config_map("other"), deployment("other")])
            .await
            .ok();
        install_store(ns).await;
        api.waits_for("release/store", "InProgress").await;
        is_told(ns).await;
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_release_of_another_namespace_counts_where_that_consents() {
    with_namespace("release-guest", async |ns| {
        let host = ns.another("release-host").await;
        let list = format!("- release: store\n  namespace: {}\n", host.name);
        ns.apply([deployment("api").depends_on(&list)]).await.ok();
        install_store(&host).await;
        let api = ns.pod_of("api").await;
        let release = format!("{}/release/store", host.name);
        api.waits_for(&release, "NotPermitted").await;

        let namespace = format!("namespace/{}", host.name);
        ns.annotate(&namespace, "sluice.dev/allow-dependents-from", &ns.name)
            .await;
        api.waits_for(&release, "InProgress").await;
        is_told(&host).await;
        api.starts().await;
    })
    .await;
}

/// An entry `NAMESPACE/subchart/NAME` waits for a sub-chart whose objects are in another namespace, as with an operator or monitoring.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_sub_chart_in_a_namespace_of_its_own_is_waited_for_there() {
    with_namespace("part-guest", async |ns| {
        let host = ns.another("part-host").await;
        let api = deployment("api").depends_on("{{ .Values.store.namespace }}/subchart/store");
        let store = deployment("store")
            .ready_when_told()
            .with("/metadata/namespace", "{{ .Values.namespace }}")
            .with("/metadata/labels/helm.sh~1chart", "store-1.0.0");
        let files = [
            (
                "Chart.yaml",
                "apiVersion: v2\nname: release\nversion: 1.0.0\n",
            ),
            ("templates/all.yaml", &yaml(&[api])),
            (
                "charts/store/Chart.yaml",
                "apiVersion: v2\nname: store\nversion: 1.0.0\n",
            ),
            ("charts/store/templates/all.yaml", &yaml(&[store])),
        ];
        let namespace = format!("store.namespace={}", host.name);
        let chart = Chart::of("helm", &files);
        chart.upgrade(ns, &["--set", &namespace]).await.ok();
        let api = ns.pod_of("api").await;
        let part = format!("{}/subchart/store", host.name);
        api.waits_for(&part, "NotPermitted").await;

        let namespace = format!("namespace/{}", host.name);
        ns.annotate(&namespace, "sluice.dev/allow-dependents-from", &ns.name)
            .await;
        api.waits_for(&part, "InProgress").await;
        api.stays_shut().await;
        host.pod_of("store").await.says("started").await;
        host.tell_ready("deployment/store").await;
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_sub_chart_has_to_be_where_an_entry_says_that_it_is() {
    with_namespace("part-absent", async |ns| {
        let host = ns.another("part-empty").await;
        let namespace = format!("namespace/{}", host.name);
        ns.annotate(&namespace, "sluice.dev/allow-dependents-from", &ns.name)
            .await;
        let list = format!("- {{subchart: store, namespace: {}}}", host.name);
        let api = deployment("api").depends_on(&list);
        Chart::new("helm", &[api]).upgrade(ns, &[]).await.ok();
        // The objects that are there belong to no release, or to another one.
        let stray = deployment("api").with("/metadata/labels/helm.sh~1chart", "store-1.0.0");
        let theirs = Chart::new("helm", &[stray]).called("theirs");
        theirs.upgrade(&host, &[]).await.ok();
        let api = ns.pod_of("api").await;
        let part = format!("{}/subchart/store", host.name);
        api.waits_for(&part, "NotFound").await;
        host.pod_of("api").await.is_ready().await;
        // Longer than a release has to be quiet.
        tokio::time::sleep(std::time::Duration::from_secs(6)).await;
        api.waits_for(&part, "NotFound").await;
        api.is_shut().await;
    })
    .await;
}
