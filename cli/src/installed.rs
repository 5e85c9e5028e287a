//! The cluster as the installed sluice sees it: by its settings, with its health rules and its memory. A kind that sluice may not
//! follow is hidden, even where the caller may read it; an object that the caller may not read is unknown.

use crate::installation::{Basis, Unseen};
use crate::reader::Reader;
use jiff::Timestamp;
use rules::cause::{Behind, Stuck};
use rules::definition::Declared;
use rules::gate::{self, Gate};
use rules::health;
use rules::holder::{Holder, Running, Wave};
use rules::judged::Judged;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::memory::{self, CompletedJob, Completing};
use rules::object;
use rules::scope::{self, Scope};
use rules::selector::Selector;
use rules::shards;
use rules::slots::Entry;
use rules::verdict::Search;
use rules::world::{Definitions, Hints, Objects, Pending, Remembered, Scopes, World, leaves_out};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The world of the rules, read from the cluster as the installed sluice would see it.
pub(crate) struct Installed<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) basis: &'a Basis,
    /// Whether the memory of passed revisions is left out: for a pod that has passed its gate, users want to know the state of its
    /// dependencies now.
    pub(crate) afresh: bool,
}

impl<'a> Installed<'a> {
    /// The world in which a question about a pod is judged: `afresh` if the pod has passed its gate.
    pub(crate) fn of_pod(reader: &'a Reader, basis: &'a Basis, pod: &Value) -> Self {
        let afresh = matches!(Gate::of(pod), Gate::Passed { .. });
        Self {
            reader,
            basis,
            afresh,
        }
    }

    /// Why sluice cannot follow a kind: it lacks the right, or the kind is not served, or that is not known yet; `None` where it can.
    pub(crate) fn withheld(&self, kind: &Kind) -> Option<Unavailable> {
        let plural = match kind {
            Kind::Builtin(builtin) => builtin.plural.to_owned(),
            Kind::Custom { .. } => match self.reader.plural(kind) {
                Lookup::Found(plural) => plural,
                Lookup::NotFound => return Some(Unavailable::NotServed),
                Lookup::Unavailable(why) => return Some(of_the_caller(why)),
            },
        };
        let may = self.basis.rights.may_follow(kind, &plural);
        (!may).then_some(Unavailable::Forbidden)
    }

    /// Reads a ConfigMap of sluice's memory or slots, in sluice's own namespace; `Hidden` where that namespace is unknown or the caller may not read
    /// it.
    fn noted(&self, name: &str) -> Lookup<Value> {
        let Some(namespace) = &self.basis.settings.namespace else {
            return Lookup::Unavailable(Unavailable::Hidden);
        };
        seen(
            self.reader
                .object(&Kind::Builtin(kinds::CONFIG_MAP), Some(namespace), name),
        )
    }

    /// The entries of all ConfigMaps of sluice's memory, as one ConfigMap. Where several hold an entry, the shard of `namespace` counts. One that
    /// cannot be read makes the whole memory unavailable; `NotFound` where none exists.
    fn remembered(&self, namespace: Option<&str>) -> Lookup<Value> {
        let names = self.basis.settings.memory();
        let (mut data, mut there) = (Map::new(), false);
        let own = namespace.map(shards::of);
        let others = (0..shards::COUNT).filter(|shard| Some(*shard) != own);
        for shard in others.chain(own) {
            match self.noted(&names[shard]) {
                Lookup::Found(mut stored) => {
                    there = true;
                    data.extend(
                        stored["data"]
                            .as_object_mut()
                            .map(std::mem::take)
                            .into_iter()
                            .flatten(),
                    );
                }
                Lookup::NotFound => {}
                Lookup::Unavailable(why) => return Lookup::Unavailable(why),
            }
        }
        if there {
            Lookup::Found(json!({"data": data}))
        } else {
            Lookup::NotFound
        }
    }

    /// The parts of the installation that the caller may not see, its memory too, each with the assumption in its place.
    pub(crate) fn unseen(&self) -> Vec<Unseen> {
        let mut unseen = self.basis.unseen.clone();
        // A sluice that is not there remembers nothing.
        if !self.basis.is_absent
            && self.remembered(None) == Lookup::Unavailable(Unavailable::Hidden)
        {
            let settings = &self.basis.settings;
            let home = settings.namespace.as_deref().unwrap_or("sluice-system");
            unseen.push(Unseen {
                part: Some("memory"),
                told: format!(
                    "cannot see what sluice remembers: judged as if no Job and no revision were remembered; that takes the right to get ConfigMap {} in namespace {home}",
                    settings.memory().join(", ")
                ),
            });
        }
        unseen
    }

    /// The pods of a namespace that the filter `wanted` lets through.
    fn pods(
        &self,
        namespace: &str,
        selector: &Selector,
        wanted: impl Fn(&Value) -> bool,
    ) -> Lookup<Vec<Value>> {
        let kind = Kind::Builtin(kinds::POD);
        self.list_where(&kind, Some(namespace), selector, &wanted)
    }
}

impl Objects for Installed<'_> {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        match self.withheld(kind) {
            Some(why) => Lookup::Unavailable(why),
            None => seen(self.reader.object(kind, namespace, name)),
        }
    }

    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        self.reader.whole(kind, object)
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        match self.withheld(kind) {
            Some(why) => Lookup::Unavailable(why),
            None => seen(self.reader.list(kind, namespace, selector)),
        }
    }

    fn list_where(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
        wanted: &dyn Fn(&Value) -> bool,
    ) -> Lookup<Vec<Value>> {
        match self.withheld(kind) {
            Some(why) => Lookup::Unavailable(why),
            None => seen(self.reader.list_where(kind, namespace, selector, wanted)),
        }
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        seen(self.reader.namespaced(kind))
    }
}

impl Scopes for Installed<'_> {
    /// The workloads, and the custom kinds that the administrator lets sluice watch, each once even if two words name it.
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        let mut all: Vec<Kind> = scope::workloads().collect();
        for kind in self.basis.rights.custom() {
            let kind = self.reader.canonical(kind);
            if !all.contains(&kind) {
                all.push(kind);
            }
        }
        Ok(all)
    }

    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        self.reader.canonical(one.clone()) == self.reader.canonical(other.clone())
    }

    fn is_granted(&self, kind: &Kind) -> bool {
        let granted = self.basis.rights.custom();
        granted.iter().any(|it| self.is_same(it, kind))
    }

    fn active(&self, scope: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        let (mut last, mut unread) = (None, None);
        // A pod comes and goes with its workload, and says nothing of the release.
        let outspoken = scope::outspoken().filter(|kind| !kind.is_pod());
        for kind in self.kinds()?.into_iter().chain(outspoken) {
            let is_ours = |it: &Value| Scope::of(it).as_ref() == Some(scope);
            let home = Some(scope.namespace.as_str());
            let ours = match self.list_where(&kind, home, &Selector::default(), &is_ours) {
                Lookup::Found(ours) => ours,
                Lookup::NotFound => continue,
                Lookup::Unavailable(why) if leaves_out(self, &kind, why) => continue,
                // The loop goes on, so that one round asks for all kinds.
                Lookup::Unavailable(why) => {
                    unread.get_or_insert(why);
                    continue;
                }
            };
            let installed = ours.iter().filter(|it| !scope::is_of_a_rollout(it));
            last = installed.filter_map(object::written).chain(last).max();
        }
        unread.map_or(Ok(last), Err)
    }

    fn pending(&self, scope: &Scope) -> Pending {
        let secrets = Kind::Builtin(kinds::SECRET);
        if !self.basis.settings.follows_releases {
            return Pending::NotFollowed;
        }
        let (namespace, records) = scope.pending_records();
        Pending::of(&self.list(&secrets, Some(namespace), &records))
    }

    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let kind = Kind::Builtin(kinds::CONFIG_MAP);
        self.list(&kind, Some(namespace), &Selector::label(keys::PLAN, "true"))
    }

    /// Answers `None`: one command watches nothing, so it sees no change.
    fn seen_to_change(&self, _: &Scope, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Remembered for Installed<'_> {
    fn slots(&self, wave: &Wave) -> Lookup<Running> {
        let shard = self.basis.settings.slots_of(&wave.scope.namespace);
        self.noted(&shard).map(|stored| Running {
            holders: holders(&stored, wave),
            trouble: None,
        })
    }

    fn completed_job(&self, what: Completing, namespace: &str, name: &str) -> Lookup<CompletedJob> {
        self.remembered(Some(namespace)).and_then(|stored| {
            let text = stored["data"][what.key(namespace, name)].as_str();
            text.and_then(memory::read).into()
        })
    }

    fn completed_jobs(
        &self,
        what: Completing,
        namespace: &str,
        selector: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        self.remembered(Some(namespace)).map(|stored| {
            let entries = stored["data"].as_object().into_iter().flatten();
            let texts = entries.filter_map(|(key, text)| Some((key.as_str(), text.as_str()?)));
            memory::selected(texts, (what, namespace), selector)
        })
    }

    fn has_passed(&self, revision: &str) -> Lookup<bool> {
        if self.afresh {
            return Lookup::Found(false);
        }
        let key = memory::passed_key(revision);
        self.remembered(None)
            .map(|stored| stored["data"][key].is_string())
    }

    /// Answers `None`: one command watches nothing, so it does not know since when an edge is satisfied.
    fn satisfied_since(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }

    /// Answers `None`: one command watches nothing, so it sees no recovery.
    fn recovered(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Definitions for Installed<'_> {
    fn declared(&self, kind: &Kind) -> Lookup<Declared> {
        seen(self.reader.declared(kind))
    }

    fn rule_reads_a_generation(&self, object: &Value) -> bool {
        let Basis {
            settings, rules, ..
        } = self.basis;
        health::reads_a_generation(rules, settings.builtin_rules, object)
    }

    fn health(&self, object: &Value, statusless: bool) -> Option<Judged> {
        let Basis {
            settings, rules, ..
        } = self.basis;
        health::judge(rules, settings.builtin_rules, object, statusless)
    }
}

impl Hints for Installed<'_> {
    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        self.pods(namespace, selector, |pod| pod["spec"]["nodeName"].is_null())
    }

    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        self.pods(namespace, selector, gate::is_gated)
    }

    fn slot_holders(&self, wave: &Wave) -> Option<Vec<Holder>> {
        match self.slots(wave) {
            Lookup::Found(running) => Some(running.holders),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    fn stuck(&self, behind: &Behind, now: Timestamp) -> Option<Stuck> {
        let home = Some(behind.namespace.as_str());
        let claims = Kind::Builtin(kinds::PERSISTENT_VOLUME_CLAIM);
        let claim = |name: &str| self.object(&claims, home, name);
        let mut search = Search::new(behind);
        while let Some(page) = search.asks() {
            let Lookup::Found(mut found) = self.list(&page.kind(), home, &behind.selector) else {
                break;
            };
            // sluice cuts its lists too.
            found.truncate(page.most.into());
            search.saw(page, &found, claim, self, now);
        }
        search.found()
    }
}

impl World for Installed<'_> {
    fn hints(&self) -> Option<&dyn Hints> {
        Some(self)
    }
}

/// Turns `Forbidden` into `Hidden`: the caller may not read the object, while sluice itself may.
fn seen<T>(found: Lookup<T>) -> Lookup<T> {
    match found {
        Lookup::Unavailable(why) => Lookup::Unavailable(of_the_caller(why)),
        known => known,
    }
}

fn of_the_caller(why: Unavailable) -> Unavailable {
    match why {
        Unavailable::Forbidden => Unavailable::Hidden,
        why => why,
    }
}

/// The holders of a wave's slots, read from the ConfigMap of the slots; none where it has no entry of the wave.
fn holders(stored: &Value, wave: &Wave) -> Vec<Holder> {
    let texts = stored["data"].as_object().into_iter().flatten();
    let entries = texts.filter_map(|(_, text)| serde_json::from_str::<Entry>(text.as_str()?).ok());
    let mut ours = entries.filter(|entry| entry.wave == *wave);
    ours.next().map(|entry| entry.holders).unwrap_or_default()
}
