//! Gives up the waits whose targets change with values and names that no entry follows.

use super::{Group, Known};
use crate::suggest::candidates;
use crate::suggest::found::Found;
use crate::suggest::reason::Reason;
use crate::suggest::release::{self, RELEASE};
use crate::suggest::survey::SeenContainer;
use crate::suggest::target::{Form, Target};

/// A wait of a container to give up.
struct Changing {
    container: String,
    /// The number of the container's waits, which tells its branches apart.
    waits: usize,
    at: usize,
    reason: Reason,
}

/// The target of a wait; `None` for a wait that no list can say.
fn target(found: &Found) -> Option<&Target> {
    found.target.as_ref().ok()?.as_ref()
}

impl Known<'_> {
    /// Gives up the waits of these groups whose address comes from values that no list can name, so that the workload gets a list for its
    /// other waits. Returns whether there is such a wait.
    pub(in crate::suggest) fn leave_unwritable(&mut self, groups: &[&Group]) -> bool {
        let mut left = Vec::new();
        for number in groups.iter().flat_map(|it| &it.seen) {
            let seen = &self.seen[*number];
            for (at, found) in seen.found.iter().enumerate() {
                let Ok(Some(target)) = &found.target else {
                    continue;
                };
                let is_of_values = target.form == (Form::Address { of_values: true });
                // A list with the port as the container's text computes it was tried before, and did not mean the same as the loop.
                let followed = || self.followed(seen, at, "");
                let is_unwritten =
                    || followed().is_none_or(|it| self.is_port_open(seen, at, &it.text));
                if is_of_values && is_unwritten() && self.as_address(seen, at, true).is_none() {
                    left.push((*number, at, Reason::Address(target.name.clone())));
                }
            }
        }
        let is_any = !left.is_empty();
        let varied: Vec<usize> = groups.iter().flat_map(|it| it.varied.clone()).collect();
        for (number, at, reason) in left {
            let (set, container) = (
                self.seen[number].set,
                self.seen[number].container.name.clone(),
            );
            let is_variation = |it: &&usize| {
                let seen = &self.seen[**it];
                self.varied.get(&seen.set) == Some(&set) && seen.container.name == container
            };
            let all: Vec<usize> = varied.iter().filter(is_variation).copied().collect();
            for found in all.into_iter().chain([number]) {
                if let Some(found) = self.seen[found].found.get_mut(at) {
                    found.target = Err(reason.clone());
                }
            }
        }
        is_any
    }

    /// Gives up the waits of a group that a variation of a set changes and of which no form of the entry has an action that could follow,
    /// so that the workload gets a list for its other waits. Returns whether there is such a wait, and whether another one is kept.
    pub(in crate::suggest) fn leave_changing(&mut self, group: &Group, set: usize) -> bool {
        let Some(base) = self.varied.get(&set).copied() else {
            return false;
        };
        let mut left: Vec<Changing> = Vec::new();
        let mut is_any_kept = false;
        for number in &group.varied {
            let seen = &self.seen[*number];
            let own = group.seen.iter().map(|it| &self.seen[*it]);
            let mut own = own.filter(|it| {
                let is_same = it.container.name == seen.container.name;
                is_same && it.set == base && it.found.len() == seen.found.len()
            });
            let (Some(own), true) = (own.next(), seen.set == set) else {
                continue;
            };
            for (at, (before, now)) in own.found.iter().zip(&seen.found).enumerate() {
                let Some(before) = target(before) else {
                    continue;
                };
                let text = before.plain().text;
                let now = target(now).map(|it| it.plain().text);
                let now = now.map(|it| it.replace(self.release(set), RELEASE));
                if now.as_ref() == Some(&text) || self.may_follow(own, at, before) {
                    is_any_kept = true;
                    continue;
                }
                let reason = Reason::Varied {
                    entry: release::shown(&text),
                    values: self.changing(group, set),
                };
                left.push(Changing {
                    container: own.container.name.clone(),
                    waits: own.found.len(),
                    at,
                    reason,
                });
            }
        }
        if left.is_empty() || !is_any_kept {
            return false;
        }
        for number in group.seen.iter().chain(&group.varied) {
            let seen = &mut self.seen[*number];
            for it in &left {
                if it.container == seen.container.name && it.waits == seen.found.len() {
                    seen.found[it.at].target = Err(it.reason.clone());
                }
            }
        }
        true
    }

    /// Gives up the waits of a group of which no form names the target: each has the number of its container, and its own number there. Returns
    /// whether there is such a wait.
    pub(in crate::suggest) fn leave_unformed(
        &mut self,
        group: &Group,
        waits: &[(usize, usize)],
    ) -> bool {
        let mut left = Vec::new();
        for (number, at) in waits {
            let seen = &self.seen[*number];
            let Some(target) = seen.found.get(*at).and_then(target) else {
                continue;
            };
            let entry = release::shown(&target.plain().text);
            let mut variations = self.varied.iter().filter(|it| *it.1 == seen.set);
            let reason = match variations.next() {
                _ if target.form == (Form::Address { of_values: true }) => {
                    Reason::Address(target.name.clone())
                }
                Some((variation, _)) => Reason::Varied {
                    entry,
                    values: self.changing(group, *variation),
                },
                None => Reason::Untrue(entry),
            };
            left.push((*number, *at, reason));
        }
        let is_any = !left.is_empty();
        for (number, at, reason) in left {
            self.seen[number].found[at].target = Err(reason);
        }
        is_any
    }

    /// Whether a form of the entry has an action that may follow a value or a name.
    fn may_follow(&self, seen: &SeenContainer, at: usize, target: &Target) -> bool {
        let objects = self.objects(seen.set);
        let names = candidates::names(self.texts, self.folder, objects, target);
        let texts = [
            self.as_written(seen, at),
            self.as_address(seen, at, false),
            self.written(seen, at, "").map(|it| it.text),
            candidates::by_helper(self.texts, target, ".").map(|it| it.text),
            names.into_iter().next().map(|it| it.text),
        ];
        let follows = |it: String| it.replace("{{ .Release.Name }}", "").contains("{{");
        texts.into_iter().flatten().any(follows)
    }
}
