//! Finds the pod that a token belongs to: by a TokenReview with exactly our audience, and by remembered reviews.
//!
//! A token is reviewed only if its own claims and the known pods allow that it belongs to a gate, and no more often than a budget
//! permits. Only the API server is believed. In a crowd, as after a restart, each token waits for its turn.

use super::budget::Budget;
use super::remembered_tokens::{Identity, RememberedTokens, TokenHash};
use super::token::TokenClaims;
use super::turns::Turns;
use super::unidentified::Unidentified;
use super::wait_registry::Waiter;
use crate::clock::Clock;
use crate::known::Known;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, TokenReviewStatus};
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use rules::keys::AUDIENCE;
use rules::lookup::Lookup;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::warn;

/// The longest time for which the review of an accepted token is remembered: the life of the tokens that the kubelet gives to gates.
const LONGEST: Duration = Duration::from_mins(10);
/// The time for which a refused token is refused again without another review.
const REFUSED_FOR: Duration = Duration::from_secs(5);
/// The most reviews at a time: a flood of bad tokens must not become a flood of API requests.
const REVIEWS: usize = 16;
/// The longest time for which a gate waits for its turn. More tokens are reviewed in that time than a replica has gates.
const TURN_WITHIN: Duration = Duration::from_secs(30);
/// The longest time for a review. A longer one hangs on a dead connection. The limit is short, because a gate asks again only after a
/// response.
const REVIEW_FOR: Duration = Duration::from_secs(5);
const _: () = assert!(
    TURN_WITHIN.as_secs() + REVIEW_FOR.as_secs() < wire::SILENCE.as_secs(),
    "a gate would take a replica for gone that has not reviewed its token yet"
);
/// The longest time that a pod takes to appear in our watch. The gate of a new pod may ask earlier, so its token waits for the pod.
const SEEN_WITHIN: Duration = Duration::from_secs(1);
/// The most issuers of accepted tokens that are remembered: an API server has one, and a second issuer while it changes.
const ISSUERS: usize = 8;

/// Finds the pod of each token by a review of the API server. An accepted token is remembered until it expires, for 10 minutes at most, and a refused
/// token for 5 seconds; neither is reviewed again in that time, unless the memory for such tokens is full. A review that failed is not
/// remembered.
pub(crate) struct Authenticator {
    client: Client,
    clock: Clock,
    pods: Arc<Known>,
    tokens: RememberedTokens,
    /// The issuer of our own token, and those of the tokens that the API server has accepted.
    issuers: Mutex<BTreeSet<String>>,
    budget: Budget,
    /// The turns of the namespaces before the queue for reviews. A namespace has at most as many gates in that queue as are reviewed at a time; its
    /// other gates wait here. So thousands of gates of one namespace never put more than that many in front of another namespace's gate.
    turns: Turns,
    reviews: Semaphore,
}

/// A token that may belong to a gate by its own, unverified claims: the pod that the token claims exists, as far as our watch can tell.
#[derive(Debug)]
pub(crate) struct Claimed<'t> {
    token: &'t str,
    hash: TokenHash,
    claims: TokenClaims,
}

impl Authenticator {
    /// Makes an authenticator that sends reviews through `client`, for tokens of pods that `pods` has. An issuer is strange, and few of its tokens
    /// are reviewed, until the API server has accepted one. `issuer`, that of our own token, never is; with `None`, outside of a cluster, every
    /// issuer begins as strange.
    pub(crate) fn new(
        client: Client,
        clock: Clock,
        pods: Arc<Known>,
        issuer: Option<String>,
    ) -> Self {
        let tokens = RememberedTokens::within(Arc::clone(&pods.budgets().tokens));
        Self {
            client,
            clock,
            pods,
            tokens,
            issuers: Mutex::new(issuer.into_iter().collect()),
            budget: Budget::default(),
            turns: Turns::new(REVIEWS),
            reviews: Semaphore::new(REVIEWS),
        }
    }

    /// Reads the token of an `Authorization` header and its claims, and looks for the pod that it claims, for up to a second. The API server is not
    /// asked. The result for a token whose pod is gone is forgotten.
    ///
    /// # Errors
    ///
    /// There is no token, or by its claims it cannot belong to the gate of a pod that exists.
    pub(crate) async fn claimed<'t>(
        &self,
        authorization: Option<&'t str>,
    ) -> Result<Claimed<'t>, Unidentified> {
        let token = authorization
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or(Unidentified::NoToken)?;
        let claims = TokenClaims::read(token, self.clock.now())?;
        let hash: TokenHash = Sha256::digest(token).into();
        if let Err(gone) = self.exists(&claims).await {
            self.tokens.forget(&hash);
            return Err(gone);
        }
        Ok(Claimed {
            token,
            hash,
            claims,
        })
    }

    /// Returns the pod that a token belongs to: by a remembered review, else by a new one in the turn of the namespace. Its result is remembered,
    /// unless the API server could not be asked. `address`: the client that sent the token.
    ///
    /// # Errors
    ///
    /// The API server does not accept the token, names no pod for it or cannot be asked; it refused the token less than 5 seconds ago; the turn does
    /// not come within 30 seconds; or the budget of reviews is used up.
    pub(crate) async fn identify(
        &self,
        claimed: Claimed<'_>,
        address: IpAddr,
    ) -> Result<Identity, Unidentified> {
        let Claimed {
            token,
            hash,
            claims,
        } = claimed;
        if let Some(verdict) = self.tokens.verdict(&hash) {
            return verdict;
        }
        let turn = async {
            let turn = self.turns.take(&claims.namespace).await;
            (turn, self.reviews.acquire().await)
        };
        let turn = timeout(TURN_WITHIN, turn).await;
        let _turn = turn.map_err(|_| Unidentified::NoTurn)?;
        // A gate that waits uses no budget yet. By the time of its turn the first tokens of its crowd have been accepted, so the
        // crowd is not taken for a flood.
        let strange = !self.issuers().contains(&claims.issuer);
        let used = self.budget.take(address, &claims, strange);
        let used = used.ok_or(Unidentified::TooMany)?;
        // Boxed, so that gates that wait for their turn do not keep room for the review.
        let verdict = Box::pin(self.review(token, &claims, address)).await;
        let lifetime = match &verdict {
            Err(Unidentified::Unreachable) => return verdict,
            Err(_) => REFUSED_FOR,
            Ok(_) => lifetime(claims.expires, self.clock.now()),
        };
        if verdict.is_ok() {
            self.budget.give_back(used);
            if strange && self.issuers().len() < ISSUERS {
                self.issuers().insert(claims.issuer);
            }
        }
        self.tokens.remember(hash, lifetime, verdict.clone());
        verdict
    }

    fn issuers(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.issuers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the claimed pod exists, as far as our watch can tell, and waits up to a second for it to appear. `Ok` too while the watch cannot
    /// tell: then the API server decides in its review.
    async fn exists(&self, claims: &TokenClaims) -> Result<(), Unidentified> {
        let until = Instant::now() + SEEN_WITHIN;
        loop {
            let view = self.pods.view();
            let gone = match view.gated_uid(&claims.namespace, &claims.pod) {
                Lookup::Found(uid) if uid != claims.uid => Unidentified::AnotherPod,
                Lookup::Found(_) | Lookup::Unavailable(_) => return Ok(()),
                Lookup::NotFound => Unidentified::NoPod,
            };
            if timeout_at(until, view.changed()).await.is_err() {
                return Err(gone);
            }
        }
    }

    async fn review(
        &self,
        token: &str,
        claims: &TokenClaims,
        client: IpAddr,
    ) -> Result<Identity, Unidentified> {
        let namespace = &*claims.namespace;
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
        let reviewed = async {
            let review = reviews.create(&params, &review).await.map_err(|error| {
                warn!(%client, namespace, %error, "Token review failed");
                Unidentified::Unreachable
            })?;
            judge(&review.status.unwrap_or_default(), claims.expires)
        };
        timeout(REVIEW_FOR, reviewed).await.unwrap_or_else(|_| {
            warn!(%client, namespace, "Token review took too long");
            Err(Unidentified::Unreachable)
        })
    }
}

/// Reads the pod of the token from the status of a review. The API server must have accepted the token for our audience, and the token must be that
/// of a service account and bound to a pod; else it is an error.
fn judge(status: &TokenReviewStatus, expires: Timestamp) -> Result<Identity, Unidentified> {
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
        (Some(namespace), Some(name), Some(uid)) => Ok(Identity {
            pod: Waiter {
                namespace: namespace.to_owned(),
                name,
                uid,
            },
            expires,
        }),
        _ => Err(Unidentified::NotAPod),
    }
}

/// The time for which an accepted token is remembered: until it expires, and for [`LONGEST`] at most. A token that has expired already, but was
/// accepted, is remembered for [`REFUSED_FOR`].
fn lifetime(expires: Timestamp, now: Timestamp) -> Duration {
    let left = Duration::try_from(expires.duration_since(now));
    left.unwrap_or(REFUSED_FOR).min(LONGEST)
}

#[cfg(test)]
mod tests;
