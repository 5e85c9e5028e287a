//! Which pod a token belongs to: TokenReview with exactly our audience, and a memory of what it said.

use crate::clock::Clock;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dashmap::DashMap;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, TokenReviewStatus};
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use rules::keys::AUDIENCE;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tracing::warn;

/// The longest that an accepted token is remembered; the tokens that we project live this long.
const LONGEST: Duration = Duration::from_mins(10);
/// How long a refused token is refused without asking again.
const REFUSED_FOR: Duration = Duration::from_secs(5);
/// How many tokens are remembered; beyond it the expired ones go, then the new one is not remembered.
const CAPACITY: usize = 50_000;
/// How many reviews are under way at once: a flood of bad tokens must not become a flood of API requests.
const REVIEWS: usize = 16;
/// A review that takes longer hangs on a dead connection.
const REVIEW_FOR: Duration = Duration::from_secs(10);
/// Larger than any token that Kubernetes issues.
const MAX_TOKEN: usize = 16 * 1024;

/// The pod that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub pod: String,
    /// Its UID.
    pub uid: String,
}

/// Why nobody is told anything.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unidentified {
    /// No `Authorization: Bearer` header.
    #[error("no bearer token")]
    NoToken,
    /// The API server does not accept the token for our audience.
    #[error("the token is not accepted for audience {AUDIENCE:?}")]
    NotAccepted,
    /// The token is not bound to a pod.
    #[error("the token is not bound to a pod")]
    NotAPod,
    /// A pod of that name exists, and it is another one.
    #[error("the token's pod no longer exists")]
    AnotherPod,
    /// The API server could not be asked.
    #[error("the API server cannot review the token now")]
    Unreachable,
}

impl Unidentified {
    /// The metric label.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::NoToken => "no_token",
            Self::NotAccepted => "not_accepted",
            Self::NotAPod => "not_a_pod",
            Self::AnotherPod => "another_pod",
            Self::Unreachable => "unreachable",
        }
    }
}

type Hash = [u8; 32];

/// Asks the API server whose a token is, once for each token.
pub(crate) struct Authenticator {
    client: Client,
    clock: Clock,
    known: DashMap<Hash, (Instant, Result<Identity, Unidentified>)>,
    slots: Semaphore,
}

impl Authenticator {
    /// Reviews tokens through `client`.
    pub(crate) fn new(client: Client, clock: Clock) -> Self {
        Self {
            client,
            clock,
            known: DashMap::new(),
            slots: Semaphore::new(REVIEWS),
        }
    }

    /// The pod that an `Authorization` header names.
    pub(crate) async fn identify(
        &self,
        authorization: Option<&str>,
    ) -> Result<Identity, Unidentified> {
        let token = authorization
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or(Unidentified::NoToken)?;
        if token.is_empty() || token.len() > MAX_TOKEN {
            return Err(Unidentified::NotAccepted);
        }
        let hash: Hash = Sha256::digest(token).into();
        if let Some(entry) = self.known.get(&hash)
            && entry.0 > Instant::now()
        {
            return entry.1.clone();
        }
        let (verdict, lifetime) = self.review(token).await;
        if verdict != Err(Unidentified::Unreachable) {
            self.remember(hash, Instant::now() + lifetime, verdict.clone());
        }
        verdict
    }

    async fn review(&self, token: &str) -> (Result<Identity, Unidentified>, Duration) {
        // The semaphore is never closed; if it were, saying "unreachable" would still be the truth.
        let Ok(_slot) = self.slots.acquire().await else {
            return (Err(Unidentified::Unreachable), REFUSED_FOR);
        };
        let spec = TokenReviewSpec {
            audiences: Some(vec![AUDIENCE.to_owned()]),
            token: Some(token.to_owned()),
        };
        let review = TokenReview {
            metadata: ObjectMeta::default(),
            spec,
            status: None,
        };
        let reviews = Api::<TokenReview>::all(self.client.clone());
        let params = PostParams::default();
        match timeout(REVIEW_FOR, reviews.create(&params, &review)).await {
            Err(_) => {
                warn!("Token review took too long");
                (Err(Unidentified::Unreachable), REFUSED_FOR)
            }
            Ok(Ok(review)) => {
                let verdict = judge(&review.status.unwrap_or_default());
                let lifetime = if verdict.is_ok() {
                    lifetime(token, self.clock.now())
                } else {
                    REFUSED_FOR
                };
                (verdict, lifetime)
            }
            Ok(Err(error)) => {
                warn!(%error, "Token review failed");
                (Err(Unidentified::Unreachable), REFUSED_FOR)
            }
        }
    }

    fn remember(&self, hash: Hash, until: Instant, verdict: Result<Identity, Unidentified>) {
        if self.known.len() >= CAPACITY {
            let now = Instant::now();
            self.known.retain(|_, entry| entry.0 > now);
        }
        if self.known.len() < CAPACITY {
            self.known.insert(hash, (until, verdict));
        }
    }
}

/// What a review says, believed only if the API server names our audience itself and the token is a pod's.
fn judge(status: &TokenReviewStatus) -> Result<Identity, Unidentified> {
    let for_us = status
        .audiences
        .iter()
        .flatten()
        .any(|audience| audience == AUDIENCE);
    let user = status
        .user
        .as_ref()
        .filter(|_| status.authenticated == Some(true) && for_us);
    let user = user.ok_or(Unidentified::NotAccepted)?;
    let extra = |name: &str| {
        user.extra
            .as_ref()?
            .get(&format!("authentication.kubernetes.io/{name}"))?
            .first()
            .cloned()
    };
    let account = user
        .username
        .as_deref()
        .and_then(|name| name.strip_prefix("system:serviceaccount:"));
    let namespace = account.and_then(|account| account.split(':').next());
    match (namespace, extra("pod-name"), extra("pod-uid")) {
        (Some(namespace), Some(pod), Some(uid)) => Ok(Identity {
            namespace: namespace.to_owned(),
            pod,
            uid,
        }),
        _ => Err(Unidentified::NotAPod),
    }
}

/// How long an accepted token is good: until its `exp` claim, which the API server has just vouched for.
fn lifetime(token: &str, now: Timestamp) -> Duration {
    let claims = token
        .split('.')
        .nth(1)
        .and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let claims: Option<Value> = claims.and_then(|json| serde_json::from_slice(&json).ok());
    let expiry = claims
        .and_then(|claims| claims["exp"].as_i64())
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    expiry
        .and_then(|expiry| Duration::try_from(expiry.duration_since(now)).ok())
        .unwrap_or(REFUSED_FOR)
        .min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn accepted() -> Value {
        json!({
            "authenticated": true, "audiences": ["sluice"],
            "user": {"username": "system:serviceaccount:shop:default", "extra": {
                "authentication.kubernetes.io/pod-name": ["api-1"], "authentication.kubernetes.io/pod-uid": ["u1"],
            }},
        })
    }

    fn verdict(status: Value) -> Result<Identity, Unidentified> {
        judge(&serde_json::from_value(status).unwrap())
    }

    #[test]
    fn a_pod_is_named_by_its_token() {
        let identity = Identity {
            namespace: "shop".into(),
            pod: "api-1".into(),
            uid: "u1".into(),
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
        let token = |exp: u64| {
            format!(
                "e30.{}.sig",
                URL_SAFE_NO_PAD.encode(format!("{{\"exp\":{exp}}}"))
            )
        };
        let now = Timestamp::from_second(1_000).unwrap();
        assert_eq!(lifetime(&token(1_090), now), Duration::from_secs(90));
        assert_eq!(lifetime(&token(100_000), now), LONGEST);
        assert_eq!(lifetime(&token(10), now), REFUSED_FOR);
        assert_eq!(lifetime("garbage", now), REFUSED_FOR);
    }
}
