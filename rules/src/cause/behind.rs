//! Tells which objects to read for the cause why an object is not ready: the pods that a Service selects, the pods of a workload, and the pods,
//! Jobs and claims that a custom object owns.

use super::MOST;
use crate::kinds::{self, Builtin, Kind};
use crate::selector::Selector;
use serde_json::Value;

/// The most objects that are read in one list of [`By::Owners`] where no label narrows the list to those of the object. Every other list has
/// [`MOST`].
const MOST_OWNED: u16 = 200;
/// The field selector for all pods but those that have succeeded: these cause no wait.
const NOT_DONE: &str = "status.phase!=Succeeded";

/// The objects to read for the cause why one object is not ready.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Behind {
    /// The namespace of the objects to read.
    pub namespace: String,
    /// The label selector of the lists; empty where no label tells which objects of the namespace belong to the object.
    pub selector: Selector,
    /// The UID of the unready object, to which the owners of the objects must lead; `None` for a Service, where the labels alone decide.
    pub owner: Option<String>,
    /// The relation of the objects that are read to the object that is not ready.
    pub by: By,
}

/// The relation between an object and the objects behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// The objects are pods that have the labels of the Service's or workload's selector.
    Labels,
    /// The objects are pods, Jobs and claims whose owners lead to the object.
    Owners,
    /// The objects are of these custom kinds, and no pods: the unready object owns those of the first kind, and those own the ones of the next.
    Steps(&'static [Builtin]),
}

/// One list of objects of a kind to request from the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The kind of the objects to read.
    pub kind: &'static Builtin,
    /// The field selector of the list request, where there is one.
    pub fields: Option<&'static str>,
    /// The most objects to read: those that come first by their names.
    pub most: u16,
}

/// Labels that controllers give to all pods of an object, with the object's name as value: API group, kind, label. They only make the list
/// short; the owners decide.
const LABELS: [(&str, &str, &str); 10] = [
    ("argoproj.io", "Workflow", "workflows.argoproj.io/workflow"),
    ("batch.volcano.sh", "Job", "volcano.sh/job-name"),
    (
        "jobset.x-k8s.io",
        "JobSet",
        "jobset.sigs.k8s.io/jobset-name",
    ),
    ("kafka.strimzi.io", "Kafka", "strimzi.io/cluster"),
    (
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
        "leaderworkerset.sigs.k8s.io/name",
    ),
    ("postgresql.cnpg.io", "Cluster", "cnpg.io/cluster"),
    ("ray.io", "RayCluster", "ray.io/cluster"),
    (
        "sparkoperator.k8s.io",
        "SparkApplication",
        "sparkoperator.k8s.io/app-name",
    ),
    ("tekton.dev", "PipelineRun", "tekton.dev/pipelineRun"),
    ("tekton.dev", "TaskRun", "tekton.dev/taskRun"),
];

const fn of_cert_manager(group: &'static str, kind: &'static str, plural: &'static str) -> Builtin {
    Builtin {
        group,
        version: "v1",
        kind,
        plural,
        short: &[],
        namespaced: true,
    }
}

/// The kinds by which cert-manager issues a Certificate: the Certificate owns a request, the request an order, the order challenges.
static ISSUANCE: [Builtin; 3] = [
    of_cert_manager(
        "cert-manager.io",
        "CertificateRequest",
        "certificaterequests",
    ),
    of_cert_manager("acme.cert-manager.io", "Order", "orders"),
    of_cert_manager("acme.cert-manager.io", "Challenge", "challenges"),
];

impl Behind {
    /// The objects to read for the cause why a Service, a workload or a custom object of this namespace is not ready. `None` for a Service
    /// without a selector, for any other built-in object without `spec.selector.matchLabels`, and for an object without a UID.
    pub fn of(kind: &Kind, object: &Value, namespace: &str) -> Option<Self> {
        let selector = &object["spec"]["selector"];
        let labelled = |labels: &Value, owner: Option<String>| {
            let selector = Selector::labels(labels);
            (!selector.0.is_empty()).then(|| Self {
                namespace: namespace.to_owned(),
                selector,
                owner,
                by: By::Labels,
            })
        };
        if kind.is_service() {
            return labelled(selector, None);
        }
        let uid = object["metadata"]["uid"].as_str()?;
        let labelled = labelled(&selector["matchLabels"], Some(uid.to_owned()));
        if labelled.is_some() || matches!(kind, Kind::Builtin(_)) {
            return labelled;
        }
        let (group, word) = crate::object::group_kind(object);
        let by = match (group, word) {
            ("cert-manager.io", "Certificate") => By::Steps(&ISSUANCE),
            _ => By::Owners,
        };
        let label = LABELS.iter().find(|of| (of.0, of.1) == (group, word));
        let named = |label: &str| Selector::label(label, crate::object::name(object));
        Some(Self {
            namespace: namespace.to_owned(),
            selector: label.map_or_else(Selector::default, |of| named(of.2)),
            owner: Some(uid.to_owned()),
            by,
        })
    }

    /// The lists to read, in order. A further list is read only where the list before it held no object that belongs to the unready one; for
    /// [`By::Steps`] only where it held one.
    pub(crate) fn pages(&self) -> Vec<Page> {
        let page = |kind, fields, most| Page { kind, fields, most };
        let most = if self.selector.0.is_empty() {
            MOST_OWNED
        } else {
            MOST
        };
        match self.by {
            By::Labels => vec![page(kinds::POD, None, MOST)],
            By::Owners => vec![
                page(kinds::POD, Some(NOT_DONE), most),
                page(kinds::JOB, None, most),
                page(kinds::PERSISTENT_VOLUME_CLAIM, None, most),
            ],
            By::Steps(steps) => steps.iter().map(|kind| page(kind, None, MOST)).collect(),
        }
    }
}

impl Page {
    /// The kind of the objects in the list, as a [`Kind`]: a kind that is not built in becomes a custom kind.
    pub fn kind(&self) -> Kind {
        match kinds::builtin(self.kind.group, self.kind.kind) {
            Some(builtin) => Kind::Builtin(builtin),
            None => Kind::Custom {
                group: self.kind.group.to_owned(),
                word: self.kind.kind.to_owned(),
            },
        }
    }
}
