use super::*;

#[test]
fn an_application_is_healthy_synced_and_idle() {
    let application = |health: &str, sync: &str, operation: &str| {
        let status = json!({
            "health": { "status": health }, "sync": { "status": sync }, "operationState": { "phase": operation },
        });
        told(&object(
            "argoproj.io/v1alpha1",
            "Application",
            json!({}),
            status,
        ))
    };
    assert_eq!(
        application("Healthy", "Synced", "Succeeded"),
        "Current Satisfied: Application is Healthy and Synced"
    );
    assert_eq!(
        application("Healthy", "Synced", "Running"),
        "InProgress InProgress: Application has an operation running"
    );
    assert_eq!(
        application("Progressing", "Synced", ""),
        "InProgress InProgress: Application health: Progressing, sync: Synced"
    );
    assert_eq!(
        application("Healthy", "OutOfSync", ""),
        "InProgress InProgress: Application health: Healthy, sync: OutOfSync"
    );
    assert_eq!(
        application("Degraded", "Synced", ""),
        "Failed Failed: Application is Degraded"
    );
    let fresh = object("argoproj.io/v1alpha1", "Application", json!({}), json!({}));
    assert_eq!(
        ask(&fresh, State::Ready, &Cluster::empty()).reason,
        Reason::NoStatusYet
    );
}

/// An Application is ready only for the source in its present spec, and with no operation requested: health and sync belong to the compared source.
#[test]
fn an_application_is_judged_by_what_its_spec_says_now() {
    let source = |revision: &str| json!({"repoURL": "a", "path": "b", "targetRevision": revision});
    let mut application = object(
        "argoproj.io/v1alpha1",
        "Application",
        json!({"source": source("v2")}),
        json!({
            "health": {"status": "Healthy"},
            "sync": {"status": "Synced", "comparedTo": {"source": source("v1")}},
        }),
    );
    let not_yet =
        "InProgress InProgress: Application has a source that Argo CD has not looked at yet";
    assert_eq!(told(&application), not_yet);
    application["status"]["sync"]["comparedTo"]["source"] = source("v2");
    application["spec"]["source"]["helm"] = json!({"parameters": []});
    let ready = "Current Satisfied: Application is Healthy and Synced";
    assert_eq!(told(&application), ready);
    let values =
        |number: i64| json!({"valuesObject": {"metrics": {"enabled": false}, "id": number}});
    application["spec"]["source"]["helm"] = values(12_345_678_901_234_567);
    assert_eq!(told(&application), not_yet);
    application["status"]["sync"]["comparedTo"]["source"]["helm"] = values(12_345_678_901_234_568);
    assert_eq!(told(&application), ready, "it writes numbers as floats");
    application["spec"]["source"]["helm"]["valuesObject"]["metrics"] =
        json!({"enabled": false, "debug": false});
    assert_eq!(
        told(&application),
        not_yet,
        "what is false there is a value"
    );
    application["spec"]["sources"] = json!([source("v2")]);
    application["status"]["sync"]["comparedTo"] =
        json!({"source": {"repoURL": ""}, "sources": [source("v1")]});
    assert_eq!(told(&application), not_yet);
    application["status"]["sync"]["comparedTo"]["sources"] = json!([source("v2")]);
    assert_eq!(
        told(&application),
        ready,
        "of several the single one does not count"
    );
    application["status"]["sync"]["comparedTo"]["sources"] = json!([source("v1")]);
    application["spec"]["sourceHydrator"] = json!({"drySource": {"repoURL": "a"}});
    assert_eq!(told(&application), ready, "nobody can tell");
    application["status"]["sync"]["comparedTo"] = json!({});
    assert_eq!(told(&application), ready);
    application["operation"] = json!({"sync": {}});
    assert_eq!(
        told(&application),
        "InProgress InProgress: Application has an operation that has not begun"
    );
}

#[test]
fn an_object_that_should_have_a_status_waits_for_it() {
    let reason = |object: &Value, world: &Cluster| ask(object, State::Ready, world).reason;
    for status in [json!(null), json!({})] {
        let thing = object("example.com/v1", "Thing", json!({}), status);
        assert_eq!(
            reason(&thing, &Cluster::declaring(true)),
            Reason::NoStatusYet
        );
        assert_eq!(
            reason(&thing, &Cluster::declaring(false)),
            Reason::Satisfied
        );
    }
    let written = object(
        "example.com/v1",
        "Thing",
        json!({}),
        json!({ "phase": "x" }),
    );
    assert_eq!(
        reason(&written, &Cluster::declaring(true)),
        Reason::Satisfied
    );
    let config = object("v1", "ConfigMap", json!({}), json!({}));
    assert_eq!(
        reason(&config, &Cluster::declaring(true)),
        Reason::Satisfied
    );
}

#[test]
fn a_rule_of_a_group_is_for_those_of_its_kinds_that_have_a_status() {
    let reason = |group: &str, kind: &str, declares: bool| {
        let thing = object(&format!("{group}/v1"), kind, json!({}), json!(null));
        let cluster = Cluster::declaring(declares);
        let world = Only {
            health: Box::new(crate::health::builtin),
            ..cluster.world()
        };
        judge(&kind_of(&thing), &thing, State::Ready, &world, noon()).reason
    };
    let none_yet = Reason::NoStatusYet;
    assert_eq!(reason("cert-manager.io", "Anything", true), none_yet);
    assert_eq!(
        reason("cert-manager.io", "Anything", false),
        Reason::Satisfied
    );
    assert_eq!(
        reason("external-secrets.io", "ExternalSecret", false),
        none_yet,
        "a rule that names its kind knows better"
    );
}

#[test]
fn where_nobody_knows_a_new_object_is_given_a_moment() {
    let made = |at: &str| {
        let thing = object("example.com/v1", "Thing", json!({}), json!({}));
        let thing = with_metadata(thing, json!({ "creationTimestamp": at }));
        ask(&thing, State::Ready, &Cluster::empty()).reason
    };
    assert_eq!(made("2024-01-01T11:59:55Z"), Reason::NoStatusYet);
    assert_eq!(made("2024-01-01T11:59:45Z"), Reason::Satisfied);
}

#[test]
fn conditions_speak_as_in_kstatus() {
    let thing = |kind: &str, status: &str| {
        let status = json!({ "conditions": conditions(&[(kind, status)]) });
        told(&object("example.com/v1", "Thing", json!({}), status))
    };
    assert_eq!(
        thing("Ready", "True"),
        "Current Satisfied: Resource is Ready"
    );
    assert_eq!(
        thing("Ready", "False"),
        format!("InProgress InProgress: {}", Reason::InProgress.sentence())
    );
    assert_eq!(
        thing("Stalled", "True"),
        format!("Failed Failed: {}", Reason::Failed.sentence())
    );
}
