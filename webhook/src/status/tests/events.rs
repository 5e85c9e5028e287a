//! The Events of one wait, on the pod and on the workload above it.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_told_once_after_six_seconds_and_then_that_it_came() {
    let desk = Desk::new(&missing());
    let watch = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert_eq!(desk.told().await, [], "it is no news yet");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(desk.warned("NotFound").await.contains("ConfigMap/go"));
    };
    let ((), (_, answer)) = tokio::join!(watch, desk.gate(500));
    assert_eq!(answer.verdict, wire::Decision::Wait);
    assert_eq!(desk.told().await.len(), 1);

    desk.put("configmap", &config_map());
    desk.ask(&answer.digest).await;
    let last = desk.told().await.pop().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("Normal", "Released"));
}

#[tokio::test(start_paused = true)]
async fn two_replicas_write_one_event_and_let_it_go_on() {
    let one = Desk::new(&missing());
    let other = Desk::beside(&missing(), Arc::clone(&one.events));
    let mut seen = String::new();
    let count = |of: u64| {
        let events = one.events.lock().unwrap();
        assert_eq!(events.len(), 1, "at {of} s: {events:?}");
        events[0]["series"]["count"].clone()
    };
    for turn in 0..40_u64 {
        let desk = if turn.is_multiple_of(2) { &one } else { &other };
        seen = desk.ask(&seen).await.digest;
        let now = one.began.elapsed().as_secs();
        if (40..600).contains(&now) {
            assert_eq!(count(now), Value::Null, "at {now} s");
        }
    }
    assert_eq!(count(1_000), 2);
    one.put("configmap", &config_map());
    other.put("configmap", &config_map());
    other.ask(&seen).await;
    let last = one.told().await.pop().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("Normal", "Released"));
}

#[tokio::test(start_paused = true)]
async fn the_workload_above_is_told_as_well() {
    let desk = Desk::new(&missing());
    let mut owned = pod(&json!({"sluice.dev/gated": "true"}));
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "seed", "uid": "u2", "controller": true}]);
    desk.service.known.gated().replace(&[owned]);
    desk.put(
        "job",
        &json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {
                "namespace": "shop", "name": "seed", "uid": "u2", "annotations": missing(),
                "creationTimestamp": "1970-01-01T00:00:00Z",
            },
        }),
    );
    let (_, answer) = desk.gate(30).await;
    desk.put("configmap", &config_map());
    desk.ask(&answer.digest).await;
    desk.told().await;
    let events = desk.events.lock().unwrap();
    let about = |event: &Value| {
        let object = &event["regarding"];
        let [version, kind, uid] = ["apiVersion", "kind", "uid"].map(|key| object[key].clone());
        json!([event["reason"], version, kind, uid])
    };
    assert_eq!(
        events.iter().map(about).collect::<Vec<_>>(),
        [
            json!(["NotFound", "v1", "Pod", "u1"]),
            json!(["NotFound", "batch/v1", "Job", "u2"]),
            json!(["Released", "v1", "Pod", "u1"]),
            json!(["Released", "batch/v1", "Job", "u2"]),
        ]
    );
}

/// `docs/metrics.md` promises that the Event of a dependency that is not permitted names the way out.
#[tokio::test(start_paused = true)]
async fn what_is_not_permitted_is_told_with_what_would_permit_it() {
    for (list, way_out) in [
        (
            "data/configmap/x",
            "Namespace data has not agreed; add shop to its annotation sluice.dev/allow-dependents-from",
        ),
        (
            "- any: [data/configmap/x, data/job/y]",
            "Namespace data has not agreed; add shop to its annotation sluice.dev/allow-dependents-from",
        ),
        (
            "data/release/x",
            "Namespace data has not agreed; add shop to its annotation sluice.dev/allow-dependents-from",
        ),
        (
            "node/x",
            "by the chart's value clusterScoped.allow: {from: shop, kind: Node}",
        ),
    ] {
        let desk = Desk::new(&json!({"sluice.dev/depends-on": list}));
        let namespaces = rules::kinds::by_word("namespace").map(rules::kinds::Kind::Builtin);
        desk.service
            .known
            .want(&namespaces.unwrap())
            .replace::<&Value>([]);
        desk.put("namespace", &json!({"metadata": {"name": "shop"}}));
        let (_, answer) = desk.gate(10).await;
        let told = wire::said::unsatisfied(&answer).unwrap();
        assert!(told.contains(way_out), "the gate: {told}");
        let event = desk.warned("NotPermitted").await;
        assert!(event.contains(way_out), "the Event: {event}");
    }
}
