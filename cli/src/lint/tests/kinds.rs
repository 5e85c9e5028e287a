//! Tests the findings on kinds that are not built in: their spellings, and custom kinds that have the name of a built-in kind.

use super::{NOTHING, deployment, lint, lint_with_rights, service};

fn custom(group: &str, kind: &str, name: &str) -> String {
    format!(
        "---\napiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\n"
    )
}

#[test]
fn a_custom_kind_is_found_by_its_plural() {
    for (group, kind, plural) in [
        ("cert-manager.io", "Certificate", "certificates"),
        ("gateway.networking.k8s.io", "Gateway", "gateways"),
        ("longhorn.io", "BackupTarget", "BackupTargets"),
        ("kyverno.io", "Policy", "policies"),
        ("traefik.io", "TLSClass", "tlsclasses"),
        ("kuma.io", "Mesh", "meshes"),
    ] {
        let object = custom(group, kind, "web");
        for list in [
            format!("{plural}.{group}/web"),
            format!("[{{kind: {plural}.{group}, selector: app=web}}]"),
        ] {
            let lines = lint_with_rights(&[deployment("api", &list), object.clone()].concat());
            assert_eq!(lines, NOTHING, "{list}");
        }
    }
    let other = [
        deployment("api", "certificates.example.com/web"),
        custom("cert-manager.io", "Certificate", "web"),
    ];
    assert_eq!(
        lint_with_rights(&other.concat()).len(),
        1,
        "another group is another kind"
    );
}

#[test]
fn a_slip_in_a_name_is_told_of_a_plural_too() {
    let lines = lint(
        &[
            deployment("api", "gateways.gateway.networking.k8s.io/frnt"),
            custom("gateway.networking.k8s.io", "Gateway", "front"),
        ]
        .concat(),
    );
    let expected = "did you mean \"gateways.gateway.networking.k8s.io/front\"?";
    assert!(lines[0].ends_with(expected), "{lines:?}");
}

/// A Service of Knative counts as a workload with a list, also beside a Service of Kubernetes with its name.
#[test]
fn a_workload_that_is_called_like_a_service_waits() {
    let knative = "---\napiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web, annotations: {sluice.dev/depends-on: deploy/api}}\n\
                   spec: {template: {metadata: {labels: {app: web}}, spec: {containers: []}}}\n";
    let list = "service.serving.knative.dev/web";
    let lines = lint_with_rights(&[deployment("api", list), knative.to_owned()].concat());
    let told = "these wait for each other and never start: Deployment api -> Service web -> Deployment api; take one entry out";
    assert_eq!(lines, [format!("error: 1: Deployment api: {told}")]);
    let both = [
        deployment("api", "svc/web"),
        knative.to_owned(),
        service("web", "selector: {app: web}"),
    ];
    let path = "Deployment api -> Service web -> Service web -> Deployment api";
    let lines = lint(&both.concat());
    assert!(lines[0].contains(path), "{lines:?}");
}
