//! The budget of token reviews. Its shares keep a flood of bad tokens from becoming a flood of API requests, and from holding up a gate
//! of another client. An accepted token was no part of a flood and returns its share, so all gates of a namespace may come at once.
//!
//! An address claims at most some 750 pods at a time, by the rates of [`Share`]. Where many addresses fill the table, the addresses with
//! the most pods give way, so a gate at another address is always reviewed.

use super::token::TokenClaims;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The most shares that the table keeps. An unused share is forgotten first: it is as good as new. Then the addresses with the most
/// claimed pods lose the shares of these pods, and are still held to their own shares.
const MOST: usize = 20_000;
/// The number of shares that a full table is reduced to. A search for the shares that may go reads the whole table, so the table then has
/// room for many reviews: a review of a flood costs some ten steps on average.
const LEFT: usize = MOST / 4 * 3;

/// The holder of a share of the token reviews: each review takes from the shares of several holders.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Share {
    /// All tokens of strange issuers: those of which the API server has accepted no token yet, without the issuer of our own token.
    Strangers,
    /// The address of a client. The address of a node stands for many gates.
    Address(IpAddr),
    /// A claimed pod at one address. A gate has a new token every eight minutes, so it needs few reviews.
    Pod(IpAddr, String),
    /// The namespace of the pod that a token claims to be of.
    Namespace(String),
}

impl Share {
    /// The number of reviews that may come at once, and the pause after which one more is allowed.
    const fn rate(&self) -> (u32, Duration) {
        match self {
            Self::Strangers => (5, Duration::from_secs(2)),
            Self::Address(_) => (500, Duration::from_millis(20)),
            Self::Pod(..) => (4, Duration::from_secs(5)),
            Self::Namespace(_) => (1000, Duration::from_millis(10)),
        }
    }

    /// The address at which a pod is claimed; `None` for a share that is not of a pod.
    const fn of_pod_at(&self) -> Option<IpAddr> {
        match self {
            Self::Pod(address, _) => Some(*address),
            Self::Strangers | Self::Address(_) | Self::Namespace(_) => None,
        }
    }
}

/// The shares that one review has used, without that of the claimed pod. They are returned if the API server accepts the token.
#[derive(Debug)]
pub(super) struct Used(Vec<Share>);

/// The shares of token reviews in use, each with the moment at which it is unused again.
#[derive(Debug, Default)]
pub(super) struct Budget(Mutex<HashMap<Share, Instant>>);

impl Budget {
    /// Takes one review out of the shares of the client's address, of the pod and the namespace that the token claims and, if the issuer is
    /// `strange`, of strangers. `None`, and nothing is taken, if a share is used up or the table of shares is full. `strange`: the API server has
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
            make_room(&mut used, now);
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

    /// Gives back the shares of a review whose token was accepted.
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

/// Forgets the unused shares, and then the shares of all pods of the addresses with the most of them, until at most [`LEFT`] shares
/// are left. A review uses the share of an address or a namespace for 20 ms at most, so nearly all shares of a full table are those of
/// pods.
fn make_room(used: &mut HashMap<Share, Instant>, now: Instant) {
    used.retain(|_, until| *until > now);
    let mut pods = HashMap::<IpAddr, usize>::new();
    for address in used.keys().filter_map(Share::of_pod_at) {
        *pods.entry(address).or_default() += 1;
    }
    let mut largest: Vec<(IpAddr, usize)> = pods.into_iter().collect();
    largest.sort_unstable_by_key(|(_, pods)| Reverse(*pods));
    let mut left = used.len();
    let give_way = largest.into_iter().map_while(|(address, pods)| {
        let is_full = left > LEFT;
        left -= pods;
        is_full.then_some(address)
    });
    let give_way: HashSet<IpAddr> = give_way.collect();
    used.retain(|share, _| {
        let address = share.of_pod_at();
        address.is_none_or(|address| !give_way.contains(&address))
    });
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
    async fn addresses_that_fill_the_table_give_way_to_another_gate() {
        let budget = Budget::default();
        let quiet = claims("quiet", 0);
        let asks = || budget.take(address(0), &quiet, false).is_some();
        assert_eq!([asks(), asks()], [true; 2]);
        for last in 1..=255 {
            let flood = |pod| claims(&format!("n{last}"), pod);
            let asked = (0..600).filter(|pod| {
                let asked = budget.take(address(last), &flood(*pod), false);
                asked.is_some()
            });
            assert_eq!(asked.count(), 500, "the share of one address");
            assert!(budget.0.lock().unwrap().len() <= MOST);
        }
        let other = budget.take(address(1), &claims("new", 0), false);
        assert!(other.is_none(), "an address that gave way has no new share");
        assert_eq!([asks(), asks(), asks()], [true, true, false]);
    }

    /// A crowd of addresses with one pod each makes the most work: the shares of one address make room for one review.
    #[tokio::test(start_paused = true)]
    async fn a_review_of_a_flood_costs_few_steps() {
        const REVIEWS: u32 = 40_000;
        let budget = Budget::default();
        let mut steps = 0;
        for number in 0..REVIEWS {
            // Five thousand reviews a second fill the table before the shares of pods are unused again.
            if number % 5 == 0 {
                tokio::time::advance(Duration::from_millis(1)).await;
            }
            let address = IpAddr::from(number.to_be_bytes());
            let remembered = budget.0.lock().unwrap().len();
            if remembered + 3 > MOST {
                steps += remembered;
            }
            let namespace = format!("n{}", number / 500);
            let asked = budget.take(address, &claims(&namespace, 0), false);
            assert!(asked.is_some(), "{number}");
        }
        let each = steps / REVIEWS as usize;
        assert!((1..=10).contains(&each), "{each}");
    }
}
