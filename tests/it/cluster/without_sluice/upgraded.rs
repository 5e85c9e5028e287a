use super::one_of_each;
use harness::cluster::{Look, Program, alone, sluice};
use serde_json::Value;

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../charts/sluice");

/// Another image of the gate changes no workload, and no tool that compares finds a difference: the image is in pods alone.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn another_image_of_the_gate_changes_no_workload() {
    alone("gate-image", async |ns| {
        let manifests = one_of_each("configmap/never");
        ns.apply(manifests.clone()).await.ok();
        let kinds = [
            "deployment/web",
            "statefulset/db",
            "daemonset/agent",
            "job/seed",
            "cronjob/nightly",
        ];
        let generations = async || {
            let mut generations = vec![];
            for kind in kinds {
                generations.push(ns.look.get(kind).await["metadata"]["generation"].clone());
            }
            generations
        };
        let before = generations().await;
        sluice::installed_after(async |release| {
            Program::new("helm")
                .args(["--namespace", sluice::NAMESPACE, "upgrade", "sluice", CHART])
                .args([
                    "--reuse-values",
                    "--set",
                    "gate.image.tag=another",
                    "--wait",
                ])
                .run()
                .await
                .ok();
            for args in [&[][..], &["--server-side", "--force-conflicts"]] {
                let diff = ns.pipe("diff", &manifests, args).await;
                assert_eq!(diff.code, Some(0), "{diff}");
            }
            ns.apply(manifests).await.ok();
            assert_eq!(generations().await, before);
            release.install().await;
        })
        .await;
    })
    .await;
}

/// An upgrade neither conflicts with nor takes back the `caBundle` and the certificates, which sluice writes itself.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn upgrades_leave_alone_what_sluice_writes() {
    alone("upgrades", async |_| {
        sluice::installed_after(async |release| {
            let before = written().await;
            for program in ["helm3", "helm3", "helm3", "helm", "helm", "helm"] {
                Program::new(program)
                    .args(["--namespace", sluice::NAMESPACE, "upgrade", "sluice", CHART])
                    .args(["--reuse-values", "--wait"])
                    .run()
                    .await
                    .ok();
                assert_eq!(written().await, before, "{program}");
            }
            release.install().await;
        })
        .await;
    })
    .await;
}

/// Returns the webhooks of the configuration, and the resource version of the Secret with the certificates.
async fn written() -> [Value; 2] {
    let look = Look::at(sluice::NAMESPACE).await;
    let configuration = look.get("mutatingwebhookconfiguration/sluice").await;
    let secret = look.get("secret/sluice-ca").await;
    [
        configuration["webhooks"].clone(),
        secret["metadata"]["resourceVersion"].clone(),
    ]
}
