//! Gives up the waits that no list can say, so that a workload gets a list for its other waits.

use super::{Group, Known};
use crate::suggest::candidates;
use crate::suggest::found::Found;
use crate::suggest::reason::Reason;
use crate::suggest::release::{self, RELEASE};
use crate::suggest::survey::SeenContainer;
use crate::suggest::target::{Form, Target};

/// A wait for which no entry is proposed, because no list can say it. The wait's loop stays in its container.
#[derive(Debug)]
pub(in crate::suggest) struct GivenUpWait {
    /// The number of the container in [`Known::seen`].
    container: usize,
    /// The number of the wait among those of the container.
    at: usize,
    /// The reason for which no list can say the wait.
    reason: Reason,
}

/// A wait of a container that a variation changes.
struct Changing {
    container: String,
    /// The number of the container's waits, which tells its branches apart.
    waits: usize,
    at: usize,
    reason: Reason,
}

/// The target of a wait; `None` for a wait that no list can say, or that is for another container of its own pod.
fn target(found: &Found) -> Option<&Target> {
    found.target.as_ref().ok()?.as_ref()
}

impl Known<'_> {
    /// Gives up waits: each gets its reason in place of its target. Returns whether `waits` has any.
    pub(in crate::suggest) fn give_up(&mut self, waits: Vec<GivenUpWait>) -> bool {
        let is_any = !waits.is_empty();
        for it in waits {
            if let Some(found) = self.seen[it.container].found.get_mut(it.at) {
                found.target = Err(it.reason);
            }
        }
        is_any
    }

    /// The waits of these groups whose address comes from values that no list can name, each in its set of values and in the variations of
    /// that set.
    pub(in crate::suggest) fn unwritable(&self, groups: &[&Group]) -> Vec<GivenUpWait> {
        let varied: Vec<usize> = groups.iter().flat_map(|it| it.varied.clone()).collect();
        let mut all = Vec::new();
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
                    let is_variation = |it: &&usize| {
                        let other = &self.seen[**it];
                        self.varied.get(&other.set) == Some(&seen.set)
                            && other.container.name == seen.container.name
                    };
                    let containers = varied.iter().filter(is_variation).chain([number]);
                    all.extend(containers.map(|it| GivenUpWait {
                        container: *it,
                        at,
                        reason: Reason::Address(target.name.clone()),
                    }));
                }
            }
        }
        all
    }

    /// The waits of a group whose targets change in the variation with the number `set`, and whose entries have no form with an action that
    /// could follow the change; each in all sets of values. Empty where the variation shows no other wait of the group, or `set` is no
    /// variation.
    pub(in crate::suggest) fn unfollowed(&self, group: &Group, set: usize) -> Vec<GivenUpWait> {
        let Some(base) = self.varied.get(&set).copied() else {
            return Vec::new();
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
        if !is_any_kept {
            return Vec::new();
        }
        let mut all = Vec::new();
        for number in group.seen.iter().chain(&group.varied) {
            let seen = &self.seen[*number];
            let own = left
                .iter()
                .filter(|it| it.container == seen.container.name && it.waits == seen.found.len());
            all.extend(own.map(|it| GivenUpWait {
                container: *number,
                at: it.at,
                reason: it.reason.clone(),
            }));
        }
        all
    }

    /// The waits of a group of which no form names the target. `waits` has the number of the container of each, and its own number there.
    pub(in crate::suggest) fn unformed(
        &self,
        group: &Group,
        waits: &[(usize, usize)],
    ) -> Vec<GivenUpWait> {
        let mut all = Vec::new();
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
            all.push(GivenUpWait {
                container: *number,
                at: *at,
                reason,
            });
        }
        all
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
