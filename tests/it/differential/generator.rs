//! Makes random manifests. Most of the fields that the rules read have right values, so that every rule is reached, and some have wrong ones.

use super::random::Random;
use serde_json::{Map, Value, json};

/// The sort of right values of a field.
#[derive(Clone, Copy)]
enum Field {
    Count,
    Flag,
    Word(&'static [&'static str]),
    Containers,
    List,
}

type Fields = &'static [(&'static str, Field)];

use Field::{Containers, Count, Flag, List, Word};

/// The fields that every kind gets.
const COMMON: Fields = &[
    ("metadata.creationTimestamp", Word(TIMES)),
    ("metadata.generation", Count),
    ("status.observedGeneration", Count),
];

/// The kinds of the manifests with their fields: each kind that has a rule, in every API group, some kinds without a rule, and `apiVersion`s that do
/// not exist.
const KINDS: [(&str, &str, Fields); 24] = [
    ("apps/v1", "Deployment", DEPLOYMENT),
    ("extensions/v1beta1", "Deployment", DEPLOYMENT),
    ("apps/v1", "StatefulSet", STATEFUL_SET),
    ("apps/v1beta2", "StatefulSet", STATEFUL_SET),
    ("apps/v1", "DaemonSet", DAEMON_SET),
    ("extensions/v1beta1", "DaemonSet", DAEMON_SET),
    ("apps/v1", "ReplicaSet", REPLICA_SET),
    ("extensions/v1beta1", "ReplicaSet", REPLICA_SET),
    ("v1", "Pod", POD),
    ("v1", "Pod", POD),
    (
        "v1",
        "PersistentVolumeClaim",
        &[("status.phase", Word(PHASES))],
    ),
    ("v1", "Service", SERVICE),
    ("batch/v1", "Job", JOB),
    ("batch/v1beta1", "Job", JOB),
    ("batch/v1", "CronJob", &[]),
    ("v1", "ConfigMap", &[]),
    ("v1", "Secret", &[]),
    ("policy/v1", "PodDisruptionBudget", &[]),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", &[]),
    ("argoproj.io/v1alpha1", "Rollout", DEPLOYMENT),
    ("example.com/v1", "Deployment", DEPLOYMENT),
    ("a/b/c", "Pod", POD),
    ("/", "Service", SERVICE),
    ("", "", &[]),
];

const DEPLOYMENT: Fields = &[
    ("spec.replicas", Count),
    ("spec.progressDeadlineSeconds", Count),
    ("status.replicas", Count),
    ("status.updatedReplicas", Count),
    ("status.readyReplicas", Count),
    ("status.availableReplicas", Count),
];
const STATEFUL_SET: Fields = &[
    ("spec.replicas", Count),
    (
        "spec.updateStrategy.type",
        Word(&["RollingUpdate", "RollingUpdate", "OnDelete"]),
    ),
    ("spec.updateStrategy.rollingUpdate.partition", Count),
    ("status.replicas", Count),
    ("status.readyReplicas", Count),
    ("status.currentReplicas", Count),
    ("status.updatedReplicas", Count),
    ("status.currentRevision", Word(&["a", "b"])),
    ("status.updateRevision", Word(&["a", "b"])),
];
const DAEMON_SET: Fields = &[
    (
        "spec.updateStrategy.type",
        Word(&["RollingUpdate", "OnDelete"]),
    ),
    ("status.desiredNumberScheduled", Count),
    ("status.currentNumberScheduled", Count),
    ("status.updatedNumberScheduled", Count),
    ("status.numberAvailable", Count),
    ("status.numberReady", Count),
];
const REPLICA_SET: Fields = &[
    ("spec.replicas", Count),
    ("status.fullyLabeledReplicas", Count),
    ("status.availableReplicas", Count),
    ("status.readyReplicas", Count),
    ("status.replicas", Count),
];
const POD: Fields = &[
    ("status.phase", Word(PHASES)),
    ("status.containerStatuses", Containers),
    ("status.initContainerStatuses", Containers),
];
const SERVICE: Fields = &[
    (
        "spec.type",
        Word(&["ClusterIP", "LoadBalancer", "LoadBalancer", "ExternalName"]),
    ),
    ("spec.clusterIP", Word(&["", "None", "10.0.0.1"])),
    ("status.loadBalancer.ingress", List),
];
const JOB: Fields = &[
    ("spec.parallelism", Count),
    ("spec.completions", Count),
    ("spec.suspend", Flag),
    ("status.startTime", Word(TIMES)),
    ("status.succeeded", Count),
    ("status.active", Count),
    ("status.failed", Count),
];

const PHASES: &[&str] = &[
    "Pending",
    "Running",
    "Succeeded",
    "Failed",
    "Bound",
    "Lost",
    "",
];
/// The texts for fields with a time, good and bad. No time is within seconds of now, since the compared library reads the clock itself.
const TIMES: &[&str] = &[
    "2024-01-01T00:00:00Z",
    "2099-01-01T00:00:00+02:00",
    "2024-01-01",
    "soon",
    "",
];

const PARENTS: [&str; 7] = [
    "metadata",
    "spec",
    "status",
    "status.conditions",
    "spec.updateStrategy",
    "spec.updateStrategy.rollingUpdate",
    "status.loadBalancer",
];

const CONDITIONS: [&str; 14] = [
    "Ready",
    "Ready",
    "Reconciling",
    "Stalled",
    "Available",
    "Progressing",
    "ReplicaFailure",
    "Complete",
    "Failed",
    "Suspended",
    "PodScheduled",
    "Installing",
    "Established",
    "NamesAccepted",
];
const STATUSES: [&str; 6] = ["True", "True", "False", "False", "Unknown", "true"];
const REASONS: [&str; 7] = [
    "ProgressDeadlineExceeded",
    "NewReplicaSetAvailable",
    "Unschedulable",
    "Installing",
    "CrashLoopBackOff",
    "ContainerCreating",
    "",
];

/// Numbers that readers of JSON read in different ways.
const NUMBERS: [f64; 12] = [
    0.0, -0.0, 1.0, 2.0, 0.5, 1e6, 999_999.5, 1e20, 1e21, 1e-5, 1.0e-310, 1.797e308,
];

impl Random {
    /// Returns a random manifest of one of [`KINDS`]. Most fields have right values; a few have values of another sort, or are missing.
    pub(crate) fn manifest(&mut self) -> Value {
        let (version, kind, fields) = KINDS[self.below(KINDS.len())];
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "y"}});
        for (path, field) in COMMON.iter().chain(fields) {
            if self.percent(75) {
                let value = if self.percent(5) {
                    self.odd(2)
                } else {
                    self.field(*field)
                };
                put(&mut object, path, value);
            }
        }
        if self.percent(70) {
            let conditions = self.conditions();
            put(&mut object, "status.conditions", conditions);
        }
        if self.percent(4) {
            let since = if self.percent(50) {
                self.odd(2)
            } else {
                json!(self.pick(TIMES))
            };
            put(&mut object, "metadata.deletionTimestamp", since);
        }
        if self.percent(6) {
            let parent = self.pick(&PARENTS);
            let value = self.odd(2);
            put(&mut object, parent, value);
        }
        if self.percent(3) {
            let name = self.pick(&["apiVersion", "kind"]);
            object[name] = self.odd(1);
        }
        object
    }

    fn field(&mut self, field: Field) -> Value {
        match field {
            Count if self.percent(2) => json!(i32::MAX),
            // Few values, so that two fields are often equal.
            Count => json!(self.below(3)),
            Flag => json!(self.percent(50)),
            Word(words) => json!(self.pick(words)),
            Containers => (0..self.below(4)).map(|_| self.container()).collect(),
            List => (0..self.below(2))
                .map(|_| json!({"ip": "10.0.0.1"}))
                .collect(),
        }
    }

    fn conditions(&mut self) -> Value {
        (0..self.below(4)).map(|_| self.condition()).collect()
    }

    fn condition(&mut self) -> Value {
        if self.percent(1) {
            return self.odd(2);
        }
        let mut condition = json!({
            "type": self.pick(&CONDITIONS),
            "status": self.pick(&STATUSES),
            "reason": self.pick(&REASONS),
            "message": self.text(),
        });
        if self.percent(4) {
            let name = self.pick(&["type", "status", "reason", "message"]);
            condition[name] = self.odd(2);
        }
        condition
    }

    fn container(&mut self) -> Value {
        if self.percent(3) {
            return self.odd(2);
        }
        let state = self.pick(&["waiting", "waiting", "running", "terminated"]);
        let mut container =
            json!({"name": self.text(), "state": {state: {"reason": self.pick(&REASONS)}}});
        if self.percent(6) {
            let path = self.pick(&["name", "state", "state.waiting", "state.waiting.reason"]);
            let value = self.odd(2);
            put(&mut container, path, value);
        }
        container
    }

    /// Returns a random JSON value of any sort, at most `depth` levels deep.
    pub(crate) fn odd(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 7 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.percent(50)),
            2 => json!(self.below(4).cast_signed() - 1),
            3 => match self.below(4) {
                0 => json!(i64::MIN),
                1 => json!(i64::MAX),
                2 => json!(u64::MAX - self.bits() % 1000),
                _ => json!(self.bits().cast_signed()),
            },
            4 => json!(NUMBERS[self.below(NUMBERS.len())]),
            5 => json!(f64::from_bits(self.bits())),
            6 => json!(self.text()),
            7 => (0..self.below(3)).map(|_| self.odd(depth - 1)).collect(),
            _ => (0..self.below(3))
                .map(|_| (self.text(), self.odd(depth - 1)))
                .collect::<Map<_, _>>()
                .into(),
        }
    }

    fn text(&mut self) -> String {
        match self.below(8) {
            0 => String::new(),
            1 => self.bits().to_string(),
            2 => char::from_u32(u32::try_from(self.below(0x3000)).unwrap_or_default())
                .into_iter()
                .collect(),
            3 => self
                .pick(&[
                    "two\nlines",
                    "\"quoted\"",
                    " spaces ",
                    "%s %d",
                    "<a&b>",
                    "\u{2028}",
                    "\u{1f980}",
                ])
                .to_owned(),
            4 => self.pick(&STATUSES).to_owned(),
            _ => self
                .pick(&["first", "second", "some text", "7", "true", "null"])
                .to_owned(),
        }
    }
}

/// Sets a field by its dotted path. A value on the way that is no mapping becomes one.
fn put(object: &mut Value, path: &str, value: Value) {
    let mut at = object;
    for field in path.split('.') {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[field];
    }
    *at = value;
}
