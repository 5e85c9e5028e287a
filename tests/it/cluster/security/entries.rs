use certs::Lifetimes;
use harness::cluster::{Chart, Look, Namespace, items, text, with_namespace};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use serde_json::{Value, json};
use webhook::{
    Authority, AuthorityConfig as Config, AuthorityMetrics as Metrics, Clock, Readiness,
};

/// Returns a chart with a webhook configuration that is named after the namespace and has webhooks of these names. None of them is ever called.
fn chart(helm: &'static str, ns: &Namespace, names: &[&str]) -> Chart {
    let webhook = |name: &&str| {
        json!({
            "name": name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"service": {"name": "nobody", "namespace": ns.name}},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns.name}},
            "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["nothing"], "operations": ["CREATE"]}],
        })
    };
    let webhooks: Vec<Value> = names.iter().map(webhook).collect();
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": ns.name}, "webhooks": webhooks,
    });
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "nobody"}, "spec": {"ports": [{"port": 443}]},
    });
    let about = "apiVersion: v2\nname: release\nversion: 1.0.0\n";
    let files = [
        ("Chart.yaml", about),
        ("templates/all.yaml", &configuration.to_string()),
        ("templates/service.yaml", &service.to_string()),
    ];
    Chart::of(helm, &files)
}

/// Returns the controller's part that writes the `caBundle`, for the configuration named after the namespace.
async fn authority(ns: &Namespace) -> Authority {
    let client = Client::try_default().await.expect("a cluster");
    let day = SignedDuration::from_hours(24);
    let config = Config {
        namespace: ns.name.clone(),
        secret: "ca".to_owned(),
        issued: None,
        cluster_trust_bundle: None,
        service: "nobody".to_owned(),
        instance: "nobody-0".to_owned(),
        webhook_configuration: ns.name.clone(),
        creations_configuration: None,
        names: vec!["nobody".to_owned()],
        lifetimes: Lifetimes::new(day * 30, day * 7, day).expect("lives that fit"),
    };
    let resolver = certs::Resolver::new();
    let readiness = Readiness::default();
    Authority::new(&client, config, resolver, &readiness, Metrics::default()).0
}

/// Writes the `caBundle` once, checks that each webhook of the configuration has it, and returns the names of the webhooks.
async fn trusted(ns: &Namespace, authority: &mut Authority) -> Vec<String> {
    authority
        .round(&Clock::new(Timestamp::now))
        .await
        .expect("a round");
    let reference = format!("mutatingwebhookconfiguration/{}", ns.name);
    let object = Look::at(&ns.name).await.get(&reference).await;
    let webhooks = items(&object, "/webhooks").iter();
    webhooks
        .map(|webhook| {
            assert_ne!(text(webhook, "/clientConfig/caBundle"), "", "{webhook:#}");
            text(webhook, "/name").to_owned()
        })
        .collect()
}

async fn come_and_go(helm: &'static str) {
    with_namespace(&format!("entries-{helm}"), async |ns| {
        let both = &["a.example.com", "b.example.com"][..];
        let one = &both[..1];
        let mut authority = authority(ns).await;
        ns.takes_along(&format!("mutatingwebhookconfiguration/{}", ns.name));
        for names in [both, one, both] {
            chart(helm, ns, names).upgrade(ns, &[]).await.ok();
            assert_eq!(trusted(ns, &mut authority).await, names);
        }
        chart(helm, ns, both).rollback(ns, &[]).await.ok();
        assert_eq!(trusted(ns, &mut authority).await, one);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster: make test"]
async fn a_webhook_comes_and_goes_with_its_chart_by_helm_4() {
    come_and_go("helm").await;
}

#[tokio::test]
#[ignore = "needs a cluster: make test"]
async fn a_webhook_comes_and_goes_with_its_chart_by_helm_3() {
    come_and_go("helm3").await;
}
