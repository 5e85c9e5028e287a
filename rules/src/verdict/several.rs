//! What is said of several objects together.

use crate::dependency::{Dependency, State};
use crate::judged::{Judged, Reason, met, unmet};
use crate::kstatus::Status;

/// One of several, and what was found of it.
pub(super) struct Member {
    /// How it is called beside its siblings.
    pub(super) name: String,
    pub(super) judged: Judged,
}

impl Member {
    /// An alternative. Of another namespace no message texts are told.
    pub(super) fn alternative(alternative: &Dependency, foreign: bool, judged: &Judged) -> Self {
        let message = match judged.told(foreign) {
            None if foreign => judged.reason.label().to_owned(),
            message => message.unwrap_or_default().to_owned(),
        };
        Self {
            name: alternative.to_string(),
            judged: Judged { message, ..*judged },
        }
    }

    fn told(&self) -> String {
        format!("{}: {}", self.name, self.judged.message)
    }

    /// How far from satisfied, for the alternative that is told of.
    fn distance(&self) -> u8 {
        match self.judged.status {
            _ if self.judged.satisfied => 0,
            Status::Current | Status::InProgress => 1,
            Status::Terminating | Status::Failed => 2,
            Status::Unknown => 3,
            Status::NotFound => 4,
        }
    }
}

/// Objects that a selector found, of which `needed` must be satisfied. The first that is not is named, and how many are
/// is counted.
pub(super) fn all(parts: &[Member], needed: usize, state: State) -> Judged {
    let (count_met, total) = (satisfied(parts), parts.len());
    let mut count = format!("{count_met} of {total} {}", state.word());
    let is_gone = |part: &&Member| part.judged.reason == Reason::Remembered;
    let gone = parts.iter().filter(is_gone).count();
    if gone > 0 {
        count = format!("{count}, {gone} of them remembered");
    }
    if count_met >= needed {
        let reason = if gone > 0 && gone == total {
            Reason::Remembered
        } else {
            Reason::Satisfied
        };
        return Judged {
            reason,
            ..met(count)
        };
    }
    if needed != total {
        count = format!("{count}, {needed} needed");
    }
    together(parts, needed, count)
}

/// Alternatives, of which `needed` must be satisfied. The best of them speaks for all.
pub(super) fn some(mut parts: Vec<Member>, needed: usize) -> Judged {
    parts.sort_by_key(Member::distance);
    let (count_met, total) = (satisfied(&parts), parts.len());
    if count_met < needed {
        let count = if needed == 1 {
            String::new()
        } else {
            format!("{count_met} of {total} satisfied, {needed} needed")
        };
        return together(&parts, needed, count);
    }
    // What is not there may be one of those that are enough: then that is told.
    let is_absent = |part: &Member| part.judged.reason == Reason::OptionalNotFound;
    let there = |part: &&Member| part.judged.satisfied && !is_absent(part);
    if parts.iter().filter(there).count() < needed {
        parts.retain(is_absent);
    }
    parts.truncate(1);
    match parts.pop() {
        Some(best) => {
            let message = best.told();
            Judged {
                message,
                ..best.judged
            }
        }
        None => together(&[], 1, String::new()),
    }
}

fn satisfied(parts: &[Member]) -> usize {
    parts.iter().filter(|part| part.judged.satisfied).count()
}

/// Too few are satisfied.
fn together(parts: &[Member], needed: usize, count: String) -> Judged {
    let Some(part) = spokesman(parts, needed) else {
        // Fewer exist than are needed.
        return unmet(Status::InProgress, Reason::NotFound, count);
    };
    let Judged { status, reason, .. } = part.judged;
    let message = if count.is_empty() {
        part.told()
    } else {
        format!("{count}; {}", part.told())
    };
    unmet(status, reason, message)
}

/// The one whose reason is told: the first that is not satisfied. But while one is still being read, nothing is final;
/// and a Job that failed is the reason only where too few others are left. Where more are needed than there are, others are
/// still to come, and nobody knows how many.
fn spokesman(parts: &[Member], needed: usize) -> Option<&Member> {
    let unmet = || parts.iter().filter(|part| !part.judged.satisfied);
    let because = |reason: Reason| unmet().find(move |part| part.judged.reason == reason);
    let failed = |part: &&Member| part.judged.reason.is_final_failure();
    let spare = parts.len().checked_sub(needed);
    let lost = spare.is_some_and(|spare| unmet().filter(failed).count() > spare);
    because(Reason::Syncing)
        .or_else(|| unmet().find(failed).filter(|_| lost))
        .or_else(|| unmet().find(|part| !failed(part)))
}
