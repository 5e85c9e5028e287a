//! Certificates of an issuer of cert-manager: the test signs them in its place.

use super::{CONFIGURATION, delete, waits};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::cluster::{
    Defined, LIMIT, Look, Program, alone, await_until, config_map, finally, items, sluice, text,
};
use harness::status::Authority;
use serde_json::{Value, json};

/// Returns the definition of cert-manager's kind Certificate, with only the fields that the chart writes.
fn certificates() -> Defined {
    let word = json!({"type": "string"});
    let words = json!({"type": "array", "items": word});
    let fields = |properties: Value| json!({"type": "object", "properties": properties});
    let key = json!({"algorithm": word, "size": {"type": "integer"}, "rotationPolicy": word});
    let issuer = json!({"name": word, "kind": word, "group": word});
    let spec = json!({
        "secretName": word, "dnsNames": words, "duration": word, "usages": words,
        "privateKey": fields(key), "issuerRef": fields(issuer),
    });
    let schema = fields(json!({"spec": fields(spec)}));
    Defined::new("cert-manager.io", "v1", "Certificate").with_schema(schema)
}

/// Waits for sluice's Certificate, signs a certificate for its names, and writes it into the Secret that it names.
async fn sign(authority: &Authority, look: &Look) {
    let asks = async || {
        let found = look.find("certificate/sluice").await;
        found.ok_or_else(|| "no Certificate".to_owned())
    };
    let certificate = await_until("the chart asks for a certificate", LIMIT, asks).await;
    let names = items(&certificate, "/spec/dnsNames").iter();
    let names = names.filter_map(Value::as_str).map(str::to_owned).collect();
    let [leaf, key] = authority.sign(names);
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": text(&certificate, "/spec/secretName")},
        "stringData": {"tls.crt": leaf, "tls.key": key, "ca.crt": authority.pem()},
    });
    let apply = [
        "apply",
        "--server-side",
        "--filename=-",
        "--namespace",
        sluice::NAMESPACE,
    ];
    let kubectl = Program::new("kubectl").args(apply);
    kubectl.input(secret.to_string()).run().await.ok();
}

/// Returns the number of times, over all replicas, that the log tells of a new certificate.
async fn taken() -> usize {
    sluice::log().await.matches("Took a certificate").count()
}

/// Signs another certificate for sluice by this authority, as cert-manager does at a renewal, and waits until both replicas serve it.
async fn renew(authority: &Authority, look: &Look) {
    let before = taken().await;
    sign(authority, look).await;
    await_until(
        "both replicas serve another certificate",
        LIMIT,
        async || match taken().await {
            now if now >= before + 2 => Ok(()),
            now => Err(format!("{} have", now.saturating_sub(before))),
        },
    )
    .await;
}

/// Returns the `caBundle` of the webhook configuration, PEM.
async fn published(look: &Look) -> String {
    let found = look.get(CONFIGURATION).await;
    let bundle = text(&found, "/webhooks/0/clientConfig/caBundle");
    let bundle = BASE64_STANDARD.decode(bundle).expect("base64");
    String::from_utf8(bundle).expect("PEM")
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_an_issuer_signs_is_served_and_taken_up_anew() {
    alone("issued", async |ns| {
        certificates().define(ns).await;
        let look = Look::at(sluice::NAMESPACE).await;
        let [first, second] = [(); 2].map(|()| Authority::new());
        let pem = |authority: &Authority| authority.pem().trim().to_owned();
        let values = ["--set", "certificates.issuerRef.name=somebody"];
        let works = sluice::with_values(&values, async || {
            // Those of before write their own CA for as long as they run.
            sluice::all_ready().await;
            let is_first = async || {
                let bundle = published(&look).await;
                let found = bundle.starts_with(&pem(&first));
                found.then_some(()).ok_or(bundle)
            };
            await_until("the issuer's CA is published", LIMIT, is_first).await;
            let replicas = sluice::replicas().await;
            let waiting = waits(ns, "api", "go").await;
            renew(&first, &look).await;
            ns.apply([config_map("go")]).await.ok();
            waiting.starts().await;

            let waiting = waits(ns, "late", "more").await;
            renew(&second, &look).await;
            let bundle = published(&look).await;
            let carried = bundle.strip_prefix(&pem(&second));
            assert!(
                carried.is_some_and(|it| it.contains(&pem(&first))),
                "{bundle}"
            );
            // No old CA signs an issuer's CA.
            waiting.has_event("Stranded", "delete the pod").await;
            let new = waits(ns, "new", "more").await;
            ns.apply([config_map("more")]).await.ok();
            new.starts().await;
            assert_eq!(sluice::replicas().await, replicas, "without a restart");
        });
        // The replicas are ready once there is something to serve.
        let signed = async || {
            tokio::join!(sign(&first, &look), works);
        };
        finally(signed, async |_| delete("secret/sluice-tls").await).await;
    })
    .await;
}
