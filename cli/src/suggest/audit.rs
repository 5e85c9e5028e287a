//! Audits the lists that were found. A list holds with the sets of values that were tried; with a further set, in which switches meet that the
//! containers read, it may say something else than the loops.

mod further;
mod mixtures;

use super::budget::RenderShare;
use super::expected;
use super::known::{Group, Hint, Known};
use super::list::Listed;
use super::object::ObjectList;
use super::settle::{self, EditedTemplates, Settled};
use super::source::ObjectSource;
use super::survey::{self, Readings, SeenContainer};
use super::switches::Switch;
use super::traces;
use super::tried;
use anyhow::Result;
use further::question;
use std::collections::{BTreeMap, BTreeSet};

/// A further set of values with the groups (workloads in templates) about whose lists it tells something.
struct Refutation {
    set: Vec<Switch>,
    /// The numbers of the groups whose list says something else than the loops with this set.
    refuted: BTreeSet<usize>,
    /// The numbers of the groups of which a loop waits with this set for something that no list says.
    untold: BTreeSet<usize>,
}

/// A further set of values that was rendered: the groups about which it tells something, and its objects without the lists.
struct Judged {
    refutation: Refutation,
    objects: ObjectList,
    /// The entries of the things for which the loops of each group wait, by the number of the group. Left out is a group without a workload, and
    /// one with a wait that no list can say.
    waits: BTreeMap<usize, BTreeSet<String>>,
}

impl Refutation {
    fn is_empty(&self) -> bool {
        self.refuted.is_empty() && self.untold.is_empty()
    }

    /// Leaves out what a part of this set tells already: a set with all switches of a kept one may show no fault but that of the kept one.
    fn leave_out(&mut self, kept: &[Self]) {
        for part in kept {
            if part.set.iter().all(|it| self.set.contains(it)) {
                self.refuted.retain(|it| !part.refuted.contains(it));
                self.untold.retain(|it| !part.untold.contains(it));
            }
        }
    }

    /// Whether this set tells about each group what `other` tells about the group.
    fn tells(&self, other: &Self) -> bool {
        self.refuted.is_superset(&other.refuted) && self.untold.is_superset(&other.untold)
    }
}

/// An audit of the lists that were found.
struct Audit<'a, 'k> {
    known: &'a mut Known<'k>,
    source: &'a mut ObjectSource,
    groups: &'a mut [Group],
    /// The lists that the audit judges, by the number of their group, which is a workload in a template.
    lists: BTreeMap<usize, Vec<Listed>>,
    /// The renders that the audit may spend.
    share: RenderShare,
    readings: Readings,
}

/// The end of an audit.
pub(super) struct AuditEnd {
    /// The numbers of the groups whose list says something else than the loops with a further set.
    pub(super) refuted: BTreeSet<usize>,
    /// Whether the audit rendered all its further sets: otherwise no render was left.
    pub(super) is_whole: bool,
}

/// Renders the chart with further sets of values, with and without the lists that were found. The sets that refute a list then count for the
/// lists. `round` is the number of audits before this one, which tried other mixtures.
pub(super) fn run(
    known: &mut Known<'_>,
    source: &mut ObjectSource,
    groups: &mut [Group],
    settled: &Settled,
    round: usize,
) -> Result<AuditEnd> {
    let mixtures = further::mixtures(known, groups, &settled.lists, round);
    let mut audit = Audit {
        known,
        source,
        groups,
        lists: settled.lists.clone(),
        share: if round == 0 {
            RenderShare::Audit
        } else {
            RenderShare::Refuted
        },
        readings: Readings::default(),
    };
    let due = mixtures.len();
    let judged = audit.judge(mixtures)?;
    let mut is_whole = judged.len() == due;
    for judged in judged.iter().flatten() {
        for (at, entries) in &judged.waits {
            audit.groups[*at].hints.push(Hint {
                set: judged.refutation.set.clone(),
                entries: entries.clone(),
            });
        }
    }
    let mut kept: Vec<Refutation> = Vec::new();
    for mut judged in judged.into_iter().flatten() {
        judged.refutation.leave_out(&kept);
        let judged = audit.shrunk(judged)?;
        kept.extend(audit.kept(judged));
    }
    // A group whose list is refuted gets another list, which the next audit judges. In the first audit the other sets count for all groups: they
    // show addresses of the chart's own values.
    let again = kept.iter().flat_map(|it| &it.refuted);
    for at in again.filter(|_| round > 0) {
        audit.lists.remove(at);
    }
    let others = further::others(audit.known, audit.groups, &audit.lists);
    let due = others.len();
    let judged = audit.judge(others)?;
    is_whole &= judged.len() == due;
    for judged in judged.into_iter().flatten() {
        kept.extend(audit.kept(judged));
    }
    let refuted = kept.into_iter().flat_map(|it| it.refuted).collect();
    Ok(AuditEnd { refuted, is_whole })
}

impl Audit<'_, '_> {
    /// Renders sets of values with and without the lists, and tells which lists each refutes: all of them, where the chart renders only without
    /// them. `None` for a set with which the chart does not render, and for each set where there is no list. The answer is shorter than `sets`
    /// once the renders of audits are spent.
    fn judge(&mut self, sets: Vec<Vec<Switch>>) -> Result<Vec<Option<Judged>>> {
        if self.lists.is_empty() {
            return Ok(sets.iter().map(|_| None).collect());
        }
        let plain = self.source.render_all(&sets, self.share);
        let written = EditedTemplates::of(self.known, self.groups, &self.lists);
        written.put(self.source)?;
        let with_lists = self.source.render_all(&sets[..plain.len()], self.share);
        written.take_back(self.source)?;
        let all = sets.into_iter().zip(plain).zip(with_lists);
        let judged = all.map(|((set, plain), with_lists)| {
            let taken = self.take(set, plain?);
            let number = self.known.sets.len() - 1;
            let listed = || self.lists.keys().copied();
            let refuted = listed().filter(|at| !self.says(*at, number, with_lists.as_ref()));
            let refuted = refuted.collect();
            // A set with which a loop waits for something that no list says has to be told.
            let untold = listed().filter(|at| untold(self.known, &self.groups[*at], number));
            let untold = untold.collect();
            let waits = listed().filter_map(|at| Some((at, self.waits(at, number)?)));
            let waits = waits.collect();
            let (set, objects) = self.known.give_back(taken, self.groups)?;
            let refutation = Refutation {
                set,
                refuted,
                untold,
            };
            Some(Judged {
                refutation,
                objects,
                waits,
            })
        });
        Ok(judged.collect())
    }

    /// Whether the list of the group number `at` says the same as the loops with the last set, whose number is `number`; `false` where the chart does
    /// not render with the lists. Where a loop waits for something that no list says, the list only must not name more than the loops.
    fn says(&self, at: usize, number: usize, with_lists: Option<&ObjectList>) -> bool {
        let group = &self.groups[at];
        let is_told = !of_set(self.known, group, number).any(has_rest);
        let expected = expected::of(self.known, group);
        with_lists.is_some_and(|objects| {
            // Where the user has to give an address, the list may name that, and no object more than the loops.
            let fits = if is_told {
                tried::says
            } else {
                tried::names_no_more
            };
            settle::all_fit(self.known, group, &expected, (number, objects), fits)
        })
    }

    /// The rendered entries of the things for which the loops of the group number `at` wait with the set number `number`. `None` where the set
    /// renders no workload of the group, or a wait that no list can say.
    fn waits(&self, at: usize, number: usize) -> Option<BTreeSet<String>> {
        let group = &self.groups[at];
        let mut objects = self.known.objects(number).iter();
        let is_shown = objects.any(|it| self.known.is_of(group, it));
        if !is_shown || of_set(self.known, group, number).any(has_rest) {
            return None;
        }
        let found = of_set(self.known, group, number).flat_map(|it| &it.found);
        let targets = found.filter_map(|it| it.target.as_ref().ok()?.as_ref());
        Some(targets.map(|it| it.plain().text).collect())
    }

    /// The judged set of values without the switches that can be left out, one after the other, while the set still tells about each workload what it
    /// told. Made-up addresses (marks) stay, because without them nothing tells how a list can name an address.
    fn shrunk(&mut self, mut judged: Judged) -> Result<Judged> {
        if judged.refutation.is_empty() {
            return Ok(judged);
        }
        for at in (0..judged.refutation.set.len()).rev() {
            let mut fewer = judged.refutation.set.clone();
            if fewer.remove(at).follows() {
                continue;
            }
            // The lists hold with each set that was tried before.
            let asked = question(fewer.iter());
            if self
                .known
                .sets
                .iter()
                .any(|it| question(it.iter()) == asked)
            {
                continue;
            }
            let found = self.judge(vec![fewer])?.pop().flatten();
            if let Some(found) = found.filter(|it| it.refutation.tells(&judged.refutation)) {
                judged = found;
            }
        }
        Ok(judged)
    }

    /// Adds a judged set to the knowledge, and returns what it refutes; drops a set that tells about no group, and returns `None`.
    fn kept(&mut self, judged: Judged) -> Option<Refutation> {
        let Judged {
            refutation,
            objects,
            ..
        } = judged;
        if refutation.is_empty() {
            return None;
        }
        self.take(refutation.set.clone(), objects);
        Some(refutation)
    }

    /// Adds a set of values with the objects that it renders to the knowledge. Returns the number of waiting containers that were added.
    fn take(&mut self, set: Vec<Switch>, objects: ObjectList) -> usize {
        let (known, readings) = (&mut *self.known, &mut self.readings);
        let number = known.sets.len();
        let values = &known.texts.values;
        let seen = survey::of(readings, number, &objects, &known.missing, values, &set);
        let base = question(set.iter().filter(|it| !it.is_varied()));
        let base = known.sets.iter().position(|it| question(it.iter()) == base);
        if let Some(base) = base.filter(|_| set.iter().any(Switch::is_varied)) {
            known.varied.insert(number, base);
        }
        known.sets.push(set);
        known.rendered.push(Some(objects));
        known.take(seen, self.groups)
    }
}

/// The waiting containers of a group that the set of values number `set` shows.
fn of_set<'k>(
    known: &'k Known<'_>,
    group: &Group,
    set: usize,
) -> impl Iterator<Item = &'k SeenContainer> {
    let all = group.seen.iter().chain(&group.varied);
    all.map(|it| &known.seen[*it])
        .filter(move |it| it.set == set)
}

/// Whether a container has a wait that no list can say.
fn has_rest(seen: &SeenContainer) -> bool {
    seen.found.iter().any(|it| it.target.is_err())
}

/// Whether a container of the group waits with a set for something that no list says. A container does not count that only lacks an address from
/// the user: a set with made-up addresses (marks), and with no switch that this set lacks, shows that a list can say its waits.
fn untold(known: &Known<'_>, group: &Group, set: usize) -> bool {
    of_set(known, group, set).any(|seen| {
        let is_marked = |it: &&SeenContainer| {
            let marked = &known.sets[it.set];
            let mut plain = traces::without(marked);
            traces::follow(marked) && plain.all(|it| known.sets[set].contains(it))
        };
        let mut others = known.seen.iter().filter(|it| it.is_the_same(seen));
        let is_said = others.any(|it| it.is_listed() && is_marked(&it) && it.has_addresses(seen));
        has_rest(seen) && !is_said
    })
}
