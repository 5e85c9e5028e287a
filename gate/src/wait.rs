//! The loop of the gate: asks, logs changes, pauses, and asks again, until there is a decision. The gate never gives
//! up by itself.
//!
//! Time, the service, chance and the log are arguments, so every path is tested without sockets and sleep.

use crate::connection::Aside;
use crate::http::Question;
use crate::probe::{Prober, Try};
use crate::trouble::{Attempt, Attempts, Trouble};
use std::time::Duration;
use wire::said::{Elapsed, OPEN, REFUSED, WAITING, clean, further, unsatisfied};
use wire::{Answer, Decision};

/// The longest hold that the gate asks for, while nothing changes.
const HOLD: Duration = Duration::from_secs(300);
/// The hold of a question after a failed one, once the service has answered before, so that the log soon says again what the gate waits for. It is
/// not zero: a service that has just started is still reading.
const BACK: Duration = Duration::from_secs(2);
/// The longest silence of the log. Only a sign wakes the gate while a request is held, so this is a multiple of
/// [`wire::SIGN`].
const SAID_AGAIN_AFTER: Duration = Duration::from_secs(60);
const _: () = assert!(
    SAID_AGAIN_AFTER
        .as_secs()
        .is_multiple_of(wire::SIGN.as_secs())
);
/// The shortest pause between two requests, after a failure or after too many quick answers.
const SHORTEST: Duration = Duration::from_millis(200);
/// The longest pause between two requests.
const LONGEST: Duration = Duration::from_secs(5);
/// The time below which an answer counts as quick: the service did not hold its question.
const QUICK: Duration = Duration::from_millis(500);
/// The number of quick answers in a row that are taken for news and followed by no pause; from the next one on the gate pauses.
const FREE: u32 = 5;
/// The time without any sign of the service after which the log says that sluice may be gone for good.
const GONE: Duration = Duration::from_secs(600);
/// The longest line of the log, in characters. The termination message has room for 4096 bytes.
const LINE: usize = 1000;

/// A clock that tells the time since the gate started, and sleeps; tests have one of their own.
pub(crate) trait Clock {
    fn now(&self) -> Duration;
    fn sleep(&mut self, pause: Duration);
}

/// A source of answers to the gate's questions: the status service, or the script of a test.
pub(crate) trait Source {
    /// Asks once. Until the answer comes, `aside` notes each sign that the service still holds the question, and does its work whenever
    /// that is due; `None` if the work made the question outdated.
    fn ask(
        &mut self,
        question: &Question<'_>,
        aside: &mut dyn Aside,
    ) -> Result<Option<Reply>, Trouble>;
}

/// An answer, and the addresses that failed before the one that answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) passed_over: Vec<Attempt>,
}

/// The end of the wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The application may start; `for_good`: also after a later boot of the node.
    Open { for_good: bool },
    /// By policy, the application must not start; holds the reason, on one line.
    Refused(String),
}

/// Asks `source` until the answer is `open` or `refuse`, and meanwhile logs changes and tries the addresses that an answer names. Pauses after
/// failures and quick answers. `chance` returns numbers that are uniform in 0..1.
pub(crate) fn until_decided(
    source: &mut impl Source,
    prober: &mut Prober<impl Try>,
    clock: &mut impl Clock,
    chance: &mut impl FnMut() -> f64,
    log: &mut impl FnMut(&str),
) -> Outcome {
    let mut journal = Journal::default();
    let mut pace = Pace::default();
    let mut seen = None;
    let mut troubled = false;
    loop {
        prober.run(|| clock.now(), chance);
        let asked = clock.now();
        let most = if troubled { BACK } else { hold(chance()) };
        let outcomes = prober.told();
        let question = Question {
            seen: seen.as_deref(),
            hold: most,
            probed: &outcomes,
        };
        let mut aside = Meanwhile {
            journal: &mut journal,
            prober,
            clock,
            chance,
            log,
        };
        let reply = source.ask(&question, &mut aside);
        let now = clock.now();
        // Keep `seen` in trouble: it tells the service that this gate has waited.
        troubled = reply.is_err() && seen.is_some();
        let in_vain = match reply {
            Ok(None) => {
                pace.quick = 0;
                continue;
            }
            Ok(Some(Reply {
                mut answer,
                passed_over,
            })) => {
                journal.passed_over(&passed_over, log);
                if let Some(outcome) = decided(&answer, now, log) {
                    return outcome;
                }
                journal.waiting(now, &answer, log);
                prober.wants(std::mem::take(&mut answer.probes), now);
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

/// The gate's work while a question is held.
struct Meanwhile<'a, T, C, H, L> {
    journal: &'a mut Journal,
    prober: &'a mut Prober<T>,
    clock: &'a C,
    chance: &'a mut H,
    log: &'a mut L,
}

impl<T: Try, C: Clock, H: FnMut() -> f64, L: FnMut(&str)> Aside for Meanwhile<'_, T, C, H, L> {
    fn sign(&mut self) {
        self.journal.still(self.clock.now(), self.log);
    }

    fn due(&self) -> Option<Duration> {
        let due = self.prober.due()?;
        Some(due.saturating_sub(self.clock.now()))
    }

    fn work(&mut self) -> bool {
        self.prober.run(|| self.clock.now(), self.chance)
    }
}

fn decided(answer: &Answer, now: Duration, log: &mut impl FnMut(&str)) -> Option<Outcome> {
    let (waited, reason) = (Elapsed(now), unsatisfied(answer));
    match answer.verdict {
        Decision::Wait => None,
        Decision::Open => {
            // The gate may open with unmet dependencies, after a timeout that proceeds or a skip.
            let without = reason
                .map(|reason| format!(", without {reason}"))
                .unwrap_or_default();
            log(&clean(&format!("{OPEN} after {waited}{without}"), LINE));
            let for_good = answer.for_good;
            Some(Outcome::Open { for_good })
        }
        Decision::Refuse => {
            let reason = reason.unwrap_or_else(|| "the status service gives no reason".to_owned());
            let line = clean(&format!("{REFUSED} after {waited}: {reason}"), LINE);
            log(&line);
            Some(Outcome::Refused(line))
        }
    }
}

/// Returns between three quarters of the longest hold and all of it, so that gates that came together do not return
/// together.
fn hold(chance: f64) -> Duration {
    HOLD.mul_f64(1.0 - chance / 4.0)
}

/// Returns a pause after `in_vain` fruitless requests in a row, between the shortest and a bound that doubles, so
/// that gates that lost the service together do not return together.
fn backoff(in_vain: u32, chance: f64) -> Duration {
    let bound = SHORTEST
        .saturating_mul(2u32.saturating_pow(in_vain))
        .min(LONGEST);
    SHORTEST + bound.saturating_sub(SHORTEST).mul_f64(chance)
}

/// Decides when to pause: after every failure, and after answers that come too fast to be news.
#[derive(Default)]
struct Pace {
    failures: u32,
    quick: u32,
}

impl Pace {
    /// Notes an answer that `took` so long. Returns how many answers in a row were quick, less the first [`FREE`]: 0 asks for no pause.
    fn answered(&mut self, took: Duration) -> u32 {
        self.failures = 0;
        self.quick = if took < QUICK {
            self.quick.saturating_add(1)
        } else {
            0
        };
        self.quick.saturating_sub(FREE)
    }

    /// Notes a failed request. Returns how many requests in a row have failed.
    fn failed(&mut self) -> u32 {
        self.failures = self.failures.saturating_add(1);
        self.failures
    }
}

/// The reasons for waiting, as the log tells them: the text of one line, and the further lines.
#[derive(PartialEq, Eq)]
struct News {
    text: String,
    /// The other unsatisfied dependencies, one line each.
    further: Vec<String>,
}

impl News {
    fn tell(&self, now: Duration, log: &mut impl FnMut(&str)) {
        let line = format!("{WAITING} {} {}", Elapsed(now), self.text);
        log(&clean(&line, LINE));
    }
}

/// The reasons for waiting that were logged last and when, the addresses that failed last, and since when the service gives no sign.
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

    /// Repeats the last line about the wait, with the time so far, when a minute has passed since it, or nearly: the next sign of the service would
    /// come too late.
    fn still(&mut self, now: Duration, log: &mut impl FnMut(&str)) {
        let due = |at: Duration| now.saturating_sub(at) + wire::SIGN / 2 >= SAID_AGAIN_AFTER;
        if let Some((at, _)) = &self.said
            && due(*at)
        {
            self.again(now, log);
        }
    }

    /// Logs news that differs from the last with its further lines. Of unchanged news repeats the first line alone, once a minute has passed.
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

    /// Logs one line about the addresses that failed before one answered, where these are not the addresses that failed last time.
    fn passed_over(&mut self, attempts: &[Attempt], log: &mut impl FnMut(&str)) {
        let text = Attempts(attempts).to_string();
        if text != self.passed_over && !text.is_empty() {
            log(&clean(&format!("{text}; the next address answers"), LINE));
        }
        self.passed_over = text;
    }
}

/// Returns a time as text in full tens of minutes, or from an hour on in full hours: a finer time would be news each time.
fn roughly(long: Duration) -> String {
    match long.as_secs() / 3600 {
        0 => format!("{} minutes", long.as_secs() / 600 * 10),
        1 => "1 hour".to_owned(),
        hours => format!("{hours} hours"),
    }
}

#[cfg(test)]
mod tests;
