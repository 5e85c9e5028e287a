//! Finds objects of the input by name, kind, label, part and wave, as an entry of a list means them.

use super::object::Object;
use rules::dependency::{ObjectRef, Part, Parts, Selection};
use rules::dependent::{Unknown, Wait};
use rules::keys;
use rules::kinds::{self, Kind};
use rules::ordinals;
use rules::scope::{self, Scope};
use rules::selector::Selector;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The objects of the input, and the waits between them.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub(crate) objects: &'a [Object],
    /// The indexes of the objects of a kind, a namespace and a name: several where several sources have one.
    named: HashMap<(&'a Kind, &'a str, &'a str), Vec<usize>>,
    of_kind: HashMap<&'a Kind, Vec<usize>>,
    /// The objects with pods, by namespace and a label of the pods.
    labelled: HashMap<(&'a str, &'a str, &'a str), Vec<usize>>,
    /// The objects that count for parts and waves, by namespace.
    counted: HashMap<&'a str, Vec<usize>>,
    /// The wave of each object, by the object's index; `None` for an object that is in no wave.
    pub(crate) waves: Vec<Option<i64>>,
    /// The objects of each scope by their wave.
    of_scope: HashMap<&'a Scope, BTreeMap<i64, Vec<usize>>>,
    /// Namespaces in which every pod is gated.
    injected: HashSet<&'a str>,
    /// The waits of each object, by the object's index.
    pub(crate) lists: Vec<Vec<Wait>>,
    /// The fault of the list or the plan of each object, by the object's index; `None` where both can be read.
    pub(crate) unreadable: Vec<Option<UnreadText>>,
}

/// A text of an object, or of its plan, that cannot be read.
#[derive(Debug)]
pub(crate) struct UnreadText {
    pub(crate) why: Unknown,
    /// Whether the object's gates wait until the text is corrected. They do not where its annotations ask for no gate, such as
    /// where the only one is a misspelt key.
    pub(crate) waits: bool,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(objects: &'a [Object]) -> Self {
        let mut graph = Self {
            objects,
            named: HashMap::new(),
            of_kind: HashMap::new(),
            labelled: HashMap::new(),
            counted: HashMap::new(),
            waves: objects.iter().map(Object::wave).collect(),
            of_scope: HashMap::new(),
            injected: HashSet::new(),
            lists: Vec::new(),
            unreadable: Vec::new(),
        };
        for (at, object) in objects.iter().enumerate() {
            for (key, value) in labels(object) {
                let same = graph.labelled.entry((object.namespace(), key, value));
                same.or_default().push(at);
            }
            if let Some(kind) = &object.kind {
                let name = (kind, object.namespace(), object.place.name.as_str());
                graph.named.entry(name).or_default().push(at);
                graph.of_kind.entry(kind).or_default().push(at);
            }
            if object.is_counted() {
                let same = graph.counted.entry(object.namespace());
                same.or_default().push(at);
            }
            if let (Some(scope), Some(wave)) = (&object.scope, graph.waves[at]) {
                let waves = graph.of_scope.entry(scope).or_default();
                waves.entry(wave).or_default().push(at);
            }
            if object.word() == "Namespace"
                && object.label(keys::INJECT) == Some(keys::INJECT_VALUE)
            {
                graph.injected.insert(&object.place.name);
            }
        }
        (graph.lists, graph.unreadable) = graph.waits().into_iter().unzip();
        graph
    }

    /// Whether the gates of an object wait for a list or a plan that can be read.
    pub(crate) fn waits_for_a_text(&self, at: usize) -> bool {
        self.unreadable[at].as_ref().is_some_and(|it| it.waits)
    }

    /// Whether admission puts a gate into the pods of an object. Every pod of a plan's namespace has one, because a plan needs
    /// such a namespace.
    pub(crate) fn is_gated(&self, at: usize) -> bool {
        let object = &self.objects[at];
        object.is_dependent()
            && (object.asks_for_a_gate() || self.injected.contains(object.namespace()))
    }

    /// The index of the object that an entry of the dependent `from` names; for a pod that a StatefulSet makes, that of the set. `None` where the input
    /// has no such object.
    pub(crate) fn find(&self, from: usize, to: &ObjectRef) -> Option<usize> {
        let namespace = self.namespace(from, to.namespace.as_ref());
        let found = |namespace: &str| {
            let named = self.named.get(&(&to.kind, namespace, to.name.as_str()));
            let named = named.and_then(|same| self.nearest_of(from, same));
            let is_it = |at: &usize| {
                let object = &self.objects[*at];
                object.namespace() == namespace && object.place.name == to.name
            };
            let by_kind = || self.of_kind(&to.kind).into_iter().find(is_it);
            named.or_else(by_kind)
        };
        // A cluster-scoped object has no namespace.
        let alone = || found("").filter(|at| self.is_cluster_scoped(*at));
        let set = || {
            let (set, ordinal) = self.set_of(from, to)?;
            ordinals::made_by(&self.objects[set].value)
                .contains(&ordinal)
                .then_some(set)
        };
        found(namespace).or_else(alone).or_else(set)
    }

    /// The index of the StatefulSet that a pod of this name would be of, and the ordinal that the pod would have, even beyond the replicas; `None` where
    /// there is no such set.
    pub(crate) fn set_of(&self, from: usize, pod: &ObjectRef) -> Option<(usize, u64)> {
        let (name, ordinal) = ordinals::of(&pod.name).filter(|_| pod.kind.is_pod())?;
        let namespace = self.namespace(from, pod.namespace.as_ref());
        let kind = Kind::Builtin(kinds::STATEFUL_SET);
        let same = self.named.get(&(&kind, namespace, name))?;
        Some((self.nearest_of(from, same)?, ordinal))
    }

    /// The object among several with one name that is of the same source as `from`; else the last one, which counts in a cluster.
    fn nearest_of(&self, from: usize, same: &[usize]) -> Option<usize> {
        let mut own = same.iter().filter(|at| self.is_beside(from, **at));
        own.next_back().or(same.last()).copied()
    }

    /// Whether two objects were read from one source: a file, a chart or a kustomization.
    fn is_beside(&self, from: usize, at: usize) -> bool {
        self.objects[from].place.file == self.objects[at].place.file
    }

    /// Whether the object `at` is a counterpart from another chart or kustomization, such as the overlay for another cluster: the source of `from`
    /// has an object of equal kind, namespace and name itself.
    pub(super) fn is_twin(&self, from: usize, at: usize) -> bool {
        let object = &self.objects[at];
        if !object.rendered || self.is_beside(from, at) {
            return false;
        }
        let same = object.kind.as_ref().and_then(|kind| {
            let name = (kind, object.namespace(), object.place.name.as_str());
            self.named.get(&name)
        });
        same.is_some_and(|same| same.iter().any(|at| self.is_beside(from, *at)))
    }

    fn is_cluster_scoped(&self, at: usize) -> bool {
        match &self.objects[at].kind {
            Some(Kind::Builtin(builtin)) => !builtin.namespaced,
            _ => self.objects[at].namespace().is_empty(),
        }
    }

    /// The objects of a kind, in any of its spellings: `certificates.cert-manager.io`.
    fn of_kind(&self, kind: &Kind) -> Vec<usize> {
        if let Kind::Builtin(_) = kind {
            return self.of_kind.get(kind).cloned().unwrap_or_default();
        }
        let meant = self.of_kind.iter().filter(|(it, _)| means(kind, it));
        let mut found: Vec<usize> = meant.flat_map(|(_, objects)| objects).copied().collect();
        found.sort_unstable();
        found
    }

    fn namespace<'n>(&'n self, from: usize, written: Option<&'n String>) -> &'n str {
        written.map_or(self.objects[from].namespace(), String::as_str)
    }

    /// Whether an object may be in the namespace that `from` means: an object without a namespace may be put into any.
    pub(crate) fn may_mean(&self, from: usize, written: Option<&String>, object: &Object) -> bool {
        let (meant, own) = (self.namespace(from, written), object.namespace());
        meant == own || meant.is_empty() || own.is_empty()
    }

    /// Whether two objects are installed together: they are of one release or of one rendered chart, or one of them names no release, as a hook, on
    /// which Helm writes none.
    pub(crate) fn is_of_one_release(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|at| &self.objects[at]);
        let of_one_chart = one.rendered && other.rendered && one.place.file == other.place.file;
        match (&one.scope, &other.scope) {
            (Some(own), Some(theirs)) if !of_one_chart => own.is_of_release(theirs),
            _ => true,
        }
    }

    /// The object of the kind Namespace with this name, the last of several; `None` where the input has none.
    pub(crate) fn namespace_object(&self, name: &str) -> Option<&'a Object> {
        let kind = Kind::Builtin(kinds::NAMESPACE);
        let at = self.named.get(&(&kind, "", name))?.last()?;
        Some(&self.objects[*at])
    }

    pub(crate) fn selected(&self, from: usize, selection: &Selection) -> Vec<usize> {
        let namespace = self.namespace(from, selection.namespace.as_ref());
        let mut found = self.of_kind(&selection.kind);
        found.retain(|at| {
            let object = &self.objects[*at];
            object.namespace() == namespace
                && selection.selector.selects(&object.value)
                && !self.is_twin(from, *at)
        });
        found
    }

    /// The objects of a part, for the dependent `from`: of its own scope, or of a release that it names, in its namespace or the one that it names.
    /// Neither the object itself nor a hook is among them. Empty for a sub-chart where the dependent is in no scope.
    pub(crate) fn part(&self, from: usize, parts: &Parts) -> Vec<usize> {
        let own = self.objects[from].scope.as_ref();
        if matches!(parts.part, Part::SubChart(_)) && own.is_none() {
            return Vec::new();
        }
        let is_of_scope = |object: &Object| parts.is_of(own, object.scope.as_ref());
        let namespace = self.namespace(from, parts.namespace.as_ref());
        let counted = self.counted.get(namespace).into_iter().flatten();
        let mut found: Vec<usize> = counted
            .copied()
            .filter(|at| {
                let object = &self.objects[*at];
                *at != from
                    && is_of_scope(object)
                    && parts.part.may_hold(&object.value)
                    && !self.is_twin(from, *at)
            })
            .collect();
        found.retain(|at| !scope::is_hook(&self.objects[*at].value));
        let part = &parts.part;
        Part::narrow(&mut found, |at| {
            part.holds_exactly(&self.objects[*at].value)
        });
        found
    }

    /// The other namespaces in which the release of `from` has objects of a sub-chart; none where it has some in its own namespace.
    pub(crate) fn elsewhere(&self, from: usize, part: &Part) -> Vec<String> {
        let within = |namespace: Option<&str>| Parts {
            part: part.clone(),
            namespace: namespace.map(str::to_owned),
            min: None,
        };
        if !self.part(from, &within(None)).is_empty() {
            return Vec::new();
        }
        let mut namespaces: Vec<&str> = self.counted.keys().copied().collect();
        namespaces.sort_unstable();
        let holds = |namespace: &&str| !self.part(from, &within(Some(namespace))).is_empty();
        let found = namespaces.into_iter().filter(holds);
        found.map(str::to_owned).collect()
    }

    /// The objects of a scope that weigh less than `below`, the heaviest first.
    pub(super) fn lighter(&self, scope: &Scope, below: i64) -> impl Iterator<Item = usize> {
        let waves = self.of_scope.get(scope).into_iter();
        let lighter = waves.flat_map(move |waves| waves.range(..below).rev());
        lighter.flat_map(|(_, objects)| objects.iter().copied())
    }

    /// The objects whose pods a Service selects; `None` where it has no selector.
    pub(crate) fn backends(&self, service: usize) -> Option<Vec<usize>> {
        let object = &self.objects[service];
        let selector = Selector::labels(object.value.pointer("/spec/selector")?);
        let (key, value) = selector.indexable()?;
        let same = self.labelled.get(&(object.namespace(), key, value));
        let selected = |at: &usize| {
            let pods = self.objects[*at].template();
            pods.is_some_and(|pods| selector.selects(pods)) && !self.is_twin(service, *at)
        };
        Some(
            same.into_iter()
                .flatten()
                .copied()
                .filter(selected)
                .collect(),
        )
    }
}

/// The labels of the pods that an object is or makes.
fn labels(object: &Object) -> impl Iterator<Item = (&str, &str)> {
    let labels = object
        .template()
        .and_then(|template| template.pointer("/metadata/labels")?.as_object());
    let labels = labels.into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// Whether an entry that names `kind` means objects of the kind `other`: a custom kind may be written as its plural, and in any letter case.
pub(crate) fn means(kind: &Kind, other: &Kind) -> bool {
    let Kind::Custom { group, word } = kind else {
        return kind == other;
    };
    let singular = other.word().to_ascii_lowercase();
    let words = [plural(&singular), singular];
    other.group() == group && words.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// Whether a word of a list, a kind or its plural, names the kind with this plural.
pub(crate) fn is_plural(word: &str, plural: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word == plural || self::plural(&word) == plural
}

/// The plural that the definition of a kind most likely has: `gateways`, `policies`, `ingresses`.
fn plural(word: &str) -> String {
    let before_y = word.strip_suffix('y');
    let stem = before_y.filter(|it| !it.ends_with(['a', 'e', 'i', 'o', 'u']));
    match stem {
        Some(stem) => format!("{stem}ies"),
        None if word.ends_with(['s', 'x']) || word.ends_with("ch") || word.ends_with("sh") => {
            format!("{word}es")
        }
        None => format!("{word}s"),
    }
}
