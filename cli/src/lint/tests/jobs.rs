//! Tests the findings on Jobs of a chart that an upgrade cannot run again.

use super::*;
use rules::keys;

/// The rules of the findings on a Job of this name with these annotations, which a Deployment waits for. `of_chart`: a chart rendered it.
fn of(name: &str, annotations: &str, of_chart: bool) -> Vec<&'static str> {
    let release = keys::RELEASE_NAME;
    let job = job(
        name,
        &format!(", annotations: {{{release}: shop, {annotations}}}"),
        "",
    );
    let api = deployment("api", &format!("job/{name}"));
    let manifest = format!("{api}{job}");
    let entries = Entries::new(manifest.as_bytes()).map(Result::unwrap);
    let objects: Vec<_> = entries
        .map(|entry| Object {
            rendered: of_chart,
            ..objects::place("a.yaml", entry.document, entry.object)
        })
        .collect();
    let findings = super::super::jobs::check(&Graph::new(&objects));
    findings.iter().map(|it| it.rule).collect()
}

#[test]
fn a_name_that_stays_is_a_note() {
    assert_eq!(of("shop-migrate", "", true), ["FixedJobName"]);
    for (name, annotations, of_chart) in [
        ("shop-migrate-1", "", true),
        ("shop-migrate-5f3a", "", true),
        ("shop-migrate", "", false),
        ("shop-migrate", "helm.sh/hook: pre-upgrade", true),
        (
            "shop-migrate",
            "argocd.argoproj.io/sync-options: 'Replace=true'",
            true,
        ),
        (
            "shop-migrate",
            "kustomize.toolkit.fluxcd.io/force: enabled",
            true,
        ),
    ] {
        assert_eq!(
            of(name, annotations, of_chart),
            [""; 0],
            "{name} {annotations}"
        );
    }
}

#[test]
fn a_job_that_is_in_no_order_is_no_matter_of_lint() {
    let alone = job(
        "backup",
        ", annotations: {meta.helm.sh/release-name: shop}",
        "",
    );
    let mut objects: Vec<_> = Entries::new(alone.as_bytes())
        .map(|entry| entry.map(|it| objects::place("a.yaml", it.document, it.object)))
        .map(Result::unwrap)
        .collect();
    objects[0].rendered = true;
    assert!(super::super::jobs::check(&Graph::new(&objects)).is_empty());
}
