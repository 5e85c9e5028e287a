use super::*;

#[test]
fn helm_sends_one_kind_after_the_other_and_what_it_does_not_know_last() {
    for (first, later) in [
        ("ConfigMap", "Deployment"),
        ("Deployment", "StatefulSet"),
        ("Service", "Deployment"),
        ("ValidatingWebhookConfiguration", "Cluster"),
        ("Certificate", "Issuer"),
    ] {
        assert!(helm_sends_later(first, later), "{first} {later}");
        assert!(!helm_sends_later(later, first), "{later} {first}");
        assert!(!helm_sends_later(first, first), "together");
    }
}
use serde_json::json;

fn annotated(name: &str, annotations: &[(&str, &str)]) -> Value {
    let annotations: serde_json::Map<_, _> = annotations
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
        .collect();
    json!({"metadata": {"name": name, "annotations": annotations}})
}

fn helm(name: &str, hook: &str, weight: &str) -> Value {
    match hook {
        "" => annotated(name, &[]),
        hook => annotated(name, &[(HELM_HOOK, hook), (HOOK_WEIGHT, weight)]),
    }
}

/// Why Helm makes a dependency with the hooks `theirs` too late for a dependent with the hooks `own`; `None` where it is in time.
fn told(own: &str, theirs: &str) -> Option<Late> {
    late(&helm("a", own, "0"), &helm("b", theirs, "-1"))
}

#[test]
fn helm_makes_hooks_before_and_after_its_release() {
    let before = Some(Late::RunsBefore(Installer::Helm));
    let afterwards = |hook: &str| Some(Late::RunsAfterwards(hook.to_owned()));
    let never = |hook: &str, by| {
        let hook = hook.to_owned();
        Some(Late::NeverMade { hook, by })
    };
    let install = "an installation";
    for (own, theirs, expected) in [
        ("", "", None),
        ("", "pre-install", None),
        ("", "pre-install, post-upgrade", None),
        ("", "post-install", afterwards("post-install")),
        ("", "pre-upgrade,post-install", afterwards("post-install")),
        ("", "post-upgrade", never("post-upgrade", install)),
        ("", "pre-upgrade", never("pre-upgrade", install)),
        ("", "test", never("test", install)),
        ("", "pre-delete,pre-rollback", never("pre-delete", install)),
        ("pre-install", "", before.clone()),
        ("pre-upgrade, pre-install", "", before),
        ("pre-install", "post-install", afterwards("post-install")),
        ("pre-install", "pre-upgrade", never("pre-upgrade", install)),
        ("post-install", "", None),
        ("post-install", "pre-install", None),
        ("post-install", "post-install", None),
        ("pre-upgrade", "", None),
        ("pre-upgrade", "post-install", None),
        ("pre-upgrade", "post-upgrade", afterwards("post-upgrade")),
        ("pre-upgrade", "test", never("test", "an upgrade")),
        ("test", "post-install", None),
        ("pre-delete", "pre-upgrade", None),
    ] {
        assert_eq!(told(own, theirs), expected, "{own:?} on {theirs:?}");
    }
}

#[test]
fn helm_runs_the_hooks_of_a_phase_by_weight_and_then_by_name() {
    let hook = |name: &str, weight: &str| helm(name, "post-install", weight);
    let own = hook("m", "1");
    let later = |theirs| Some(Late::LaterHook { theirs, own: 1 });
    for (name, weight, expected) in [
        ("a", "1", None),
        ("m", "1", None),
        ("z", "0", None),
        ("z", "1", later(1)),
        ("a", "2", later(2)),
        ("z", "heavy", None),
    ] {
        assert_eq!(late(&own, &hook(name, weight)), expected, "{name} {weight}");
    }
}

#[test]
fn argo_cd_syncs_phase_by_phase_and_wave_by_wave() {
    let object = |hook: &str, wave: &str| annotated("x", &[(SYNC_HOOK, hook), (SYNC_WAVE, wave)]);
    let told = |own: (&str, &str), theirs: (&str, &str)| {
        late(&object(own.0, own.1), &object(theirs.0, theirs.1))
    };
    let wave = |theirs, own| Some(Late::LaterWave { theirs, own });
    assert_eq!(told(("", "0"), ("", "5")), wave(5, 0));
    assert_eq!(told(("", "0"), ("", "-1")), None);
    assert_eq!(told(("", "0"), ("", "soon")), None);
    assert_eq!(told(("Sync", "1"), ("", "2")), wave(2, 1));
    assert_eq!(told(("", "9"), ("PreSync", "10")), None);
    let afterwards = Some(Late::RunsAfterwards("PostSync".to_owned()));
    assert_eq!(told(("", "0"), ("PostSync", "-5")), afterwards);
    assert_eq!(told(("PostSync", "0"), ("PostSync", "0")), None);
    let before = Some(Late::RunsBefore(Installer::ArgoCd));
    assert_eq!(told(("PreSync", "0"), ("", "0")), before);
    let hook = "SyncFail".to_owned();
    let never = Some(Late::NeverMade { hook, by: "a sync" });
    assert_eq!(told(("", "0"), ("SyncFail", "0")), never);
}

#[test]
fn helm_deletes_hooks_alone() {
    let policy = (HOOK_DELETE_POLICY, "before-hook-creation, hook-succeeded");
    assert!(is_deleted_on_success(&annotated(
        "x",
        &[(HELM_HOOK, "pre-install"), policy]
    )));
    assert!(!is_deleted_on_success(&annotated("x", &[policy])));
}
