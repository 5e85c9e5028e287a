use harness::cluster::{
    Manifest, config_map, cron_job, daemon_set, deployment, job, pod, replica_set,
    replication_controller, stateful_set, with_namespace,
};
use serde_json::json;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_bad_list_is_refused_with_the_place_and_the_likely_word() {
    with_namespace("bad-list", async |ns| {
        for (list, said) in [
            (
                "Deploymnt/api",
                r#"sluice.dev/depends-on: line 1, column 1: unknown kind "Deploymnt"; did you mean "Deployment"?"#,
            ),
            (
                "job/migrate,\nsvc/db:redy",
                r#"sluice.dev/depends-on: line 2, column 8: unknown state "redy"; did you mean "ready"?"#,
            ),
            (
                "- kind: Job\n  nam: migrate\n",
                r#"sluice.dev/depends-on: line 2, column 3: unknown key "nam"; did you mean "name"?"#,
            ),
            (
                "job/{{ .Release.Name }}",
                "sluice.dev/depends-on: line 1, column ",
            ),
        ] {
            let refusal = ns.apply([deployment("api").depends_on(list)]).await.refused();
            assert!(refusal.contains(said), "{refusal}");
            assert!(refusal.contains("correct it, or remove the annotation"), "{refusal}");
            assert!(ns.look.find("deployment/api").await.is_none());
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_good_list_is_not_replaced_by_a_bad_one() {
    with_namespace("worse", async |ns| {
        let db = stateful_set("db");
        ns.apply([db.clone().depends_on("configmap/go")]).await.ok();
        let worse = db.depends_on("configmap/go, nonsense/go");
        let refusal = ns.apply([worse]).await.refused();
        let said = r#"line 1, column 15: unknown kind "nonsense""#;
        assert!(refusal.contains(said), "{refusal}");

        ns.apply([config_map("go")]).await.ok();
        ns.pod_of("db").await.starts().await;
    })
    .await;
}

/// A list that cannot be read is refused on the pod template of each kind, in the words for a list on the object.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_bad_list_on_the_template_is_refused_too() {
    with_namespace("bad-template", async |ns| {
        let says =
            |it: &Manifest, list: &str| it.clone().template_annotated("sluice.dev/depends-on", list);
        let said = r#"sluice.dev/depends-on: line 1, column 1: unknown kind "Deploymnt"; did you mean "Deployment"? (in the annotations of the pod template of "#;
        let kinds = [
            deployment("api"),
            stateful_set("api"),
            daemon_set("api"),
            replica_set("api"),
            replication_controller("api"),
            job("api"),
            cron_job("api"),
        ];
        for plain in kinds {
            let reference = format!("{}/api", plain.kind().to_lowercase());
            let bad = says(&plain, "Deploymnt/x");
            let refusal = ns.apply([bad.clone()]).await.refused();
            assert!(refusal.contains(said), "{refusal}");
            assert!(ns.look.find(&reference).await.is_none(), "{reference}");
            if plain.kind() == "Job" {
                continue; // its template cannot change
            }
            ns.apply([plain]).await.ok();
            let refusal = ns.apply([bad]).await.refused();
            assert!(refusal.contains(said), "{refusal}");
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_one_manifest_only_the_bad_object_is_refused() {
    with_namespace("half", async |ns| {
        let bad = pod("bad").depends_on("job/");
        let refusal = ns.apply([config_map("good"), bad]).await.refused();
        assert!(
            refusal.contains("sluice.dev/depends-on: line 1"),
            "{refusal}"
        );
        assert!(ns.look.find("configmap/good").await.is_some());
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_windows_pod_is_refused_because_there_is_no_gate_for_it() {
    with_namespace("windows", async |ns| {
        let legacy = pod("legacy")
            .depends_on("job/migrate")
            .in_pod("/spec/os", json!({"name": "windows"}))
            .in_pod("/spec/nodeSelector", json!({"kubernetes.io/os": "windows"}));
        let refusal = ns.apply([legacy]).await.refused();
        assert!(
            refusal.contains("runs on Windows, for which sluice has no gate"),
            "{refusal}"
        );
    })
    .await;
}
