//! Gives up the waits that no list can say, so that a workload gets a list for its other waits.

use super::{Group, Known, WaitPlace};
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

/// A wait of a container whose target a variation, a set with other names and texts, changes.
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
    /// Gives up waits: each gets its reason in place of its target, now and in each set of values that an audit adds. Returns whether `waits`
    /// has any.
    pub(in crate::suggest) fn give_up(&mut self, waits: Vec<GivenUpWait>) -> bool {
        let is_any = !waits.is_empty();
        for it in waits {
            let seen = &mut self.seen[it.container];
            let Some(found) = seen.found.get_mut(it.at) else {
                continue;
            };
            let entry = target(found).map(|it| it.plain().text);
            found.target = Err(it.reason.clone());
            if let Some(entry) = entry {
                let key = (seen.source.clone(), seen.container.name.clone(), entry);
                self.given_up.insert(key, it.reason);
            }
        }
        is_any
    }

    /// Gives up those waits of a container of a further set that were given up in all other sets.
    pub(super) fn without_given_up(&self, mut seen: SeenContainer) -> SeenContainer {
        let (source, name) = (&seen.source, &seen.container.name);
        for found in &mut seen.found {
            let Some(entry) = target(found).map(|it| it.plain().text) else {
                continue;
            };
            let key = (source.clone(), name.clone(), entry);
            if let Some(reason) = self.given_up.get(&key).filter(|_| !self.keeps(&key)) {
                found.target = Err(reason.clone());
            }
        }
        seen
    }

    /// Whether a container of this template and name waits, in a set of values, for the thing with this rendered entry, and the wait was not
    /// given up there.
    fn keeps(&self, (source, container, entry): &WaitPlace) -> bool {
        let own = self.seen.iter();
        let mut own = own.filter(|it| it.source == *source && it.container.name == *container);
        own.any(|it| {
            let mut targets = it.found.iter().filter_map(target);
            targets.any(|it| it.plain().text == *entry)
        })
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

    /// The waits of a workload whose target no template text names in each case, each with the reason why it is given up. `waits` has the number of
    /// the container of each, and its own number there; one without a target is left out.
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

    /// Whether a form of the entry has an action that may follow a value or a name, other than `.Release.Name` alone.
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
