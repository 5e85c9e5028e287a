//! A fake world for the tests of verdicts: a cluster that is a list of objects.

use super::*;
use crate::cause::{Behind, Stuck};
use crate::definition::Declared;
use crate::holder::{Holder, Running, Wave};
use crate::world::{Definitions, Hints, Objects, Remembered, Scopes};
use std::borrow::Cow;
use std::cell::RefCell;

/// The objects of a fake cluster, and the fixed answers to every other question that the rules may ask of a world.
pub(super) struct Cluster {
    pub(super) objects: Vec<Value>,
    pub(super) unavailable: Vec<(&'static str, Unavailable)>,
    /// The custom kinds that are looked for in scopes, each with the answer of [`Scopes::is_granted`].
    pub(super) custom: Vec<(Kind, bool)>,
    /// Why it is unknown which kinds are looked for in scopes; `None` where it is known.
    pub(super) kinds_unread: Option<Unavailable>,
    pub(super) active: Result<Option<Timestamp>, Unavailable>,
    /// When a watch last saw an object change without a trace in the object ([`Scopes::seen_to_change`]).
    pub(super) changed: Option<Timestamp>,
    pub(super) pending: Pending,
    /// The remembered Jobs, by the keys of the ConfigMap.
    pub(super) memory: BTreeMap<String, String>,
    /// Why the remembered Jobs are unknown; `None` where they are known.
    pub(super) forgotten: Option<Unavailable>,
    /// Whether a gate of every revision has opened before.
    pub(super) passed: bool,
    /// The answer of [`Remembered::satisfied_since`] for every satisfied edge.
    pub(super) seen: Option<Timestamp>,
    /// The value of `satisfied` in each call of [`Remembered::satisfied_since`].
    pub(super) noted: RefCell<Vec<bool>>,
    /// The answer of [`Remembered::recovered`] for every satisfied object.
    pub(super) recovered: Option<Timestamp>,
    /// The answer of [`Definitions::rule_reads_a_generation`] for every object.
    pub(super) rule_reads_a_generation: bool,
    /// The kinds of which a list was asked for, in the order of the questions.
    pub(super) asked: RefCell<Vec<Kind>>,
}

impl Cluster {
    pub(super) fn of(objects: Vec<Value>) -> Self {
        Self {
            objects,
            unavailable: Vec::new(),
            custom: Vec::new(),
            kinds_unread: None,
            active: Ok(None),
            changed: None,
            pending: Pending::NotFollowed,
            memory: remembered::one("gone", None),
            forgotten: None,
            passed: false,
            seen: None,
            noted: RefCell::default(),
            recovered: None,
            rule_reads_a_generation: false,
            asked: RefCell::default(),
        }
    }

    pub(super) fn pods_of(&self, namespace: &str) -> impl Iterator<Item = &Value> {
        let is_one =
            move |it: &&Value| it["kind"] == "Pod" && it["metadata"]["namespace"] == namespace;
        self.objects.iter().filter(is_one)
    }

    pub(super) fn usable(&self, kind: &Kind) -> Result<(), Unavailable> {
        let found = self
            .unavailable
            .iter()
            .find(|(word, _)| *word == kind.word());
        found.map_or(Ok(()), |(_, why)| Err(*why))
    }
}

/// Whether `kind` is the kind that an object spells `word`; a custom kind may also be spelt as its plural.
fn is_called(word: &str, kind: &Kind) -> bool {
    let lower = word.to_ascii_lowercase();
    let custom = matches!(kind, Kind::Custom { .. });
    let spellings = [format!("{lower}s"), lower];
    kind.word() == word || custom && spellings.iter().any(|it| it == kind.word())
}

impl Objects for Cluster {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        if let Err(why) = self.usable(kind) {
            return Lookup::Unavailable(why);
        }
        let fits = |object: &&Value| {
            let metadata = &object["metadata"];
            is_called(object["kind"].as_str().unwrap_or_default(), kind)
                && metadata["name"] == name
                && metadata["namespace"].as_str() == namespace
        };
        let home = (kind.word() == "Namespace" && name == "shop").then(home);
        let found = self.objects.iter().find(fits).cloned().or(home);
        found.map_or(Lookup::NotFound, Lookup::Found)
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        self.asked.borrow_mut().push(kind.clone());
        if let Err(why) = self.usable(kind) {
            return Lookup::Unavailable(why);
        }
        let fits = |object: &&Value| {
            is_called(object["kind"].as_str().unwrap_or_default(), kind)
                && namespace.is_none_or(|it| object["metadata"]["namespace"] == it)
                && selector.selects(object)
        };
        Lookup::Found(self.objects.iter().filter(fits).cloned().collect())
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        self.usable(kind).map_or_else(Lookup::Unavailable, |()| {
            Lookup::Found(kind.word() != "ClusterIssuer")
        })
    }
}

impl Scopes for Cluster {
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        let custom = self.custom.iter().map(|(kind, _)| kind.clone());
        let kinds = scope::workloads().chain(custom).collect();
        self.kinds_unread.map_or(Ok(kinds), Err)
    }

    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        one == other
            || one.group() == other.group()
                && (is_called(one.word(), other) || is_called(other.word(), one))
    }

    fn is_granted(&self, kind: &Kind) -> bool {
        self.custom
            .iter()
            .any(|(it, granted)| it == kind && *granted)
    }

    fn active(&self, _: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        self.active
    }

    fn seen_to_change(&self, _: &Scope, _: Timestamp) -> Option<Timestamp> {
        self.changed
    }

    fn pending(&self, _: &Scope) -> Pending {
        self.pending
    }

    /// The `ConfigMap`s, all of which are plans. Plans are watched by themselves, so a test that hides them says `plan`.
    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        if let Some((_, why)) = self.unavailable.iter().find(|(word, _)| *word == "plan") {
            return Lookup::Unavailable(*why);
        }
        let is_one =
            |it: &&Value| it["kind"] == "ConfigMap" && it["metadata"]["namespace"] == namespace;
        Lookup::Found(self.objects.iter().filter(is_one).cloned().collect())
    }
}

impl Remembered for Cluster {
    fn slots(&self, _: &Wave) -> Lookup<Running> {
        Lookup::Unavailable(Unavailable::Hidden)
    }

    fn completed_job(&self, what: Completing, namespace: &str, name: &str) -> Lookup<CompletedJob> {
        if let Some(why) = self.forgotten {
            return Lookup::Unavailable(why);
        }
        let entry = self.memory.get(&what.key(namespace, name));
        entry.and_then(|text| memory::read(text)).into()
    }

    fn completed_jobs(
        &self,
        what: Completing,
        namespace: &str,
        selector: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        if let Some(why) = self.forgotten {
            return Lookup::Unavailable(why);
        }
        let entries = self.memory.iter();
        let texts = entries.map(|(key, text)| (key.as_str(), text.as_str()));
        Lookup::Found(memory::selected(texts, (what, namespace), selector))
    }

    fn has_passed(&self, _: &str) -> Lookup<bool> {
        Lookup::Found(self.passed)
    }

    fn satisfied_since(&self, _: &str, satisfied: bool, _: Timestamp) -> Option<Timestamp> {
        self.noted.borrow_mut().push(satisfied);
        self.seen.filter(|_| satisfied)
    }

    fn recovered(&self, _: &str, satisfied: bool, _: Timestamp) -> Option<Timestamp> {
        self.recovered.filter(|_| satisfied)
    }
}

impl Definitions for Cluster {
    fn rule_reads_a_generation(&self, _: &Value) -> bool {
        self.rule_reads_a_generation
    }

    fn declared(&self, kind: &Kind) -> Lookup<Declared> {
        match kind.word() {
            "Pool" => Lookup::Found(Declared {
                status: true,
                ..Declared::default()
            }),
            _ => Lookup::NotFound,
        }
    }

    fn health(&self, _: &Value, _: bool) -> Option<Judged> {
        None
    }
}

impl Hints for Cluster {
    fn slot_holders(&self, _: &Wave) -> Option<Vec<Holder>> {
        None
    }

    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        let homeless = |pod: &&Value| pod["spec"]["nodeName"].is_null() && selector.selects(pod);
        Lookup::Found(self.pods_of(namespace).filter(homeless).cloned().collect())
    }

    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        let is_gated = |pod: &&Value| {
            pod["metadata"]["labels"]["sluice.dev/gated"] == "true" && selector.selects(pod)
        };
        Lookup::Found(self.pods_of(namespace).filter(is_gated).cloned().collect())
    }

    fn stuck(&self, behind: &Behind, now: Timestamp) -> Option<Stuck> {
        let home = Some(behind.namespace.as_str());
        let claims = Kind::Builtin(kinds::PERSISTENT_VOLUME_CLAIM);
        let claim = |name: &str| self.object(&claims, home, name);
        let mut search = Search::new(behind);
        while let Some(page) = search.asks() {
            let kind = page.kind();
            let things = match self.list(&kind, home, &behind.selector) {
                Lookup::Found(things) => things,
                Lookup::NotFound | Lookup::Unavailable(_) => break,
            };
            search.saw(page, &things, claim, self, now);
        }
        search.found()
    }
}

impl World for Cluster {
    fn hints(&self) -> Option<&dyn Hints> {
        Some(self)
    }
}
