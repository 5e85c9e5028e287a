//! Decides when an answer is worth an Event. Pure: the clock is an argument.

use crate::digest::short;
use crate::event::{AT_MOST_EVERY, TO_SPARE, masked};
use rules::judged::Reason;
use rules::verdict::MISSING_AFTER;
use std::collections::HashMap;
use std::time::Duration;
use strum::IntoStaticStr;
use tokio::time::Instant;
use wire::{Answer, Decision, said};

/// A wait that ends sooner is worth no line that says "still reading".
pub(in crate::status) const SETTLE: Duration = Duration::from_secs(2);
/// The shortest pause between an Event and the Event of a new stage. Of several stages in a row the last one is told.
const APART: Duration = Duration::from_secs(10);
/// The time after which an unchanged wait is told again. Events live for an hour.
pub(super) const AGAIN_AFTER: Duration = Duration::from_mins(10);
/// The wait after which its Events are Warnings. An unchanged wait is told again at this moment.
const LONG_WAIT: Duration = AGAIN_AFTER;
/// A wait that ends sooner is worth no Event, and a dependency that comes sooner was not missing: until then an installation may still write one
/// object after the other, and the first look at the pods of a dependency has found nothing yet. The time counts from the moment at which the
/// wait has settled.
const NEWS_AFTER: Duration =
    Duration::from_secs(MISSING_AFTER.as_secs().unsigned_abs()).saturating_sub(SETTLE);

/// The closed set of reasons of sluice's Events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
pub(super) enum EventReason {
    Waiting,
    Released,
    #[strum(serialize = "Released")]
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
        self.into()
    }

    /// The type of the Event; `long`: the wait is a long one.
    pub(super) fn severity(self, long: bool) -> &'static str {
        match self {
            Self::Waiting if long => "Warning",
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

    /// The reason for the Event of a gate that waits.
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

/// The content of a Kubernetes Event about a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct News {
    pub(super) verdict: Decision,
    pub(super) reason: EventReason,
    /// The dependency, its reason and its cause, without figures. News of the same topic goes on about the same wait.
    pub(super) topic: String,
    pub(super) text: String,
    /// The revision of the workload whose wait this tells of.
    pub(super) wait: Option<String>,
    /// Whether the pod has waited for long.
    pub(super) long: bool,
}

impl News {
    /// The news of an answer, about its first dependency.
    pub(super) fn of(answer: &Answer, reason: EventReason, text: String) -> Self {
        Self {
            verdict: answer.verdict,
            reason,
            topic: topic(answer),
            text,
            wait: None,
            long: false,
        }
    }

    /// The news that a gate opens.
    pub(super) fn opened(reason: EventReason, text: String) -> Self {
        Self {
            verdict: Decision::Open,
            reason,
            topic: String::new(),
            text,
            wait: None,
            long: false,
        }
    }

    /// Returns this news as news of a pod that has waited for long, or not for so long.
    pub(super) fn of_long(self, long: bool) -> Self {
        Self { long, ..self }
    }

    /// Returns this news as news about the wait of one revision.
    pub(super) fn of_wait(&self, wait: Option<&str>) -> Self {
        Self {
            wait: wait.map(str::to_owned),
            ..self.clone()
        }
    }

    /// Whether a reader finds nothing new in this news: it differs in addresses, times and identifiers alone.
    fn is_same(&self, before: &Self) -> bool {
        self.goes_on(before)
            && self.wait == before.wait
            && (self.text == before.text || masked(&self.text) == masked(&before.text))
    }

    fn goes_on(&self, before: &Self) -> bool {
        (before.verdict, before.reason, &before.topic) == (self.verdict, self.reason, &self.topic)
    }

    /// Whether the news must not come a minute late: a timeout has passed, or the wait has ended.
    fn is_urgent(&self) -> bool {
        self.verdict != Decision::Wait || self.reason == EventReason::TimedOut
    }
}

fn topic(answer: &Answer) -> String {
    let Some(first) = said::first(answer) else {
        return answer.note.clone().unwrap_or_default();
    };
    let message = first.message.as_deref().unwrap_or_default();
    let message = masked(message).replace(|letter: char| letter.is_ascii_digit(), "");
    [&*first.dependency, &*first.reason, &*message].join("\0")
}

/// The kind of object that an Event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// A pod that waits. A pod waits for one dependency at a time, and its news may change back.
    Pod,
    /// The workload above several pods, each of which may have other news.
    Workload,
}

/// The Events that this replica has written about one object.
#[derive(Debug, Default)]
pub(super) struct Told {
    last: Option<(Instant, News)>,
    /// The moment at which the first news was heard.
    began: Option<Instant>,
    /// The moment and the count of each text, by the digest of the text without what differs each time.
    words: HashMap<u64, (Instant, i32)>,
    /// The moment since which a dependency of the object is missing.
    missing: Option<Instant>,
    /// The moment at which the Events beyond the pace are earned back.
    even: Option<Instant>,
}

/// The decision about when some news becomes an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Write an Event now. The number counts the Events with this text, including this one.
    Now(i32),
    /// The Event has been written; write it again at this moment.
    Again(Instant),
    /// Write the Event of the news at this moment.
    Later(Instant),
}

impl Told {
    /// Decides whether the news is worth an Event now. Then the Event counts as written.
    pub(super) fn hear(&mut self, news: &News, whose: Whose, now: Instant) -> Due {
        self.missing = (news.reason == EventReason::NotFound).then(|| self.missing.unwrap_or(now));
        let wait = news.wait.as_deref().unwrap_or_default();
        let began = *self.began.get_or_insert(now);
        let words = short([news.reason.word(), &masked(&news.text), wait].join("\0"));
        let before = match whose {
            Whose::Pod => {
                let last = self.last.as_ref();
                last.filter(|(_, last)| news.is_same(last))
                    .map(|(at, _)| *at)
            }
            Whose::Workload => self.words.get(&words).map(|(at, _)| *at),
        };
        // A workload hears only news about which one of its pods has waited.
        let missing = self.missing.filter(|_| whose == Whose::Pod);
        let young = whose == Whose::Pod && self.last.is_none() && !news.is_urgent();
        let quiet = match before {
            Some(at) => Some(at + AGAIN_AFTER),
            None if young => Some(began + NEWS_AFTER),
            None => self.next(news, now),
        };
        let due = missing.map(|since| since + NEWS_AFTER).max(quiet);
        if let Some(at) = due.filter(|at| now < *at) {
            return match before {
                Some(_) => Due::Again(at),
                None => Due::Later(at),
            };
        }
        self.last = Some((now, news.clone()));
        self.even = Some(self.even.map_or(now, |even| even.max(now)) + AT_MOST_EVERY);
        // Texts of a wait that goes on are told again before that, and there is no end to texts that always differ.
        self.words
            .retain(|_, (at, _)| now.duration_since(*at) < 2 * AGAIN_AFTER);
        let (at, times) = self.words.entry(words).or_insert((now, 0));
        (*at, *times) = (now, times.saturating_add(1));
        Due::Now(*times)
    }

    /// The first moment for news that is not the last news; `None`: at once.
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

    /// Whether the wait of the object is a long one.
    pub(super) fn is_long(&self, now: Instant) -> bool {
        let since = self.began;
        since.is_some_and(|began| now.duration_since(began) >= LONG_WAIT)
    }

    /// Whether the object has had an Event of this replica.
    pub(super) fn anything(&self) -> bool {
        self.last.is_some()
    }

    /// Whether the object has had no Event for so long that it is gone, or that another replica answers its gates.
    pub(super) fn is_old(&self, now: Instant) -> bool {
        let since = self.last.as_ref().map(|(last, _)| *last).or(self.missing);
        since.is_none_or(|since| now.duration_since(since) >= 2 * AGAIN_AFTER)
    }
}

#[cfg(test)]
mod tests;
