//! Timeout, failure and skip: the effect of a pod's terms on a held request.

use super::*;

const PASSED: &str = "the timeout of 40s (sluice.dev/timeout) has passed";

#[tokio::test(start_paused = true)]
async fn a_held_request_is_refused_at_the_moment_of_the_timeout() {
    let desk = Desk::new(&waits("fail"));
    let (after, answer) = desk.gate(100).await;
    assert_eq!((after, answer.verdict), (40, wire::Decision::Refuse));
    let note = answer.note.unwrap_or_default();
    assert!(note.starts_with(PASSED), "{note}");
    assert_eq!(answer.dependencies[0].reason, "NotFound");
    let text = desk.warned("TimedOut").await;
    assert!(
        text.starts_with("refused while waiting for ConfigMap/go (NotFound"),
        "{text}"
    );
    assert!(text.contains(PASSED), "{text}");
    let metrics = desk.metrics();
    let cut = r#"waits_cut_short_total{by="timeout",result="refuse"} 1"#;
    assert!(metrics.contains(cut), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_was_refused_and_asks_again_is_told_at_once_and_writes_no_second_event() {
    let desk = Desk::new(&waits("fail"));
    desk.gate(100).await;
    let events = desk.told().await.len();
    let again = desk.ask("").await;
    assert_eq!(again.verdict, wire::Decision::Refuse);
    assert_eq!(desk.told().await.len(), events);
    desk.put("configmap", &config_map());
    assert_eq!(desk.ask("").await.verdict, wire::Decision::Open);
}

#[tokio::test(start_paused = true)]
async fn proceed_opens_at_the_moment_of_the_timeout_and_says_without_what() {
    let desk = Desk::new(&waits("proceed"));
    let (after, answer) = desk.gate(100).await;
    assert_eq!((after, answer.verdict), (40, wire::Decision::Open));
    assert!(!answer.dependencies[0].satisfied);
    let text = desk.warned("TimedOut").await;
    assert!(
        text.starts_with("opened without ConfigMap/go (NotFound"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn wait_says_so_once_and_waits_on() {
    let desk = Desk::new(&waits("wait"));
    let (_, answer) = desk.gate(90).await;
    assert_eq!(answer.verdict, wire::Decision::Wait);
    assert!(answer.note.unwrap_or_default().starts_with(PASSED));
    let told = desk.told().await;
    let late: Vec<_> = told
        .iter()
        .filter(|(_, reason, _)| reason == "TimedOut")
        .collect();
    assert_eq!(late.len(), 1, "{told:?}");
    assert_eq!(late[0].0, "Warning");
    assert!(
        late[0].2.starts_with("waiting for ConfigMap/go (NotFound"),
        "{late:?}"
    );
    desk.put("configmap", &config_map());
    assert_eq!(desk.ask("").await.verdict, wire::Decision::Open);
}

#[tokio::test(start_paused = true)]
async fn the_news_of_the_timeout_is_not_held_back() {
    let desk = Desk::new(&waits("wait"));
    let first = desk.ask("").await;
    tokio::time::sleep(Duration::from_secs(35)).await;
    let late = desk.ask(&first.digest).await;
    assert_eq!(desk.began.elapsed().as_secs(), 40);
    assert_ne!(late.digest, first.digest);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_passes_by_the_clock_of_the_api_server() {
    for seconds in [10, 3_600, 2 * 86_400] {
        for ahead in [seconds, -seconds].map(SignedDuration::from_secs) {
            let desk = Desk::with(&waits("proceed"), Events::default(), ahead);
            let (at, answer) = desk.gate(60).await;
            assert_eq!(answer.verdict, wire::Decision::Open, "{ahead}");
            assert!((39..=40).contains(&at), "{ahead}: after {at} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_refuses_a_held_request_where_that_is_asked_for() {
    let says = |on_failure: &str| json!({"sluice.dev/depends-on": "job/seed", "sluice.dev/on-failure": on_failure});
    let desk = Desk::new(&says("fail"));
    let first = desk.ask("").await;
    let fail = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        desk.put("job", &failed_job());
    };
    let (refused, ()) = tokio::join!(desk.ask(&first.digest), fail);
    assert_eq!(refused.verdict, wire::Decision::Refuse);
    assert_eq!(desk.began.elapsed().as_secs(), 5);
    let text = desk.warned("DependencyFailed").await;
    assert!(text.contains("Job/seed has failed for good"), "{text}");

    desk.pod_says(&says("wait"));
    assert_eq!(desk.ask("").await.verdict, wire::Decision::Wait);
}

#[tokio::test(start_paused = true)]
async fn skip_wakes_a_held_request() {
    let desk = Desk::new(&waits("wait"));
    let first = desk.ask("").await;
    let skip = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        desk.pod_says(&json!({"sluice.dev/depends-on": "configmap/go", "sluice.dev/skip": "true"}));
    };
    let (open, ()) = tokio::join!(desk.ask(&first.digest), skip);
    assert_eq!(open.verdict, wire::Decision::Open);
    assert_eq!(desk.began.elapsed().as_secs(), 5);
    let text = desk.warned("Released").await;
    assert_eq!(
        text,
        "opened without asking: sluice.dev/skip is \"true\" on the pod"
    );
}
