//! What was found of several objects together.

use super::finding::{EntryFinding, Lead};
use crate::dependency::{Dependency, State};
use crate::judged::{Judged, Reason, met, unmet};
use crate::kstatus::Status;

/// One of several, and what was found of it.
pub(super) struct Member {
    /// The name beside its siblings.
    pub(super) name: String,
    pub(super) judged: Judged,
    lead: Option<Lead>,
}

impl Member {
    pub(super) fn of(name: String, found: impl Into<EntryFinding>) -> Self {
        let EntryFinding { judged, lead } = found.into();
        Self { name, judged, lead }
    }

    /// An alternative. Of another namespace no message texts are told.
    pub(super) fn alternative(
        alternative: &Dependency,
        foreign: bool,
        found: EntryFinding,
    ) -> Self {
        let EntryFinding { judged, lead } = found;
        let message = match judged.told(foreign) {
            None if foreign => judged.reason.label().to_owned(),
            message => message.unwrap_or_default().to_owned(),
        };
        Self {
            name: alternative.to_string(),
            judged: Judged { message, ..judged },
            lead: lead.filter(|_| !foreign),
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

/// What was found of objects of which `needed` must be satisfied: how many are satisfied, and the first that is not.
pub(super) fn all(parts: Vec<Member>, needed: usize, state: State) -> EntryFinding {
    let (count_met, total) = (satisfied(&parts), parts.len());
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
        let judged = Judged {
            reason,
            ..met(count)
        };
        return judged.into();
    }
    if needed != total {
        count = format!("{count}, {needed} needed");
    }
    together(parts, needed, count)
}

/// What was found of alternatives of which `needed` must be satisfied: what was found of the best one.
pub(super) fn some(mut parts: Vec<Member>, needed: usize) -> EntryFinding {
    parts.sort_by_key(Member::distance);
    let (count_met, total) = (satisfied(&parts), parts.len());
    if count_met < needed {
        let count = if needed == 1 {
            String::new()
        } else {
            format!("{count_met} of {total} satisfied, {needed} needed")
        };
        return together(parts, needed, count);
    }
    // An alternative that is not there may be one of those that are enough: then that is told.
    let is_absent = |part: &Member| part.judged.reason == Reason::OptionalNotFound;
    let there = |part: &&Member| part.judged.satisfied && !is_absent(part);
    if parts.iter().filter(there).count() < needed {
        parts.retain(is_absent);
    }
    parts.truncate(1);
    match parts.pop() {
        Some(best) => {
            let message = best.told();
            let judged = Judged {
                message,
                ..best.judged
            };
            judged.into()
        }
        None => together(Vec::new(), 1, String::new()),
    }
}

fn satisfied(parts: &[Member]) -> usize {
    parts.iter().filter(|part| part.judged.satisfied).count()
}

/// What was found where too few are satisfied.
fn together(mut parts: Vec<Member>, needed: usize, count: String) -> EntryFinding {
    let Some(at) = spokesman(&parts, needed) else {
        // Fewer exist than are needed.
        return unmet(Status::InProgress, Reason::NotFound, count).into();
    };
    let part = parts.swap_remove(at);
    let Judged { status, reason, .. } = part.judged;
    let message = if count.is_empty() {
        part.told()
    } else {
        format!("{count}; {}", part.told())
    };
    EntryFinding {
        judged: unmet(status, reason, message),
        lead: part.lead,
    }
}

/// The index of the part whose reason is told: the first that is not satisfied. But while a part is still being read, nothing is
/// final; and a Job that failed is the reason only where too few others are left. Where more are needed than there are, others are
/// still to come, and how many is unknown.
fn spokesman(parts: &[Member], needed: usize) -> Option<usize> {
    let unmet = |wanted: &dyn Fn(&Member) -> bool| {
        let mut parts = parts.iter();
        parts.position(|part| !part.judged.satisfied && wanted(part))
    };
    let is_syncing = |part: &Member| part.judged.reason == Reason::Syncing;
    let lost = parts.iter().filter(|part| has_failed(part)).count();
    let spare = parts.len().checked_sub(needed);
    let is_lost = spare.is_some_and(|spare| lost > spare);
    unmet(&is_syncing)
        .or_else(|| unmet(&has_failed).filter(|_| is_lost))
        .or_else(|| unmet(&|part: &Member| !has_failed(part)))
}

/// Whether a part that is not satisfied has failed for good.
fn has_failed(part: &Member) -> bool {
    !part.judged.satisfied && part.judged.reason.is_final_failure()
}
