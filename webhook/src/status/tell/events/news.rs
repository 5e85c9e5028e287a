//! Decides when an answer is worth an Event. Pure: the time is an argument.

use crate::digest::short;
use crate::event::{AT_MOST_EVERY, TO_SPARE, masked};
use rules::judged::Reason;
use rules::verdict::MISSING_AFTER;
use std::collections::HashMap;
use std::time::Duration;
use strum::IntoStaticStr;
use tokio::time::Instant;
use wire::{Answer, Decision, said};

/// The age from which a wait counts as settled. Before that, neither a gate nor a user is told that kinds are still being read: most
/// kinds are read by then.
pub(in crate::status) const SETTLE: Duration = Duration::from_secs(2);
/// The shortest pause between an object's Event and the Event that tells of a new stage of the wait. Of several stages within the pause only the last
/// one is told. The end of a wait and a timeout are told at once.
const APART: Duration = Duration::from_secs(10);
/// The time after which an unchanged wait is told again. Events live for an hour.
pub(super) const AGAIN_AFTER: Duration = Duration::from_mins(10);
/// The length of a wait from which its Events are Warnings. An unchanged wait is told again then.
const LONG_WAIT: Duration = AGAIN_AFTER;
/// The age from which a pod's wait is worth an Event, and from which an absent dependency counts as missing. Until then an installation may still
/// write one object after the other, and the first look at the pods of a dependency has found nothing yet. The age counts from the moment at which
/// the wait has settled.
const NEWS_AFTER: Duration =
    Duration::from_secs(MISSING_AFTER.as_secs().unsigned_abs()).saturating_sub(SETTLE);

/// The closed set of reasons of the Events about waits, their ends and failures.
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

    /// The type of an Event with this reason, `Normal` or `Warning`. `long`: the wait has lasted for [`LONG_WAIT`].
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

    /// The reason for the Event of a gate that waits: the gravest one of its unsatisfied dependencies (not permitted, a cycle, failed, not found),
    /// else `Waiting`.
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

/// The content of an Event about a wait, before the pace of Events decides whether it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct News {
    pub(super) verdict: Decision,
    pub(super) reason: EventReason,
    /// The unsatisfied dependency that comes first by name, its reason and its message without figures; else the note of the answer; empty for a gate
    /// that opens. News with an equal topic, verdict and reason is about one stage of the wait.
    pub(super) topic: String,
    pub(super) text: String,
    /// The wait that the news is about: for a workload, the revision of its pods; for a held creation, the time of a first try. `None` for a pod.
    pub(super) wait: Option<String>,
    /// Whether the object of the news has waited for [`LONG_WAIT`].
    pub(super) long: bool,
}

impl News {
    /// News about an answer. Its topic is the unsatisfied dependency that comes first by name, with its reason and message; else the answer's note;
    /// else it is empty.
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

    /// News that a gate opens, or that a creation has ended. Its topic is empty, and it is told at once.
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

    /// Returns this news with `long` set: whether its object has waited for [`LONG_WAIT`].
    pub(super) fn of_long(self, long: bool) -> Self {
        Self { long, ..self }
    }

    /// Returns a copy of this news with `wait` set: the name of the revision or the creation whose wait it is about.
    pub(super) fn of_wait(&self, wait: Option<&str>) -> Self {
        Self {
            wait: wait.map(str::to_owned),
            ..self.clone()
        }
    }

    /// Whether this news tells a reader nothing beyond the news `before`: its verdict, reason, topic and wait are equal, and the texts differ in
    /// addresses, times and identifiers alone.
    fn is_same(&self, before: &Self) -> bool {
        self.goes_on(before)
            && self.wait == before.wait
            && (self.text == before.text || masked(&self.text) == masked(&before.text))
    }

    fn goes_on(&self, before: &Self) -> bool {
        (before.verdict, before.reason, &before.topic) == (self.verdict, self.reason, &self.topic)
    }

    /// Whether the news must not be delayed by the pace of Events: a timeout has passed, or the wait has ended.
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
    /// A pod that waits, or an object whose creation is held. Its Events tell of one dependency at a time, and may tell of a former one again.
    Pod,
    /// The workload above several pods, each of which may have other news.
    Workload,
}

/// The record of one object's news and of the Events that this replica has written about it; it sets the pace of further ones.
#[derive(Debug, Default)]
pub(super) struct Told {
    last: Option<(Instant, News)>,
    /// The moment of the first news about the object.
    began: Option<Instant>,
    /// The moment of the last Event with each text, and the number of such Events. The key is a digest of the reason, the text and the wait;
    /// addresses, times and identifiers are masked in the text, because they would make each text a new one.
    words: HashMap<u64, (Instant, i32)>,
    /// The moment since which the news about the object is that a dependency is not found; `None` while it is not.
    missing: Option<Instant>,
    /// The moment from which the pace of one Event in each [`AT_MOST_EVERY`] holds again for the Events written so far.
    even: Option<Instant>,
}

/// The decision about when some news becomes an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Write an Event now. The number counts the Events with this text, including this one.
    Now(i32),
    /// An equal Event has been written; write it again at this moment if the news is still the same.
    Again(Instant),
    /// The news is no Event yet; write one at this moment if the news is still the same.
    Later(Instant),
}

impl Told {
    /// Decides whether the news becomes an Event now, or when; if now, the Event counts as written. The first news about a pod, unless it is urgent,
    /// and news that its dependency is missing wait for [`NEWS_AFTER`]; news that an Event has told waits for [`AGAIN_AFTER`]. Other news keeps the
    /// pace of Events.
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
        // A pod has waited before it passes news on to its workload, so the workload does not wait once more.
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
        // The text of a wait that goes on is written again before its entry is dropped. Texts that differ each time would fill the map
        // without end.
        self.words
            .retain(|_, (at, _)| now.duration_since(*at) < 2 * AGAIN_AFTER);
        let (at, times) = self.words.entry(words).or_insert((now, 0));
        (*at, *times) = (now, times.saturating_add(1));
        Due::Now(*times)
    }

    /// The earliest moment for an Event with news that differs from those of the last Event; `None` for at once: there was no Event, or the news is a
    /// timeout or the end of the wait.
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

    /// Whether the first news about the object is [`LONG_WAIT`] old, or older.
    pub(super) fn is_long(&self, now: Instant) -> bool {
        let since = self.began;
        since.is_some_and(|began| now.duration_since(began) >= LONG_WAIT)
    }

    /// Whether this replica has written an Event about the object.
    pub(super) fn anything(&self) -> bool {
        self.last.is_some()
    }

    /// Whether the object has had no Event for 20 minutes, so it is gone, or another replica answers its gates. An object without any Event is old
    /// too, unless a dependency of it has not been found for less than 20 minutes.
    pub(super) fn is_old(&self, now: Instant) -> bool {
        let since = self.last.as_ref().map(|(last, _)| *last).or(self.missing);
        since.is_none_or(|since| now.duration_since(since) >= 2 * AGAIN_AFTER)
    }
}

#[cfg(test)]
mod tests;
