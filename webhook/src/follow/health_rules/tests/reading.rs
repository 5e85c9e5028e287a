//! Tests how objects are judged by the administrator's health rules, once the texts of their ConfigMap have been read.

use super::*;
use futures::FutureExt;
use rules::kinds::Kind;
use rules::world::Objects;
use serde_json::json;

fn texts(text: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("rules.yaml".to_owned(), text.to_owned())])
}

fn thing(group: &str, kind: &str, status: &Value) -> Value {
    json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"namespace": "a", "name": "x"}, "status": status})
}

fn reason(known: &Known, object: &Value) -> Option<Reason> {
    known
        .health_rules()
        .judge(object, false)
        .map(|judged| judged.reason)
}

#[test]
fn the_administrator_comes_before_the_library() {
    let known = super::known(true);
    assert_eq!(apply(&known, Some(&BTreeMap::new()), &rules()), []);
    let certificate = thing("cert-manager.io", "Certificate", &json!({"ok": true}));
    assert_eq!(reason(&known, &certificate), Some(Reason::InProgress));
    let rule = "- {apiVersion: cert-manager.io/v1, kind: Certificate, current: status.ok}";
    assert_eq!(apply(&known, Some(&texts(rule)), &rules()), []);
    assert_eq!(reason(&known, &certificate), Some(Reason::Satisfied));
    let issuer = thing("cert-manager.io", "Issuer", &json!({"ok": true}));
    assert_eq!(
        reason(&known, &issuer),
        Some(Reason::InProgress),
        "still the library's"
    );
    let known = super::known(false);
    assert_eq!(apply(&known, Some(&texts(rule)), &rules()), []);
    assert_eq!(reason(&known, &issuer), None);
}

#[test]
fn what_cannot_be_read_holds_back_and_is_told() {
    let known = super::known(true);
    assert_eq!(apply(&known, Some(&BTreeMap::new()), &rules()), []);
    let widget = thing("example.com", "Widget", &json!({"ok": true}));
    assert_eq!(reason(&known, &widget), None);
    let broken = "- {apiVersion: example.com/v1, current: 'status.('}";
    let problems = apply(&known, Some(&texts(broken)), &rules());
    assert!(
        problems[0]
            .to_string()
            .starts_with("rules.yaml: rule 1: current: failed to parse")
    );
    assert_eq!(reason(&known, &widget), Some(Reason::RuleError));
    let problems = apply(&known, None, &rules());
    assert_eq!(
        problems[0].to_string(),
        "ConfigMap sluice-system/rules: does not exist; create it, or empty the chart's value healthRules.configMap"
    );
    assert_eq!(reason(&known, &widget), Some(Reason::RuleError));
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    assert_eq!(reason(&known, &deployment), None);
    assert_eq!(apply(&known, Some(&BTreeMap::new()), &rules()), []);
    assert_eq!(reason(&known, &widget), None);
}

#[test]
fn changed_rules_wake_who_waits() {
    let known = super::known(true);
    let kind = Kind::Custom {
        group: "example.com".into(),
        word: "Widget".into(),
    };
    known.want(&kind).replace(&[]);
    let view = known.view();
    let _ = view.object(&kind, Some("a"), "x");
    assert!(view.changed().now_or_never().is_none());
    let _ = apply(&known, Some(&BTreeMap::new()), &rules());
    assert!(view.changed().now_or_never().is_some());
}
