//! Which pod a token belongs to: TokenReview with exactly our audience, and a memory of what it said.
//!
//! The API server is asked only about what may be a gate's token by what it says of itself and by the pods that there are, and
//! not more often than a budget allows. It alone is believed. Where many come at once, as after a restart, each waits for its turn.

use super::budget::Budget;
use super::token::Claims;
use super::turns::Turns;
use crate::clock::Clock;
use crate::known::Known;
use dashmap::DashMap;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, TokenReviewStatus};
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use rules::keys::{AUDIENCE, GATED, GATED_VALUE};
use rules::lookup::Lookup;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::warn;

/// The longest that an accepted token is remembered; the tokens that we project live this long.
const LONGEST: Duration = Duration::from_mins(10);
/// How long a refused token is refused without asking again.
const REFUSED_FOR: Duration = Duration::from_secs(5);
/// How many tokens are remembered; beyond it the expired ones go, then the new one is not remembered.
const CAPACITY: usize = 50_000;
/// How many reviews are under way at once: a flood of bad tokens must not become a flood of API requests.
const REVIEWS: usize = 16;
/// So long a gate waits for its turn, in which more are reviewed than a replica takes on.
const TURN_WITHIN: Duration = Duration::from_secs(30);
/// A review that takes longer hangs on dead connections. Short, because a gate asks again only when it has been answered.
const REVIEW_FOR: Duration = Duration::from_secs(5);
const _: () = assert!(
    TURN_WITHIN.as_secs() + REVIEW_FOR.as_secs() < wire::SILENCE.as_secs(),
    "a gate would take a replica for gone that has not reviewed its token yet"
);
/// How long a pod may take to appear in our watch; a new one may ask before.
const SEEN_WITHIN: Duration = Duration::from_secs(1);
/// How many issuers are known at most: an API server has one, and a second while it changes.
const ISSUERS: usize = 8;

/// The pod that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub pod: String,
    /// Its UID.
    pub uid: String,
    /// When its token ends.
    pub expires: Timestamp,
}

/// Why nobody is told anything.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unidentified {
    /// No `Authorization: Bearer` header.
    #[error("no bearer token")]
    NoToken,
    /// It has not the form of a token.
    #[error("the token is no token of an account")]
    NotAToken,
    /// It has ended, or has not begun.
    #[error("the token has expired or is not valid yet")]
    OutOfDate,
    /// The API server does not accept the token for our audience.
    #[error("the token is not accepted for audience {AUDIENCE:?}")]
    NotAccepted,
    /// The token is not bound to a pod.
    #[error("the token is not bound to a pod")]
    NotAPod,
    /// There is no such pod among those that carry our label.
    #[error(
        "sluice sees no such pod with the label {GATED}: \"{GATED_VALUE}\"; it was deleted, or the label was removed"
    )]
    NoPod,
    /// A pod of that name exists, and it is another one.
    #[error("the token's pod no longer exists")]
    AnotherPod,
    /// The budget for reviews is used up.
    #[error(
        "too many tokens that nobody knows come from this address, or for this namespace; try again"
    )]
    TooMany,
    /// It had no turn in time.
    #[error("too many tokens are being reviewed; try again")]
    NoTurn,
    /// So many questions of the pod are held already.
    #[error("this pod waits for too many answers already; its gate waits for one at a time")]
    Asking,
    /// The API server could not be asked.
    #[error("the API server cannot review the token now")]
    Unreachable,
}

impl Unidentified {
    /// The metric label.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::NoToken => "no_token",
            Self::NotAToken => "not_a_token",
            Self::OutOfDate => "out_of_date",
            Self::NotAccepted => "not_accepted",
            Self::NotAPod => "not_a_pod",
            Self::NoPod => "no_pod",
            Self::AnotherPod => "another_pod",
            Self::TooMany => "too_many",
            Self::NoTurn => "no_turn",
            Self::Asking => "asking",
            Self::Unreachable => "unreachable",
        }
    }
}

type Hash = [u8; 32];

/// Asks the API server whose a token is, once for each token.
pub(crate) struct Authenticator {
    client: Client,
    clock: Clock,
    pods: Arc<Known>,
    tokens: DashMap<Hash, (Instant, Result<Identity, Unidentified>)>,
    /// Whose tokens the API server has accepted.
    issuers: Mutex<BTreeSet<String>>,
    budget: Budget,
    /// A namespace has at most as many gates in the queue for a review as are reviewed at once, and its others wait for these. So one of
    /// which thousands come never has more than that many in front of somebody else's gate.
    turns: Turns,
    reviews: Semaphore,
}

/// What is asked with a token that may be a gate's: of a pod that there is, as far as our watch can tell.
#[derive(Debug)]
pub(crate) struct Claimed<'t> {
    token: &'t str,
    hash: Hash,
    claims: Claims,
}

impl Authenticator {
    /// Reviews tokens through `client`, of the pods that are known. `issuer` is that of our own token.
    pub(crate) fn new(
        client: Client,
        clock: Clock,
        pods: Arc<Known>,
        issuer: Option<String>,
    ) -> Self {
        Self {
            client,
            clock,
            pods,
            tokens: DashMap::new(),
            issuers: Mutex::new(issuer.into_iter().collect()),
            budget: Budget::default(),
            turns: Turns::new(REVIEWS),
            reviews: Semaphore::new(REVIEWS),
        }
    }

    /// What an `Authorization` header claims.
    pub(crate) async fn claimed<'t>(
        &self,
        authorization: Option<&'t str>,
    ) -> Result<Claimed<'t>, Unidentified> {
        let token = authorization
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or(Unidentified::NoToken)?;
        let claims = Claims::read(token, self.clock.now())?;
        let hash: Hash = Sha256::digest(token).into();
        if let Err(gone) = self.exists(&claims).await {
            self.tokens.remove(&hash);
            return Err(gone);
        }
        Ok(Claimed {
            token,
            hash,
            claims,
        })
    }

    /// The pod whose token it is, sent from `address`.
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
        if let Some(entry) = self.tokens.get(&hash)
            && entry.0 > Instant::now()
        {
            return entry.1.clone();
        }
        let turn = async {
            let turn = self.turns.take(&claims.namespace).await;
            (turn, self.reviews.acquire().await)
        };
        let turn = timeout(TURN_WITHIN, turn).await;
        let _turn = turn.map_err(|_| Unidentified::NoTurn)?;
        // Who waits uses nothing yet: so those of a crowd are told apart from a flood by what became of the ones before them.
        let strange = !self.issuers().contains(&claims.issuer);
        let used = self.budget.take(address, &claims, strange);
        let used = used.ok_or(Unidentified::TooMany)?;
        // Boxed, so that those who wait for their turn do not keep room for it.
        let verdict = Box::pin(self.review(token, claims.expires)).await;
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
        self.remember(hash, Instant::now() + lifetime, verdict.clone());
        verdict
    }

    fn issuers(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.issuers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the pod that is claimed is there, as far as our watch can tell: what it does not know the API server is asked.
    async fn exists(&self, claims: &Claims) -> Result<(), Unidentified> {
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

    async fn review(&self, token: &str, expires: Timestamp) -> Result<Identity, Unidentified> {
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
                warn!(%error, "Token review failed");
                Unidentified::Unreachable
            })?;
            judge(&review.status.unwrap_or_default(), expires)
        };
        timeout(REVIEW_FOR, reviewed).await.unwrap_or_else(|_| {
            warn!("Token review took too long");
            Err(Unidentified::Unreachable)
        })
    }

    fn remember(&self, hash: Hash, until: Instant, verdict: Result<Identity, Unidentified>) {
        if self.tokens.len() >= CAPACITY {
            let now = Instant::now();
            self.tokens.retain(|_, entry| entry.0 > now);
        }
        if self.tokens.len() < CAPACITY {
            self.tokens.insert(hash, (until, verdict));
        }
    }
}

/// What a review says, believed only if the API server names our audience itself and the token is a pod's.
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
        (Some(namespace), Some(pod), Some(uid)) => Ok(Identity {
            namespace: namespace.to_owned(),
            pod,
            uid,
            expires,
        }),
        _ => Err(Unidentified::NotAPod),
    }
}

/// How long an accepted token is good: until it expires, which the API server has just vouched for.
fn lifetime(expires: Timestamp, now: Timestamp) -> Duration {
    let left = Duration::try_from(expires.duration_since(now));
    left.unwrap_or(REFUSED_FOR).min(LONGEST)
}

#[cfg(test)]
mod tests;
