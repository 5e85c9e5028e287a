//! Tests the findings on objects whose creation is held.

use super::{NOTHING, deployment, lint};

/// A YAML document with an object `held` of this kind, whose creation waits for this list; `more` are further annotations.
fn held(kind: &str, list: &str, more: &str) -> String {
    format!(
        "---\napiVersion: {}\nkind: {kind}\nmetadata: {{name: held, annotations: {{sluice.dev/hold: create, sluice.dev/depends-on: '{list}'{more}}}}}\n",
        if kind == "Issuer" {
            "cert-manager.io/v1"
        } else {
            "v1"
        }
    )
}

const OF_R: &str = ", meta.helm.sh/release-name: r, meta.helm.sh/release-namespace: shop";

/// A Deployment `operator` with these annotations.
fn operator(annotations: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: operator, annotations: {{team: a{annotations}}}}}\nspec: {{template: {{spec: {{containers: [{{name: app, readinessProbe: {{}}}}]}}}}}}\n"
    )
}

const LIST: &str = "deployment/operator";

#[test]
fn a_held_object_of_any_kind_is_in_order() {
    for kind in ["Issuer", "ConfigMap", "Namespace"] {
        let list = if kind == "Namespace" {
            "crd/a.example.com"
        } else {
            LIST
        };
        let found = lint(&(operator("") + &held(kind, list, "")));
        assert!(!found.iter().any(|it| it.contains("held")), "{found:#?}");
    }
    let found = lint(&held("Issuer", "# nothing yet", ""));
    assert_eq!(found, NOTHING);
}

#[test]
fn what_cannot_hold_a_creation_is_told() {
    let idle = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {sluice.dev/hold: create}}\n";
    let found = lint(idle);
    assert!(
        found[0].contains("no effect on an object without a list"),
        "{found:#?}"
    );
    for (kind, list) in [
        ("Issuer", "tcp://db.example.com:1"),
        ("Namespace", "svc/db"),
    ] {
        let found = lint(&held(kind, list, ""));
        assert!(found[0].starts_with("error: "), "{found:#?}");
    }
    let template = deployment("api", "svc/db").replace(
        "metadata: {labels",
        "metadata: {annotations: {sluice.dev/hold: create}, labels",
    );
    let found = lint(&template);
    assert!(
        found
            .iter()
            .any(|it| it.contains("held by its own annotations")),
        "{found:#?}"
    );
}

#[test]
fn what_its_installer_sends_only_afterwards_is_an_error() {
    let behind = |manifest: String| {
        let found = lint(&manifest);
        found
            .into_iter()
            .find(|it| it.contains("its creation waits for"))
    };
    let helm = behind(operator(OF_R) + &held("ConfigMap", LIST, OF_R)).unwrap_or_default();
    assert!(
        helm.starts_with("error: ")
            && helm.contains("Helm sends each Deployment after each ConfigMap"),
        "{helm}"
    );
    assert_eq!(
        behind(held("Issuer", LIST, OF_R) + &operator(OF_R)),
        None,
        "Helm sorts"
    );
    let waves = |own: &str, theirs: &str| {
        let wave = |it: &str| format!(", argocd.argoproj.io/sync-wave: '{it}'");
        behind(operator(&wave(theirs)) + &held("Issuer", LIST, &wave(own)))
    };
    assert_eq!(waves("1", "0"), None);
    let later = waves("0", "1").unwrap_or_default();
    assert!(later.contains("in sync wave 1"), "{later}");
    let hook = behind(operator(", helm.sh/hook: post-install") + &held("Issuer", LIST, ""));
    assert!(hook.unwrap_or_default().contains("post-install hook"));
    // kubectl does not sort objects, so the order of the file is the order in which they are sent.
    assert_eq!(behind(operator("") + &held("Issuer", LIST, "")), None);
    let file = behind(held("Issuer", LIST, "") + &operator("")).unwrap_or_default();
    assert!(
        file.starts_with("warning: ") && file.contains("in the order of the file"),
        "{file}"
    );
}
