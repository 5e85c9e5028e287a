use super::*;
use serde_json::json;

fn thing(group: &str, kind: &str, status: &Value) -> Value {
    json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"namespace": "a", "name": "x"}, "status": status})
}

fn rules(administrator: bool) -> HealthRules {
    let sources = HealthSources {
        administrator,
        builtin: true,
    };
    HealthRules::new(sources, WallClock::STILL)
}

fn reason(rules: &HealthRules, object: &Value) -> Option<Reason> {
    rules.judge(object, false).map(|judged| judged.reason)
}

#[test]
fn before_the_first_reading_custom_resources_wait() {
    let rules = rules(true);
    let widget = thing("example.com", "Widget", &json!({"ok": true}));
    assert_eq!(reason(&rules, &widget), Some(Reason::Syncing));
    assert_eq!(
        reason(&rules, &json!({"apiVersion": "v1", "kind": "Pod"})),
        None
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_runtime_of_many_threads_may_judge() {
    let rules = rules(false);
    let judged = tokio::spawn(async move {
        reason(
            &rules,
            &thing("cert-manager.io", "Issuer", &json!({"ok": true})),
        )
    });
    assert_eq!(judged.await.unwrap(), Some(Reason::InProgress));
}
