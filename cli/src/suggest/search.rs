//! Searches the lists of all workloads: tries them, chooses the form of each entry, gives up what no list can say, and audits what was found.

use super::audit::{self, AuditEnd};
use super::budget::RenderShare;
use super::chosen::{self, Choice};
use super::known::{Group, Known};
use super::list::Listed;
use super::settle::{self, Settled};
use super::source::ObjectSource;
use super::ways;
use anyhow::Result;
use std::collections::BTreeSet;

/// The most audits of a chart's lists. A list that the last one refutes is not proposed.
const AUDITS: usize = 5;

/// The lists to try for each group that has no list yet, the best first, with the number of the group.
fn open(
    known: &Known<'_>,
    groups: &[Group],
    settled: &Settled,
    choice: &Choice,
) -> Vec<(usize, Vec<Vec<Listed>>)> {
    let open = groups.iter().enumerate();
    let open = open.filter(|(at, _)| !settled.has(*at));
    let ways = open.map(|(at, group)| (at, ways::of(known, group, &choice.chosen)));
    ways.filter(|(_, ways)| !ways.is_empty()).collect()
}

/// A part of the knowledge about the groups (workloads in templates) without a list that the search gives up, so that a list may be found for the
/// waits that remain.
#[derive(Debug, Clone, Copy)]
enum GiveUp<'s> {
    /// The containers that the sets of values with these numbers show; these sets have made-up addresses in several values at once.
    Joined(&'s [usize]),
    /// The waits whose address comes from values that no list can name.
    Unwritable,
    /// The waits whose targets change with other names or texts (a variation), and whose entries cannot follow that.
    Changing,
    /// The waits whose target no form of an entry, which is a template text, names.
    Unformed,
}

impl GiveUp<'_> {
    /// Gives up this part of the knowledge. Returns whether there was something to give up.
    fn from(
        self,
        known: &mut Known<'_>,
        groups: &mut [Group],
        settled: &Settled,
        choice: &Choice,
    ) -> bool {
        let without = (0..groups.len()).filter(|at| !settled.has(*at));
        match self {
            Self::Joined(sets) => known.forget(sets, groups, &without.collect::<Vec<_>>()),
            Self::Unwritable => {
                let groups: Vec<_> = without.map(|at| &groups[at]).collect();
                known.give_up(known.unwritable(&groups))
            }
            Self::Unformed => {
                let waits = |at: usize| Some((&groups[at], choice.without.get(&at)?));
                let open = without.filter_map(waits);
                open.fold(false, |is_any, (group, waits)| {
                    known.give_up(known.unformed(group, waits)) || is_any
                })
            }
            Self::Changing => {
                let stuck = settled.varied.iter().filter(|it| !settled.has(*it.0));
                stuck.fold(false, |is_any, (at, set)| {
                    known.give_up(known.unfollowed(&groups[*at], *set)) || is_any
                })
            }
        }
    }
}

/// The search for the lists of all groups.
struct Search<'s, 'k> {
    known: &'s mut Known<'k>,
    source: &'s mut ObjectSource,
    groups: &'s mut [Group],
    settled: Settled,
    choice: Choice,
}

impl Search<'_, '_> {
    /// Tries the lists of the groups (workloads in templates) that have none yet, and adds those that fit to the settled ones.
    fn settle(&mut self, share: RenderShare) -> Result<()> {
        let open = open(self.known, self.groups, &self.settled, &self.choice);
        let found = settle::settle(self.known, self.source, self.groups, open, share)?;
        self.settled.join(found);
        Ok(())
    }

    /// Chooses the form of each entry for the groups that have no list yet, and tries the lists of these forms.
    fn choose(&mut self, share: RenderShare) -> Result<()> {
        let open = (0..self.groups.len()).filter(|at| !self.settled.has(*at));
        let open: Vec<usize> = open.collect();
        if open.is_empty() {
            return Ok(());
        }
        self.choice = chosen::of(self.known, self.source, self.groups, &open, share)?;
        self.settle(share)
    }

    /// Gives up a part of the knowledge, and tries the lists of the groups that have none yet. Does nothing where there was nothing to give up.
    fn give_up(&mut self, way: GiveUp<'_>, share: RenderShare) -> Result<()> {
        if way.from(self.known, self.groups, &self.settled, &self.choice) {
            self.settle(share)?;
        }
        Ok(())
    }
}

/// Finds the lists of all groups (workloads in templates), and audits them. A list that an audit refutes is sought again, beside the set that
/// refutes it; that list is dropped where no render is left to audit it. `joined` are the numbers of the sets with made-up addresses in several
/// values at once: for a group that has no list, their containers are given up.
pub(super) fn lists(
    known: &mut Known<'_>,
    source: &mut ObjectSource,
    groups: &mut [Group],
    joined: &[usize],
) -> Result<Settled> {
    let mut search = Search {
        known,
        source,
        groups,
        settled: Settled::default(),
        choice: Choice::default(),
    };
    search.settle(RenderShare::Lists)?;
    search.choose(RenderShare::Lists)?;
    for way in [
        GiveUp::Joined(joined),
        GiveUp::Unwritable,
        GiveUp::Changing,
        GiveUp::Unformed,
    ] {
        search.give_up(way, RenderShare::Lists)?;
    }
    // The groups whose list no audit has judged yet.
    let mut renewed: BTreeSet<usize> = BTreeSet::new();
    for round in 0..AUDITS {
        let Search {
            known,
            source,
            groups,
            settled,
            ..
        } = &mut search;
        let AuditEnd { refuted, is_whole } = audit::run(known, source, groups, settled, round)?;
        settled.lists.retain(|at, _| !refuted.contains(at));
        if !is_whole {
            settled.lists.retain(|at, _| !renewed.contains(at));
            settled.late.extend(renewed);
            break;
        }
        if refuted.is_empty() || round + 1 == AUDITS {
            break;
        }
        search.settle(RenderShare::Refuted)?;
        search.choose(RenderShare::Refuted)?;
        search.give_up(GiveUp::Unformed, RenderShare::Refuted)?;
        renewed = refuted;
    }
    Ok(search.settled)
}
