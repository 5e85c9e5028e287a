//! Chooses the sets of values that add a further switch where one switch takes a waiting container away, or changes its waits.

use super::TriedSets;
use crate::suggest::survey::SeenContainer;
use crate::suggest::switches::Switch;
use crate::suggest::tested;
use crate::suggest::traces;

/// The most sets that [`TriedSets::vanished`] asks for.
const MOST_VANISHED: usize = 12;

/// The entries for which a container waits.
fn named(seen: &SeenContainer) -> Vec<String> {
    let targets = seen.found.iter();
    let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
    targets.map(|it| it.plain().text).collect()
}

impl TriedSets<'_> {
    /// The sets without a container that waits with the chart's own values, each with a further switch that the container's text reads: the container
    /// may come back with it, and wait for something else. At most [`MOST_VANISHED`], those that turn a switch on first.
    pub(super) fn vanished(&self, singles: &[usize]) -> Vec<(usize, Vec<Switch>)> {
        let mut pairs: Vec<(usize, Vec<Switch>)> = Vec::new();
        let own = self.seen.iter().filter(|it| it.set == 0);
        for first in own.filter(|it| !named(it).is_empty()) {
            let is_there = |set: usize| {
                let mut seen = self.seen.iter().filter(|it| it.set == set);
                seen.any(|it| it.is_the_same(first))
            };
            let read = tested::read_by(self.texts, &first.container.name);
            let is_rendered = |set: usize| self.rendered[set].is_some();
            let without = singles
                .iter()
                .filter(|it| !is_there(**it) && is_rendered(**it));
            for set in without {
                let own = &self.sets[*set];
                let others = singles.iter().flat_map(|it| &self.sets[*it]);
                let is_read = |it: &&Switch| {
                    let is_other = own.iter().all(|one| one.path != it.path);
                    is_other && it.is_read_in(&read)
                };
                for more in self.idle.iter().chain(others).filter(is_read) {
                    let pair = [own.as_slice(), std::slice::from_ref(more)].concat();
                    if !pairs.contains(&(*set, pair.clone())) {
                        pairs.push((*set, pair));
                    }
                }
            }
        }
        // A switch that turns something on is the likeliest to bring the container back.
        pairs.sort_by_key(|it| it.1.last().is_none_or(|it| it.value != "true"));
        pairs.truncate(MOST_VANISHED);
        pairs
    }

    /// The sets in which a container waits for something else than without the last switch, or without made-up addresses (marks), each with a switch
    /// that alone changes the waits of the container, too. An entry of such a set may need the condition of that switch.
    pub(in crate::suggest) fn crossed(&self) -> Vec<(usize, Vec<Switch>)> {
        let mut crossed: Vec<(usize, Vec<Switch>)> = Vec::new();
        for seen in self.seen.iter().filter(|it| it.set > 0) {
            let set = self.sets[seen.set].as_slice();
            let is_marked = traces::follow(set);
            let plain: Vec<Switch> = traces::without(set).cloned().collect();
            let base = if is_marked {
                plain.as_slice()
            } else {
                &set[..set.len() - 1]
            };
            let own = self.named_in(base, seen);
            // Without marks, a set that does not show the container in its base tells nothing.
            let own = match own {
                Some(own) => own,
                None if is_marked => Vec::new(),
                None => continue,
            };
            if named(seen).iter().all(|it| own.contains(it)) {
                continue;
            }
            let at_first = self.named_in(&[], seen);
            for (number, other) in self.sets.iter().enumerate() {
                let (Some((more, before)), true) =
                    (other.split_last(), self.rendered[number].is_some())
                else {
                    continue;
                };
                let is_known = set.iter().any(|it| it.path == more.path);
                let without = if before == base {
                    Some(&own)
                } else if before.is_empty() {
                    at_first.as_ref()
                } else {
                    None
                };
                let (Some(without), false) = (without, more.follows() || is_known) else {
                    continue;
                };
                let pair = [set, std::slice::from_ref(more)].concat();
                let is_new = !self.sets.contains(&pair) && crossed.iter().all(|it| it.1 != pair);
                let changes = self.named_in(other, seen).is_none_or(|it| it != *without);
                if changes && is_new {
                    crossed.push((seen.set, pair));
                }
            }
        }
        crossed
    }

    /// The entries for which a container waits in a set of values; `None` where the set does not show the container.
    fn named_in(&self, set: &[Switch], container: &SeenContainer) -> Option<Vec<String>> {
        let number = self.sets.iter().position(|it| it == set)?;
        let mut seen = self.seen.iter().filter(|it| it.set == number);
        seen.find(|it| it.is_the_same(container)).map(named)
    }
}
