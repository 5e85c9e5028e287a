//! Tests of reviews of tokens, and of the tokens for which the API server is asked at all.

use super::super::token::forged;
use super::*;
use crate::known::{Freshness, Settings};
use axum::routing::post;
use axum::{Json, Router};
use futures::future::join_all;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

fn accepted() -> Value {
    json!({
        "authenticated": true, "audiences": ["sluice"],
        "user": {"username": "system:serviceaccount:shop:default", "extra": {
            "authentication.kubernetes.io/pod-name": ["api-1"], "authentication.kubernetes.io/pod-uid": ["u1"],
        }},
    })
}

fn verdict(status: Value) -> Result<Identity, Unidentified> {
    judge(
        &serde_json::from_value(status).unwrap(),
        Timestamp::UNIX_EPOCH,
    )
}

#[test]
fn a_pod_is_named_by_its_token() {
    let identity = Identity {
        pod: Waiter {
            namespace: "shop".into(),
            name: "api-1".into(),
            uid: "u1".into(),
        },
        expires: Timestamp::UNIX_EPOCH,
    };
    assert_eq!(verdict(accepted()), Ok(identity));
}

#[test]
fn only_our_audience_and_only_pods() {
    let with = |pointer: &str, value: Value| {
        let mut status = accepted();
        *status.pointer_mut(pointer).unwrap() = value;
        verdict(status)
    };
    assert_eq!(
        with("/authenticated", json!(false)),
        Err(Unidentified::NotAccepted)
    );
    assert_eq!(
        with("/audiences", json!(["https://kubernetes.default.svc"])),
        Err(Unidentified::NotAccepted)
    );
    assert_eq!(
        with("/audiences", Value::Null),
        Err(Unidentified::NotAccepted)
    );
    assert_eq!(
        with("/user/username", json!("admin")),
        Err(Unidentified::NotAPod)
    );
    assert_eq!(with("/user/extra", json!({})), Err(Unidentified::NotAPod));
}

#[test]
fn a_token_is_good_until_it_expires_and_never_longer_than_ours_live() {
    let at = |second| Timestamp::from_second(second).unwrap();
    assert_eq!(lifetime(at(1_090), at(1_000)), Duration::from_secs(90));
    assert_eq!(lifetime(at(100_000), at(1_000)), LONGEST);
    assert_eq!(lifetime(at(10), at(1_000)), REFUSED_FOR);
}

/// An authenticator in front of an API server that accepts the tokens signed "good", and counts its reviews.
struct Desk {
    authenticator: Authenticator,
    pods: Arc<Known>,
    reviews: Arc<AtomicUsize>,
}

impl Desk {
    /// An authenticator that knows a pod `api-1` in each of these namespaces, and takes `issuer` for the cluster's own.
    fn new(namespaces: &[&str], issuer: Option<&str>) -> Self {
        Self::taking(Duration::ZERO, namespaces, issuer)
    }

    /// An authenticator in front of an API server that takes this time for each review.
    fn taking(time: Duration, namespaces: &[&str], issuer: Option<&str>) -> Self {
        let (pods, _) = Known::new(Settings::of_the_chart());
        let pod = |namespace: &&str| json!({"metadata": {"namespace": namespace, "name": "api-1", "uid": format!("{namespace}-1")}});
        pods.gated()
            .replace(namespaces.iter().map(pod).collect::<Vec<Value>>().iter());
        let reviews = Arc::<AtomicUsize>::default();
        let client = Client::new(reviewer(Arc::clone(&reviews), time), "sluice-system");
        let clock = Clock::new(|| Timestamp::from_second(1_000).unwrap());
        let issuer = issuer.map(str::to_owned);
        let authenticator = Authenticator::new(client, clock, Arc::clone(&pods), issuer);
        Self {
            authenticator,
            pods,
            reviews,
        }
    }

    async fn ask(&self, token: &str, from: u16) -> Result<Identity, Unidentified> {
        let header = format!("Bearer {token}");
        let claimed = self.authenticator.claimed(Some(&header)).await?;
        let [high, low] = from.to_be_bytes();
        let address = [10, 0, high, low].into();
        self.authenticator.identify(claimed, address).await
    }

    /// Adds so many pods to the namespace `shop`, and returns the tokens of their gates.
    fn crowd(&self, pods: u16) -> Vec<String> {
        let one = |number: u16| {
            let (name, uid) = (format!("web-{number}"), number.to_string());
            let pod = json!({"metadata": {"namespace": "shop", "name": name, "uid": uid}});
            self.pods.gated().apply(&pod);
            token_of("shop", &name, &uid, "good")
        };
        (0..pods).map(one).collect()
    }

    fn reviews(&self) -> usize {
        self.reviews.load(Ordering::Relaxed)
    }
}

fn reviewer(count: Arc<AtomicUsize>, time: Duration) -> Router {
    let review = move |Json(review): Json<Value>| async move {
        count.fetch_add(1, Ordering::Relaxed);
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        let token = review["spec"]["token"].as_str().unwrap();
        let claims = TokenClaims::read(token, Timestamp::from_second(1_000).unwrap()).unwrap();
        let status = json!({
            "authenticated": token.rsplit('.').next() == Some("good"), "audiences": ["sluice"],
            "user": {"username": format!("system:serviceaccount:{}:default", claims.namespace), "extra": {
                "authentication.kubernetes.io/pod-name": [claims.pod], "authentication.kubernetes.io/pod-uid": [claims.uid],
            }},
        });
        let kind = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": {}});
        let mut review = kind;
        review["status"] = status;
        Json(review)
    };
    Router::new().route("/apis/authentication.k8s.io/v1/tokenreviews", post(review))
}

fn token_of(namespace: &str, pod: &str, uid: &str, signature: &str) -> String {
    let pod = json!({"name": pod, "uid": uid});
    let claims = json!({"aud": ["sluice"], "exp": 1_600, "iss": "ours",
        "kubernetes.io": {"namespace": namespace, "pod": pod}});
    forged(&claims, signature)
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_forged_tokens_is_a_handful_of_reviews_and_keeps_no_gate_waiting() {
    let desk = Desk::new(&["shop", "bank"], Some("ours"));
    for number in 0..10_000 {
        let signature = format!("bad{number}");
        let token = match number % 4 {
            0 => signature,
            // A pod that there is, but not of this UID; its replacement is waited for, by all at once.
            1 if number > 40 => continue,
            1 => token_of("shop", "api-1", "u", &signature),
            2 => token_of("shop", "api-1", "shop-1", &signature),
            _ => forged(&json!({"aud": "others", "exp": 1_600}), &signature),
        };
        assert!(desk.ask(&token, 1).await.is_err(), "{token}");
    }
    assert!(desk.reviews() <= 8, "{}", desk.reviews());
    let before = (Instant::now(), desk.reviews());
    let gate = token_of("bank", "api-1", "bank-1", "good");
    for address in [2, 1] {
        assert_eq!(
            desk.ask(&gate, address).await.unwrap().pod.namespace,
            "bank"
        );
    }
    let own = token_of("shop", "api-1", "shop-1", "good");
    assert!(
        desk.ask(&own, 3).await.is_ok(),
        "the flood claimed to be this pod"
    );
    assert_eq!(desk.reviews(), before.1 + 2, "a token is reviewed once");
    assert_eq!(before.0.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn beyond_the_budget_is_told_so_and_may_come_again() {
    let desk = Desk::new(&["shop"], Some("ours"));
    let ask = async |number: usize| {
        let token = token_of("shop", "api-1", "shop-1", &format!("bad{number}"));
        desk.ask(&token, 1).await.unwrap_err()
    };
    let mut told = Vec::new();
    for number in 0..5 {
        told.push(ask(number).await);
    }
    assert_eq!(
        told[3..],
        [Unidentified::NotAccepted, Unidentified::TooMany]
    );
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(ask(5).await, Unidentified::NotAccepted);
}

#[tokio::test(start_paused = true)]
async fn of_strangers_few_are_reviewed_until_the_api_server_has_accepted_one() {
    let desk = Desk::new(&["shop", "bank"], Some("another"));
    for from in 1..=50 {
        let _ = desk
            .ask(&token_of("shop", "api-1", "shop-1", "bad"), from)
            .await;
        let _ = desk
            .ask(
                &token_of("shop", "api-1", "shop-1", &format!("bad{from}")),
                from,
            )
            .await;
    }
    assert_eq!(desk.reviews(), 5);
    tokio::time::advance(Duration::from_secs(2)).await;
    assert!(
        desk.ask(&token_of("bank", "api-1", "bank-1", "good"), 60)
            .await
            .is_ok()
    );
    for from in 1..=50 {
        let _ = desk
            .ask(
                &token_of("shop", "api-1", "shop-1", &format!("worse{from}")),
                from,
            )
            .await;
    }
    assert_eq!(desk.reviews(), 56, "its issuer is no stranger any more");
}

#[tokio::test(start_paused = true)]
async fn a_token_goes_with_its_pod() {
    let desk = Desk::new(&["shop"], Some("ours"));
    let token = token_of("shop", "api-1", "shop-1", "good");
    assert!(desk.ask(&token, 1).await.is_ok());
    let pod = desk.pods.gated().get("shop", "api-1").unwrap();
    desk.pods.gated().delete(&pod);
    assert_eq!(desk.ask(&token, 1).await, Err(Unidentified::NoPod));
    assert!(desk.authenticator.tokens.count() == 0);
    let next = json!({"metadata": {"namespace": "shop", "name": "api-1", "uid": "shop-2"}});
    desk.pods.gated().apply(&next);
    assert_eq!(desk.ask(&token, 1).await, Err(Unidentified::AnotherPod));
    assert_eq!(desk.reviews(), 1);
    // The API server decides about a pod that the watch cannot tell of.
    desk.pods.gated().clear(Freshness::Syncing);
    assert!(desk.ask(&token, 1).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_asks_before_it_is_seen_is_waited_for() {
    let desk = Desk::new(&[], Some("ours"));
    let token = token_of("shop", "api-1", "shop-1", "good");
    let appears = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let pod = json!({"metadata": {"namespace": "shop", "name": "api-1", "uid": "shop-1"}});
        desk.pods.gated().apply(&pod);
    };
    let (asked, ()) = tokio::join!(desk.ask(&token, 1), appears);
    assert_eq!(asked.unwrap().pod.uid, "shop-1");
}

/// Asks for the identity behind each token, all at one time, each from a client address of its own.
async fn all(desk: &Desk, tokens: &[String]) -> Vec<Result<Identity, Unidentified>> {
    let asked = tokens.iter().zip(1..);
    join_all(asked.map(|(token, from)| desk.ask(token, from))).await
}

#[tokio::test(start_paused = true)]
async fn thousands_of_one_namespace_wait_for_their_turns_and_hold_up_no_other() {
    let desk = Desk::taking(Duration::from_millis(50), &["bank"], Some("ours"));
    let crowd = desk.crowd(4_000);
    let one = token_of("bank", "api-1", "bank-1", "good");
    let other = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let asks = Instant::now();
        (desk.ask(&one, 1).await, asks.elapsed())
    };
    let began = Instant::now();
    let (asked, (other, waited)) = tokio::join!(all(&desk, &crowd), other);
    let refused: Vec<_> = asked.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused, [], "a review is not late while it waits");
    assert!(began.elapsed() > 2 * REVIEW_FOR, "{:?}", began.elapsed());
    assert_eq!(other.map(|it| it.pod.namespace).as_deref(), Ok("bank"));
    assert!(waited <= Duration::from_millis(150), "{waited:?}");
    assert_eq!(desk.reviews(), 4_001);
}

#[tokio::test(start_paused = true)]
async fn who_has_gone_has_no_turn_and_who_has_none_in_time_is_told() {
    let desk = Desk::taking(Duration::from_secs(4), &["bank"], Some("ours"));
    let crowd = desk.crowd(200);
    let second = Duration::from_secs(1);
    assert!(timeout(second, all(&desk, &crowd)).await.is_err());
    assert_eq!(desk.reviews(), REVIEWS, "the others have gone");
    let began = Instant::now();
    let asked = all(&desk, &crowd).await;
    let accepted = asked.iter().filter(|it| it.is_ok()).count();
    assert_eq!(accepted, 8 * REVIEWS);
    assert!(
        asked[8 * REVIEWS..]
            .iter()
            .all(|it| *it == Err(Unidentified::NoTurn))
    );
    assert_eq!(began.elapsed(), TURN_WITHIN + 2 * second);
}
