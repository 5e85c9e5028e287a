use harness::cluster::{
    Look, Pod, config_map, cron_job, deployment, items, job, other, pod, with_namespace,
};
use serde_json::{Value, json};

const LIST: &str = "configmap/go";

fn names(pod: &Value, list: &str) -> Vec<String> {
    let named = |item: &Value| item["name"].as_str().map(str::to_owned);
    items(pod, list).iter().filter_map(named).collect()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_container_of_the_gates_name_is_refused() {
    with_namespace("name-taken", async |ns| {
        let taken = json!([{"name": "sluice-gate", "image": "docker.io/library/busybox:1.35"}]);
        let api = pod("api")
            .depends_on(LIST)
            .in_pod("/spec/initContainers", taken);
        let refusal = ns.apply([api]).await.refused();
        let said = "has a container named \"sluice-gate\", a name that sluice needs for its gate; give yours another name";
        assert!(refusal.contains(said), "{refusal}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_copy_for_debugging_starts() {
    with_namespace("copied", async |ns| {
        ns.apply([deployment("api").depends_on(LIST)]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        let debug = ["debug", &api.name, "--copy-to=copy", "--container=app"];
        let image = [
            "--image=docker.io/library/busybox:1.35",
            "--",
            "sh",
            "-c",
            "echo started; sleep 1000",
        ];
        ns.program("kubectl")
            .args(debug)
            .args(image)
            .run()
            .await
            .ok();
        // It has no owner, so no list, and waits for nothing.
        let copy = Look::at(&ns.name).await.get("pod/copy").await;
        assert_eq!(
            copy["metadata"]["labels"]["sluice.dev/gated"], "true",
            "{copy:#}"
        );
        let gates = names(&copy, "/spec/initContainers");
        assert_eq!(gates, ["sluice-gate"]);
        ns.until("pod/copy", "has started", |copy| {
            copy["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
        })
        .await;
        api.is_shut().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_gate_has_one_token_and_it_is_its_own() {
    with_namespace("one-token", async |ns| {
        ns.apply([config_map("go"), pod("api").depends_on(LIST)])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.starts().await;
        let pod = api.now().await;
        assert_eq!(
            names(&pod, "/spec/initContainers/0/volumeMounts"),
            ["sluice-token", "sluice-state"]
        );
        let mounts = names(&pod, "/spec/containers/0/volumeMounts");
        assert_eq!(mounts.len(), 1, "its account's token, not ours: {mounts:?}");
        assert!(!mounts[0].starts_with("sluice"), "{mounts:?}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_with_a_resolver_of_its_own_waits_and_starts() {
    with_namespace("resolver", async |ns| {
        let api = pod("api")
            .depends_on(LIST)
            .in_pod("/spec/dnsPolicy", "None")
            .in_pod("/spec/dnsConfig", json!({"nameservers": ["192.0.2.1"]}));
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_limit_range_admits_the_gate() {
    with_namespace("limit-range", async |ns| {
        let range = other(json!({
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "range"},
            "spec": {"limits": [{
                "type": "Container", "max": {"cpu": "1", "memory": "128Mi"}, "min": {"cpu": "1m", "memory": "4Mi"},
                "default": {"cpu": "100m", "memory": "64Mi"}, "defaultRequest": {"cpu": "10m", "memory": "16Mi"},
            }]},
        }));
        ns.apply([range]).await.ok();
        ns.apply([config_map("go"), pod("api").depends_on(LIST)]).await.ok();
        let api = ns.pod_of("api").await;
        api.starts().await;
        assert_eq!(api.now().await["status"]["qosClass"], "Burstable");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_gate_stands_where_the_template_says() {
    with_namespace("position", async |ns| {
        let step = |name: &str| {
            json!({"name": name, "image": "docker.io/library/busybox:1.35", "command": ["true"]})
        };
        let api = deployment("api")
            .depends_on(LIST)
            .template_annotated("sluice.dev/gate-position", "after=fetch")
            .in_pod("/spec/initContainers", json!([step("fetch"), step("warm-up")]));
        ns.apply([config_map("go"), api]).await.ok();
        let api = ns.pod_of("api").await;
        assert_eq!(
            names(&api.now().await, "/spec/initContainers"),
            ["fetch", "sluice-gate", "warm-up"]
        );
        api.starts().await;

        let bad = pod("bad").depends_on(LIST).annotated("sluice.dev/gate-position", "frist");
        let refusal = ns.apply([bad]).await.refused();
        assert!(refusal.contains("did you mean \"first\"?"), "{refusal}");
    })
    .await;
}

/// Admission keeps fields of a pod that are younger than the API that sluice is built with.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn fields_that_this_build_has_never_heard_of_are_kept() {
    with_namespace("young-fields", async |ns| {
        let rule = json!({"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}});
        let young = |name: &str| {
            pod(name)
                .in_pod("/spec/hostnameOverride", "elsewhere")
                .in_app("/restartPolicy", "Never")
                .in_app("/restartPolicyRules", json!([rule]))
        };
        let fields = |pod: &Value| {
            let app = &pod["spec"]["containers"][0]["restartPolicyRules"];
            (pod["spec"]["hostnameOverride"].clone(), app.clone())
        };
        let plain = ns.apply([young("plain")]).await;
        let kept = if plain.code == Some(0) {
            fields(&ns.look.get("pod/plain").await)
        } else {
            Default::default()
        };
        if kept != (json!("elsewhere"), json!([rule])) {
            eprintln!("skipped: this Kubernetes does not know them either: {plain}");
            return;
        }
        ns.apply([config_map("go"), young("api").depends_on(LIST)])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.is_gated().await;
        assert_eq!(fields(&api.now().await), kept);
        api.starts().await;
    })
    .await;
}

async fn same_job(job: &Pod, ns: &harness::cluster::Namespace, uid: &Value) {
    assert_eq!(ns.look.get("job/seed").await["metadata"]["uid"], *uid);
    job.now().await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_stays_the_same_whatever_is_done_to_its_list() {
    with_namespace("job-list", async |ns| {
        let seed = job("seed").depends_on(LIST);
        ns.apply([seed.clone()]).await.ok();
        let pod = ns.pod_of("seed").await;
        let uid = ns.look.get("job/seed").await["metadata"]["uid"].clone();
        ns.apply([seed.clone()]).await.ok();
        ns.apply([job("seed").depends_on("configmap/other")])
            .await
            .ok();
        ns.apply([job("seed")]).await.ok();
        same_job(&pod, ns, &uid).await;
        ns.pipe("apply", &[seed], &["--server-side", "--force-conflicts"])
            .await
            .ok();
        same_job(&pod, ns, &uid).await;

        let late = job("late").runs("sleep 1000");
        ns.apply([late.clone()]).await.ok();
        let told = ns.apply([late.depends_on(LIST)]).await;
        assert!(told.stderr.contains("already started; not gated"), "{told}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_diff_shows_nothing_that_an_apply_would_not_do() {
    with_namespace("diff", async |ns| {
        let manifests = [
            deployment("api").depends_on(LIST),
            cron_job("nightly").depends_on(LIST),
        ];
        ns.apply(manifests.clone()).await.ok();
        // What the Deployment's controller writes while kubectl compares is a difference too.
        ns.until("deployment/api", "says nothing new", |api| {
            let status = &api["status"];
            [
                &status["observedGeneration"],
                &status["updatedReplicas"],
                &status["unavailableReplicas"],
            ] == [1, 1, 1]
        })
        .await;
        let diff = ns.pipe("diff", &manifests, &[]).await;
        assert_eq!(diff.code, Some(0), "{diff}");
        let diff = ns
            .pipe("diff", &manifests, &["--server-side", "--force-conflicts"])
            .await;
        assert_eq!(diff.code, Some(0), "{diff}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn deadlines_that_run_while_a_pod_waits_are_told_of() {
    with_namespace("deadlines", async |ns| {
        let hasty = deployment("hasty").with("/spec/progressDeadlineSeconds", 60);
        let told = ns.apply([hasty.depends_on(LIST)]).await;
        assert!(
            told.stderr.contains("progressDeadlineSeconds (60)"),
            "{told}"
        );
        // The default is not the user's choice, so there is no warning about it alone.
        let api = deployment("api").depends_on(LIST);
        let patient = deployment("patient").with("/spec/progressDeadlineSeconds", 7200);
        let told = ns.apply([api.clone(), patient.depends_on(LIST)]).await;
        assert!(!told.stderr.contains("progressDeadlineSeconds"), "{told}");
        let told = ns.apply([api.annotated("sluice.dev/timeout", "30m")]).await;
        assert!(
            !told.stderr.contains("progressDeadlineSeconds"),
            "the list is the same: {told}"
        );
        let seed = job("seed").with("/spec/activeDeadlineSeconds", 900);
        let told = ns.apply([seed.depends_on(LIST)]).await;
        assert!(
            told.stderr.contains("activeDeadlineSeconds (900)"),
            "{told}"
        );
    })
    .await;
}
