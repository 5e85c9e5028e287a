//! Tests of the CA and the `caBundle`: when they are rotated, lost or overwritten.

mod handed; // on by kubelets, from a ClusterTrustBundle
mod issued; // by cert-manager

use harness::cluster::{
    LIMIT, Look, Namespace, Pod, Program, alone, await_until, config_map, deployment, items,
    sluice, text,
};
use serde_json::{Value, json};

const CONFIGURATION: &str = "mutatingwebhookconfiguration/sluice";
const SECRET: &str = "secret/sluice-ca";

/// Returns the CA's certificate in base64, as the Secret has it; empty while there is none.
async fn ca(look: &Look) -> String {
    let secret = look.find(SECRET).await.unwrap_or_default();
    text(&secret, "/data/ca.crt").to_owned()
}

/// Makes a Deployment of this name that waits for the ConfigMap `on`, and returns its pod once its gate waits.
async fn waits(ns: &Namespace, name: &str, on: &str) -> Pod {
    let workload = deployment(name).depends_on(&format!("configmap/{on}"));
    ns.apply([workload]).await.ok();
    let pod = ns.pod_of(name).await;
    pod.waits_for(&format!("ConfigMap/{on}"), "NotFound").await;
    pod
}

/// Runs `kubectl delete` in the namespace of sluice.
async fn delete(reference: &str) {
    let delete = ["--namespace", sluice::NAMESPACE, "delete", reference];
    Program::new("kubectl").args(delete).run().await.ok();
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_gate_waits_through_rotations_and_opens() {
    alone("rotated", async |ns| {
        let lives = [
            "certificates.lifetime=135s",
            "certificates.overlap=45s",
            "certificates.leafLifetime=30s",
        ];
        let lives = lives.join(",");
        sluice::with_values(&["--set", &lives], async || {
            let look = Look::at(sluice::NAMESPACE).await;
            let pod = waits(ns, "api", "go").await;
            let mut last = ca(&look).await;
            for _ in 0..2 {
                let old = last.clone();
                let another = async || match ca(&look).await {
                    same if same == old => Err("the same".to_owned()),
                    another => Ok(another),
                };
                last = await_until("another CA signs", LIMIT, another).await;
            }
            // A gate keeps its connection for minutes; it has to make another one, to a replica that signs with the last CA.
            sluice::roll().await;
            pod.stays_shut().await;
            ns.apply([config_map("go")]).await.ok();
            pod.starts().await;
        })
        .await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_ca_outlives_its_secret_and_a_replica() {
    alone("ca-lost", async |ns| {
        let look = Look::at(sluice::NAMESPACE).await;
        let pod = waits(ns, "api", "go").await;
        let before = ca(&look).await;
        delete(SECRET).await;
        sluice::delete_one(0).await;
        await_until("the same CA is stored again", LIMIT, async || {
            match ca(&look).await {
                found if found == before => Ok(()),
                found => Err(found),
            }
        })
        .await;
        sluice::all_ready().await;
        ns.apply([config_map("go")]).await.ok();
        pod.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_ca_bundle_that_somebody_overwrites_is_mended_and_told() {
    alone("overwritten", async |ns| {
        let look = Look::at(sluice::NAMESPACE).await;
        let bundles = async || {
            let found = look.get(CONFIGURATION).await;
            let bundle = |it: &Value| text(it, "/clientConfig/caBundle").to_owned();
            items(&found, "/webhooks").iter().map(bundle).collect()
        };
        let right: Vec<String> = bundles().await;
        let told = async || {
            let events = look.list("event", "").await;
            let is_ours = |it: &&Value| text(it, "/reason") == "CaBundleMended";
            events.iter().filter(is_ours).count()
        };
        let before = told().await;
        let place = "/webhooks/0/clientConfig/caBundle";
        let patch = json!([{"op": "remove", "path": place}]).to_string();
        let arguments = ["patch", CONFIGURATION, "--type=json", "--patch", &patch];
        ns.program("kubectl").args(arguments).run().await.ok();
        await_until("the bundle is mended and told of", LIMIT, async || {
            match (bundles().await, told().await) {
                (found, told) if found == right && told > before => Ok(()),
                (found, told) => Err(format!("{told} Events, {found:?}")),
            }
        })
        .await;
    })
    .await;
}
