//! Waiting gates go on under a new CA that no old CA has signed, because kubelets hand on a ClusterTrustBundle.

use super::{SECRET, ca, delete, waits};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::cluster::{LIMIT, Look, Program, alone, await_until, config_map, sluice, text};
use serde_json::Value;

const BUNDLE: &str = "clustertrustbundle/sluice";

/// Whether the API server serves ClusterTrustBundles; if not, prints that the test is skipped. Asks for one group alone: another test may have a
/// group without a server.
async fn are_served() -> bool {
    for version in ["v1", "v1beta1"] {
        let group = format!("/apis/certificates.k8s.io/{version}");
        let found = Program::new("kubectl").args(["get", "--raw", &group]);
        if found.run().await.stdout.contains("clustertrustbundles") {
            return true;
        }
    }
    eprintln!("skipped: this Kubernetes serves no ClusterTrustBundle");
    false
}

/// Waits until the ClusterTrustBundle contains a certificate, given in base64 as a Secret has it.
async fn has(certificate: &str) {
    let certificate = BASE64_STANDARD.decode(certificate).expect("base64");
    let certificate = String::from_utf8(certificate).expect("PEM");
    await_until("kubelets can hand on the CA", LIMIT, async || {
        let read = ["get", BUNDLE, "--output=jsonpath={.spec.trustBundle}"];
        let found = Program::new("kubectl").args(read).run().await;
        if found.stdout.contains(certificate.trim()) {
            Ok(())
        } else {
            Err(found.to_string())
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_gate_follows_a_new_ca_that_its_kubelet_hands_on() {
    if !are_served().await {
        return;
    }
    alone("handed", async |ns| {
        let look = Look::at(sluice::NAMESPACE).await;
        let without = waits(ns, "without", "go").await;
        ns.takes_along(BUNDLE);
        let on = ["--set", "certificates.clusterTrustBundle=true"];
        sluice::with_values_alone(&on, async || {
            let pod = waits(ns, "api", "go").await;
            let old = ca(&look).await;
            has(&old).await;
            delete(BUNDLE).await;
            has(&old).await;

            sluice::restarted_after(async || {
                sluice::stop().await;
                delete(SECRET).await;
            })
            .await;
            let secret = look.get(SECRET).await;
            assert_eq!(text(&secret, "/data/former.key"), "", "who vouches for it?");
            let new = text(&secret, "/data/ca.crt");
            assert_ne!(new, old);
            has(new).await;
            ns.apply([config_map("go")]).await.ok();
            pod.starts().await;
            without.has_event("Stranded", "delete the pod").await;
            without.is_shut().await;
            let events = ns.look.list("event", "").await;
            let stranded = |it: &&Value| text(it, "/reason") == "Stranded";
            let of = |it: &Value| text(it, "/involvedObject/name").to_owned();
            let told: Vec<_> = events.iter().filter(stranded).map(of).collect();
            assert!(told.iter().all(|name| *name == without.name), "{told:?}");
        })
        .await;
    })
    .await;
}
