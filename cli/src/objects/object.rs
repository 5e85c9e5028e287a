//! One object of the input: its kind and pod template, the places of its annotations, and what these say of waves and gates.

use super::place::Place;
use rules::annotation;
use rules::dependent::Dependent;
use rules::keys;
use rules::kinds::Kind;
use rules::object;
use rules::plan;
use rules::scope::{self, Scope};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The places of a pod template, as a path for messages and as a JSON pointer: in a workload, and in a CronJob.
const TEMPLATES: [(&str, &str); 2] = [
    ("spec.template", "/spec/template"),
    (
        "spec.jobTemplate.spec.template",
        "/spec/jobTemplate/spec/template",
    ),
];
/// The place of a CronJob's template of Jobs, as a path for messages and as a JSON pointer. Annotations there have no effect: they end on the
/// Jobs.
const COPIED: (&str, &str) = ("spec.jobTemplate", "/spec/jobTemplate");

/// One Kubernetes object of the input.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) place: Place,
    /// The kind of the object; `None` where the manifest does not determine it.
    pub(crate) kind: Option<Kind>,
    /// The release or application that it belongs to; its namespace is empty where the manifest leaves it open.
    pub(crate) scope: Option<Scope>,
    pub(crate) value: Value,
    /// Whether the object was rendered from a chart or built from a kustomization, with everything else of that place.
    pub(crate) rendered: bool,
    /// The chart's names for its sub-charts, where they differ from the sub-charts' own.
    pub(crate) aliases: Arc<[Alias]>,
}

/// A sub-chart under another name: Helm takes that name for the chart's, so the labels of its objects carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) chart: String,
    pub(crate) alias: String,
}

/// One map of annotations of an object: its own, its pod template's, or those of a CronJob's template of Jobs.
pub(crate) struct Holder<'a> {
    /// The path in an error: `metadata`, `spec.template`.
    pub(crate) path: &'static str,
    pub(crate) role: Role,
    pub(crate) annotations: &'a Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The annotations of the object itself.
    Own,
    /// The annotations of the pods that the object makes.
    Template,
    /// The annotations of a template between the object and its pods: a CronJob's template of Jobs.
    Copied,
}

impl Object {
    /// Whether pods of the object wait: the object is a pod, or makes some.
    pub(crate) fn is_dependent(&self) -> bool {
        self.word() == "Pod" || self.template().is_some()
    }

    /// Whether the object is of a built-in kind that makes pods. A patch of such an object may leave out the pod template.
    pub(crate) fn is_of_workload_kind(&self) -> bool {
        scope::workloads().any(|kind| self.kind.as_ref() == Some(&kind))
    }

    /// Whether the object is a Service of Kubernetes. Other groups have kinds of that name, which are workloads.
    pub(crate) fn is_service(&self) -> bool {
        self.is_of("", "Service")
    }

    /// Whether the object is a Job of Kubernetes.
    pub(crate) fn is_job(&self) -> bool {
        self.is_of("batch", "Job")
    }

    /// Whether the object is a StatefulSet of Kubernetes.
    pub(crate) fn is_stateful_set(&self) -> bool {
        self.is_of("apps", "StatefulSet")
    }

    /// Whether the object is a Deployment of Kubernetes.
    pub(crate) fn is_deployment(&self) -> bool {
        self.is_of("apps", "Deployment")
    }

    /// Whether the object is a pod, or a built-in workload with pods, that goes on running: its restart policy is `Always`.
    pub(crate) fn serves(&self) -> bool {
        let policy = self.template().map(|it| &it["spec"]["restartPolicy"]);
        let is_built_in = matches!(self.kind, Some(Kind::Builtin(_)));
        is_built_in && policy.is_some_and(|it| it.is_null() || it == "Always")
    }

    /// Whether the object is of the kind `word` of the API group `group`, which is empty for the core group.
    pub(crate) fn is_of(&self, group: &str, word: &str) -> bool {
        let kind = self.kind.as_ref();
        kind.is_some_and(|kind| (kind.group(), kind.word()) == (group, word))
    }

    pub(crate) fn word(&self) -> &str {
        &self.place.kind
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.place.namespace
    }

    /// The pod template of the object, for a pod the pod itself; `None` where the object has no template with containers.
    pub(crate) fn template(&self) -> Option<&Value> {
        if self.word() == "Pod" {
            return Some(&self.value);
        }
        let mut templates = TEMPLATES
            .iter()
            .filter_map(|(_, pointer)| self.value.pointer(pointer));
        // A template without containers is not for a pod (a Certificate has one for its Secret).
        templates.find(|template| template.pointer("/spec/containers").is_some())
    }

    /// The JSON pointer to the object's pod template; empty for a pod, and `None` where the object has no pod template.
    pub(crate) fn template_path(&self) -> Option<&'static str> {
        let template = self.template()?;
        let pointers = TEMPLATES.iter().map(|(_, pointer)| *pointer);
        let mut pointers = pointers.chain([""]);
        pointers.find(|it| {
            self.value
                .pointer(it)
                .is_some_and(|it| std::ptr::eq(it, template))
        })
    }

    /// The metadata of the object and of the templates in it, each under its [`Holder::path`].
    pub(crate) fn metadata(&self) -> Vec<(&'static str, &Value)> {
        let own = ("metadata", "");
        let places = [own, COPIED].into_iter().chain(TEMPLATES);
        let of = |(path, pointer): (_, &str)| {
            let metadata = self.value.pointer(pointer)?.get("metadata")?;
            Some((path, metadata))
        };
        places.filter_map(of).collect()
    }

    pub(crate) fn holders(&self) -> Vec<Holder<'_>> {
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

    /// The value of an annotation of sluice: on the object's pod template, else on the object; `None` where neither has it.
    pub(crate) fn said(&self, key: &str) -> Option<&str> {
        object::said(&self.value, key)
    }

    /// Whether admission puts a gate into the object's pods because of annotations on the object or its pod template.
    pub(crate) fn asks_for_a_gate(&self) -> bool {
        let mut holders = self
            .holders()
            .into_iter()
            .filter(|it| it.role != Role::Copied);
        self.is_dependent() && holders.any(|it| annotation::ask(it.annotations))
    }

    /// Whether the object counts for parts and waves: a workload, a custom resource (a cluster may follow it too), or an object
    /// that states a weight or a group. An object that a controller made does not count, because the object above it does.
    pub(crate) fn is_counted(&self) -> bool {
        let of_kind = match &self.kind {
            Some(Kind::Builtin(_)) => self.is_of_a_wave_kind(),
            Some(Kind::Custom { .. }) => true,
            None => false,
        };
        of_kind && self.owner().is_none()
    }

    fn is_of_a_wave_kind(&self) -> bool {
        let says = [keys::WEIGHT, keys::GROUP, keys::RESOURCE_GROUP]
            .into_iter()
            .any(|key| self.said(key).is_some());
        // Only pods with a gate count.
        let counts = |kind: &Kind| says && (!kind.is_pod() || self.asks_for_a_gate());
        let outspoken = scope::outspoken().filter(counts);
        scope::workloads()
            .chain(outspoken)
            .any(|kind| self.kind.as_ref() == Some(&kind))
    }

    /// The wave of the object, which is its weight, 0 by default; `None` where it is in no wave.
    pub(crate) fn wave(&self) -> Option<i64> {
        let counts = self.is_counted() && scope::is_in_wave(&self.value);
        counts.then(|| scope::weight(&self.value).unwrap_or_default())
    }

    /// The object's cap on how many objects with a cap in its wave run at once, that is from the opening of their gate until they are ready; `None`
    /// where the object and its pod template state none, or where the object makes no pods, is in no scope or is a test hook.
    pub(crate) fn cap(&self) -> Option<usize> {
        let cap = annotation::parallelism(self.said(keys::PARALLELISM)?);
        cap.filter(|_| self.is_dependent() && self.scope.is_some() && !self.is_test())
    }

    /// Whether the object is a hook that Helm runs only in `helm test`: waves, caps and plans leave such an object alone.
    pub(crate) fn is_test(&self) -> bool {
        scope::hook(&self.value).is_some_and(scope::is_test)
    }

    /// The kind and name of the object that controls this one, by its owner references; `None` without such an owner.
    pub(crate) fn owner(&self) -> Option<(&str, &str)> {
        let owner = object::controller_of(&self.value)?;
        Some((owner["kind"].as_str()?, owner["name"].as_str()?))
    }

    /// The dependent by which the rules judge the object's pods; `None` where the object makes no pods, or has an unknown kind.
    pub(crate) fn dependent(&self) -> Option<Dependent> {
        let kind = self.kind.clone().filter(|_| self.is_dependent())?;
        Some(Dependent::of_workload(kind, &self.value, self.namespace()))
    }

    /// Whether the object is a plan: a ConfigMap with the label `sluice.dev/plan: "true"`.
    pub(crate) fn is_plan(&self) -> bool {
        self.word() == "ConfigMap" && plan::is_one(&self.value)
    }

    /// The value of an annotation of the object itself, not of its pod template; `None` where it has none that is a text.
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.value
            .pointer("/metadata/annotations")?
            .get(key)?
            .as_str()
    }

    /// The value of a label of the object itself, not of its pod template; `None` where it has none that is a text.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.value.pointer("/metadata/labels")?.get(key)?.as_str()
    }
}
