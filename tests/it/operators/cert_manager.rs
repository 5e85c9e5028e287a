use super::{beside_operators, read, time, upgraded};
use harness::cluster::{Manifest, Namespace, items, other};
use jiff::Timestamp;
use serde_json::json;

/// A gate opens only once the certificate of the changed spec is issued. The operator notices a change a moment later, and the Secret of the version
/// before is there all the time.
#[tokio::test]
#[ignore = "needs a cluster with the operators"]
async fn opens_only_once_the_certificate_is_issued_anew() {
    beside_operators("cert-manager", async |ns| {
        let issuer = json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Issuer",
            "metadata": {"name": "own"},
            "spec": {"selfSigned": {}},
        });
        ns.apply([other(issuer)]).await.ok();
        let list = "certificate.cert-manager.io/main";
        upgraded(ns, list, certificate, async |version| {
            issued(ns, version).await
        })
        .await;
    })
    .await;
}

fn name(version: usize) -> String {
    format!("v{version}.example.org")
}

fn certificate(version: usize) -> Manifest {
    other(json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": "main"},
        "spec": {
            "secretName": "main",
            "dnsNames": [name(version)],
            "issuerRef": {"name": "own", "kind": "Issuer"},
        },
    }))
}

/// Returns the time since which the Certificate is ready for its present generation, while the Secret has the name of this version; else the cause
/// why not.
async fn issued(ns: &Namespace, version: usize) -> Result<Timestamp, String> {
    let secret = read(ns, "secret/main").await;
    let names = &secret["metadata"]["annotations"]["cert-manager.io/alt-names"];
    if *names != *name(version) {
        return Err(format!("the Secret's certificate is for {names}"));
    }
    let certificate = read(ns, "certificate.cert-manager.io/main").await;
    let mut conditions = items(&certificate, "/status/conditions").iter();
    let ready = conditions.find(|it| {
        let now = it["observedGeneration"] == certificate["metadata"]["generation"];
        it["type"] == "Ready" && it["status"] == "True" && now
    });
    let since = ready.and_then(|it| time(it, "/lastTransitionTime"));
    since.ok_or_else(|| format!("{:#}", certificate["status"]))
}
