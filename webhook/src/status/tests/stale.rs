//! Tests of the answers to gates while the API server is silent.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_gate_is_told_when_the_api_server_has_been_silent_and_goes_on_when_it_is_back() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "configmap/go, configmap/late"}));
    desk.put(
        "configmap",
        &json!({"metadata": {"namespace": "shop", "name": "go"}}),
    );
    desk.connected.store(false, Ordering::Relaxed);
    let mut stale = desk.ask("").await;
    while stale.note.is_none() && desk.began.elapsed() < Duration::from_secs(60) {
        stale = desk.ask(&stale.digest).await;
    }
    let note = stale.note.unwrap_or_default();
    assert!(note.contains("to reach the API server again"), "{note}");
    assert_eq!(desk.began.elapsed().as_secs(), 30);
    // An object from a watch that lags behind opens no gate.
    desk.put(
        "configmap",
        &json!({"metadata": {"namespace": "shop", "name": "late"}}),
    );
    let asked = desk.ask(&stale.digest).await;
    assert_eq!(asked.verdict, wire::Decision::Wait);
    desk.connected.store(true, Ordering::Relaxed);
    let back = desk.began.elapsed().as_secs();
    let (at, answer) = desk.gate(back + 60).await;
    assert_eq!(answer.verdict, wire::Decision::Open);
    assert!(at - back <= 1, "after {} s", at - back);
}

#[tokio::test(start_paused = true)]
async fn no_gate_opens_while_what_is_remembered_or_the_health_rules_are_stale() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "configmap/go"}));
    let memory = desk.service.known.memory();
    assert!(!(0..rules::shards::COUNT).any(|shard| memory.heard(shard)));
    tokio::time::sleep(Duration::from_secs(31)).await;
    desk.put(
        "configmap",
        &json!({"metadata": {"namespace": "shop", "name": "go"}}),
    );
    let answer = desk.ask("").await;
    let note = answer.note.unwrap_or_default();
    assert!(note.ends_with("to read what it remembers"), "{note}");
    // An open request is answered at once, not when its time is over.
    let back = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!((0..rules::shards::COUNT).all(|shard| memory.heard(shard)));
        desk.service.known.wake_all();
    };
    let held = Instant::now();
    let (answer, ()) = tokio::join!(desk.ask(&answer.digest), back);
    assert_eq!(answer.verdict, wire::Decision::Open);
    assert_eq!(held.elapsed().as_secs(), 5);
}
