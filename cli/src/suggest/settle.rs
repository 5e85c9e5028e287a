//! Finds the dependency lists that mean the same as the wait loops of a chart. Each candidate is written into the copy of the chart's
//! folder, and the copy is rendered with every set of values.

use super::budget::RenderShare;
use super::diff::{self, Edit};
use super::expected::{self, Lists};
use super::known::{Group, Known};
use super::list::Listed;
use super::object::{ChartObject, text};
use super::render::AT_ONCE;
use super::source::ObjectSource;
use super::tried;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The lists that were found, by the number of their group (a workload in a template), and the groups for which no render was left to try a
/// list.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) lists: BTreeMap<usize, Vec<Listed>>,
    pub(super) late: BTreeSet<usize>,
    /// The variation of a set of values in which a list of a group says something else than the loops, by the number of the group.
    pub(super) varied: BTreeMap<usize, usize>,
}

impl Settled {
    /// Whether a group (a workload in a template) has its list, or no render was left to try one.
    pub(super) fn has(&self, group: usize) -> bool {
        self.lists.contains_key(&group) || self.late.contains(&group)
    }

    /// Adds the lists and the further outcomes that another run has found.
    pub(super) fn join(&mut self, other: Self) {
        self.lists.extend(other.lists);
        self.late.extend(other.late);
        self.varied.extend(other.varied);
    }
}

/// The outcome of one try, in which each of several groups has one list.
enum TryEnd {
    /// The numbers of the groups whose lists mean the same as their wait loops.
    Fitting(BTreeSet<usize>),
    /// The lists break the chart: a set of values does not render with them, and renders without them.
    Broken,
    /// No render was left for this try.
    Late,
}

/// Finds for each group the first of its lists that means the same as its wait loops. A group that still has lists when no render is left is
/// returned as late. `open` has the number of each group, and the lists to try for it, the best first; `share` has the renders for the tries.
pub(super) fn settle(
    known: &Known<'_>,
    source: &mut ObjectSource,
    groups: &[Group],
    mut open: Vec<(usize, Vec<Vec<Listed>>)>,
    share: RenderShare,
) -> Result<Settled> {
    let mut settled: BTreeMap<usize, Vec<Listed>> = BTreeMap::new();
    let mut trials = Trials::of(known, source, groups, open.iter().map(|it| it.0), share);
    let mut is_late = false;
    while !open.is_empty() && !is_late {
        let firsts = open.iter().map(|(at, ways)| (*at, ways[0].clone()));
        let firsts: BTreeMap<_, _> = firsts.collect();
        let all = || firsts.keys().copied();
        let doubtful: BTreeSet<usize> = all().filter(|it| trials.is_doubtful(*it)).collect();
        let (scope, numbers) = if doubtful.is_empty() {
            (TrialScope::All, all().collect())
        } else {
            (TrialScope::Telling, doubtful)
        };
        let now = settled.clone().into_iter().chain(firsts.clone());
        let end = trials.run(&now.collect(), numbers.clone(), scope)?;
        let mut fitting = BTreeSet::new();
        let ends = match end {
            TryEnd::Broken => {
                let tried = firsts.into_iter().filter(|it| numbers.contains(&it.0));
                trials.run_each(tried, scope)?
            }
            end => vec![end],
        };
        for end in ends {
            match end {
                TryEnd::Fitting(found) => fitting.extend(found),
                TryEnd::Broken => {}
                TryEnd::Late => is_late = true,
            }
        }
        let mut next = Vec::new();
        for (at, mut ways) in open {
            match (fitting.contains(&at), scope) {
                (true, TrialScope::All) => {
                    settled.insert(at, ways.swap_remove(0));
                    continue;
                }
                (true, TrialScope::Telling) => {}
                (false, _) if is_late || !numbers.contains(&at) => {}
                (false, _) => {
                    ways.remove(0);
                    trials.forget(at);
                }
            }
            if !ways.is_empty() {
                next.push((at, ways));
            }
        }
        open = next;
    }
    let late = open.into_iter().map(|(at, _)| at).collect();
    Ok(Settled {
        lists: settled,
        late,
        varied: trials.varied,
    })
}

/// The sets of values that one try renders.
#[derive(Debug, Clone, Copy)]
enum TrialScope {
    /// The sets that tell most about a list: the first set with each expected list, and the sets that an earlier list of the group did not fit.
    Telling,
    /// All sets of values.
    All,
}

/// The tries of lists. A try renders sets of values that show a workload of its groups; where it renders all sets, it renders each other set
/// once, too. A try ends as soon as none of its lists can be right any more.
struct Trials<'t, 'k> {
    known: &'t Known<'k>,
    source: &'t mut ObjectSource,
    groups: &'t [Group],
    /// The lists that the workloads of each group must carry in order to mean the same as their wait loops.
    expected: BTreeMap<usize, Lists>,
    /// The sets of values that render a workload of each group, by the number of the group.
    shown: BTreeMap<usize, Vec<usize>>,
    /// The sets of values of [`TrialScope::Telling`], by the number of the group.
    telling: BTreeMap<usize, BTreeSet<usize>>,
    /// The sets of values that the present list of each group fits, by the number of the group.
    fits: BTreeMap<usize, BTreeSet<usize>>,
    /// The renders that the tries may spend.
    share: RenderShare,
    /// The sets of values that a list did not fit. The next list with the same fault fails soonest with these.
    refuting: BTreeSet<usize>,
    /// The sets of values that were rendered with a list so far.
    rendered: BTreeSet<usize>,
    /// The variation of a set of values in which a list of a group says something else than the loops, by the number of the group.
    varied: BTreeMap<usize, usize>,
}

impl<'t, 'k> Trials<'t, 'k> {
    fn of(
        known: &'t Known<'k>,
        source: &'t mut ObjectSource,
        groups: &'t [Group],
        open: impl Iterator<Item = usize> + Clone,
        share: RenderShare,
    ) -> Self {
        let expected = open.clone();
        let expected = expected.map(|at| (at, expected::of(known, &groups[at])));
        let expected: BTreeMap<usize, Lists> = expected.collect();
        let shown = open.map(|at| (at, known.shown_in(&groups[at])));
        let shown: BTreeMap<usize, Vec<usize>> = shown.collect();
        let telling = shown
            .iter()
            .map(|(at, shown)| (*at, alike(&expected[at], shown).into_values().collect()));
        let telling = telling.collect();
        Self {
            known,
            source,
            groups,
            expected,
            shown,
            telling,
            fits: BTreeMap::new(),
            share,
            refuting: BTreeSet::new(),
            rendered: BTreeSet::new(),
            varied: BTreeMap::new(),
        }
    }

    /// Whether the present list of a group still has to be rendered with a set of values of [`TrialScope::Telling`].
    fn is_doubtful(&self, group: usize) -> bool {
        let fits = self.fits.get(&group);
        let mut telling = self.telling[&group].iter();
        telling.any(|it| fits.is_none_or(|fits| !fits.contains(it)))
    }

    /// Forgets which sets of values the present list of a group fits, because the next list is tried.
    fn forget(&mut self, group: usize) {
        self.fits.remove(&group);
    }

    /// Renders the folder with these lists in it, and then restores the templates. Only the lists of the groups with the numbers `open` are judged;
    /// the others stand in the templates, too.
    fn run(
        &mut self,
        lists: &BTreeMap<usize, Vec<Listed>>,
        open: BTreeSet<usize>,
        scope: TrialScope,
    ) -> Result<TryEnd> {
        let written = EditedTemplates::of(self.known, self.groups, lists);
        written.put(self.source)?;
        let end = self.rendered(open, scope);
        written.take_back(self.source)?;
        Ok(end)
    }

    /// Renders the folder with each of these lists alone, because together they do not render.
    fn run_each(
        &mut self,
        lists: impl Iterator<Item = (usize, Vec<Listed>)>,
        scope: TrialScope,
    ) -> Result<Vec<TryEnd>> {
        lists
            .map(|(at, list)| self.run(&BTreeMap::from([(at, list)]), BTreeSet::from([at]), scope))
            .collect()
    }

    fn rendered(&mut self, mut open: BTreeSet<usize>, scope: TrialScope) -> TryEnd {
        let known = self.known;
        // A set that does not render without lists tells nothing about a list, and a set beyond the limit of renders was never rendered.
        let sets = (0..known.sets.len()).filter(|it| known.rendered[*it].is_some());
        // A variation tells soonest that a list keeps a literal, so all of them come behind the first few sets.
        let (varied, mut sets): (Vec<usize>, Vec<usize>) =
            sets.partition(|it| known.varied.contains_key(it));
        let first = sets.len().min(AT_ONCE);
        sets.splice(first..first, varied).for_each(drop);
        sets.sort_by_key(|it| !self.refuting.contains(it));
        let mut sets = sets.into_iter();
        loop {
            let due = sets.by_ref().filter(|it| self.is_due(*it, &open, scope));
            let due: Vec<usize> = due.take(AT_ONCE).collect();
            if due.is_empty() {
                return TryEnd::Fitting(open);
            }
            let values: Vec<_> = due.iter().map(|it| known.sets[*it].clone()).collect();
            let found = self.source.render_all(&values, self.share);
            if found.len() < due.len() {
                return TryEnd::Late;
            }
            for (set, objects) in due.into_iter().zip(found) {
                let Some(objects) = objects else {
                    return TryEnd::Broken;
                };
                self.rendered.insert(set);
                let (fitting, others): (BTreeSet<usize>, BTreeSet<usize>) = open
                    .into_iter()
                    .partition(|at| self.holds(*at, set, &objects));
                for at in &fitting {
                    self.fits.entry(*at).or_default().insert(set);
                }
                open = fitting;
                if !others.is_empty() {
                    self.refuting.insert(set);
                }
                for at in others {
                    self.telling.entry(at).or_default().insert(set);
                    if known.varied.contains_key(&set) {
                        self.varied.insert(at, set);
                    }
                }
            }
        }
    }

    /// Whether a set of values still has to be rendered to judge the lists of these groups.
    fn is_due(&self, set: usize, open: &BTreeSet<usize>, scope: TrialScope) -> bool {
        let is_new = !self.rendered.contains(&set);
        let mut open = open.iter().filter(|at| {
            let is_known = self.fits.get(at).is_some_and(|it| it.contains(&set));
            !is_known && !self.groups[**at].forgotten.contains(&set)
        });
        match scope {
            TrialScope::Telling => open.any(|at| self.telling[at].contains(&set)),
            TrialScope::All => open.any(|at| is_new || self.shown[at].contains(&set)),
        }
    }

    /// Whether each rendered object of the group number `at` carries the list that means the same as the object's wait loops. A set of
    /// values that does not count for the group fits any list.
    fn holds(&self, at: usize, set: usize, objects: &[ChartObject]) -> bool {
        let (group, expected) = (&self.groups[at], &self.expected[&at]);
        all_fit(self.known, group, expected, (set, objects), tried::says)
    }
}

/// The first set of values in `shown` that expects equal lists of the group's workloads, by the number of each set in `shown`.
pub(super) fn alike(expected: &Lists, shown: &[usize]) -> BTreeMap<usize, usize> {
    let mut by_set: BTreeMap<usize, Vec<(&str, &[String])>> = BTreeMap::new();
    for ((set, name), list) in expected {
        by_set.entry(*set).or_default().push((name, list));
    }
    let mut firsts = BTreeMap::new();
    let sets = shown.iter().copied();
    sets.map(|set| (set, *firsts.entry(by_set.get(&set)).or_insert(set)))
        .collect()
}

/// Whether `fits` accepts each rendered object of a group, with the entries for which the object's loops wait. `objects` are those of the set
/// number `set`. A set of values that does not count for the group fits any list.
pub(super) fn all_fit(
    known: &Known<'_>,
    group: &Group,
    expected: &Lists,
    (set, objects): (usize, &[ChartObject]),
    fits: impl Fn(&ChartObject, &[String]) -> bool,
) -> bool {
    if group.forgotten.contains(&set) {
        return true;
    }
    let mut own = objects.iter().filter(|it| known.is_of(group, it));
    own.all(|object| {
        let name = text(&object.value, "/metadata/name").to_owned();
        let due = expected.get(&(set, name));
        fits(object, due.map_or(&[][..], Vec::as_slice))
    })
}

/// The templates with lists in them: the path of each, its own text, and its text with the lists.
pub(super) struct EditedTemplates<'k>(Vec<(&'k Path, &'k str, String)>);

impl<'k> EditedTemplates<'k> {
    pub(super) fn of(
        known: &'k Known<'_>,
        groups: &'k [Group],
        lists: &BTreeMap<usize, Vec<Listed>>,
    ) -> Self {
        let mut by_file: BTreeMap<&Path, Vec<Edit>> = BTreeMap::new();
        for (at, list) in lists {
            let group = &groups[*at];
            let edit = known.edit(group, list);
            by_file.entry(&group.source).or_default().extend(edit);
        }
        let files = by_file.into_iter().filter_map(|(path, edits)| {
            let own = known.file(path)?.text.as_str();
            Some((path, own, diff::applied(own, &edits)))
        });
        Self(files.collect())
    }

    /// Writes the templates into the copy of the folder.
    pub(super) fn put(&self, source: &mut ObjectSource) -> Result<()> {
        let mut files = self.0.iter();
        files.try_for_each(|(path, own, new)| source.put(path, new, own))
    }

    /// Writes the templates' own texts into the copy of the folder.
    pub(super) fn take_back(&self, source: &mut ObjectSource) -> Result<()> {
        let mut files = self.0.iter();
        files.try_for_each(|(path, own, _)| source.put(path, own, own))
    }
}
