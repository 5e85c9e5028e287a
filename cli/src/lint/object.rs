//! An object of the input, and the places in it where annotations stand.

use super::finding::Place;
use rules::kinds::Kind;
use serde_json::{Map, Value};

/// The pod template of a workload, and that of a CronJob's Jobs.
const TEMPLATES: [(&str, &str); 2] = [
    ("spec.template", "/spec/template"),
    (
        "spec.jobTemplate.spec.template",
        "/spec/jobTemplate/spec/template",
    ),
];
/// What a CronJob writes onto its Jobs, which nobody reads there.
const COPIED: (&str, &str) = ("spec.jobTemplate", "/spec/jobTemplate");

/// One object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) place: Place,
    /// `None` where nobody can tell.
    pub(super) kind: Option<Kind>,
    pub(super) value: Value,
}

/// One map of annotations.
pub(super) struct Holder<'a> {
    /// As in an error: `metadata`, `spec.template`.
    pub(super) path: &'static str,
    pub(super) role: Role,
    pub(super) annotations: &'a Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Of the object itself.
    Own,
    /// Of the pods that it makes.
    Template,
    /// Of what stands between the object and its pods.
    Copied,
}

impl Object {
    /// Whether its pods wait: it is a pod, or makes some.
    pub(super) fn is_dependent(&self) -> bool {
        self.word() == "Pod" || self.template().is_some()
    }

    pub(super) fn word(&self) -> &str {
        &self.place.kind
    }

    pub(super) fn namespace(&self) -> &str {
        &self.place.namespace
    }

    /// The pod template, else the pod itself.
    pub(super) fn template(&self) -> Option<&Value> {
        if self.word() == "Pod" {
            return Some(&self.value);
        }
        let mut templates = TEMPLATES
            .iter()
            .filter_map(|(_, pointer)| self.value.pointer(pointer));
        // Other kinds have a template of something else (a Certificate's Secret).
        templates.find(|template| template.pointer("/spec/containers").is_some())
    }

    pub(super) fn holders(&self) -> Vec<Holder<'_>> {
        let own = ("metadata", "");
        let copied = (COPIED, Role::Copied);
        let templates = TEMPLATES.map(|it| (it, Role::Template));
        [(own, Role::Own), copied]
            .into_iter()
            .chain(templates)
            .filter_map(|((path, pointer), role)| {
                let annotations = format!("{pointer}/metadata/annotations");
                Some(Holder {
                    path,
                    role,
                    annotations: self.value.pointer(&annotations)?.as_object()?,
                })
            })
            .collect()
    }

    /// An annotation of the object itself.
    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        let annotations = self.value.pointer("/metadata/annotations")?;
        annotations.get(key)?.as_str()
    }
}
