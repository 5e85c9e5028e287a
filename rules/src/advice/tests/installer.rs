//! Objects that an installer makes too late, or never.

use super::*;

/// Advice for a dependent with the annotations `own`, on a Job with the annotations `theirs`.
fn of_hooks(own: &Value, theirs: &Value, same_release: Option<bool>) -> String {
    let known = Cluster {
        same_release,
        ..job(theirs, &json!({}))
    };
    said("Deployment", &deployment(own), "job/migrate", &known).join("\n")
}

#[test]
fn what_its_installer_makes_too_late_is_told_of() {
    let none = json!({});
    let hook = |hook: &str| json!({"helm.sh/hook": hook});
    let post = hook("pre-upgrade, post-install");
    assert_eq!(
        of_hooks(&none, &post, None),
        "Job/migrate is a post-install hook, which runs only once everything else is ready, so with --wait neither comes; \
         make it a plain object"
    );
    assert_eq!(
        of_hooks(&none, &post, Some(false)),
        "",
        "of another release"
    );
    let earlier = json!({"helm.sh/hook": "post-install", "helm.sh/hook-weight": "-1"});
    assert_eq!(of_hooks(&post, &earlier, Some(true)), "");
    assert_eq!(
        of_hooks(&none, &hook("pre-upgrade"), None),
        "Job/migrate is a pre-upgrade hook, which an installation does not make, so the first one waits for ever; make it a \
         plain object"
    );
    let wave = json!({"argocd.argoproj.io/sync-wave": "5"});
    assert_eq!(
        of_hooks(&none, &wave, None),
        "Job/migrate is in sync wave 5 of Argo CD, which comes only once wave 0, where this one is, is healthy: neither \
         comes; put it into an earlier wave"
    );
    assert_eq!(
        of_hooks(&none, &wave, Some(false)),
        "",
        "another application"
    );
}

#[test]
fn a_hook_that_runs_first_is_told_what_comes_only_after_it() {
    let first = json!({"helm.sh/hook": "pre-install"});
    let expected = "it is a pre-install hook, and Helm creates nothing else of a release before its end: if Job/migrate is \
                    of the same release, neither comes; make it a plain object";
    assert_eq!(of_hooks(&first, &json!({}), Some(true)), expected);
    assert_eq!(
        of_hooks(&first, &json!({}), None),
        "",
        "it is there, whose ever it is"
    );
    let later = json!({"helm.sh/hook": "pre-install", "helm.sh/hook-weight": "2"});
    assert_eq!(
        of_hooks(&first, &later, Some(true)),
        "Helm runs hooks by weight, then by name, and Job/migrate (weight 2) after this one (weight 0): neither comes; give \
         it a lower helm.sh/hook-weight"
    );
    let absent = |complete: bool, annotations: &Value| {
        let known = Cluster {
            complete,
            ..Cluster::default()
        };
        said(
            "Deployment",
            &deployment(annotations),
            "job/migrate",
            &known,
        )
        .join("\n")
    };
    assert_eq!(absent(true, &first), expected);
    assert_eq!(
        absent(false, &first),
        "",
        "nobody knows whether it is there"
    );
    assert_eq!(absent(true, &json!({"helm.sh/hook": "pre-upgrade"})), "");
    let sync = absent(true, &json!({"argocd.argoproj.io/hook": "PreSync"}));
    assert!(
        sync.starts_with("it is a PreSync hook, and Argo CD creates"),
        "{sync}"
    );
}
