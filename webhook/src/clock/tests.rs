//! Tests of a clock that is off, with an API server that sends the true time.

use super::*;
use jiff::fmt::rfc2822::DateTimePrinter;

fn ms(number: i64) -> SignedDuration {
    SignedDuration::from_millis(number)
}

fn noon() -> Timestamp {
    "2026-11-21T12:00:00.5Z".parse().unwrap()
}

/// A replica whose clock is off, and the true time.
struct Replica {
    clock: Clock,
    now: Arc<Mutex<Timestamp>>,
    off: Arc<Mutex<SignedDuration>>,
}

impl Replica {
    fn new(off: SignedDuration) -> Self {
        let (now, off) = (Arc::new(Mutex::new(noon())), Arc::new(Mutex::new(off)));
        let (true_time, wrong) = (Arc::clone(&now), Arc::clone(&off));
        let clock = Clock::new(move || *true_time.lock().unwrap() + *wrong.lock().unwrap());
        Self { clock, now, off }
    }

    fn passes(&self, time: SignedDuration) {
        *self.now.lock().unwrap() += time;
    }

    /// Sends a request that takes so long to the API server, which dates its answer when half of the time has passed.
    fn asks(&self, takes: SignedDuration) {
        let sent = self.clock.local();
        self.passes(takes / 2);
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&self.now.lock().unwrap());
        self.passes(takes / 2);
        let headers = HeaderMap::from_iter([(DATE, date.unwrap().parse().unwrap())]);
        self.clock.answered(sent, &headers);
    }

    /// Returns the difference between the corrected time and the true time, without its sign.
    fn error(&self) -> SignedDuration {
        self.clock
            .now()
            .duration_since(*self.now.lock().unwrap())
            .abs()
    }
}

fn every_offset() -> impl Iterator<Item = SignedDuration> {
    [10, 3_600, 2 * 86_400].into_iter().flat_map(|seconds| {
        let off = SignedDuration::from_secs(seconds);
        [off, -off]
    })
}

#[test]
fn the_first_answer_corrects_a_clock_that_is_off() {
    for off in every_offset() {
        let replica = Replica::new(off);
        assert_eq!(replica.error(), off.abs(), "nothing is known yet");
        replica.asks(ms(20));
        assert!(replica.error() <= ms(520), "{off}: {}", replica.error());
    }
}

#[test]
fn more_answers_correct_it_better_and_a_slow_one_does_no_harm() {
    for off in every_offset() {
        let replica = Replica::new(off);
        for _ in 0..50 {
            replica.asks(ms(20));
            replica.passes(ms(310));
        }
        replica.asks(SignedDuration::from_secs(9));
        assert!(replica.error() <= ms(100), "{off}: {}", replica.error());
    }
}

#[test]
fn a_clock_that_is_right_is_left_alone() {
    for off in [ms(0), ms(300), ms(-300)] {
        let replica = Replica::new(off);
        replica.asks(ms(20));
        assert_eq!(replica.error(), off.abs());
    }
}

#[test]
fn a_clock_that_is_set_meanwhile_is_corrected_anew() {
    let replica = Replica::new(SignedDuration::ZERO);
    replica.asks(ms(20));
    for off in every_offset() {
        *replica.off.lock().unwrap() = off;
        replica.asks(ms(20));
        assert!(replica.error() <= ms(520), "{off}: {}", replica.error());
    }
    *replica.off.lock().unwrap() = SignedDuration::ZERO;
    replica.asks(ms(20));
    assert_eq!(replica.error(), SignedDuration::ZERO);
}

#[test]
fn a_drift_is_followed() {
    let replica = Replica::new(SignedDuration::from_secs(60));
    for _ in 0..1_000 {
        replica.asks(ms(20));
        *replica.off.lock().unwrap() += ms(1);
        replica.passes(SignedDuration::from_secs(10));
        assert!(replica.error() <= ms(520), "{}", replica.error());
    }
}

#[test]
fn what_is_no_date_teaches_nothing() {
    let replica = Replica::new(SignedDuration::from_hours(1));
    for date in ["", "yesterday", "Sat, 99 Nov 2026 12:00:00 GMT"] {
        let headers = HeaderMap::from_iter([(DATE, date.parse().unwrap())]);
        replica.clock.answered(replica.clock.local(), &headers);
    }
    replica
        .clock
        .answered(replica.clock.local(), &HeaderMap::new());
    assert_eq!(replica.error(), SignedDuration::from_hours(1));
}

#[test]
fn the_metric_says_by_how_much_the_replica_is_ahead() {
    let replica = Replica::new(SignedDuration::from_hours(-1));
    let mut registry = Registry::with_prefix("sluice");
    replica.clock.register(&mut registry);
    replica.asks(ms(20));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("sluice_clock_offset_seconds "));
    let ahead: f64 = line.unwrap().parse().unwrap();
    assert!((-3_600.6..-3_599.4).contains(&ahead), "{ahead}");
}
