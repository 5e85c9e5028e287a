//! When an answer is worth an Event. Pure: the clock is an argument.

use crate::digest::short;
use crate::event::{AT_MOST_EVERY, TO_SPARE};
use rules::judged::Reason;
use rules::verdict::MISSING_AFTER;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;
use wire::{Answer, Decision, said};

/// A wait that is over sooner than this is worth neither an Event nor a line that says "still reading".
pub(in crate::status) const SETTLE: Duration = Duration::from_secs(2);
/// A new stage is told no sooner after what was told before, so that of several in a row the last is told.
const APART: Duration = Duration::from_secs(10);
/// How often an unchanged wait is told again; Events live for an hour.
pub(super) const AGAIN_AFTER: Duration = Duration::from_mins(10);
/// "Not found" is no news for as long as an installation may still write one object after the other. A wait is heard of when it has
/// settled.
const NOT_FOUND_IS_NEWS: Duration =
    Duration::from_secs(MISSING_AFTER.as_secs().unsigned_abs()).saturating_sub(SETTLE);

/// The closed set of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventReason {
    Waiting,
    Released,
    Skipped,
    TimedOut,
    DependencyFailed,
    NotFound,
    NotPermitted,
    Cycle,
    Absent,
    NoList,
}

impl EventReason {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Released | Self::Skipped => "Released",
            Self::TimedOut => "TimedOut",
            Self::DependencyFailed => "DependencyFailed",
            Self::NotFound => "NotFound",
            Self::NotPermitted => "NotPermitted",
            Self::Cycle => "Cycle",
            Self::Absent => "Absent",
            Self::NoList => "NoList",
        }
    }

    pub(super) fn severity(self) -> &'static str {
        match self {
            Self::Waiting | Self::Released => "Normal",
            Self::Skipped
            | Self::TimedOut
            | Self::DependencyFailed
            | Self::NotFound
            | Self::NotPermitted
            | Self::Cycle
            | Self::Absent
            | Self::NoList => "Warning",
        }
    }

    /// Of a gate that waits.
    pub(super) fn of(answer: &Answer) -> Self {
        let unmet = answer.dependencies.iter().filter(|it| !it.satisfied);
        let any = |whys: &[Reason]| {
            let said = |why: &Reason| unmet.clone().any(|report| report.reason == why.label());
            whys.iter().any(said)
        };
        if any(&[Reason::NotPermitted]) {
            Self::NotPermitted
        } else if any(&[Reason::Cycle, Reason::SelfReference]) {
            Self::Cycle
        } else if any(&[Reason::JobFailed, Reason::FailedForGood]) {
            Self::DependencyFailed
        } else if any(&[Reason::NotFound]) {
            Self::NotFound
        } else {
            Self::Waiting
        }
    }
}

/// What an Event would say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct News {
    pub(super) verdict: Decision,
    pub(super) reason: EventReason,
    /// What it goes on about: the dependency, its reason and its cause, without the figures.
    pub(super) topic: String,
    pub(super) text: String,
    /// Which of an object's waits it tells of: the revision of a workload.
    pub(super) wait: Option<String>,
}

impl News {
    /// Of a gate that is told this, because of what comes first.
    pub(super) fn of(answer: &Answer, reason: EventReason, text: String) -> Self {
        Self {
            verdict: answer.verdict,
            reason,
            topic: topic(answer),
            text,
            wait: None,
        }
    }

    /// Of a gate that opens.
    pub(super) fn opened(reason: EventReason, text: String) -> Self {
        Self {
            verdict: Decision::Open,
            reason,
            topic: String::new(),
            text,
            wait: None,
        }
    }

    /// The same of one of several waits.
    pub(super) fn of_wait(&self, wait: Option<&str>) -> Self {
        Self {
            wait: wait.map(str::to_owned),
            ..self.clone()
        }
    }

    fn goes_on(&self, before: &Self) -> bool {
        (before.verdict, before.reason, &before.topic) == (self.verdict, self.reason, &self.topic)
    }

    /// What somebody has set a time or a policy for, and the end of a wait, shall not come a minute late.
    fn is_urgent(&self) -> bool {
        self.verdict != Decision::Wait || self.reason == EventReason::TimedOut
    }
}

fn topic(answer: &Answer) -> String {
    let Some(first) = said::first(answer) else {
        return answer.note.clone().unwrap_or_default();
    };
    let message = first.message.as_deref().unwrap_or_default();
    let message = message.replace(|letter: char| letter.is_ascii_digit(), "");
    [&*first.dependency, &*first.reason, &*message].join("\0")
}

/// Whom an Event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// A pod that waits: it waits for one thing at a time, and what it says may change back.
    Pod,
    /// The workload above several such pods, of which each may say something else.
    Workload,
}

/// What one object has been told.
#[derive(Debug, Default)]
pub(super) struct Told {
    last: Option<(Instant, News)>,
    /// By the digest of the words: when they were told last, and how often.
    words: HashMap<u64, (Instant, i32)>,
    /// Since when something is missing.
    missing: Option<Instant>,
    /// When what was told beyond the pace is earned back.
    even: Option<Instant>,
}

/// What to do about some news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Tell it, for so many times by now.
    Now(i32),
    /// It was told; again at this moment.
    Again(Instant),
    /// Not yet: at this moment.
    Later(Instant),
}

impl Told {
    /// Whether the news is worth an Event now, and if so it counts as told.
    pub(super) fn hear(&mut self, news: &News, whose: Whose, now: Instant) -> Due {
        self.missing = (news.reason == EventReason::NotFound).then(|| self.missing.unwrap_or(now));
        let wait = news.wait.as_deref().unwrap_or_default();
        let words = short([news.reason.word(), &news.text, wait].join("\0"));
        let before = match whose {
            Whose::Pod => {
                let last = self.last.as_ref();
                last.filter(|(_, last)| last == news).map(|(at, _)| *at)
            }
            Whose::Workload => self.words.get(&words).map(|(at, _)| *at),
        };
        // A workload hears only what its pods have waited for.
        let missing = self.missing.filter(|_| whose == Whose::Pod);
        let quiet = match before {
            Some(at) => Some(at + AGAIN_AFTER),
            None => self.next(news, now),
        };
        let due = missing.map(|since| since + NOT_FOUND_IS_NEWS).max(quiet);
        if let Some(at) = due.filter(|at| now < *at) {
            return match before {
                Some(_) => Due::Again(at),
                None => Due::Later(at),
            };
        }
        self.last = Some((now, news.clone()));
        self.even = Some(self.even.map_or(now, |even| even.max(now)) + AT_MOST_EVERY);
        // Of a wait that goes on they are told before that, and of words that are always others there is no end.
        self.words
            .retain(|_, (at, _)| now.duration_since(*at) < 2 * AGAIN_AFTER);
        let (at, times) = self.words.entry(words).or_insert((now, 0));
        (*at, *times) = (now, times.saturating_add(1));
        Due::Now(*times)
    }

    /// The first moment for what has not just been told; `None`: at once.
    fn next(&self, news: &News, now: Instant) -> Option<Instant> {
        let (last, before) = self.last.as_ref()?;
        let anew = (before.verdict, before.reason) != (news.verdict, news.reason);
        if anew && news.is_urgent() {
            return None;
        }
        if news.goes_on(before) {
            return Some(*last + AT_MOST_EVERY);
        }
        let owed = self
            .even
            .map_or(Duration::ZERO, |even| even.saturating_duration_since(now));
        let spare = now + owed.saturating_sub(TO_SPARE * AT_MOST_EVERY);
        Some(spare.max(*last + APART))
    }

    /// Whether it was told anything.
    pub(super) fn anything(&self) -> bool {
        self.last.is_some()
    }

    /// Whether nothing has been told for so long that it is gone, or another replica serves it.
    pub(super) fn is_old(&self, now: Instant) -> bool {
        let since = self.last.as_ref().map(|(last, _)| *last).or(self.missing);
        since.is_none_or(|since| now.duration_since(since) >= 2 * AGAIN_AFTER)
    }
}

#[cfg(test)]
mod tests;
