//! The status service does not tell a dependent whether an object exists that it may not know of, and tells nothing at all
//! to a client that is no gated pod.

use super::tokens::{GONE, its_own, token};
use super::*;

/// The claims of a token of this pod of the namespace `shop`.
fn of_pod(name: &str, uid: &str) -> Value {
    json!({"kubernetes.io": {"namespace": "shop", "pod": {"name": name, "uid": uid}}})
}

#[tokio::test(start_paused = true)]
async fn only_a_token_of_the_pod_itself_is_answered() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "configmap/hush"}));
    let unknown = StatusCode::UNAUTHORIZED;
    let no_pod = json!({"kubernetes.io": {"namespace": "shop"}});
    for (whose, claims, code) in [
        (
            "the API server's",
            json!({"aud": ["https://kubernetes.default.svc"]}),
            unknown,
        ),
        ("expired", json!({"exp": 0}), unknown),
        (
            "a deleted pod's",
            of_pod("api-1", GONE),
            StatusCode::FORBIDDEN,
        ),
        (
            "a deleted pod's, whose name nobody has",
            of_pod("api-0", GONE),
            StatusCode::FORBIDDEN,
        ),
        ("a user's", json!({"sub": "jane"}), unknown),
        ("an account's", no_pod, StatusCode::FORBIDDEN),
        (
            "an earlier pod's of that name",
            of_pod("api-1", "u9"),
            StatusCode::FORBIDDEN,
        ),
    ] {
        let (told, bytes) = desk.bytes("", &token(&claims)).await;
        assert_eq!(told, code, "{whose}: {bytes}");
        assert!(
            !bytes.contains("hush") && !bytes.contains("api-1"),
            "{whose}: {bytes}"
        );
    }
    let (told, bytes) = desk.bytes("", &token(&json!({}))).await;
    assert!(told == StatusCode::OK && bytes.contains("hush"), "{bytes}");
    let other = json!({"metadata": {"namespace": "shop", "name": "other", "uid": "u2"}});
    desk.service.known.gated().apply(&other);
    let (told, bytes) = desk.bytes("", &token(&of_pod("other", "u2"))).await;
    assert!(
        told == StatusCode::OK && !bytes.contains("hush"),
        "its own list alone: {bytes}"
    );
}

/// Targets outside of the pod's namespace, each with the objects that must be stored for the target to exist: the target, and its
/// namespace.
fn targets() -> [(&'static str, Vec<(&'static str, Value)>); 4] {
    let secret = json!({"metadata": {"namespace": "data", "name": "x"}, "status": {"conditions": [{"message": "hush"}]}});
    let data = json!({"metadata": {"name": "data"}});
    let release = json!({"metadata": {"namespace": "data", "name": "x", "annotations": {"meta.helm.sh/release-name": "x"}}});
    [
        (
            "data/configmap/x",
            vec![("configmap", secret.clone()), ("namespace", data.clone())],
        ),
        (
            "[{kind: Job, namespace: data, selector: app}]",
            vec![("job", secret), ("namespace", data.clone())],
        ),
        (
            "data/release/x",
            vec![("job", release), ("namespace", data)],
        ),
        ("node/x", vec![("node", json!({"metadata": {"name": "x"}}))]),
    ]
}

fn desk(list: &str, objects: &[(&'static str, Value)]) -> Desk {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": list}));
    for word in ["namespace", "node"] {
        let kind = by_word(word).map(Kind::Builtin).unwrap();
        desk.service.known.want(&kind).replace::<&Value>([]);
    }
    let own = json!({"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}});
    desk.put("namespace", &json!({"metadata": own}));
    for (word, object) in objects {
        desk.put(word, object);
    }
    desk
}

#[tokio::test(start_paused = true)]
async fn without_consent_every_byte_is_the_same_whether_the_target_is_there_or_not() {
    for (list, objects) in targets() {
        let (there, gone) = (desk(list, &objects), desk(list, &[]));
        let token = its_own();
        let (told, of_gone) = tokio::join!(there.bytes("", &token), gone.bytes("", &token));
        assert_eq!(told, of_gone, "{list}");
        assert!(told.1.contains("NotPermitted"), "{told:?}");
        assert_eq!(there.told().await, gone.told().await, "{list}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_held_request_is_not_woken_by_a_target_that_may_not_be_told_of() {
    for (list, objects) in targets() {
        let desk = desk(list, &[]);
        let seen = desk.ask("").await;
        let (held, token) = (format!("seen={}&wait=25", seen.digest), its_own());
        let appears = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            for (word, object) in &objects {
                desk.put(word, object);
            }
        };
        let ((_, bytes), ()) = tokio::join!(desk.bytes(&held, &token), appears);
        assert_eq!(desk.began.elapsed().as_secs(), 25, "{list}: {bytes}");
    }
}

#[tokio::test(start_paused = true)]
async fn metrics_name_no_pod_and_no_object() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "configmap/hush"}));
    desk.gate(30).await;
    let metrics = desk.metrics();
    assert!(metrics.contains("result=\"wait\""), "{metrics}");
    for name in ["hush", "api-1"] {
        assert!(!metrics.contains(name), "{metrics}");
    }
}

/// The number of requests to each of the two services whose times are compared.
const ROUNDS: usize = 10_000;

#[tokio::test]
#[ignore = "prints a figure: cargo test --release -p webhook the_time_of_an_answer -- --ignored --nocapture"]
async fn the_time_of_an_answer_tells_nothing() {
    for (list, objects) in targets() {
        // First the target alone, then its namespace as well.
        for missing in 1..=objects.len() {
            let desks = [desk(list, &objects), desk(list, &objects[missing..])];
            let [(there, of_there), (gone, of_gone)] =
                times(&desks).await.map(|times| spread(&times));
            let t = (there - gone) / (of_there + of_gone).sqrt();
            println!("{list}, {missing} missing: {there:.1} and {gone:.1} µs, Welch's t = {t:.2}");
        }
    }
}

/// Sends [`ROUNDS`] requests to each of two services, and returns the durations in µs.
async fn times(desks: &[Desk; 2]) -> [Vec<f64>; 2] {
    let mut times = [Vec::new(), Vec::new()];
    let token = its_own();
    for round in 0..2 * ROUNDS {
        // The order changes with every pair, so that neither question always comes second.
        let which = (round + round / 2) % 2;
        let began = std::time::Instant::now();
        desks[which].bytes("", &token).await;
        times[which].push(began.elapsed().as_secs_f64() * 1e6);
    }
    times
}

/// The mean of times, and the variance of that mean, without the slowest hundredth: other work of the machine would drown the rest.
fn spread(times: &[f64]) -> (f64, f64) {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.truncate(times.len() - times.len() / 100);
    let count = f64::from(u32::try_from(times.len()).unwrap());
    let mean = times.iter().sum::<f64>() / count;
    let squares = times.iter().map(|it| (it - mean).powi(2));
    (mean, squares.sum::<f64>() / (count - 1.0) / count)
}
