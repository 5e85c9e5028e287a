//! The results of token reviews, by the hash of the token, until the token expires.
//!
//! A tenant can have any number of tokens made for its pods. So the results have a budget: beyond the share of its namespace a token
//! is not remembered, and the API server reviews it again at each question of its gate.

use super::unidentified::Unidentified;
use super::wait_registry::Waiter;
use crate::known::{Allotment, ByteBudget};
use dashmap::DashMap;
use jiff::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The bytes that the result of a review takes beside its texts: the token's hash, the result and its place in the table.
const EACH: usize = 320;
/// The pause between two searches for expired tokens.
const SWEEP: Duration = Duration::from_secs(10);
/// The name under which the results of refused tokens share one part of the budget. A refused token may name any namespace, and must not
/// fill that namespace's share.
const REFUSED: &str = "(refused tokens)";

/// The pod that an accepted token belongs to, and the end of the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The pod that the token is bound to.
    pub pod: Waiter,
    /// The time at which the token expires.
    pub expires: Timestamp,
}

/// The SHA-256 of a token.
pub(super) type TokenHash = [u8; 32];

/// The results of token reviews, each until it expires.
#[derive(Debug)]
pub(super) struct RememberedTokens {
    tokens: DashMap<TokenHash, RememberedToken>,
    budget: Arc<ByteBudget>,
    swept: Mutex<Instant>,
}

#[derive(Debug)]
struct RememberedToken {
    until: Instant,
    verdict: Result<Identity, Unidentified>,
    _room: Allotment,
}

impl RememberedTokens {
    /// Makes the table of results, whose memory `budget` bounds.
    pub(super) fn within(budget: Arc<ByteBudget>) -> Self {
        Self {
            tokens: DashMap::new(),
            budget,
            swept: Mutex::new(Instant::now()),
        }
    }

    /// The remembered result of a review of this token; `None` if there is none, or if its time is over.
    pub(super) fn verdict(&self, hash: &TokenHash) -> Option<Result<Identity, Unidentified>> {
        let token = self.tokens.get(hash)?;
        (token.until > Instant::now()).then(|| token.verdict.clone())
    }

    /// Forgets the result of the review of a token whose pod is gone, whether the token was accepted or refused.
    pub(super) fn forget(&self, hash: &TokenHash) {
        self.tokens.remove(hash);
    }

    /// Remembers the result of a review for `lifetime`, if the namespace of the pod, or the common share of refused tokens, has room for it; else the
    /// token is reviewed again at its next question.
    pub(super) fn remember(
        &self,
        hash: TokenHash,
        lifetime: Duration,
        verdict: Result<Identity, Unidentified>,
    ) {
        let now = Instant::now();
        self.sweep(now);
        let (namespace, texts) = match &verdict {
            Ok(Identity { pod, .. }) => (
                &*pod.namespace,
                2 * pod.namespace.len() + pod.name.len() + pod.uid.len(),
            ),
            Err(_) => (REFUSED, 0),
        };
        let mut room = self.budget.part(namespace);
        if room.take(EACH + texts) {
            let token = RememberedToken {
                until: now + lifetime,
                verdict,
                _room: room,
            };
            self.tokens.insert(hash, token);
        }
    }

    /// Forgets the results whose time is over, unless the last search for them is less than [`SWEEP`] ago.
    fn sweep(&self, now: Instant) {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        if now.duration_since(*swept) < SWEEP {
            return;
        }
        *swept = now;
        drop(swept);
        self.tokens.retain(|_, token| token.until > now);
    }

    /// The number of tokens that are remembered.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.tokens.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_alarm::MemoryAlarm;
    use crate::status::wait_registry::waiter;

    const LIFETIME: Duration = Duration::from_mins(10);

    fn identity(namespace: &str) -> Identity {
        let mut pod = waiter("api-1");
        namespace.clone_into(&mut pod.namespace);
        let expires = Timestamp::MAX;
        Identity { pod, expires }
    }

    fn hash(namespace: &str, number: u32) -> TokenHash {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&number.to_be_bytes());
        hash[4..4 + namespace.len()].copy_from_slice(namespace.as_bytes());
        hash
    }

    /// Remembers `count` tokens of a namespace, and returns how many are remembered afterwards.
    fn flood(tokens: &RememberedTokens, namespace: &str, count: u32) -> usize {
        for number in 0..count {
            tokens.remember(hash(namespace, number), LIFETIME, Ok(identity(namespace)));
        }
        let known = |number: &u32| tokens.verdict(&hash(namespace, *number)).is_some();
        (0..count).filter(known).count()
    }

    #[tokio::test(start_paused = true)]
    async fn the_tokens_of_one_namespace_keep_out_no_other() {
        let budget = ByteBudget::new("tokens", 100 << 10, 50 << 10, &MemoryAlarm::default());
        let tokens = RememberedTokens::within(Arc::clone(&budget));
        let loud = flood(&tokens, "loud", 10_000);
        assert!((100..200).contains(&loud), "{loud} fill the share");
        assert_eq!(flood(&tokens, "quiet", 100), 100);
        assert!(budget.refused() > 9_000 && budget.taken() <= 100 << 10);
        tokio::time::advance(LIFETIME).await;
        assert_eq!(flood(&tokens, "other", 1), 1);
        assert_eq!(tokens.count(), 1, "the expired tokens are forgotten");
        tokens.forget(&hash("other", 0));
        assert_eq!(budget.taken(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_token_fills_no_share_of_the_namespace_that_it_names() {
        let tokens = RememberedTokens::within(ByteBudget::new(
            "tokens",
            100 << 10,
            50 << 10,
            &MemoryAlarm::default(),
        ));
        for number in 0..10_000 {
            let refused = Err(Unidentified::NotAccepted);
            tokens.remember(hash("", number), LIFETIME, refused);
        }
        assert!(tokens.verdict(&hash("", 0)).is_some() && tokens.count() < 200);
        assert_eq!(flood(&tokens, "shop", 100), 100);
    }
}
