//! The rules that sluice brings along.

use super::*;
use crate::health::library::TEXT;

#[test]
fn every_rule_of_the_library_compiles() {
    let (rules, problems) = Rules::read([("library", TEXT)]);
    assert_eq!(problems, []);
    assert!(rules.len() > 200, "{}", rules.len());
}

#[test]
fn the_library_waits_for_a_status_and_its_generation() {
    let reason = |object: &Value| builtin(object).map(|judged| judged.reason);
    let certificate = |status: Value| thing("cert-manager.io", "Certificate", &status);
    assert_eq!(reason(&certificate(json!(null))), Some(Reason::NoStatusYet));
    let ready = |observed: i64| json!({ "conditions": [{ "type": "Ready", "status": "True", "observedGeneration": observed }] });
    let mut latest = certificate(ready(2));
    latest["metadata"]["generation"] = json!(2);
    assert_eq!(reason(&latest), Some(Reason::Satisfied));
    latest["status"] = ready(1);
    assert_eq!(reason(&latest), Some(Reason::NotObserved));
    let not = json!({ "conditions": [{ "type": "Ready", "status": "False", "message": "soon" }] });
    assert_eq!(
        builtin(&certificate(not)).unwrap().message,
        "by the health rule of its kind it is in progress: soon"
    );
    assert_eq!(reason(&thing("example.com", "Thing", &json!({}))), None);
    for (group, kind) in [
        ("aws.upbound.io", "ProviderConfig"),
        ("argoproj.io", "CronWorkflow"),
    ] {
        assert_eq!(
            reason(&thing(group, kind, &json!(null))),
            Some(Reason::Satisfied),
            "{kind}"
        );
    }
}
