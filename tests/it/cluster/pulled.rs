//! Tests of `sluice.dev/prefetch`: images are pulled before the gate begins.

use super::command_line::judged::status;
use harness::cluster::{
    LIMIT, Manifest, Namespace, Pod, await_until, config_map, deployment, items, with_namespace,
};
use serde_json::{Value, json};

const LIST: &str = "configmap/go";

/// An image that is on the node.
const THERE: &str = "docker.io/library/busybox:1.35";

/// An image that no registry has, on a port where nothing listens.
const NO_IMAGE: &str = "127.0.0.1:1/shop/side:2";

fn api(name: &str) -> Manifest {
    let api = deployment(name).depends_on(LIST);
    api.template_annotated("sluice.dev/prefetch", "true")
}

/// Applies a Deployment and returns its pod. On a Kubernetes without image volumes, checks that a warning says so, prints that the test is skipped,
/// and returns `None`.
async fn applied(ns: &Namespace, api: Manifest) -> Option<Pod> {
    let name = api.name().to_owned();
    let said = ns.apply([api]).await;
    assert_eq!(said.code, Some(0), "{said}");
    let pod = ns.pod_of(&name).await;
    pod.is_gated().await;
    if !said.stderr.contains("has no image volumes") {
        return Some(pod);
    }
    assert!(images(&pod.now().await).is_empty());
    eprintln!("skipped: this Kubernetes has no image volumes");
    None
}

/// Returns the image of each image volume of the pod.
fn images(pod: &Value) -> Vec<&str> {
    let volumes = items(pod, "/spec/volumes").iter();
    let images = volumes.filter_map(|volume| volume["image"]["reference"].as_str());
    images.collect()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_with_image_volumes_starts_in_order() {
    with_namespace("pulled", async |ns| {
        let sidecar = json!({
            "name": "side", "image": THERE, "restartPolicy": "Always", "command": ["sleep", "1000"],
        });
        let api = api("api").in_pod("/spec/initContainers", json!([sidecar]));
        let Some(api) = applied(ns, api).await else {
            return;
        };
        let pod = api.now().await;
        assert_eq!(images(&pod), [THERE], "once for both containers");
        for list in ["/spec/containers", "/spec/initContainers"] {
            let mounts = items(&pod, list)
                .iter()
                .flat_map(|it| items(it, "/volumeMounts"));
            let names: Vec<_> = mounts.filter_map(|it| it["name"].as_str()).collect();
            assert!(!names.contains(&"sluice-prefetch-0"), "{names:?}");
        }
        api.waits_for("ConfigMap/go", "NotFound").await;
        api.is_shut().await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

/// While the gate waits, `status` tells that an image of the pod cannot be pulled, and not that the pod fails to start. The gate opens all the same.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_image_that_cannot_be_pulled_is_told_while_the_gate_waits() {
    with_namespace("unpulled", async |ns| {
        let Some(api) = applied(ns, api("api").in_app("/image", NO_IMAGE)).await else {
            return;
        };
        api.waits_for("ConfigMap/go", "NotFound").await;
        let told = format!("image  cannot pull image {NO_IMAGE}: ");
        await_until("the image is told", LIMIT, async || {
            let said = status(ns, &api, &[]).await;
            let both = said.stdout.contains(&told) && said.stdout.contains("waits for 1 of 1");
            both.then_some(()).ok_or(said.to_string())
        })
        .await;
        let json = status(ns, &api, &["-o", "json"]).await;
        let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
        assert_eq!(json["pulls"][0]["image"], NO_IMAGE, "{json:#}");
        assert!(json["notStarted"].is_null(), "{json:#}");
        ns.apply([config_map("go")]).await.ok();
        let pod = format!("pod/{}", api.name);
        ns.until(&pod, "its gate has opened", |pod| {
            let gate = &pod["status"]["initContainerStatuses"][0]["state"];
            gate["terminated"]["exitCode"] == 0
        })
        .await;
    })
    .await;
}
