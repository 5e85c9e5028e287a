//! The sets of values that were tried, and the further sets to try, which the waits in them ask for.

mod crossed;
mod followed;

use super::found::Found;
use super::host_list::HostList;
use super::host_lists::{self, Forms};
use super::object::{ChartObject, ObjectList, own_pods, text};
use super::places;
use super::survey::{self, Readings, SeenContainer};
use super::switches::Switch;
use super::target::Form;
use super::tested;
use super::texts::Texts;
use super::traces;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most sets of values that are rendered once more with made-up addresses (marks) in a list.
const MOST_LISTS: usize = 16;

/// The sets of values that were tried, with the objects and the waiting containers that each renders.
pub(super) struct TriedSets<'f> {
    folder: &'f Path,
    texts: &'f Texts,
    pub(super) sets: Vec<Vec<Switch>>,
    pub(super) rendered: Vec<Option<ObjectList>>,
    pub(super) seen: Vec<SeenContainer>,
    /// The number of the set of values that each variation varies, by the number of the variation. A variation has other names and texts, and
    /// only shows whether a list follows them.
    pub(super) varied: BTreeMap<usize, usize>,
    /// The switches of values that templates compare with texts.
    pub(super) compared: Vec<Switch>,
    /// The switches that alone change neither workloads nor waits.
    pub(super) idle: Vec<Switch>,
    readings: Readings,
}

impl<'f> TriedSets<'f> {
    pub(super) fn of(folder: &'f Path, texts: &'f Texts) -> Self {
        Self {
            folder,
            texts,
            sets: Vec::new(),
            rendered: Vec::new(),
            seen: Vec::new(),
            varied: BTreeMap::new(),
            compared: Vec::new(),
            idle: Vec::new(),
            readings: Readings::default(),
        }
    }

    /// Adds a set of values with the objects that it renders, or with `None` where it does not render. Leaves out a set with the workloads and waits
    /// of the set number `other`, since one of the two is enough; if that is the chart's own, the switches are noted as idle. Also leaves out a set
    /// that does not render with a made-up text in place of those with which templates compare a value.
    pub(super) fn take(
        &mut self,
        switches: Vec<Switch>,
        objects: Option<ObjectList>,
        missing: &[String],
        other: usize,
    ) {
        // A chart may refuse a text that its templates do not know.
        if let (None, Some(refused)) = (&objects, switches.iter().find(|it| it.is_other())) {
            self.compared.retain(|it| it.path != refused.path);
            return;
        }
        let own = objects.as_deref().unwrap_or_default();
        let seen = self.seen_in(&switches, own, missing);
        if !self.sets.is_empty() && objects.is_some() && self.shows(other, own, &seen) {
            let idle = switches.into_iter().filter(|it| !it.is_other());
            self.idle.extend(idle.filter(|_| other == 0));
            return;
        }
        self.seen.extend(seen);
        self.sets.push(switches);
        self.rendered.push(objects);
    }

    /// Adds a variation (other names or texts) of the set number `base` with the objects that it renders, unless it changes names alone and a loop
    /// would never end with these. Returns whether the variation was added.
    pub(super) fn vary(
        &mut self,
        switches: Vec<Switch>,
        objects: ObjectList,
        missing: &[String],
        base: usize,
    ) -> bool {
        let seen = self.seen_in(&switches, &objects, missing);
        let mut varied = switches.iter().filter(|it| it.is_varied());
        if varied.all(Switch::is_name) && self.never_ends(base, &seen) {
            return false;
        }
        self.varied.insert(self.sets.len(), base);
        self.seen.extend(seen);
        self.sets.push(switches);
        self.rendered.push(Some(objects));
        true
    }

    /// Whether a loop waits with the set number `base` for an object, and with other names for none: the chart names the object in two ways,
    /// of which one does not follow, or a sub-chart that is not here would follow. Such names tell nothing about a list. `seen` are the
    /// containers with the other names.
    fn never_ends(&self, base: usize, seen: &[SeenContainer]) -> bool {
        let own = self.seen.iter().filter(|it| it.set == base);
        let own: Vec<&SeenContainer> = own.collect();
        // Whether the target is an object, and whether that object is rendered.
        let is_object = |it: &Found| match &it.target {
            Ok(Some(it)) => (matches!(it.form, Form::Object { .. }), it.object.is_some()),
            _ => (false, false),
        };
        let is_lost = |(own, other): (&&SeenContainer, &SeenContainer)| {
            let mut pairs = own.found.iter().zip(&other.found);
            let is_alike = own.source == other.source && own.found.len() == other.found.len();
            is_alike && pairs.any(|(own, other)| is_object(other) < is_object(own))
        };
        own.len() == seen.len() && own.iter().zip(seen).any(is_lost)
    }

    /// The waiting containers of the next set, which renders these objects. Left out are those of a chart in another folder, unless their text is in
    /// the chart's values.
    fn seen_in(
        &mut self,
        switches: &[Switch],
        objects: &[ChartObject],
        missing: &[String],
    ) -> Vec<SeenContainer> {
        let values = &self.texts.values;
        let readings = &mut self.readings;
        let set = self.sets.len();
        let mut seen = survey::of(readings, set, objects, missing, values, switches);
        // The chart cannot change a container of another folder, unless the container's text is in the chart's values.
        seen.retain(|it| {
            let is_file = self.texts.file(&self.folder.join(&it.source)).is_some();
            is_file || places::is_in_values(self.texts, &it.container)
        });
        seen
    }

    /// The names of the containers of which a wait was read.
    pub(super) fn waiting(&self) -> BTreeSet<&str> {
        let waiting = self.seen.iter().filter(|it| !it.found.is_empty());
        waiting.map(|it| it.container.name.as_str()).collect()
    }

    /// Whether the set number `set` renders these workloads with these waits.
    fn shows(&self, set: usize, objects: &[ChartObject], seen: &[SeenContainer]) -> bool {
        let waits = |it: &SeenContainer| {
            let found = it.found.iter().map(|it| {
                let target = it.target.clone();
                (it.what.clone(), target.map(|it| it.map(|it| it.plain())))
            });
            let container = it.container.name.clone();
            (it.workload.clone(), container, found.collect::<Vec<_>>())
        };
        let workloads = |objects: &[ChartObject]| {
            let all = objects.iter().filter(|it| own_pods(it).is_some());
            let named = all.map(|it| {
                let name = text(&it.value, "/metadata/name").to_owned();
                (it.source.clone(), name)
            });
            named.collect::<Vec<_>>()
        };
        let own = self.rendered[set].as_deref().unwrap_or_default();
        let own_seen = self.seen.iter().filter(|it| it.set == set);
        workloads(own) == workloads(objects) && own_seen.map(waits).eq(seen.iter().map(waits))
    }

    /// The sets of two switches to try, each with the number of the set that it extends. Each begins with a switch that renders a waiting
    /// workload, changes its waits, or takes it away.
    pub(super) fn pairs(&self) -> Vec<(usize, Vec<Switch>)> {
        let has = |set: usize, seen: &SeenContainer| {
            let own = self.rendered[set].as_deref().unwrap_or_default();
            own.iter()
                .any(|it| it.source == seen.source && it.value["kind"] == seen.workload.0)
        };
        // A set without any of the texts that a template knows brings no branch beside another switch.
        let is_single = |set: &usize| {
            let switches = &self.sets[*set];
            switches.len() == 1 && !switches[0].is_other()
        };
        let singles: Vec<usize> = (1..self.sets.len()).filter(is_single).collect();
        let brings = |set: usize| {
            let mut seen = self.seen.iter().filter(|it| it.set == set);
            seen.any(|it| !has(0, it))
        };
        let mut pairs = self.chains(&singles);
        pairs.extend(self.branches(0, &singles));
        for base in singles.iter().filter(|it| brings(**it)) {
            let own = &self.sets[*base];
            let others = singles.iter().map(|it| &self.sets[*it]);
            let others = others.filter(|it| it[0].path != own[0].path);
            pairs.extend(others.map(|it| (*base, [own.clone(), it.clone()].concat())));
        }
        pairs.extend(self.vanished(&singles));
        let mut once: Vec<(usize, Vec<Switch>)> = Vec::new();
        for pair in pairs {
            if once.iter().all(|it| it.1 != pair.1) {
                once.push(pair);
            }
        }
        once
    }

    /// The sets that render a waiting container or change its waits, each with a further switch that the container's text reads. Such a
    /// switch may change something only together with the first: the condition of a branch within another needs the outer condition, and
    /// that of an `else if` needs the first one to fail.
    fn chains(&self, singles: &[usize]) -> Vec<(usize, Vec<Switch>)> {
        let named = |seen: &SeenContainer| -> Vec<String> {
            let targets = seen.found.iter();
            let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
            targets.map(|it| it.plain().text).collect()
        };
        let own = self.seen.iter().filter(|it| it.set == 0);
        let own: Vec<&SeenContainer> = own.collect();
        let mut chains: Vec<(usize, Vec<Switch>)> = Vec::new();
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for seen in self.seen.iter().filter(|it| singles.contains(&it.set)) {
            let first = own.iter().find(|it| it.is_the_same(seen));
            if first.is_some_and(|it| named(it) == named(seen)) {
                continue;
            }
            // The switches that change the waits of this container are combined in [`Self::branches`].
            let keeps = |set: &&usize| {
                let mut same = self.seen.iter().filter(|it| it.set == **set);
                let is_kept = |first: &&SeenContainer| {
                    same.any(|it| it.is_the_same(seen) && named(it) == named(first))
                };
                first.is_none_or(is_kept)
            };
            let alone = singles.iter().filter(keeps);
            let alone = alone.flat_map(|it| &self.sets[*it]);
            let set = &self.sets[seen.set];
            let name = seen.container.name.as_str();
            let read = texts
                .entry(name)
                .or_insert_with(|| tested::read_by(self.texts, name));
            let is_read = |it: &&Switch| {
                let is_other = set.iter().all(|one| one.path != it.path);
                is_other && it.is_read_in(read)
            };
            for more in self.idle.iter().chain(alone).filter(is_read) {
                let pair = [set.as_slice(), std::slice::from_ref(more)].concat();
                if chains.iter().all(|it| it.1 != pair) {
                    chains.push((seen.set, pair));
                }
            }
        }
        chains
    }

    /// The sets of three switches to try, each with the number of the set that it extends: the branches of the workloads that one switch
    /// renders.
    pub(super) fn deeper(&self) -> Vec<(usize, Vec<Switch>)> {
        let singles = (1..self.sets.len()).filter(|set| self.sets[*set].len() == 1);
        let of_base = |base: usize| {
            let is_more = |set: &usize| {
                let own = &self.sets[*set];
                own.len() == 2 && own[0] == self.sets[base][0]
            };
            let more: Vec<usize> = (1..self.sets.len()).filter(is_more).collect();
            self.branches(base, &more)
        };
        singles.flat_map(of_base).collect()
    }

    /// The sets that have one switch more than the set `base` and in which a container waits for something new. Each comes with the switch
    /// of every other such set that changes the waits of the container: a database for several servers need not exist once another one is
    /// outside of the cluster.
    fn branches(&self, base: usize, sets: &[usize]) -> Vec<(usize, Vec<Switch>)> {
        // The targets of each container, by the number of the set.
        let mut targets: BTreeMap<(&Path, &str), BTreeMap<usize, Vec<String>>> = BTreeMap::new();
        let is_tried = |it: &&SeenContainer| it.set == base || sets.contains(&it.set);
        for seen in self.seen.iter().filter(is_tried) {
            let key = (seen.source.as_path(), seen.container.name.as_str());
            let named = seen.found.iter();
            let named = named.filter_map(|it| it.target.as_ref().ok()?.as_ref());
            let own = targets.entry(key).or_default();
            let own = own.entry(seen.set).or_default();
            own.extend(named.map(|it| it.plain().text));
        }
        let mut pairs: Vec<(usize, Vec<Switch>)> = Vec::new();
        for by_set in targets.values() {
            let Some(own) = by_set.get(&base).filter(|it| !it.is_empty()) else {
                continue;
            };
            let changes = |set: &&usize| by_set.get(*set) != Some(own);
            let is_new = |it: &String| !own.contains(it);
            for (set, found) in by_set.iter().filter(|it| *it.0 != base) {
                if !found.iter().any(is_new) {
                    continue;
                }
                let others = sets.iter().filter(changes);
                for other in others.filter_map(|it| self.sets[*it].last()) {
                    let mut pair = self.sets[*set].clone();
                    let is_other = pair.iter().all(|it| it.path != other.path);
                    pair.push(other.clone());
                    if is_other && pairs.iter().all(|it| it.1 != pair) {
                        pairs.push((*set, pair));
                    }
                }
            }
        }
        pairs
    }

    /// The sets in which containers may wait for the elements of a list, each with its number and with the switches that mark the list and
    /// the ports, once for each form of an element. A list is left out that would bring the sets above [`MOST_LISTS`].
    pub(super) fn lists(&self) -> Vec<(usize, Vec<Vec<Switch>>)> {
        let lists = host_lists::of(self.texts);
        if lists.is_empty() {
            return Vec::new();
        }
        let ports = traces::ports(self.texts, &self.waiting());
        let mut all = Vec::new();
        for Forms { forms, is_around } in lists {
            let sets = (0..self.sets.len()).filter(|set| self.may_list(*set, &forms, is_around));
            let sets: Vec<usize> = sets.collect();
            // A list that is marked in some of its sets alone would look as if the other sets' switches turned its waits off.
            if all.len() + sets.len() > MOST_LISTS {
                continue;
            }
            let with_ports = |it: &Switch| [std::slice::from_ref(it), &ports].concat();
            let forms: Vec<Vec<Switch>> = forms.iter().map(with_ports).collect();
            all.extend(sets.into_iter().map(|set| (set, forms.clone())));
        }
        all
    }

    /// Whether a container of a set may wait for the elements of a list, and nothing tells so yet.
    fn may_list(&self, set: usize, forms: &[Switch], is_around: bool) -> bool {
        if traces::follow(&self.sets[set]) || self.rendered[set].is_none() {
            return false;
        }
        let own = forms
            .iter()
            .filter_map(Switch::list)
            .flat_map(HostList::own);
        let own: Vec<&str> = own.collect();
        let mut seen = self.seen.iter().filter(|it| it.set == set);
        if own.is_empty() {
            // Without an element such a container is not there, or nothing tells what it waits for.
            let lacks = |it: &Found| it.target.is_err();
            let is_open = |it: &SeenContainer| it.found.is_empty() || it.found.iter().any(lacks);
            return is_around && set == 0 || seen.any(is_open);
        }
        let waits = |it: &Found| match &it.target {
            Ok(Some(target)) => {
                let is_of_values = target.form == (Form::Address { of_values: true });
                is_of_values && own.iter().any(|it| target.name.contains(it))
            }
            Ok(None) => false,
            Err(_) => own.iter().any(|own| it.what.contains(own)),
        };
        seen.any(|it| it.found.iter().any(waits))
    }

    /// Adds a set of values with made-up addresses (marks) in a list, if the target of a wait has a mark of the list, and each wait whose command has
    /// one also has one in its target. Returns whether this holds.
    pub(super) fn take_list(
        &mut self,
        switches: Vec<Switch>,
        objects: ObjectList,
        missing: &[String],
        base: usize,
    ) -> bool {
        let values = &self.texts.values;
        let seen = survey::of(&mut self.readings, 0, &objects, missing, values, &switches);
        let found = || seen.iter().flat_map(|it| &it.found);
        let marked = |it: &Found| traces::list_in(&it.what, &switches).is_some();
        let tells = |it: &Found| match &it.target {
            Ok(Some(target)) => traces::list_in(&target.name, &switches).is_some(),
            _ => false,
        };
        let fits = found().any(tells) && found().all(|it| !marked(it) || tells(it));
        if fits {
            self.take(switches, Some(objects), missing, base);
        }
        fits
    }
}
