mod ends;
mod health; // the object's own word, and the library's

use harness::cluster::{Defined, Namespace, Pod, deployment, with_namespace};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// The time after which a wait is judged again even without an event of a watch.
const ANEW: SignedDuration = SignedDuration::from_mins(1);

/// Returns a status of a custom resource whose condition `Ready` has this value.
fn ready(status: &str) -> Value {
    let condition = json!({"type": "Ready", "status": status, "reason": "Test", "message": ""});
    json!({"conditions": [condition]})
}

async fn dependent(ns: &Namespace, widget: &Defined) -> Pod {
    let api = deployment("api").depends_on(&widget.dependency("one"));
    ns.apply([api]).await.ok();
    ns.pod_of("api").await
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_kind_an_object_and_its_status_may_all_come_later() {
    with_namespace("widget", async |ns| {
        let widget = Defined::widget(ns);
        let (one, reference) = (widget.dependency("one"), widget.reference("one"));
        widget.grant(ns).await;
        let api = dependent(ns, &widget).await;
        api.waits_for(&one, "KindNotServed").await;
        widget.define(ns).await;
        api.waits_for(&one, "NotFound").await;
        ns.apply([widget.one("one")]).await.ok();
        api.waits_for(&one, "NoStatusYet").await;
        ns.set_status(&reference, &ready("False")).await;
        api.waits_for(&one, "InProgress").await;

        let before = jiff::Timestamp::now();
        ns.set_status(&reference, &ready("True")).await;
        let waited = api.opens().await.duration_since(before);
        assert!(waited < ANEW, "{waited:?}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_kind_that_sluice_may_not_watch_is_called_so_until_it_may() {
    with_namespace("forbidden", async |ns| {
        let widget = Defined::widget(ns);
        widget.define(ns).await;
        ns.apply([widget.one("one")]).await.ok();
        ns.set_status(&widget.reference("one"), &ready("True"))
            .await;
        let api = dependent(ns, &widget).await;
        let line = api
            .waits_for(&widget.dependency("one"), "KindForbidden")
            .await;
        assert!(
            line.contains("sluice.dev/aggregate-to-watch"),
            "the way out is missing: {line}"
        );

        let before = jiff::Timestamp::now();
        widget.grant(ns).await;
        let waited = api.opens().await.duration_since(before);
        assert!(waited < ANEW, "{waited:?}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_change_that_its_controller_has_not_seen_holds_back() {
    with_namespace("unseen", async |ns| {
        let widget = Defined::widget(ns);
        let reference = widget.reference("one");
        widget.grant(ns).await;
        widget.define(ns).await;
        ns.apply([widget.one("one").with("/spec/size", 1)])
            .await
            .ok();
        let mut status = ready("True");
        status["observedGeneration"] = json!(1);
        ns.set_status(&reference, &status).await;
        dependent(ns, &widget).await.starts().await;

        // Its controller is down from here on: what it said of the first generation says nothing of the second.
        ns.patch(&reference, &json!({"spec": {"size": 2}})).await;
        ns.apply([deployment("late").depends_on(&widget.dependency("one"))])
            .await
            .ok();
        let late = ns.pod_of("late").await;
        late.waits_for(&widget.dependency("one"), "NotObserved")
            .await;
        late.stays_shut().await;

        ns.set_status(&reference, &json!({"observedGeneration": 2}))
            .await;
        late.starts().await;
    })
    .await;
}
