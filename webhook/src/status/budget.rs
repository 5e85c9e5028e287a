//! The budget of token reviews. A flood of bad tokens is no flood of API requests, and holds up no gate of another client. An
//! accepted token was no part of a flood and returns its share, so all gates of a namespace may come at once.

use super::token::TokenClaims;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The most shares that are remembered. An unused share is forgotten first: it is as good as new.
const MOST: usize = 20_000;

/// The owner of a share of the token reviews.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Share {
    /// All tokens of issuers of which the API server has accepted no token yet.
    Strangers,
    /// The address of a client. The address of a node stands for many gates.
    Address(IpAddr),
    /// A claimed pod at one address: a gate has a new token every eight minutes.
    Pod(IpAddr, String),
    /// The namespace of the pod that a token claims to be of.
    Namespace(String),
}

impl Share {
    /// The burst of reviews, and the pause after which another review is allowed.
    const fn rate(&self) -> (u32, Duration) {
        match self {
            Self::Strangers => (5, Duration::from_secs(2)),
            Self::Address(_) => (500, Duration::from_millis(20)),
            Self::Pod(..) => (4, Duration::from_secs(5)),
            Self::Namespace(_) => (1000, Duration::from_millis(10)),
        }
    }
}

/// The shares that a review has used. The shares are returned if the token is accepted.
#[derive(Debug)]
pub(super) struct Used(Vec<Share>);

/// The shares, each with the moment at which the share is unused again.
#[derive(Debug, Default)]
pub(super) struct Budget(Mutex<HashMap<Share, Instant>>);

impl Budget {
    /// Takes a review of these claims from the shares of a client; `None` if a share is used up. `strange`: the API server has
    /// accepted no token of this issuer yet.
    pub(super) fn take(&self, client: IpAddr, claims: &TokenClaims, strange: bool) -> Option<Used> {
        let mut shares = vec![
            Share::Address(client),
            Share::Pod(client, claims.uid.clone()),
            Share::Namespace(claims.namespace.clone()),
        ];
        if strange {
            shares.push(Share::Strangers);
        }
        let now = Instant::now();
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() + shares.len() > MOST {
            used.retain(|_, until| *until > now);
        }
        if used.len() + shares.len() > MOST {
            return None;
        }
        let next = |share: &Share| {
            let (burst, each) = share.rate();
            let until = used.get(share).map_or(now, |until| now.max(*until)) + each;
            (until <= now + each * burst).then_some(until)
        };
        let next: Option<Vec<Instant>> = shares.iter().map(next).collect();
        used.extend(shares.iter().cloned().zip(next?));
        // The pod's share is not returned: a gate has one token at a time, however many tokens are made for its pod.
        shares.retain(|share| !matches!(share, Share::Pod(..)));
        Some(Used(shares))
    }

    /// Returns the shares of a review whose token was accepted.
    pub(super) fn give_back(&self, Used(shares): Used) {
        let now = Instant::now();
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for share in shares {
            let (_, each) = share.rate();
            if let Entry::Occupied(mut until) = used.entry(share) {
                *until.get_mut() -= each;
                if *until.get() <= now {
                    until.remove();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn claims(namespace: &str, pod: usize) -> TokenClaims {
        TokenClaims {
            issuer: "i".to_owned(),
            namespace: namespace.to_owned(),
            pod: "p".to_owned(),
            uid: format!("{namespace}-{pod}"),
            expires: Timestamp::MAX,
        }
    }

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    #[tokio::test(start_paused = true)]
    async fn each_share_is_used_up_by_itself_and_comes_back() {
        let budget = Budget::default();
        let flood = |from, namespace: &str, pods: usize, strange| {
            let asks = (0..10_000).map(|it| claims(namespace, it % pods));
            asks.filter(|it| budget.take(from, it, strange).is_some())
                .count()
        };
        assert_eq!(flood(address(1), "shop", 1, false), 4, "of one pod");
        assert_eq!(
            flood(address(1), "shop", 10_000, false),
            496,
            "of one address"
        );
        let others = [2, 3, 4].map(|last| flood(address(last), "shop", 10_000, false));
        assert_eq!(others, [500, 0, 0], "of one namespace");
        assert_eq!(flood(address(5), "bank", 10_000, true), 5, "of strangers");
        assert!(
            budget.take(address(6), &claims("bank", 0), false).is_some(),
            "anybody else"
        );
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(flood(address(1), "bank", 1, false), 4);
        assert_eq!(flood(address(4), "shop", 1, false), 4);
        assert_eq!(flood(address(7), "bank", 10_000, true), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_accepted_uses_up_no_share_but_that_of_its_pod() {
        let budget = Budget::default();
        let asks = |pod, strange| budget.take(address(1), &claims("shop", pod), strange);
        for pod in 0..10_000 {
            budget.give_back(asks(pod, true).unwrap());
        }
        let again = (0..10).map_while(|_| asks(0, false));
        again.for_each(|used| budget.give_back(used));
        assert!(asks(0, false).is_none(), "one pod has four tokens at once");
        let refused = (0..10_000).filter(|pod| asks(10_000 + pod, false).is_some());
        assert_eq!(
            refused.count(),
            500,
            "nothing was given that nobody had used"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_known_of_shares_is_bounded() {
        let budget = Budget::default();
        let full = |last: u8| {
            let claims = |pod| claims(&format!("n{last}"), pod);
            (0..200).all(|pod| budget.take(address(last), &claims(pod), false).is_some())
        };
        let asked = (0..=255).filter(|last| full(*last)).count();
        assert!((90..255).contains(&asked), "{asked}");
        assert!(budget.0.lock().unwrap().len() <= MOST);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(full(255));
    }
}
