//! Chooses the sets of values that are rendered once more with marks in the values of addresses.

use super::TriedSets;
use crate::suggest::found::Found;
use crate::suggest::reason::Reason;
use crate::suggest::survey::SeenContainer;
use crate::suggest::switches::{Switch, Tested};
use crate::suggest::target::Form;
use crate::suggest::tested;
use crate::suggest::traces;
use std::collections::BTreeSet;
use std::path::Path;

/// The most sets of values that are rendered once more with made-up addresses (marks) in one group of values, such as those of a database.
const MOST_FOLLOWED: usize = 16;

/// The most sets that do not render, or whose waits lack an address from the user, that are rendered once more with all marks at once.
const MOST_LACKING: usize = 12;

impl TriedSets<'_> {
    /// Whether a set of values does not render, or shows a container with a wait that lacks an address from the user, or that seems to wait and from
    /// which no wait could be read. `false` for the first set, the chart's own values.
    fn lacks_an_address(&self, set: usize) -> bool {
        let lacks = |it: &Found| {
            matches!(
                it.target,
                Err(Reason::NoValue(_) | Reason::NoHost(_) | Reason::Refused { .. })
            )
        };
        let mut seen = self.seen.iter().filter(|it| it.set == set);
        let lacks = |it: &SeenContainer| it.found.is_empty() || it.found.iter().any(lacks);
        set > 0 && (self.rendered[set].is_none() || seen.any(lacks))
    }

    /// The sets in which the user may have to give an address, each with made-up addresses (marks) in values that the waits read. The returned number
    /// counts the sets at the beginning that have marks in all such values at once; the others have them in one group of values.
    pub(in crate::suggest) fn followed(&self) -> (Vec<(usize, Vec<Switch>)>, usize) {
        // A chart may refuse a switch until it gets a host.
        let is_open = |set: &usize| {
            let mut seen = self.seen.iter().filter(|it| it.set == *set);
            self.rendered[*set].is_none() || seen.any(SeenContainer::is_open)
        };
        let open: Vec<usize> = (0..self.sets.len()).filter(is_open).collect();
        let groups = traces::groups(self.texts, &self.waiting());
        let with =
            |set: usize, group: &[Switch]| (set, [self.sets[set].as_slice(), group].concat());
        let with = &with;
        // The sets with all marks at once come first, because there may be more pairs of a set and a group than are tried.
        let joined = traces::joined(&groups);
        let lacking = open.iter().filter(|it| self.lacks_an_address(**it));
        let lacking = lacking.filter(|_| groups.len() > 1);
        let lacking = lacking.take(MOST_LACKING).map(|set| with(*set, &joined));
        let pairs = open.iter().flat_map(|set| {
            let groups = groups.iter();
            groups.map(|group| (*set, group.as_slice()))
        });
        let mut pairs: Vec<_> = pairs.collect();
        let mut once = BTreeSet::new();
        pairs.sort_by_cached_key(|(set, group)| !self.has_a_new_address(*set, group, &mut once));
        let pairs = pairs.into_iter().take(MOST_FOLLOWED);
        let mut all: Vec<_> = lacking.collect();
        let many = all.len();
        all.extend(pairs.map(|(set, group)| with(set, group)));
        for (set, group) in self.with_a_default(&groups) {
            let pair = with(set, group);
            if !all.contains(&pair) && all.len() < MOST_LACKING + MOST_FOLLOWED {
                all.push(pair);
            }
        }
        (all, many)
    }

    /// Whether a container waits with a set for an address that the values of `group` have, and `once` does not have the container with that
    /// address yet. Adds them to `once`.
    fn has_a_new_address<'s>(
        &'s self,
        set: usize,
        group: &[Switch],
        once: &mut BTreeSet<(&'s str, &'s str)>,
    ) -> bool {
        let is_own = |name: &str| {
            let own = group.iter().filter(|it| !traces::is_port(it));
            let mut own = own.filter_map(|it| match &it.tested {
                Tested::Follows { own } => Some(own.as_str()),
                _ => None,
            });
            own.any(|own| !own.is_empty() && name.contains(own))
        };
        let mut is_any = false;
        for seen in self.seen.iter().filter(|it| it.set == set) {
            for found in &seen.found {
                if let Ok(Some(target)) = &found.target
                    && target.form == (Form::Address { of_values: true })
                    && is_own(&target.name)
                {
                    is_any |= once.insert((&seen.container.name, &target.name));
                }
            }
        }
        is_any
    }

    /// The numbers of the sets with which a container waits, but for no address of the values. Each set comes with a group of marks, among
    /// them that of an address which the container reads and the chart's own values leave empty, as in
    /// `.Values.api.url | default (include "shop.api" .)`. The first such set of a container counts.
    fn with_a_default<'g>(&self, groups: &'g [Vec<Switch>]) -> Vec<(usize, &'g [Switch])> {
        let mut once: Vec<(&Path, &str)> = Vec::new();
        let mut found = Vec::new();
        for seen in self.seen.iter().filter(|it| !it.is_open()) {
            let name = seen.container.name.as_str();
            if once.contains(&(seen.source.as_path(), name)) {
                continue;
            }
            once.push((&seen.source, name));
            let read = tested::read_by(self.texts, name);
            let is_read = |it: &Switch| {
                let is_empty = matches!(&it.tested, Tested::Follows { own } if own.is_empty());
                is_empty && !traces::is_port(it) && it.is_read_in(&read)
            };
            let groups = groups.iter().filter(|it| it.iter().any(is_read));
            found.extend(groups.map(|it| (seen.set, it.as_slice())));
        }
        found
    }
}
