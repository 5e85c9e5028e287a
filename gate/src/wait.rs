//! The loop: ask, say what changed, pause, ask again, until there is a decision. It never gives up by itself.
//!
//! Time, the service, chance and the log are arguments, so every path is tested without a socket and without sleep.

use crate::trouble::{Attempt, Attempts, Trouble};
use std::time::Duration;
use wire::said::{Elapsed, OPEN, REFUSED, WAITING, clean, further, unsatisfied};
use wire::{Answer, Decision};

/// How long the service is asked to hold a request when nothing changes, at most.
const HOLD: Duration = Duration::from_secs(300);
/// The same after trouble: the log is to say soon what the wait is for again. Not at once, so that a service that has just started need not
/// say that it is still reading.
const BACK: Duration = Duration::from_secs(2);
/// How long the log may stay silent. While a request is held only a sign wakes the gate, so it is a number of signs.
const SAID_AGAIN_AFTER: Duration = Duration::from_secs(60);
const _: () = assert!(
    SAID_AGAIN_AFTER
        .as_secs()
        .is_multiple_of(wire::SIGN.as_secs())
);
/// The shortest pause.
const SHORTEST: Duration = Duration::from_millis(200);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);
/// An answer faster than this is one that the service did not hold.
const QUICK: Duration = Duration::from_millis(500);
/// So many quick answers in a row are taken for changes and cost no pause.
const FREE: u32 = 5;
/// After this long without any sign of the service, it may be gone for good.
const GONE: Duration = Duration::from_secs(600);
/// Longest line that is printed, in characters. The termination message has room for 4096 bytes.
const LINE: usize = 1000;

/// Time since the gate started.
pub(crate) trait Clock {
    fn now(&self) -> Duration;
    fn sleep(&mut self, pause: Duration);
}

/// Where answers come from.
pub(crate) trait Source {
    /// Asks once. Where the answer's digest would be `seen`, it may be held for `hold`, whole seconds; `sign` is called with
    /// each sign that it is still held.
    fn ask(
        &mut self,
        seen: Option<&str>,
        hold: Duration,
        sign: &mut dyn FnMut(),
    ) -> Result<Reply, Trouble>;
}

/// An answer, and the addresses that were tried in vain before the one that gave it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) passed_over: Vec<Attempt>,
}

/// How the wait ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The application may start.
    Open,
    /// Policy says that it must not; the reason, one line.
    Refused(String),
}

/// Asks until the answer is `open` or `refuse`. `chance` is uniform in 0..1.
pub(crate) fn until_decided(
    source: &mut impl Source,
    clock: &mut impl Clock,
    chance: &mut impl FnMut() -> f64,
    log: &mut impl FnMut(&str),
) -> Outcome {
    let mut journal = Journal::default();
    let mut pace = Pace::default();
    let mut seen = None;
    let mut troubled = false;
    loop {
        let asked = clock.now();
        let mut still = || journal.still(clock.now(), log);
        let most = if troubled { BACK } else { hold(chance()) };
        let reply = source.ask(seen.as_deref(), most, &mut still);
        let now = clock.now();
        // What was seen is kept in trouble: it tells the service that this gate has waited.
        troubled = reply.is_err() && seen.is_some();
        let in_vain = match reply {
            Ok(Reply {
                answer,
                passed_over,
            }) => {
                journal.passed_over(&passed_over, log);
                if let Some(outcome) = decided(&answer, now, log) {
                    return outcome;
                }
                journal.waiting(now, &answer, log);
                seen = Some(answer.digest);
                pace.answered(now.saturating_sub(asked))
            }
            Err(trouble) => {
                journal.trouble(now, &trouble, log);
                pace.failed()
            }
        };
        if in_vain > 0 {
            clock.sleep(backoff(in_vain, chance()));
        }
    }
}

fn decided(answer: &Answer, now: Duration, log: &mut impl FnMut(&str)) -> Option<Outcome> {
    let (waited, reason) = (Elapsed(now), unsatisfied(answer));
    match answer.verdict {
        Decision::Wait => None,
        Decision::Open => {
            // It opens although dependencies are unmet: a timeout that proceeds, or a skip.
            let without = reason
                .map(|reason| format!(", without {reason}"))
                .unwrap_or_default();
            log(&clean(&format!("{OPEN} after {waited}{without}"), LINE));
            Some(Outcome::Open)
        }
        Decision::Refuse => {
            let reason = reason.unwrap_or_else(|| "the status service gives no reason".to_owned());
            let line = clean(&format!("{REFUSED} after {waited}: {reason}"), LINE);
            log(&line);
            Some(Outcome::Refused(line))
        }
    }
}

/// Between three quarters of the longest hold and all of it: gates that came together need not come back together.
fn hold(chance: f64) -> Duration {
    HOLD.mul_f64(1.0 - chance / 4.0)
}

/// A pause after `in_vain` requests in a row that brought nothing, somewhere between the shortest and a bound that doubles:
/// gates that lost the service together must not come back together.
fn backoff(in_vain: u32, chance: f64) -> Duration {
    let bound = SHORTEST
        .saturating_mul(2u32.saturating_pow(in_vain))
        .min(LONGEST);
    SHORTEST + bound.saturating_sub(SHORTEST).mul_f64(chance)
}

/// When to pause: after every failure, and after answers that come too fast to be news.
#[derive(Default)]
struct Pace {
    failures: u32,
    quick: u32,
}

impl Pace {
    /// How many answers in a row, beyond the free ones, came too fast.
    fn answered(&mut self, took: Duration) -> u32 {
        self.failures = 0;
        self.quick = if took < QUICK {
            self.quick.saturating_add(1)
        } else {
            0
        };
        self.quick.saturating_sub(FREE)
    }

    /// How many requests in a row failed.
    fn failed(&mut self) -> u32 {
        self.failures = self.failures.saturating_add(1);
        self.failures
    }
}

/// What the wait is for.
#[derive(PartialEq, Eq)]
struct News {
    text: String,
    /// What else is unsatisfied, each in a line of its own.
    further: Vec<String>,
}

impl News {
    fn tell(&self, now: Duration, log: &mut impl FnMut(&str)) {
        let line = format!("{WAITING} {} {}", Elapsed(now), self.text);
        log(&clean(&line, LINE));
    }
}

/// What was said last, and when.
#[derive(Default)]
struct Journal {
    said: Option<(Duration, News)>,
    passed_over: String,
    silent_since: Option<Duration>,
}

impl Journal {
    fn waiting(&mut self, now: Duration, answer: &Answer, log: &mut impl FnMut(&str)) {
        self.silent_since = None;
        let reason = unsatisfied(answer)
            .unwrap_or_else(|| "the status service, which gives no reason".to_owned());
        let further = further(answer);
        let text = format!("for {reason}");
        self.say(now, News { text, further }, log);
    }

    fn trouble(&mut self, now: Duration, trouble: &Trouble, log: &mut impl FnMut(&str)) {
        let mut text = format!("for the status service: {trouble}");
        if trouble.silent() {
            let silent = now.saturating_sub(*self.silent_since.get_or_insert(now));
            if silent >= GONE {
                let time = roughly(silent);
                let hint = format!(
                    "; no sign of it for {time}: if sluice was uninstalled, delete this pod"
                );
                text.push_str(&hint);
            }
        } else {
            self.silent_since = None;
        }
        let further = Vec::new();
        self.say(now, News { text, further }, log);
    }

    /// Nothing has changed; the last line once more, when it is time or the next sign would come too late to say so.
    fn still(&mut self, now: Duration, log: &mut impl FnMut(&str)) {
        let due = |at: Duration| now.saturating_sub(at) + wire::SIGN / 2 >= SAID_AGAIN_AFTER;
        if let Some((at, _)) = &self.said
            && due(*at)
        {
            self.again(now, log);
        }
    }

    /// All of it where it is news, and one line where it is time to say it again.
    fn say(&mut self, now: Duration, news: News, log: &mut impl FnMut(&str)) {
        match &self.said {
            Some((at, last)) if *last == news => {
                if now.saturating_sub(*at) >= SAID_AGAIN_AFTER {
                    self.again(now, log);
                }
            }
            _ => {
                news.tell(now, log);
                for other in &news.further {
                    log(&format!("  {}", clean(other, LINE)));
                }
                self.said = Some((now, news));
            }
        }
    }

    fn again(&mut self, now: Duration, log: &mut impl FnMut(&str)) {
        if let Some((at, news)) = &mut self.said {
            news.tell(now, log);
            *at = now;
        }
    }

    /// One line where other addresses than before were passed over.
    fn passed_over(&mut self, attempts: &[Attempt], log: &mut impl FnMut(&str)) {
        let text = Attempts(attempts).to_string();
        if text != self.passed_over && !text.is_empty() {
            log(&clean(&format!("{text}; the next address answers"), LINE));
        }
        self.passed_over = text;
    }
}

/// In tens of minutes, or in hours: a line that says more would be news each time.
fn roughly(long: Duration) -> String {
    match long.as_secs() / 3600 {
        0 => format!("{} minutes", long.as_secs() / 600 * 10),
        1 => "1 hour".to_owned(),
        hours => format!("{hours} hours"),
    }
}

#[cfg(test)]
mod tests;
