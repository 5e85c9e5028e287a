//! The scope, wave, groups and chart of objects as installers write them.

use super::*;
use serde_json::json;

#[expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]
fn named(metadata: Value) -> Option<(String, Option<String>)> {
    let mut object = json!({ "metadata": metadata });
    object["metadata"]["namespace"] = json!("shop");
    Scope::of(&object).map(|scope| (scope.name, scope.kept_in))
}

#[test]
fn the_first_that_applies_names_the_scope() {
    let hand =
        json!({"annotations": {"sluice.dev/scope": "mine", "meta.helm.sh/release-name": "r"}});
    assert_eq!(named(hand), Some(("mine".into(), None)));
    let helm = json!({
        "annotations": {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "shop"},
        "labels": {"helm.toolkit.fluxcd.io/name": "hr", "app.kubernetes.io/instance": "i"},
    });
    assert_eq!(named(helm), Some(("r".into(), None)));
    let flux = json!({"labels": {"helm.toolkit.fluxcd.io/name": "hr", "helm.toolkit.fluxcd.io/namespace": "flux", "app.kubernetes.io/instance": "i"}});
    assert_eq!(named(flux), Some(("hr".into(), Some("flux".into()))));
    let kustomization = json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "k"}});
    assert_eq!(named(kustomization), Some(("k".into(), None)));
    let argo = json!({"annotations": {keys::TRACKING_ID: "web:apps/Deployment:shop/api"}, "labels": {"app.kubernetes.io/instance": "i"}});
    assert_eq!(named(argo), Some(("web".into(), None)));
    let elsewhere =
        json!({"annotations": {keys::TRACKING_ID: "team_web:apps/Deployment:shop/api"}});
    assert_eq!(named(elsewhere), Some(("web".into(), Some("team".into()))));
    let instance = json!({"labels": {"app.kubernetes.io/instance": "i"}});
    assert_eq!(named(instance), Some(("i".into(), None)));
    let older = json!({"chart": "redis-10.5.7", "release": "r"});
    assert_eq!(named(json!({ "labels": older })), Some(("r".into(), None)));
    let hook = json!({"helm.sh/hook": "post-install"});
    assert_eq!(named(json!({"labels": older, "annotations": hook})), None);
    assert_eq!(named(json!({"labels": {"release": "canary"}})), None);
    assert_eq!(named(json!({})), None);
    assert_eq!(
        Scope::of(&json!({"metadata": {"labels": {"app.kubernetes.io/instance": "i"}}})),
        None
    );
}

#[test]
fn a_release_kept_elsewhere_is_another_scope() {
    let of = |kept_in: &str| {
        Scope::of(&json!({"metadata": {"namespace": "shop", "annotations": {
            "meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": kept_in,
        }}}))
    };
    assert_ne!(of("shop"), of("other"));
}

#[test]
fn a_chart_label_is_a_name_and_a_version() {
    for (label, name) in [
        ("postgresql-15.5.20", Some("postgresql")),
        (
            "kube-prometheus-stack-61.3.2",
            Some("kube-prometheus-stack"),
        ),
        ("tier-2-1.0.0-rc-1", Some("tier-2")),
        ("api-v1.2.3_build.5", Some("api")),
        // Helm takes versions that are not full.
        ("redis-1", Some("redis")),
        ("redis-v2", Some("redis")),
        ("redis-2024", Some("redis")),
        ("redis-7-rc.1", Some("redis")),
        ("redis-7.2_build.5", Some("redis")),
        ("redis-8.1-1", Some("redis")),
        ("redis-1.x", Some("redis")),
        // A name may end in a text that looks like a version, or contain one.
        ("php-8.1-1.0.0", Some("php-8.1")),
        ("kube-state-metrics-2-5.1.0", Some("kube-state-metrics-2")),
        ("redis-7-cluster-1.0.0", Some("redis-7-cluster")),
        ("redis-cluster-1.0.0", Some("redis-cluster")),
        // A version may contain a text that looks like another version.
        ("api-1.2.3-4.5.6", Some("api")),
        ("api-1.2.3-4-gabcdef0", Some("api")),
        ("api-0.0.0-1234567", Some("api")),
        ("api", None),
        ("redis-cluster", None),
        ("redis-v", None),
        ("redis-1a", None),
    ] {
        let object = json!({"metadata": {"labels": {"helm.sh/chart": label}}});
        assert_eq!(chart(&object), name, "{label}");
    }
}

#[test]
fn the_label_of_the_application_counts_where_no_chart_is_called_so() {
    let object = |name: &str, chart: Option<&str>, app: &str| {
        let mut it = json!({"metadata": {"name": name, "labels": {"app.kubernetes.io/name": app}}});
        if let Some(chart) = chart {
            it["metadata"]["labels"]["helm.sh/chart"] = json!(chart);
        }
        it
    };
    let redis = Part::SubChart("redis".into());
    let mut both = vec![
        ((), object("a", Some("redis-1.0.0"), "redis")),
        ((), object("b", Some("cache-1.0.0"), "redis")),
    ];
    assert!(both.iter().all(|((), it)| redis.may_hold(it)));
    Part::narrow(&mut both, |((), object)| redis.holds_exactly(object));
    assert_eq!(both.len(), 1);
    let mut apps = vec![((), object("b", Some("umbrella-1.0.0"), "redis"))];
    Part::narrow(&mut apps, |((), object)| redis.holds_exactly(object));
    assert_eq!(apps.len(), 1);
    assert!(!redis.may_hold(&object("c", Some("redis-cluster-1.0.0"), "redis-cluster")));
}

#[test]
fn groups_are_ours_and_those_of_the_helm_proposal() {
    let object = json!({"metadata": {"annotations": {
        "sluice.dev/group": "backend, data,", "helm.sh/resource-group": "database",
    }}});
    assert_eq!(
        groups(&object).collect::<Vec<_>>(),
        ["backend", "data", "database"]
    );
    let template = json!({
        "metadata": {"annotations": {"sluice.dev/group": "outer"}},
        "spec": {"template": {"metadata": {"annotations": {"sluice.dev/group": "inner"}}}},
    });
    assert_eq!(groups(&template).collect::<Vec<_>>(), ["inner"]);
}

#[test]
fn a_name_that_no_installer_writes_is_cut() {
    let long = format!("{}\u{fc}", "x".repeat(252));
    let annotations =
        json!({"meta.helm.sh/release-name": long, "meta.helm.sh/release-namespace": long});
    let object = json!({"metadata": {"namespace": "shop", "annotations": annotations}});
    let scope = Scope::of(&object).unwrap();
    assert_eq!((scope.name.len(), scope.kept_in.unwrap().len()), (252, 252));
}

#[test]
fn hooks_and_what_a_controller_made_are_in_no_wave() {
    let hook = |hook: &str, weight: Option<&str>| {
        let mut it = json!({"metadata": {"annotations": {"helm.sh/hook": hook}}});
        if let Some(weight) = weight {
            it["metadata"]["annotations"]["sluice.dev/weight"] = json!(weight);
        }
        is_in_wave(&it)
    };
    assert!(!hook("pre-install", None));
    assert!(hook("pre-install", Some("1")));
    for test in ["test", "test-success", "test, test-failure"] {
        assert!(!hook(test, Some("1")), "{test}");
    }
    assert!(hook("test,post-install", Some("1")));
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}});
    assert!(is_in_wave(&deployment));
    let custom = |spec: Value| json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {}, "spec": spec});
    let pods = json!({"template": {"spec": {"containers": []}}});
    let seen = [pods, json!({"template": {"data": {}}})].map(|spec| is_in_wave(&custom(spec)));
    assert_eq!(seen, [true, false]);
    let pod = |annotations: Value| json!({"kind": "Pod", "metadata": {"annotations": annotations}});
    let seen = [json!({"sluice.dev/weight": "1"}), json!({})].map(|it| is_in_wave(&pod(it)));
    assert_eq!(seen, [true, false]);
    let mut owned = deployment;
    owned["metadata"]["ownerReferences"] = json!([{"controller": true}]);
    assert!(!is_in_wave(&owned));
    assert!(!is_in_wave(
        &json!({"apiVersion": "v1", "kind": "Service", "metadata": {}})
    ));
}

#[test]
fn a_rollout_makes_what_a_built_in_controller_owns() {
    let owned = |kind: &str, version: &str, by: &str, controller: bool| {
        let owner =
            json!({"apiVersion": version, "kind": by, "name": "api", "controller": controller});
        let version = if kind == "Pod" { "v1" } else { "apps/v1" };
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": "x", "ownerReferences": [owner]}})
    };
    for (object, expected) in [
        (owned("ReplicaSet", "apps/v1", "Deployment", true), true),
        (
            owned("ReplicaSet", "argoproj.io/v1alpha1", "Rollout", true),
            true,
        ),
        (owned("Pod", "batch/v1", "Job", true), true),
        (
            owned("StatefulSet", "example.com/v1", "Database", true),
            false,
        ),
        (owned("ReplicaSet", "apps/v1", "Deployment", false), false),
        (
            json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "x"}}),
            false,
        ),
    ] {
        assert_eq!(is_of_a_rollout(&object), expected, "{object}");
    }
}

#[test]
fn the_older_label_of_a_chart_counts_where_the_newer_one_is_missing() {
    let object = |labels: Value| json!({"metadata": {"name": "r-db", "labels": labels}});
    let old = object(json!({"chart": "postgresql-8.6.4", "app": "postgresql"}));
    assert_eq!(chart(&old), Some("postgresql"));
    assert_eq!(chart(&object(json!({"chart": "postgresql"}))), None);
    let both = object(json!({"chart": "old-1.0.0", "helm.sh/chart": "new-1.0.0"}));
    assert_eq!(chart(&both), Some("new"));
}

#[test]
fn a_sub_chart_inside_of_another_is_told_by_its_names() {
    let object = |name: &str, app: &str| {
        let labels = json!({"helm.sh/chart": "postgresql-1.0.0", "app.kubernetes.io/name": app});
        json!({"metadata": {"name": name, "labels": labels}})
    };
    let nested = Part::SubChart("airflow/postgresql".into());
    assert_eq!(nested.indexed(), Part::SubChart("postgresql".into()));
    for (name, app, holds) in [
        ("shop-airflow-postgresql", "postgresql", true),
        ("pg", "airflow-postgresql", true),
        ("shop-postgresql", "postgresql", false),
        ("shop-airflow2-postgresql", "postgresql", false),
    ] {
        let object = object(name, app);
        assert_eq!(nested.may_hold(&object), holds, "{name} {app}");
        assert!(nested.indexed().may_hold(&object), "{name} {app}");
    }
}
