//! Who waits for whom among the objects of the input.

use super::object::Object;
use rules::annotation;
use rules::dependency::{Dependency, ObjectRef, Reference, Selection, State};
use rules::kinds::Kind;
use rules::selector::Selector;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The objects, found by what they are called.
pub(super) struct Graph<'a> {
    pub(super) objects: &'a [Object],
    named: HashMap<(&'a Kind, &'a str, &'a str), usize>,
    of_kind: HashMap<&'a Kind, Vec<usize>>,
    /// Those with pods, by namespace and a label of the pods.
    labelled: HashMap<(&'a str, &'a str, &'a str), Vec<usize>>,
    /// What each waits for.
    pub(super) lists: Vec<Vec<Dependency>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(objects: &'a [Object]) -> Self {
        let mut graph = Self {
            objects,
            named: HashMap::new(),
            of_kind: HashMap::new(),
            labelled: HashMap::new(),
            lists: objects.iter().map(list).collect(),
        };
        for (at, object) in objects.iter().enumerate() {
            for (key, value) in labels(object) {
                let same = graph.labelled.entry((object.namespace(), key, value));
                same.or_default().push(at);
            }
            if let Some(kind) = &object.kind {
                let name = (kind, object.namespace(), object.place.name.as_str());
                graph.named.insert(name, at);
                graph.of_kind.entry(kind).or_default().push(at);
            }
        }
        graph
    }

    /// The object that a dependent names.
    pub(super) fn find(&self, from: usize, to: &ObjectRef) -> Option<usize> {
        let namespace = self.namespace(from, to.namespace.as_ref());
        let found = |namespace: &str| {
            let named = self.named.get(&(&to.kind, namespace, to.name.as_str()));
            let by_kind = || {
                let same = self.like(&to.kind, namespace);
                same.into_iter()
                    .find(|at| self.objects[*at].place.name == to.name)
            };
            named.copied().or_else(by_kind)
        };
        // What belongs to no namespace has none.
        found(namespace).or_else(|| found("").filter(|at| self.is_cluster_scoped(*at)))
    }

    fn is_cluster_scoped(&self, at: usize) -> bool {
        match &self.objects[at].kind {
            Some(Kind::Builtin(builtin)) => !builtin.namespaced,
            _ => self.objects[at].namespace().is_empty(),
        }
    }

    /// Objects whose kind is spelled otherwise: `certificates.cert-manager.io`.
    fn like(&self, kind: &Kind, namespace: &str) -> Vec<usize> {
        let Kind::Custom { group, word } = kind else {
            return Vec::new();
        };
        let word = word.to_ascii_lowercase();
        let fits = |object: &&Object| {
            let other = object.word().to_ascii_lowercase();
            let of_group = object.kind.as_ref().is_some_and(|it| it.group() == group);
            of_group && (word == other || word == plural(&other)) && object.namespace() == namespace
        };
        let objects = self.objects.iter().enumerate();
        objects
            .filter(|(_, it)| fits(it))
            .map(|(at, _)| at)
            .collect()
    }

    fn namespace<'n>(&'n self, from: usize, written: Option<&'n String>) -> &'n str {
        written.map_or(self.objects[from].namespace(), String::as_str)
    }

    fn selected(&self, from: usize, selection: &Selection) -> Vec<usize> {
        let namespace = self.namespace(from, selection.namespace.as_ref());
        let of_kind = self.of_kind.get(&selection.kind).into_iter().flatten();
        let objects = of_kind.copied().filter(|at| {
            let object = &self.objects[*at];
            object.namespace() == namespace && selection.selector.selects(&object.value)
        });
        objects.collect()
    }

    /// What has to be ready before this object can be: where there is a choice, or existence is enough, nothing has.
    pub(super) fn needs(&self, at: usize) -> Vec<usize> {
        if self.objects[at].word() == "Service" {
            return self.only_backend(at).into_iter().collect();
        }
        let mut needed = Vec::new();
        for dependency in &self.lists[at] {
            if dependency.optional || dependency.state == State::Present {
                continue;
            }
            match &dependency.reference {
                Reference::Object(object) => {
                    let found = self.find(at, object);
                    needed.extend(found.filter(|it| !self.starts_before_its_gate(*it, dependency)));
                }
                Reference::Selected(selection) if selection.min.is_none() => {
                    let found = self.selected(at, selection);
                    needed.extend(found.into_iter().filter(|it| *it != at));
                }
                _ => {}
            }
        }
        needed
    }

    /// A Job counts as started while its pod still waits.
    fn starts_before_its_gate(&self, at: usize, dependency: &Dependency) -> bool {
        dependency.state == State::Started && self.objects[at].word() == "Job"
    }

    /// The one workload behind a Service: without it there is no endpoint. None where there are several, or none here.
    fn only_backend(&self, service: usize) -> Option<usize> {
        match self.backends(service)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The objects whose pods a Service selects; `None` where it selects by nothing.
    pub(super) fn backends(&self, service: usize) -> Option<Vec<usize>> {
        let object = &self.objects[service];
        let selector = Selector::labels(object.value.pointer("/spec/selector")?);
        let (key, value) = selector.indexable()?;
        let same = self.labelled.get(&(object.namespace(), key, value));
        let selected = |at: &usize| {
            let pods = self.objects[*at].template();
            pods.is_some_and(|pods| selector.selects(pods))
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

/// As the API machinery guesses.
fn plural(word: &str) -> String {
    match word {
        _ if word.ends_with(['s', 'x']) || word.ends_with("ch") => format!("{word}es"),
        _ if word.ends_with('y') => format!("{}ies", word.trim_end_matches('y')),
        _ => format!("{word}s"),
    }
}

/// The template's keys over the object's, as far as they can be read.
fn list(object: &Object) -> Vec<Dependency> {
    if !object.is_dependent() {
        return Vec::new();
    }
    let mut both = Map::new();
    for holder in object.holders() {
        if holder.role != super::object::Role::Copied {
            let pairs = holder
                .annotations
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()));
            both.extend(pairs);
        }
    }
    let text = |key: &str| both.get(key).and_then(Value::as_str);
    let own = text(rules::keys::DEPENDS_ON).map(annotation::parse_depends_on);
    let config = text(rules::keys::CONFIG_DEPENDS_ON).map(annotation::parse_config_depends_on);
    let lists = [own, config].into_iter().flatten().filter_map(Result::ok);
    lists.flatten().collect()
}
