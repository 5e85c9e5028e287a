//! Joins the findings about several objects, or several alternatives, into one.

use super::finding::{EntryFinding, Lead};
use crate::dependency::{Dependency, State};
use crate::judged::{Judged, Reason, met, unmet};
use crate::kstatus::Status;

/// One of several objects or alternatives of an entry, with its finding.
pub(super) struct Member {
    /// The name that tells this member from the other members.
    pub(super) name: String,
    pub(super) judged: Judged,
    lead: Option<Lead>,
}

impl Member {
    pub(super) fn of(name: String, found: impl Into<EntryFinding>) -> Self {
        let EntryFinding { judged, lead } = found.into();
        Self { name, judged, lead }
    }

    /// One alternative of an entry with `any`. Where it is in another namespace (`foreign`), the label of its reason replaces a message that may
    /// quote the object, and the lead is dropped.
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

    /// How far the member is from being satisfied, from 0 (satisfied) to 4 (not found): the message names the nearest alternative.
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

/// The finding about objects of which `needed` must be satisfied. Its message has the number that are in `state` and, where too few are, the
/// finding about one that is not.
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

/// The finding about alternatives of which `needed` must be satisfied: the finding about the one nearest to being satisfied, after the count
/// where more than one is needed and too few are satisfied. Where only an absent optional alternative makes them enough, the finding is about it.
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
    // Where an absent optional alternative is needed to have enough, the finding names that alternative.
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

/// The unsatisfied finding about members of which too few are satisfied: `count`, and the finding about the member that [`spokesman`] chooses.
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

/// The index of the member whose reason is told: the first that is not satisfied, with two exceptions. A member that is still being read goes
/// first, since no finding is final before. A member that has failed for good is told only where too few other members are left, and never where
/// fewer members exist than are needed, because more are still to come. `None` where all members that may be told are satisfied.
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

/// Whether a member is not satisfied and has failed for good.
fn has_failed(part: &Member) -> bool {
    !part.judged.satisfied && part.judged.reason.is_final_failure()
}
