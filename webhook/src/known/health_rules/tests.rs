use super::*;
use crate::known::Known;
use serde_json::json;

fn thing(group: &str, kind: &str, status: &Value) -> Value {
    json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"namespace": "a", "name": "x"}, "status": status})
}

fn reason(known: &Known, object: &Value) -> Option<Reason> {
    known
        .health_rules()
        .judge(object)
        .map(|judged| judged.reason)
}

#[test]
fn before_the_first_reading_custom_resources_wait() {
    let (known, _requests) = Known::new();
    known.health_rules().set(None, true);
    let widget = thing("example.com", "Widget", &json!({"ok": true}));
    assert_eq!(reason(&known, &widget), Some(Reason::Syncing));
    assert_eq!(
        reason(&known, &json!({"apiVersion": "v1", "kind": "Pod"})),
        None
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_runtime_of_many_threads_may_judge() {
    let (known, _requests) = Known::new();
    let judged = tokio::spawn(async move {
        reason(
            &known,
            &thing("cert-manager.io", "Issuer", &json!({"ok": true})),
        )
    });
    assert_eq!(judged.await.unwrap(), Some(Reason::InProgress));
}
