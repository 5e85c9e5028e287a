//! Chooses the form of each entry by rendering: all forms of all waits are written into the templates at once, and each set of values tells
//! which of them name the target of the wait. Ways that write all entries alike are tried before, as their lists read better.

use super::budget::RenderShare;
use super::expected;
use super::forms::{self, ChosenForms, EntryForms, Names};
use super::known::{Group, Known};
use super::list::Listed;
use super::object::{ChartObject, text};
use super::outcome::ListEntry;
use super::settle::{self, EditedTemplates};
use super::source::ObjectSource;
use super::survey::SeenContainer;
use super::target::Target;
use super::tried;
use super::ways;
use anyhow::Result;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The forms that were chosen, and the waits `without` one, each as the numbers of its container and of the wait. `without` has only groups in
/// which another form was chosen, by the group's number.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) chosen: ChosenForms,
    pub(super) without: BTreeMap<usize, Vec<(usize, usize)>>,
}

/// The key of a wait, which is equal in all sets of values: the container's name, the number of its waits, and the number of the wait among
/// them. The number of waits tells the branches of the container apart.
type WaitKey = (String, usize, usize);

/// The texts to which forms were rendered, by the number of the form, the number of the set of values, and the name of the workload.
type Rendered = BTreeMap<(usize, usize, String), String>;

/// Renders all forms (template texts) of the entries of the groups with the numbers `open`, with the renders of `share`, and chooses a form for
/// each wait where one fits. Leaves out a group whose list cannot be written into a template.
pub(super) fn of(
    known: &Known<'_>,
    source: &mut ObjectSource,
    groups: &[Group],
    open: &[usize],
    share: RenderShare,
) -> Result<Choice> {
    let open = open.iter().copied();
    let open = open.filter(|at| ways::is_writable(known, &groups[*at]));
    let pools: Vec<Pool> = open.filter_map(|at| Pool::of(known, groups, at)).collect();
    let mut numbered: Vec<(usize, ListEntry)> = Vec::new();
    for pool in &pools {
        let forms = pool.forms.values().flatten();
        numbered.extend(forms.map(|it| (pool.group, it.clone())));
    }
    let sets: BTreeSet<usize> = pools.iter().flat_map(|it| it.sets.clone()).collect();
    let mut trial = Trial {
        known,
        source,
        groups,
        share,
        rendered: Rendered::new(),
    };
    let mut numbers: Vec<usize> = (0..numbered.len()).collect();
    for set in sets {
        trial.render(set, &numbered, &mut numbers)?;
    }
    let rendered = trial.rendered;
    let mut choice = Choice::default();
    let mut first = 0;
    for pool in &pools {
        pool.choose(known, &groups[pool.group], (first, &rendered), &mut choice);
        first += pool.forms.values().map(Vec::len).sum::<usize>();
    }
    Ok(choice)
}

/// Renders the forms of entries, which are template texts, in the templates of their workloads.
struct Trial<'t, 'k> {
    known: &'t Known<'k>,
    source: &'t mut ObjectSource,
    groups: &'t [Group],
    share: RenderShare,
    rendered: Rendered,
}

impl Trial<'_, '_> {
    /// Renders the forms with these numbers with one set of values. Where the chart does not render with them, the halves are tried; a form that
    /// alone breaks the chart is dropped from `numbers`. Does nothing once no render is left. `all` has each form with the number of its group.
    fn render(
        &mut self,
        set: usize,
        all: &[(usize, ListEntry)],
        numbers: &mut Vec<usize>,
    ) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let mut lists: BTreeMap<usize, Vec<Listed>> = BTreeMap::new();
        for number in numbers.iter() {
            let (group, entry) = &all[*number];
            lists.entry(*group).or_default().push(Listed {
                entry: ListEntry::new(format!("{number}={}", entry.text)),
                // An entry in a branch has a line of its own.
                within: vec![vec!["if true".to_owned()]],
            });
        }
        let written = EditedTemplates::of(self.known, self.groups, &lists);
        written.put(self.source)?;
        let values = std::slice::from_ref(&self.known.sets[set]);
        let found = self.source.render_all(values, self.share);
        written.take_back(self.source)?;
        match found.into_iter().next() {
            // No render is left.
            None => Ok(()),
            Some(Some(objects)) => {
                for object in objects.iter() {
                    self.take(set, object);
                }
                Ok(())
            }
            Some(None) if numbers.len() == 1 => {
                numbers.clear();
                Ok(())
            }
            Some(None) => {
                let mut half = numbers.split_off(numbers.len() / 2);
                self.render(set, all, numbers)?;
                self.render(set, all, &mut half)?;
                numbers.append(&mut half);
                Ok(())
            }
        }
    }

    /// Reads the rendered forms from the list of a rendered object, which has `NUMBER=FORM` as each entry, into `rendered`. Other lines are left out.
    fn take(&mut self, set: usize, object: &ChartObject) {
        let name = text(&object.value, "/metadata/name");
        let said = tried::said(&object.value).unwrap_or_default();
        for line in said.lines() {
            let line = line.trim_start_matches("- ");
            let form = line.split_once('=');
            let form = form.and_then(|(number, text)| Some((number.parse().ok()?, text)));
            if let Some((number, text)) = form {
                let key = (number, set, name.to_owned());
                self.rendered.insert(key, text.to_owned());
            }
        }
    }
}

/// A wait with a target, as one set of values shows it.
struct Shown<'k> {
    number: usize,
    seen: &'k SeenContainer,
    target: &'k Target,
}

/// The forms (template texts for an entry) of the waits of one workload, and the sets of values that tell them apart.
struct Pool {
    group: usize,
    forms: BTreeMap<WaitKey, Vec<ListEntry>>,
    sets: BTreeSet<usize>,
    /// The set in `sets` with an equal expected list, by the number of each set of values.
    like: BTreeMap<usize, usize>,
}

impl Pool {
    /// Collects the forms of the entries of the group number `at`; `None` where the group's template has no place for a list.
    fn of(known: &Known<'_>, groups: &[Group], at: usize) -> Option<Self> {
        let group = &groups[at];
        let root = ways::root_of(known, group)?;
        let mut names = Names::new();
        let mut forms: BTreeMap<WaitKey, Vec<ListEntry>> = BTreeMap::new();
        for (wait, Shown { seen, target, .. }) in waits(known, &group.seen) {
            let at = wait.2;
            let own = forms.entry(wait).or_default();
            let of_text = EntryForms::of(known, seen, at, target, root, &mut names).all(known);
            let of_variations = forms::of_variations(known, group, (seen, at), root);
            for form in of_text.into_iter().chain(of_variations) {
                let is_new = own.iter().all(|it| it.text != form.text);
                if is_new && !ways::is_made_up(&form.text) {
                    own.push(form);
                }
            }
        }
        let expected = expected::of(known, group);
        let shown = known.shown_in(group);
        let like = settle::alike(&expected, &shown);
        let mut sets: BTreeSet<usize> = like.values().copied().collect();
        let bases = sets.iter().filter_map(|it| known.varied.get(it));
        let bases: Vec<usize> = bases.copied().collect();
        sets.extend(bases);
        Some(Self {
            group: at,
            forms,
            sets,
            like,
        })
    }

    /// Adds the form of each wait to `choice`, by case: a set of values and its variations are one case. A wait that no form fits goes to `without`.
    /// Adds nothing for a group in which no form was chosen. `first` is the number of the pool's first form.
    fn choose(
        &self,
        known: &Known<'_>,
        group: &Group,
        (first, rendered): (usize, &Rendered),
        choice: &mut Choice,
    ) {
        let base = |set: usize| known.varied.get(&set).copied().unwrap_or(set);
        let mut number = first;
        let mut chosen = ChosenForms::new();
        let mut without = Vec::new();
        let mut by_wait: BTreeMap<WaitKey, Vec<Shown<'_>>> = BTreeMap::new();
        for (wait, shown) in waits(known, group.seen.iter().chain(&group.varied)) {
            by_wait.entry(wait).or_default().push(shown);
        }
        for (wait, forms) in &self.forms {
            let own = by_wait.remove(wait).unwrap_or_default();
            let mut cases: BTreeMap<usize, Vec<&Shown<'_>>> = BTreeMap::new();
            for shown in own.iter().filter(|it| self.sets.contains(&it.seen.set)) {
                cases.entry(base(shown.seen.set)).or_default().push(shown);
            }
            let by_case = by_case(known, (number, forms), rendered, &cases);
            number += forms.len();
            for shown in &own {
                let set = shown.seen.set;
                let like = self.like.get(&set).map(|it| base(*it));
                let mut case = [Some(base(set)), like].into_iter().flatten();
                let key = (shown.number, wait.2);
                match case.find_map(|it| by_case.get(&it)) {
                    Some(entry) if !known.varied.contains_key(&set) => {
                        chosen.insert(
                            key,
                            Listed {
                                entry: (*entry).clone(),
                                within: Vec::new(),
                            },
                        );
                    }
                    Some(_) => {}
                    None => without.push(key),
                }
            }
        }
        if !chosen.is_empty() {
            choice.chosen.extend(chosen);
            choice.without.insert(self.group, without);
        }
    }
}

/// The form of each case of a wait: the form that fits most cases counts for these, then the form that fits most of the other cases. A form that
/// fits a set and not a variation of it keeps a literal, so it counts for no case. A case that no form fits is left out. `first` is the number of
/// the first form.
fn by_case<'f>(
    known: &Known<'_>,
    (first, forms): (usize, &'f [ListEntry]),
    rendered: &Rendered,
    cases: &BTreeMap<usize, Vec<&Shown<'_>>>,
) -> BTreeMap<usize, &'f ListEntry> {
    let fits = |form: usize, it: &&Shown<'_>| {
        let name = &it.seen.workload.1;
        let is_it = |object: &&ChartObject| text(&object.value, "/metadata/name") == name;
        let object = known.objects(it.seen.set).iter().find(is_it);
        let text = rendered.get(&(first + form, it.seen.set, name.clone()));
        let both = text.zip(object);
        both.is_some_and(|(text, object)| {
            tried::mean_the_same(object, text, &it.target.plain().text)
        })
    };
    let is_stuck = |form: usize| {
        cases.values().any(|case| {
            let is_varied = |it: &&&Shown<'_>| known.varied.contains_key(&it.seen.set);
            let (varied, plain): (Vec<_>, Vec<_>) = case.iter().partition(is_varied);
            plain.iter().any(|it| fits(form, it)) && !varied.iter().all(|it| fits(form, it))
        })
    };
    let steady: Vec<usize> = (0..forms.len()).filter(|it| !is_stuck(*it)).collect();
    let mut by_case = BTreeMap::new();
    let mut open: BTreeSet<usize> = cases.keys().copied().collect();
    loop {
        let fitting = |form: usize| {
            let all = open.iter();
            let all = all.filter(|case| cases[case].iter().all(|it| fits(form, it)));
            all.copied().collect::<Vec<_>>()
        };
        let best = steady.iter().map(|form| (*form, fitting(*form)));
        let best = best.max_by_key(|(form, cases)| (cases.len(), Reverse(*form)));
        let Some((form, found)) = best.filter(|it| !it.1.is_empty()) else {
            return by_case;
        };
        for case in found {
            open.remove(&case);
            by_case.insert(case, &forms[form]);
        }
    }
}

/// The waits with a target of the containers with these numbers.
fn waits<'k>(
    known: &'k Known<'_>,
    numbers: impl IntoIterator<Item = &'k usize>,
) -> impl Iterator<Item = (WaitKey, Shown<'k>)> {
    let all = numbers.into_iter().map(|it| (*it, &known.seen[*it]));
    all.flat_map(|(number, seen)| {
        let found = seen.found.iter().enumerate();
        found.filter_map(move |(at, found)| {
            let target = found.target.as_ref().ok()?.as_ref()?;
            let wait = (seen.container.name.clone(), seen.found.len(), at);
            let shown = Shown {
                number,
                seen,
                target,
            };
            Some((wait, shown))
        })
    })
}
