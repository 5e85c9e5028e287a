//! Finds the conditions around a list that keep out the sets of values whose waits are unknown.

use super::{Group, Known};
use crate::suggest::switches::Switch;
use crate::suggest::texts::value_at;
use crate::suggest::traces;
use serde_json::Value;
use std::collections::BTreeSet;

/// The most conditions around a list that only keep out sets of values with which the waits are unknown.
const MOST_GUARDS: usize = 3;

impl Known<'_> {
    /// The switches that leave the waits of a group unknown: with such a switch the chart does not render, or was not rendered, the group's text or a
    /// helper of it reads the value, and no other set with the switch shows a wait of the group.
    pub(in crate::suggest) fn doubts(&self, group: &Group) -> Vec<&Switch> {
        let unrendered = (0..self.sets.len()).filter(|it| self.rendered[*it].is_none());
        // No user has the workload with a set with which its template is no YAML.
        let unrendered = unrendered.filter(|it| self.without_yaml.get(it) != Some(&group.source));
        let unrendered: Vec<usize> = unrendered.collect();
        if unrendered.is_empty() {
            return Vec::new();
        }
        let tried = self.tried(group);
        let waiting = group.seen.iter().map(|it| self.seen[*it].set).collect();
        let text = self.with_document(group, |_, it| Some(it.lines.join("\n")));
        let whole = || self.file(&group.source).map(|it| it.text.clone());
        let read = self.texts.reach(&text.or_else(whole).unwrap_or_default());
        let mut doubts: Vec<&Switch> = Vec::new();
        for switch in unrendered
            .into_iter()
            .filter_map(|set| self.doubt(set, &tried, &waiting))
        {
            if !doubts.contains(&switch) && read.contains(&switch.path) {
                doubts.push(switch);
            }
        }
        doubts
    }

    /// The conditions under which all waits of the group are known: none of the switches in [`Self::doubts`] holds. `None` where there are
    /// more conditions than [`MOST_GUARDS`], or where a condition cannot be written.
    pub(in crate::suggest) fn guards(&self, group: &Group, root: &str) -> Option<Vec<String>> {
        let doubts = self.doubts(group);
        let guards: Option<Vec<String>> = doubts.iter().map(|it| it.holds_not(root)).collect();
        guards.filter(|it| it.len() <= MOST_GUARDS)
    }

    /// The switch that leaves the waits of a workload unknown, because the set number `set` with this switch did not render. `None` where another set
    /// tells the waits, where the set has several switches that matter, and for a failed set that gives a value which the chart does not have.
    /// `tried` are the sets that show the workload, and `waiting` those that show it with a wait.
    fn doubt(&self, set: usize, tried: &[usize], waiting: &BTreeSet<usize>) -> Option<&Switch> {
        // The chart renders with the values of this set once marks give it a host, so the set leaves nothing unknown.
        let plain = |it: usize| traces::without(&self.sets[it]);
        let is_followed = |it: usize| traces::follow(&self.sets[it]) && plain(it).eq(plain(set));
        if (0..self.sets.len()).any(is_followed) {
            return None;
        }
        let switch = match self.sets[set].as_slice() {
            [switch] => switch,
            // The first switch alone brings the workload in sight, so the second one is in doubt.
            [base, switch] if self.is_there_with(base, tried) => switch,
            _ => return None,
        };
        // Another set with this switch tells the waits.
        if waiting.iter().any(|it| self.sets[*it].contains(switch)) {
            return None;
        }
        // The chart does not have this value, so nothing tells which texts the value may be.
        let own = value_at(&self.texts.values, &switch.path);
        if own.is_none_or(Value::is_null) && !self.untried.contains(&set) {
            return None;
        }
        Some(switch)
    }

    /// Whether a workload is rendered with one switch, and is not rendered with the chart's own values. `tried` are the sets that show the
    /// workload.
    fn is_there_with(&self, switch: &Switch, tried: &[usize]) -> bool {
        let is_it = |set: &usize| self.sets[*set] == std::slice::from_ref(switch);
        !tried.contains(&0) && tried.iter().any(is_it)
    }
}
