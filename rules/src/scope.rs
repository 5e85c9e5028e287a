//! The release or application of an object, and the object's place in it: its sub-chart, its groups, its wave.
//!
//! All of it is read from metadata alone, as installers write it. A scope ends at its namespace: a user with rights in
//! one namespace alone must not be able to hold back, or to look into, a release in another.

use crate::annotation;
use crate::dependency::{Part, Parts};
use crate::keys;
use crate::kinds::{self, Kind};
use crate::object::{controller_of, created, group_kind, said};
use crate::path::get;
use crate::selector::{Requirement, Selector, Test};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The built-in kinds whose objects are in a wave even without a weight, because they make pods and a gate can hold back only pods: group and
/// kind.
const WORKLOADS: [(&str, &str); 6] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("batch", "Job"),
    ("apps", "ReplicaSet"),
    ("", "ReplicationController"),
];

/// The built-in kinds whose objects are in a wave even without a weight: the kinds that make pods, except CronJob.
pub fn workloads() -> impl Iterator<Item = Kind> {
    WORKLOADS
        .iter()
        .filter_map(|(group, kind)| kinds::builtin(group, kind).map(Kind::Builtin))
}

/// Built-in kinds whose objects count for waves and groups only where they state a weight or a group: most Services of a release have no
/// endpoint before its last wave has started, and most pods belong to a workload.
const OUTSPOKEN: [(&str, &str); 3] = [("", "Service"), ("", "PersistentVolumeClaim"), ("", "Pod")];

/// The built-in kinds (Service, PersistentVolumeClaim, Pod) whose objects count for a wave or a group only where they state a weight or the
/// group.
pub fn outspoken() -> impl Iterator<Item = Kind> {
    OUTSPOKEN
        .iter()
        .filter_map(|(group, kind)| kinds::builtin(group, kind).map(Kind::Builtin))
}

/// One release or application within one namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The namespace of the release's or application's objects.
    pub namespace: String,
    /// The name of the release or the application.
    pub name: String,
    /// The namespace in which the installer keeps its record of the release, where that is not the namespace of the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
}

/// The rank of an object in its scope: the lighter first, then the older, then by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The weight of the object, which is its wave.
    pub weight: i64,
    /// The time of the object's creation.
    pub created: Option<Timestamp>,
    /// The kind of the object.
    pub kind: String,
    /// `metadata.name` of the object.
    pub name: String,
}

impl Position {
    /// The position of an object in its scope; `None` for an object that is in no wave ([`is_in_wave`]). Without a weight it has weight 0.
    pub fn of(object: &Value) -> Option<Self> {
        is_in_wave(object).then(|| Self {
            weight: weight(object).unwrap_or_default(),
            created: created(object),
            kind: text(&object["kind"]),
            name: text(&object["metadata"]["name"]),
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The longest name of a scope, in bytes: the longest name that Kubernetes allows for an object.
const LONGEST_NAME: usize = 253;

/// The annotations or labels of `metadata` in which installers write a name and, beside it, a namespace.
const INSTALLERS: [(&str, &str, Option<&str>); 4] = [
    (
        "annotations",
        keys::RELEASE_NAME,
        Some(keys::RELEASE_NAMESPACE),
    ),
    (
        "labels",
        keys::HELM_RELEASE,
        Some("helm.toolkit.fluxcd.io/namespace"),
    ),
    (
        "labels",
        "kustomize.toolkit.fluxcd.io/name",
        Some("kustomize.toolkit.fluxcd.io/namespace"),
    ),
    ("annotations", keys::TRACKING_ID, None),
];

impl Scope {
    /// The namespace of Helm's own records of the release, and the selector of the records that tell of an operation under way.
    /// Labels are enough: sluice never reads the contents of these Secrets.
    pub fn pending_records(&self) -> (&str, Selector) {
        let test = |key: &str, values: &[&str]| Requirement {
            key: key.to_owned(),
            test: Test::In(values.iter().map(|it| (*it).to_owned()).collect()),
        };
        let records = Selector(vec![
            test("name", &[&self.name]),
            test("owner", &["helm"]),
            test(
                "status",
                &["pending-install", "pending-upgrade", "pending-rollback"],
            ),
        ]);
        (self.kept_in.as_deref().unwrap_or(&self.namespace), records)
    }

    /// The scope of an object, by the first of these that names one: the annotation `sluice.dev/scope`, Helm, Flux (a Helm release, a
    /// Kustomization), Argo CD, the instance label, the release label of older charts. `None` for an object without a namespace, and where that
    /// name is missing or empty.
    pub fn of(object: &Value) -> Option<Self> {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str()?;
        let scope = |name: &str, kept_in: Option<&str>| {
            let kept_in = kept_in.filter(|it| *it != namespace).map(cut);
            (!name.is_empty()).then(|| Self {
                namespace: namespace.to_owned(),
                name: cut(name),
                kept_in,
            })
        };
        if let Some(name) = said(object, keys::SCOPE) {
            return scope(name.trim(), None);
        }
        for (place, name, kept_in) in INSTALLERS {
            let Some(name) = metadata[place][name].as_str() else {
                continue;
            };
            let kept_in = kept_in.and_then(|key| metadata[place][key].as_str());
            let (name, kept_in) = match name.split_once(':') {
                // With applications in any namespace, Argo CD writes that namespace before the name.
                Some((application, _)) => match application.split_once('_') {
                    Some((namespace, name)) => (name, Some(namespace)),
                    None => (application, None),
                },
                None => (name, kept_in),
            };
            return scope(name, kept_in);
        }
        let labels = &metadata["labels"];
        let instance = labels["app.kubernetes.io/instance"].as_str();
        // Older charts say so beside their chart; alone it may mean anything, such as a canary. Helm runs a hook apart from its
        // release.
        let of_a_chart = || chart(object).is_some() && !is_hook(object);
        let release = || labels["release"].as_str().filter(|_| of_a_chart());
        scope(instance.or_else(release)?, None)
    }

    /// Whether two scopes are of one release: their names are equal, and so are the namespaces in which the installer keeps its record. Their
    /// objects may be in different namespaces.
    pub fn is_of_release(&self, other: &Self) -> bool {
        self.name == other.name && self.home() == other.home()
    }

    /// The namespace in which the installer keeps its record of the release.
    fn home(&self) -> &str {
        self.kept_in.as_ref().unwrap_or(&self.namespace)
    }
}

/// Cuts the name of a scope to [`LONGEST_NAME`]. No installer has a longer name, but an annotation may hold any text, and sluice keeps thousands
/// of scopes.
fn cut(name: &str) -> String {
    name[..name.floor_char_boundary(LONGEST_NAME)].to_owned()
}

/// Whether two objects are of one release; `None` where one of them is in no scope.
pub fn is_shared(one: &Value, other: &Value) -> Option<bool> {
    Some(Scope::of(one)?.is_of_release(&Scope::of(other)?))
}

/// The weight of an object, which is its wave, from its template or itself; `None` where it states none, which counts as 0. A weight that cannot
/// be read counts as none: only an object that is older than sluice can have one.
pub fn weight(object: &Value) -> Option<i64> {
    annotation::weight(said(object, keys::WEIGHT)?)
}

/// Whether an object counts for waves: a workload, also of a custom kind, or an object that states a weight. Helm runs its hooks
/// one by one itself, so a hook counts only where its author states a weight, and a test of Helm never does. An object that a
/// controller made does not count, because the object above it does.
pub fn is_in_wave(object: &Value) -> bool {
    if controller_of(object).is_some() {
        return false;
    }
    let weighs = weight(object).is_some();
    match hook(object) {
        None => weighs || WORKLOADS.contains(&group_kind(object)) || makes_pods(object),
        Some(hook) => weighs && !is_test(hook),
    }
}

/// Whether an object has containers at `spec.template.spec.containers`, as a Deployment and a Rollout have.
fn makes_pods(object: &Value) -> bool {
    get(object, &["spec", "template", "spec", "containers"]).is_some()
}

/// Whether a controller made the object as a step of a rollout, as it makes the ReplicaSets of a Deployment. The controller writes the object
/// again whenever a pod becomes ready, for as long as the rollout lasts, so its writes say nothing about the installer of the scope.
pub fn is_of_a_rollout(object: &Value) -> bool {
    controller_of(object).is_some_and(|controller| {
        let (group, kind) = group_kind(controller);
        // Any controller makes ReplicaSets for that alone, also the one of a Rollout.
        kinds::builtin(group, kind).is_some() || group_kind(object) == ("apps", "ReplicaSet")
    })
}

/// Whether Helm runs the object as a hook, apart from its release.
pub fn is_hook(object: &Value) -> bool {
    hook(object).is_some()
}

/// The text of the annotation `helm.sh/hook`, such as `post-install,post-upgrade`; `None` for an object that is no hook.
pub fn hook(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][keys::HELM_HOOK].as_str()
}

/// Whether this value of [`keys::HELM_HOOK`] means `helm test` and nothing else. A hook that also belongs to an installation is a
/// hook like any other.
pub fn is_test(hook: &str) -> bool {
    hook.split(',')
        .all(|word| matches!(word.trim(), "test" | "test-success" | "test-failure"))
}

/// The names of the groups that an object is in, from `sluice.dev/group` and `helm.sh/resource-group`, on the object or its template.
pub fn groups(object: &Value) -> impl Iterator<Item = &str> {
    [keys::GROUP, keys::RESOURCE_GROUP]
        .into_iter()
        .filter_map(|key| said(object, key))
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|group| !group.is_empty())
}

/// The name of an object's chart: the label `helm.sh/chart` (in older charts `chart`) holds `name-version`, and the version is cut off. `None`
/// without such a label, and where it holds no version.
pub fn chart(object: &Value) -> Option<&str> {
    let labels = &object["metadata"]["labels"];
    let label = labels["helm.sh/chart"].as_str();
    let label = label.or_else(|| labels["chart"].as_str())?;
    let dashes = label.match_indices('-').map(|(at, _)| at);
    let versions = dashes.filter_map(|at| Some((at, numbers(&label[at + 1..])?)));
    // A name may end in a text that looks like a version (`php-8.1-1.0.0`), and a pre-release may contain one (`api-1.0.0-rc-1`).
    // So the fullest version counts, and of two equally full ones the first.
    let (at, _) = versions.rev().max_by_key(|(_, numbers)| *numbers)?;
    Some(&label[..at])
}

/// The count of numbers with which a version begins, at most 3: `8.1-rc.1` has 2. `None` for a text that is no version. Helm reads versions
/// leniently (`1`, `v2`, `8.1-rc.1`), and in a label `_` stands for `+`.
fn numbers(version: &str) -> Option<usize> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let core = version.split(['-', '_', '+']).next()?;
    let first = core.split('.').next()?;
    let is_number = !first.is_empty() && first.bytes().all(|it| it.is_ascii_digit());
    let numbers = core.split('.');
    let numbers = numbers.take_while(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    is_number.then(|| numbers.count().min(3))
}

/// The value of an object's label `app.kubernetes.io/name`.
pub fn app(object: &Value) -> Option<&str> {
    object["metadata"]["labels"]["app.kubernetes.io/name"].as_str()
}

impl Parts {
    /// Whether objects of the scope `other` (`None`: objects without a scope) may be in this part, for a dependent of scope `own`.
    ///
    /// A release is found by its name alone; a group or a sub-chart only in the dependent's own scope, or in any scope where the dependent has
    /// none. A sub-chart whose namespace is written counts where its scope and the dependent's are of one release.
    pub fn is_of(&self, own: Option<&Scope>, other: Option<&Scope>) -> bool {
        match (&self.part, &self.namespace) {
            (Part::Release(name), _) => other.is_some_and(|other| other.name == *name),
            (Part::SubChart(_), Some(_)) => own
                .zip(other)
                .is_some_and(|(own, other)| own.is_of_release(other)),
            (Part::SubChart(_) | Part::Group(_), _) => own.is_none() || own == other,
        }
    }
}

impl Part {
    /// The kinds of [`outspoken`] whose objects may belong to this part: all of them for a group, none for a sub-chart or a release, because a
    /// release has more Services than any dependent waits for.
    pub(crate) fn outspoken(&self) -> impl Iterator<Item = Kind> {
        outspoken().filter(|_| matches!(self, Self::Group(_)))
    }

    /// Whether an object may be in this part, if it is in the part's scope: always for a release. For a sub-chart the label of the chart or of
    /// the application (`app.kubernetes.io/name`) is enough; [`Part::narrow`] then decides among all such objects.
    pub fn may_hold(&self, object: &Value) -> bool {
        match self {
            Self::Group(name) => groups(object).any(|group| group == name),
            Self::SubChart(name) => {
                let (outer, name) = nesting(name);
                let named = chart(object) == Some(name) || app(object) == Some(name);
                named && outer.is_none_or(|outer| is_inside(outer, object))
            }
            Self::Release(_) => true,
        }
    }

    /// The part under which an index keeps the objects: for a sub-chart inside another, the sub-chart without the outer one, which may hold more
    /// objects, because no label names the outer one. Any other part is returned unchanged.
    #[must_use]
    pub fn indexed(&self) -> Self {
        match self {
            Self::SubChart(name) => Self::SubChart(nesting(name).1.to_owned()),
            other => other.clone(),
        }
    }

    /// Drops the objects for which `holds_exactly` is false, but only if it is true for one of them: the label of a chart wins over the label of
    /// the application.
    pub fn narrow<T>(objects: &mut Vec<T>, holds_exactly: impl Fn(&T) -> bool) {
        if objects.iter().any(&holds_exactly) {
            objects.retain(holds_exactly);
        }
    }

    /// Whether the chart label of an object names this sub-chart. `false` for a group and for a release.
    pub fn holds_exactly(&self, object: &Value) -> bool {
        matches!(self, Self::SubChart(name) if chart(object) == Some(nesting(name).1))
    }
}

/// Splits the name of a sub-chart: `airflow/postgresql` is the outer chart `airflow` and the sub-chart `postgresql`; `postgresql` has no outer
/// chart.
pub(crate) fn nesting(name: &str) -> (Option<&str>, &str) {
    match name.split_once('/') {
        Some((outer, name)) => (Some(outer), name),
        None => (None, name),
    }
}

/// Whether an object belongs to a sub-chart inside of the chart `outer`, by its name and two labels: `shop-airflow-postgresql`. Helm writes no
/// label for that; but two objects of one kind cannot have one name, so where a release has two such sub-charts, their names hold the outer
/// chart.
pub(crate) fn is_inside(outer: &str, object: &Value) -> bool {
    let metadata = &object["metadata"];
    let label = |key: &str| metadata["labels"][key].as_str();
    let names = [
        metadata["name"].as_str(),
        label("app.kubernetes.io/name"),
        label("app.kubernetes.io/part-of"),
    ];
    let mut names = names.into_iter().flatten();
    names.any(|name| format!("-{name}-").contains(&format!("-{outer}-")))
}

#[cfg(test)]
mod tests;
