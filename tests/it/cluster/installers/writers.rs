//! Tests of `kubectl` on gated workloads, by the ways of writing other than a plain apply.

use harness::cluster::{
    config_map, deployment, items, job, pod, stateful_set, text, with_namespace, yaml,
};
use serde_json::Value;

const LIST: &str = "configmap/never";
const MARKER: &str = "f:sluice.dev/gated";

/// Returns the field managers that own the marker in an object's pod template.
fn owners(object: &Value) -> Vec<&str> {
    let fields = items(object, "/metadata/managedFields").iter();
    let owns = |entry: &&Value| {
        !entry
            .pointer("/fieldsV1/f:spec/f:template/f:metadata/f:annotations")
            .is_none_or(|its| its[MARKER].is_null())
    };
    fields
        .filter(owns)
        .map(|entry| text(entry, "/manager"))
        .collect()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn two_field_managers_meet_no_conflict() {
    with_namespace("managers", async |ns| {
        let api = [deployment("api").depends_on(LIST)];
        let scaled = [deployment("api")
            .depends_on(LIST)
            .with("/metadata/labels/team", "second")];
        let first = ["--server-side", "--field-manager=first"];
        let second = ["--server-side", "--field-manager=second"];
        ns.pipe("apply", &api, &first).await.ok();
        ns.pipe("apply", &scaled, &second).await.ok();
        ns.pipe("apply", &api, &first).await.ok();
        ns.pipe("apply", &scaled, &second).await.ok();
        let stored = ns.look.get("deployment/api").await;
        assert_eq!(
            stored["spec"]["template"]["metadata"]["annotations"]["sluice.dev/gated"],
            "true"
        );
        assert_eq!(owners(&stored), [""; 0], "{stored:#}");
        assert_eq!(stored["metadata"]["labels"]["team"], "second", "{stored:#}");
        assert_eq!(ns.look.list("replicaset", "").await.len(), 1);

        let diff = ns.pipe("diff", &api, &first).await;
        assert_eq!(diff.code, Some(0), "{diff}");
    })
    .await;
}

/// Client-side and server-side apply in turns: each takes over the fields of the other, and no object is rolled.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn client_side_and_server_side_apply_take_turns() {
    with_namespace("turns", async |ns| {
        let all = [
            deployment("api").depends_on(LIST),
            stateful_set("db").depends_on(LIST),
            job("seed").depends_on(LIST),
        ];
        ns.apply(all.clone()).await.ok();
        let before = ns.look.get("job/seed").await["metadata"]["uid"].clone();
        ns.pipe("apply", &all, &["--server-side"]).await.ok();
        ns.apply(all.clone()).await.ok();
        ns.pipe("apply", &all, &["--server-side"]).await.ok();
        for reference in ["deployment/api", "statefulset/db", "job/seed"] {
            assert_eq!(
                ns.look.get(reference).await["metadata"]["generation"],
                1,
                "{reference}"
            );
        }
        assert_eq!(ns.look.get("job/seed").await["metadata"]["uid"], before);
    })
    .await;
}

/// An object that is replaced by `kubectl replace --force` waits again, although the former object of its name has passed its gate.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_has_passed_and_is_replaced_by_force_waits() {
    with_namespace("by-force-again", async |ns| {
        let all = |list: &str| {
            [
                deployment("api").depends_on(list),
                stateful_set("db").depends_on(list),
                job("seed").depends_on(list),
            ]
        };
        ns.apply([config_map("go")]).await.ok();
        ns.apply(all("configmap/go")).await.ok();
        let names = ["api", "db", "seed"];
        let mut pods = vec![];
        for name in names {
            let pod = ns.pod_of(name).await;
            pod.starts().await;
            pods.push(pod);
        }
        for _ in 0..3 {
            ns.pipe("replace", &all(LIST), &["--force"]).await.ok();
            for (name, pod) in names.into_iter().zip(&mut pods) {
                *pod = ns.next_pod_of(name, pod).await;
                pod.waits_for("ConfigMap/never", "NotFound").await;
                pod.is_shut().await;
            }
        }
    })
    .await;
}

/// `kubectl replace --force` deletes an object and makes it anew, and the new object waits.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_replaced_by_force_waits_again() {
    with_namespace("by-force", async |ns| {
        let all = [
            deployment("api").depends_on(LIST),
            job("seed").depends_on(LIST),
            pod("one").depends_on(LIST),
        ];
        let names = ["api", "seed", "one"];
        ns.apply(all.clone()).await.ok();
        let mut old = vec![];
        for name in names {
            old.push(ns.pod_of(name).await);
        }
        ns.pipe("replace", &all, &["--force"]).await.ok();
        for (name, old) in names.into_iter().zip(&old) {
            let new = ns.next_pod_of(name, old).await;
            new.waits_for("ConfigMap/never", "NotFound").await;
        }
        let again = ns.replace(&yaml(&all[..1])).await;
        assert_eq!(again, "deployment.apps/api replaced\n");
        assert_eq!(ns.look.list("replicaset", "").await.len(), 1);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_dry_run_of_a_pod_shows_its_gate_and_tells_nobody() {
    with_namespace("dry-pod", async |ns| {
        let all = [pod("one").depends_on(LIST), job("seed").depends_on(LIST)];
        let dry = ["--dry-run=server", "--output=json"];
        for verb in ["apply", "create"] {
            let shown = ns.pipe(verb, &all[..1], &dry).await.ok();
            let shown: Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(
                shown["spec"]["initContainers"][0]["name"], "sluice-gate",
                "{shown:#}"
            );
            ns.pipe(verb, &all[1..], &dry).await.ok();
        }
        let diff = ns.pipe("diff", &all, &[]).await;
        assert_eq!(diff.code, Some(1), "{diff}");
        assert!(diff.stdout.contains("+    - name: SLUICE_"), "{diff}");
        for kind in ["pod", "job", "event"] {
            let made = ns.look.list(kind, "").await;
            assert!(made.is_empty(), "{made:#?}");
        }
    })
    .await;
}
