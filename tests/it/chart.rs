//! Tests of the chart as the Helm of users renders it: every branch of its values, and texts and objects that must never be in it.
//!
//! Without a Helm (`make cluster` builds both, the PATH will do) each test says `skipped:` and passes.

/// Renders the chart with these `--set` flags, and returns from the test where there is no Helm.
macro_rules! render {
    ($($flag:expr),*) => {
        match helm() {
            Some(helm) => Render::new(&helm).flags(&[$($flag),*]).manifest(),
            None => return,
        }
    };
}

mod account;
mod cluster;
mod conditions;
mod creations;
mod helm;
mod holds;
mod injection;
mod matrix;
pub(crate) mod monitoring;
mod platforms;
mod policy;
mod presets;
mod readme;
mod rights;
mod suspended;
mod values;

use helm::{Render, chart_dir, helm, versions};
pub(crate) use helm::{files, program};
use serde_json::{Value, json};

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

#[test]
fn renders_the_defaults() {
    insta::assert_snapshot!(render!().text());
}

#[test]
fn renders_the_same_with_helm_3_and_4() {
    let [old, new] = versions().map(|helm| helm.map(|helm| Render::new(&helm).manifest().text()));
    if let (Some(old), Some(new)) = (old, new) {
        assert_eq!(old, new);
    }
}

#[test]
fn renders_the_same_twice() {
    assert_eq!(render!().text(), render!().text());
}

#[test]
fn an_issuer_of_cert_manager_signs_instead() {
    let manifest =
        render!("certificates.issuerRef.name=corporate,certificates.issuerRef.kind=ClusterIssuer");
    let certificate = manifest.only("Certificate");
    assert_eq!(certificate["apiVersion"], "cert-manager.io/v1");
    assert_eq!(
        certificate["spec"],
        json!({
            "secretName": "sluice-tls",
            "dnsNames": ["sluice.sluice-system.svc", "sluice.sluice-system.svc.cluster.local"],
            "duration": "168h",
            "usages": ["digital signature", "server auth"],
            "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
            "issuerRef": {"name": "corporate", "kind": "ClusterIssuer", "group": "cert-manager.io"},
        })
    );
    let deployment = manifest.only("Deployment");
    let args = strings(&deployment["spec"]["template"]["spec"]["containers"][0]["args"]);
    assert!(args.contains(&"--issued-secret=sluice-tls"), "{args:?}");
    assert!(!args.iter().any(|it| it.starts_with("--ca-")), "{args:?}");
    let role = manifest.only("Role");
    let rules = role["rules"].as_array().unwrap();
    let secrets: Vec<_> = rules
        .iter()
        .filter(|it| it["resources"] == json!(["secrets"]))
        .collect();
    let expected = json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["sluice-tls"], "verbs": ["get"]});
    assert_eq!(secrets, [&expected]);
}

#[test]
fn runs_in_a_restricted_namespace_as_the_images_own_user() {
    let manifest = render!("helmTest.enabled=true");
    let pod = manifest.only("Deployment")["spec"]["template"]["spec"].clone();
    assert_eq!(
        pod["securityContext"],
        json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
    );
    let test = manifest.only("Pod")["spec"].clone();
    assert_eq!(test["securityContext"]["runAsNonRoot"], true);
    for pod in [pod, test] {
        assert_eq!(
            pod["containers"][0]["securityContext"],
            json!({"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}})
        );
    }
}

#[test]
fn may_be_a_part_of_another_chart() {
    render!("global.somebody=else");
}

#[test]
fn names_no_ca_bundle_no_key_and_no_hook() {
    let manifest = render!();
    let text = manifest.text();
    for word in ["caBundle", "BEGIN ", "helm.sh/hook"] {
        assert!(!text.contains(word), "{word} in the manifest");
    }
    assert!(manifest.all("Secret").is_empty());
    assert!(manifest.all("CustomResourceDefinition").is_empty());
}

/// The word `immutable` is in no file of the chart: Flux takes it in a message for leave to delete and recreate the object.
#[test]
fn never_says_the_word() {
    for file in helm::files(&chart_dir()) {
        let text = std::fs::read_to_string(&file).expect("chart files are text");
        assert!(
            !text.to_lowercase().contains(concat!("immu", "table")),
            "{}",
            file.display()
        );
    }
}

#[test]
fn leaves_the_namespaces_alone_that_keep_the_cluster_up() {
    let manifest = render!(
        "admission.excludeNamespaces={team-a}",
        "admission.namespaceSelector[0].key=sluice,admission.namespaceSelector[0].operator=Exists"
    );
    for webhook in manifest.only("MutatingWebhookConfiguration")["webhooks"]
        .as_array()
        .expect("webhooks")
    {
        let mut selector = webhook["namespaceSelector"].clone();
        if webhook["name"] == "every-pod.sluice.dev" {
            let asks = selector["matchExpressions"].as_array_mut().expect("a list");
            let asks = asks.remove(0);
            assert_eq!(asks["key"], "sluice.dev/inject");
        }
        assert_eq!(
            selector,
            json!({"matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kube-public", "kube-node-lease", "sluice-system", "team-a"]},
                {"key": "sluice", "operator": "Exists"},
            ]})
        );
    }
}
