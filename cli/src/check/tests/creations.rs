//! Tests the lines of `check` about the webhook configuration of held creations.

use super::*;
use crate::check::creations::{Creations, NAME};

fn own() -> Value {
    json!({
        "metadata": {"name": NAME},
        "webhooks": [{"name": "creations.sluice.dev", "clientConfig": {"caBundle": "LS0t"}, "failurePolicy": "Fail"}],
    })
}

/// The lines of `check` where held creations are on: `own` is their configuration, `others` are the names of all configurations.
fn lines(own: Lookup<Value>, others: &[&str]) -> Vec<String> {
    let mut seen = healthy();
    let mut deployment = deployment();
    let args = &mut deployment["spec"]["template"]["spec"]["containers"][0]["args"];
    args.as_array_mut()
        .unwrap()
        .push(json!(format!("--creations-configuration={NAME}")));
    seen.installation.deployments = Lookup::Found(vec![deployment]);
    let others = others
        .iter()
        .map(|name| json!({"metadata": {"name": name}}));
    seen.creations = Creations {
        all: Lookup::Found(others.collect()),
        own,
    };
    told(&seen)
}

fn told(seen: &Seen) -> Vec<String> {
    let lines = judge(seen, Timestamp::UNIX_EPOCH)
        .into_iter()
        .map(|it| it.to_string());
    lines.filter(|it| it.contains(" creations: ")).collect()
}

fn changed(pointer: &str, value: Value) -> Vec<String> {
    let mut own = own();
    *own.pointer_mut(pointer).unwrap() = value;
    lines(Lookup::Found(own), &[NAME])
}

#[test]
fn the_name_is_the_charts() {
    let chart = include_str!("../../../../charts/sluice/templates/_helpers.tpl");
    let name = format!("{{{{- define \"sluice.creations\" -}}}}{NAME}{{{{- end }}}}");
    assert!(chart.contains(&name), "{name}");
}

#[test]
fn what_is_on_has_to_be_there_trusted_strict_and_first() {
    assert_line(
        &lines(
            Lookup::Found(own()),
            &[NAME, "cert-manager-webhook", "0-other"],
        ),
        "warning  creations: the API server asks 0-other before 0-sluice-creations",
        "a later name",
    );
    assert_line(
        &lines(Lookup::Found(own()), &[NAME, "cert-manager-webhook"]),
        "ok       creations: MutatingWebhookConfiguration 0-sluice-creations carries",
        "before all others",
    );
    assert_line(
        &lines(Lookup::NotFound, &[]),
        "problem  creations: there is no MutatingWebhookConfiguration 0-sluice-creations",
        "make it again",
    );
    assert_line(
        &changed("/webhooks/0/name", json!("x")),
        "problem  creations: the entry creations.sluice.dev is missing",
        "make it again",
    );
    assert_line(
        &changed("/webhooks/0/clientConfig/caBundle", Value::Null),
        "problem  creations: creations.sluice.dev has no caBundle",
        "look at its log",
    );
    assert_line(
        &changed("/webhooks/0/failurePolicy", json!("Ignore")),
        "warning  creations: creations.sluice.dev has failurePolicy Ignore",
        "make it Fail again",
    );
}

#[test]
fn what_is_left_where_held_creations_are_off_refuses_objects() {
    let mut seen = healthy();
    assert_eq!(told(&seen), Vec::<String>::new());
    seen.creations.own = Lookup::Found(own());
    let way_out = "kubectl delete mutatingwebhookconfiguration 0-sluice-creations";
    assert_line(
        &told(&seen),
        "problem  creations: MutatingWebhookConfiguration 0-sluice-creations is there and held creations are off",
        way_out,
    );
    seen.installation.deployments = Lookup::Found(Vec::new());
    assert_line(
        &told(&seen),
        "problem  creations: MutatingWebhookConfiguration 0-sluice-creations is there and there is no controller",
        way_out,
    );
}
