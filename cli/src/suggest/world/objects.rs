//! Finds the object that a wait names: by its kind and its name, by a container of its pods, or by the beginning of their names.

use super::{World, workload};
use crate::suggest::container::Container;
use crate::suggest::object::{ChartObject, own_pods, text};
use crate::suggest::reason::Reason;
use crate::suggest::target::{Form, Target};
use crate::suggest::wait::NamedObject;

impl World<'_> {
    pub(super) fn named(
        &self,
        named: &NamedObject,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        let name = container.known(&named.name)?;
        let namespace = self.foreign(named.namespace.as_deref(), container)?;
        let word = rules::annotation::kind(&named.kind)
            .ok()
            .map(|it| it.word().to_owned());
        let object = word
            .as_deref()
            .and_then(|it| self.find(it, &name, namespace.as_deref()));
        if let Some(job) = object.filter(|_| word.as_deref() == Some("Job")) {
            self.runs_in_time(job, own)?;
        }
        if let Some(at) = object {
            self.is_another(at, named.state, own)?;
        }
        let custom = word
            .is_none()
            .then(|| self.custom(&named.kind, &name))
            .flatten();
        let (kind, object) = match custom {
            Some((kind, at)) => (kind, Some(at)),
            None => (named.kind.clone(), object),
        };
        let form = if named.same_node {
            Form::SameNode { kind }
        } else {
            Form::Object {
                kind,
                state: named.state,
            }
        };
        Ok(Target {
            form,
            name,
            namespace,
            object,
            asks: None,
        })
    }

    /// A custom kind with its group, `flows.example.com` for `flows`, and the index of the rendered object that tells the group; `None` without
    /// such an object.
    pub(super) fn custom(&self, kind: &str, name: &str) -> Option<(String, usize)> {
        let is_it = |object: &ChartObject| {
            let word = text(&object.value, "/kind").to_lowercase();
            let is_kind = kind == word || kind.strip_prefix(word.as_str()).is_some_and(is_plural);
            is_kind && !word.is_empty() && text(&object.value, "/metadata/name") == name
        };
        let at = self.objects.iter().position(is_it)?;
        let (group, _) = text(&self.objects[at].value, "/apiVersion").split_once('/')?;
        Some((format!("{kind}.{group}"), at))
    }

    /// The target of the one workload that has a container of this name, not counting init containers; an error where none or several have it.
    pub(super) fn with_container(&self, name: &str) -> Result<Target, Reason> {
        let has = |object: &&(usize, &ChartObject)| {
            let pods = own_pods(object.1).and_then(|it| it["spec"]["containers"].as_array());
            pods.is_some_and(|it| it.iter().any(|it| it["name"] == name))
        };
        let objects: Vec<_> = self.objects.iter().enumerate().collect();
        let mut found = objects.iter().filter(has);
        let (at, object) = found
            .next()
            .ok_or_else(|| Reason::NoContainer(name.to_owned()))?;
        if found.next().is_some() {
            return Err(Reason::NoContainer(name.to_owned()));
        }
        Ok(workload(*at, object))
    }

    /// The target of the one workload that makes pods whose names begin with `name`; an error where none or several do, or where
    /// it is the waiting workload itself. A pod of its own is not looked at.
    pub(super) fn with_pods(
        &self,
        name: &str,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        let name = container.known(name)?;
        let unknown = || Reason::NoWorkload(name.clone());
        let makes = |object: &ChartObject| {
            let pods = format!("{}-", text(&object.value, "/metadata/name"));
            let is_pod = object.value["kind"] == "Pod";
            !is_pod && own_pods(object).is_some() && pods.starts_with(&name)
        };
        let mut found = self.objects.iter().enumerate();
        let (at, object) = found.find(|it| makes(it.1)).ok_or_else(unknown)?;
        if found.any(|it| makes(it.1)) {
            return Err(unknown());
        }
        self.is_another(at, None, own)?;
        Ok(workload(at, object))
    }

    /// The namespace of a target, with its variables resolved; `None` for that of the waiting workload, also by a variable such as `POD_NAMESPACE`.
    /// An error for a variable without a known value.
    pub(super) fn foreign(
        &self,
        namespace: Option<&str>,
        container: &Container,
    ) -> Result<Option<String>, Reason> {
        let Some(namespace) = namespace else {
            return Ok(None);
        };
        // A variable such as `POD_NAMESPACE` holds the pod's own namespace.
        if namespace.to_uppercase().contains("NAMESPACE)") {
            return Ok(None);
        }
        let namespace = container.known(namespace)?;
        Ok(Some(namespace).filter(|it| it != self.home))
    }
}

/// Whether the rest of a word is only the ending of a plural.
fn is_plural(rest: &str) -> bool {
    matches!(rest, "s" | "es")
}
