//! The hold of a creation: how long a client waits between two tries to create an object, and how many it makes.
//!
//! The API server passes a code of 429 and a number of seconds on to the client. The client library of Kubernetes, and with it kubectl,
//! Helm, Argo CD and Flux, then waits and sends the same request again, ten times (`rest/with_retry.go` of client-go).

use jiff::{SignedDuration, Timestamp};

/// The state of the creation of one object, as admission answers a try to create it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The creation has not been judged yet, or a kind is still being read.
    Unread,
    /// The creation waits.
    Waits {
        /// The unsatisfied dependencies, and the note about the list: the text behind "waits for" in a message.
        why: String,
        /// The time at which the wait may end without a change in the cluster, such as the end of a timeout.
        again: Option<Timestamp>,
    },
    /// The object may be created.
    Open,
    /// The creation is refused, for this reason.
    Refused(String),
}

/// The pauses that a client is asked to make, in seconds. The first are short, since most waits are; together they last as long as an
/// installer waits by default, five minutes.
const PAUSES: [i64; 10] = [1, 2, 4, 8, 15, 30, 60, 60, 60, 60];

/// The number of tries that a client makes in one request to create an object: one, and one after each pause.
pub const TRIES: usize = PAUSES.len() + 1;

/// The time from the first try of a request to its last one: the sum of all pauses.
pub const LASTS: SignedDuration = SignedDuration::from_secs(sum(&PAUSES));

const fn sum(pauses: &[i64]) -> i64 {
    let (mut sum, mut at) = (0, 0);
    while at < pauses.len() {
        sum += pauses[at];
        at += 1;
    }
    sum
}

/// The number of a client's last try within its request, counted from 1. `tries` counts the tries of all its requests. After [`TRIES`]
/// tries the client gives up, and the next try is the first one of another request, such as the next sync of Argo CD.
pub fn of_request(tries: usize) -> usize {
    tries.saturating_sub(1) % TRIES + 1
}

/// The pause after try number `tries`, counted from 1, in whole seconds. `again` is the time at which the wait may end without a change in
/// the cluster, such as the end of a timeout. The next try comes within a second after that time, because the client may make no further
/// try.
pub fn pause(tries: usize, now: Timestamp, again: Option<Timestamp>) -> SignedDuration {
    let planned = PAUSES[of_request(tries).min(PAUSES.len()) - 1];
    let until = again.map(|again| again.duration_since(now).as_secs() + 1);
    let until = until.filter(|until| *until > 0);
    SignedDuration::from_secs(until.map_or(planned, |until| until.min(planned)))
}

/// The tries of one client to create an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// The time of the first try.
    pub first: Timestamp,
    /// The time of the first try of the present request: a client that gave up may have begun again.
    pub began: Timestamp,
}

/// The fixed words of an Event about a creation that is held: before the time of the first try, before that of the last try, and before the first
/// unsatisfied dependency. The times come first, because a long Event is cut.
const WORDS: [&str; 3] = [
    "creation held; first tried at ",
    ", and its client tries until ",
    "; waiting for ",
];

impl Tries {
    /// The time of the last try of the present request.
    pub fn until(self) -> Timestamp {
        self.began.saturating_add(LASTS).unwrap_or(Timestamp::MAX)
    }

    /// The number of tries that are left after `now`, in the present request, to a client that makes each pause as it is asked to.
    pub fn left(self, now: Timestamp) -> usize {
        let mut at = self.began;
        let times = PAUSES.iter().map(|pause| {
            let pause = SignedDuration::from_secs(*pause);
            at = at.saturating_add(pause).unwrap_or(Timestamp::MAX);
            at
        });
        times.filter(|at| *at > now).count()
    }

    /// Writes the text of an Event about a creation that waits for `what`, with these tries.
    pub fn told(self, what: &str) -> String {
        let [first, until, waits] = WORDS;
        format!("{first}{}{until}{}{waits}{what}", self.first, self.until())
    }

    /// Reads the text that [`Self::told`] has written into an Event: the tries, and the first unsatisfied dependency. `None` for any other text.
    pub fn read(text: &str) -> Option<(Self, &str)> {
        let [first, until, waits] = WORDS;
        let (first, rest) = text.strip_prefix(first)?.split_once(until)?;
        let (until, what) = rest.split_once(waits)?;
        let first = first.parse().ok()?;
        let until: Timestamp = until.parse().ok()?;
        let began = until.saturating_sub(LASTS).ok()?;
        Some((Self { first, began }, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_client_tries_for_five_minutes_and_ever_more_seldom() {
        let pauses = (1..TRIES).map(|tries| pause(tries, at(0), None));
        let pauses: Vec<i64> = pauses.map(|it| it.as_secs()).collect();
        assert!(pauses.is_sorted(), "{pauses:?}");
        assert_eq!(pauses.iter().sum::<i64>(), 300);
        assert_eq!(LASTS, SignedDuration::from_secs(300));
        assert_eq!(pause(0, at(0), None).as_secs(), 1);
    }

    /// The second request of an installer waits as the first one did, and so does a request that begins between the two.
    #[test]
    fn a_client_that_begins_again_makes_the_same_pauses() {
        let pauses = |from: usize| {
            let tries = (from..from + PAUSES.len()).map(|tries| pause(tries, at(0), None));
            tries.map(|it| it.as_secs()).collect::<Vec<i64>>()
        };
        assert_eq!(pauses(TRIES + 1), PAUSES);
        assert_eq!(pauses(5 * TRIES + 1), PAUSES);
        let places = [1, TRIES, TRIES + 1, 2 * TRIES, 2 * TRIES + 1].map(of_request);
        assert_eq!(places, [1, TRIES, 1, TRIES, 1]);
        for from in 1..=2 * TRIES {
            assert!(
                pauses(from).iter().sum::<i64>() >= LASTS.as_secs(),
                "{from}"
            );
        }
    }

    #[test]
    fn an_event_tells_when_the_tries_began_and_how_many_are_left() {
        let first = at(10);
        let tries = Tries {
            first,
            began: first,
        };
        let text = "creation held; first tried at 1970-01-01T00:00:10Z, and its client tries until 1970-01-01T00:05:10Z; \
                    waiting for Job/seed";
        assert_eq!(tries.told("Job/seed"), text);
        assert_eq!(Tries::read(text), Some((tries, "Job/seed")));
        assert_eq!(Tries::read("may be created"), None);
        let left = |tries: Tries, seconds: [i64; 6]| seconds.map(|second| tries.left(at(second)));
        let lefts = [10, 9, 5, 4, 1, 0];
        assert_eq!(left(tries, [10, 11, 40, 70, 309, 310]), lefts);
        let again = Tries {
            first,
            began: at(400),
        };
        assert_eq!(
            Tries::read(&again.told("Job/seed")),
            Some((again, "Job/seed"))
        );
        assert_eq!(left(again, [400, 401, 430, 460, 699, 700]), lefts);
    }

    #[test]
    fn the_try_after_a_timeout_comes_at_once() {
        let pause = |again: i64| pause(6, at(100), Some(at(again))).as_secs();
        assert_eq!(pause(112), 13);
        assert_eq!(pause(500), 30);
        assert_eq!(pause(100), 1);
        assert_eq!(pause(50), 30, "it has passed before");
    }
}
