//! Audits the lists that were found. A list holds with the sets of values that were tried; with a further set, in which switches meet that the
//! containers read, it may say something else than the loops.

mod further;
mod mixtures;

use super::budget::RenderShare;
use super::expected;
use super::known::{Group, Known};
use super::object::ObjectList;
use super::settle::{self, EditedTemplates, Settled};
use super::source::ObjectSource;
use super::survey::{self, Readings, SeenContainer};
use super::switches::Switch;
use super::traces;
use super::tried;
use anyhow::Result;
use further::{FurtherSets, question};
use std::collections::BTreeSet;

/// A further set of values, and what it tells about the lists.
struct Judged {
    set: Vec<Switch>,
    objects: ObjectList,
    /// The numbers of the groups whose list says something else than the loops with this set.
    refuted: BTreeSet<usize>,
    /// The numbers of the groups of which a loop waits with this set for something that no list says.
    untold: BTreeSet<usize>,
}

impl Judged {
    /// Whether the set tells as much as another one.
    fn tells(&self, other: &Self) -> bool {
        self.refuted.is_superset(&other.refuted) && self.untold.is_superset(&other.untold)
    }
}

/// An audit of the lists that were found.
struct Audit<'a, 'k> {
    known: &'a mut Known<'k>,
    source: &'a mut ObjectSource,
    groups: &'a mut [Group],
    settled: &'a Settled,
    readings: Readings,
}

/// Renders the chart with further sets of values, with and without the lists that were found. Returns the numbers of the groups whose list
/// says something else than the loops with such a set. These sets then count for the lists. `round` is the number of audits before this one,
/// which tried other mixtures.
pub(super) fn refuted(
    known: &mut Known<'_>,
    source: &mut ObjectSource,
    groups: &mut [Group],
    settled: &Settled,
    round: usize,
) -> Result<BTreeSet<usize>> {
    let FurtherSets { sets, mixed } = further::of(known, groups, &settled.lists, round);
    let mut audit = Audit {
        known,
        source,
        groups,
        settled,
        readings: Readings::default(),
    };
    let mut refuted: BTreeSet<usize> = BTreeSet::new();
    let mut untold: BTreeSet<usize> = BTreeSet::new();
    for (at, judged) in audit.judge(sets)?.into_iter().enumerate() {
        let Some(mut judged) = judged else { continue };
        if at < mixed {
            // One mixture tells enough about a group, and the fewer switches it has, the more.
            judged.refuted.retain(|it| !refuted.contains(it));
            judged.untold.retain(|it| !untold.contains(it));
            judged = audit.shrunk(judged)?;
        }
        if judged.refuted.is_empty() && judged.untold.is_empty() {
            continue;
        }
        refuted.extend(&judged.refuted);
        untold.extend(&judged.untold);
        audit.take(judged.set, judged.objects);
    }
    Ok(refuted)
}

impl Audit<'_, '_> {
    /// Renders sets with and without the lists. `None` for a set with which the chart does not render; the answer is shorter than `sets` once
    /// the renders of audits are spent.
    fn judge(&mut self, sets: Vec<Vec<Switch>>) -> Result<Vec<Option<Judged>>> {
        let plain = self.source.render_all(&sets, RenderShare::Audit);
        let written = EditedTemplates::of(self.known, self.groups, &self.settled.lists);
        written.put(self.source)?;
        let with_lists = self
            .source
            .render_all(&sets[..plain.len()], RenderShare::Audit);
        written.take_back(self.source)?;
        let all = sets.into_iter().zip(plain).zip(with_lists);
        let judged = all.map(|((set, plain), with_lists)| {
            let taken = self.take(set, plain?);
            let number = self.known.sets.len() - 1;
            let listed = || self.settled.lists.keys().copied();
            let refuted = listed().filter(|at| !self.says(*at, number, with_lists.as_ref()));
            let refuted = refuted.collect();
            // A set with which a loop waits for something that no list says has to be told.
            let untold = listed().filter(|at| untold(self.known, &self.groups[*at], number));
            let untold = untold.collect();
            let (set, objects) = self.known.give_back(taken, self.groups)?;
            Some(Judged {
                set,
                objects,
                refuted,
                untold,
            })
        });
        Ok(judged.collect())
    }

    /// Whether the list of a group says with the last set, whose number is given, what the loops say.
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

    /// A set with as few of the switches as tell the same. The marks stay, because without them nothing tells how a list can name an address.
    fn shrunk(&mut self, mut judged: Judged) -> Result<Judged> {
        if judged.refuted.is_empty() && judged.untold.is_empty() {
            return Ok(judged);
        }
        for at in (0..judged.set.len()).rev() {
            let mut fewer = judged.set.clone();
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
            if let Some(found) = found.filter(|it| it.tells(&judged)) {
                judged = found;
            }
        }
        Ok(judged)
    }

    /// Takes a set of values with the objects that it renders. Returns how many waiting containers the set shows.
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

/// The containers of a group that a set shows.
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

/// Whether a container of the group waits with a set for something that no list says, and for more than an address of the user: a set with
/// fewer switches and with marks shows such an address.
fn untold(known: &Known<'_>, group: &Group, set: usize) -> bool {
    of_set(known, group, set).any(|seen| {
        let is_marked = |it: &&SeenContainer| {
            let marked = &known.sets[it.set];
            let mut plain = traces::without(marked);
            traces::follow(marked) && plain.all(|it| known.sets[set].contains(it))
        };
        let mut others = known.seen.iter().filter(|it| it.is_the_same(seen));
        let is_said = others.any(|it| it.is_listed() && is_marked(&it));
        has_rest(seen) && !is_said
    })
}
