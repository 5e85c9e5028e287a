//! The annotation and label keys that sluice reads and writes, a paragraph each.

/// The annotation with the list of a dependent's dependencies, on the workload or on its pod template; the template wins.
pub const DEPENDS_ON: &str = "sluice.dev/depends-on";

/// The annotation with a list of dependencies in the grammar of cli-utils (`group/Kind/name`), so that charts written for kpt work.
pub const CONFIG_DEPENDS_ON: &str = "config.kubernetes.io/depends-on";

/// The keys by which an object asks for a gate, on itself or on its pod template. The chart has the API server send only objects
/// that carry one of them to the webhook.
pub const ASKING: [&str; 4] = [DEPENDS_ON, CONFIG_DEPENDS_ON, WEIGHT, PARALLELISM];

/// The constant marker: an annotation on the pod template of a gated workload, a label on a gated pod.
/// Its only value is [`GATED_VALUE`], because a value that could change would roll pods.
pub const GATED: &str = "sluice.dev/gated";

/// The only value of the label [`GATED`].
pub const GATED_VALUE: &str = "true";

/// The annotation with an opaque text, such as the number of a release, on a dependent and on its dependencies. A dependency in the dependent's
/// scope that carries it counts only while both texts are equal. So a dependency of the old release does not count.
pub const REVISION: &str = "sluice.dev/revision";

/// The annotation that says how long a gate may wait, counted from the pod's start, as a Go duration.
pub const TIMEOUT: &str = "sluice.dev/timeout";

/// The annotation with the effect of the timeout once it has passed: `wait`, `fail` or `proceed`.
pub const ON_TIMEOUT: &str = "sluice.dev/on-timeout";

/// The annotation with the effect of a dependency that has failed for good: `wait` or `fail`.
pub const ON_FAILURE: &str = "sluice.dev/on-failure";

/// The annotation that says whether later pods of a revision wait once one of its pods has passed its gate: `once` (they do not), `boot` (they wait
/// again after a boot of their node) or `always`.
pub const REGATE: &str = "sluice.dev/regate";

/// The annotation that opens the gate at once where it is `"true"`: break-glass.
pub const SKIP: &str = "sluice.dev/skip";

/// The annotation with the reason for [`SKIP`], which only people read.
pub const SKIP_REASON: &str = "sluice.dev/skip-reason";

/// The annotation with the gate's place among the init containers: `first`, `last` or `after=<init container>`. It stands on the pod template, where
/// admission finds it when the pod is created.
pub const GATE_POSITION: &str = "sluice.dev/gate-position";

/// The annotation that says whether a pod is held before it takes a node: `"true"` or `"false"`, on the pod template. Also the name of the scheduling
/// gate that holds it. On a Job itself `suspend`: it is created suspended, and has no pod before its list is satisfied. On any object itself
/// `create`: the API server answers its creation with "try again later" until its list is satisfied.
pub const HOLD: &str = "sluice.dev/hold";

/// The annotation that says whether the images of a pod's later containers are pulled before its gate begins: `"true"` or `"false"`, on the pod
/// template.
pub const PREFETCH: &str = "sluice.dev/prefetch";

/// The annotation of a pod that was created with a hold, so that its wait counts from its creation. Its only value is [`GATED_VALUE`].
pub const HELD: &str = "sluice.dev/held";

/// The annotation of a Job that was created suspended because of `sluice.dev/hold: suspend`, and that sluice resumes. Its value is [`GATED_VALUE`]
/// until then; after that it is gone, or [`TIMED_OUT`].
pub const SUSPENDED: &str = "sluice.dev/suspended";

/// The value of [`SUSPENDED`] on a Job that was resumed because its wait took too long: the gates of its pods count from its creation.
pub const TIMED_OUT: &str = "timed-out";

/// The keys of the annotations beside a dependent's lists that are read or checked with them; see [`crate::terms::Terms`].
pub const TERMS: [&str; 10] = [
    REVISION,
    TIMEOUT,
    ON_TIMEOUT,
    ON_FAILURE,
    REGATE,
    SKIP,
    WEIGHT,
    PARALLELISM,
    GROUP,
    SCOPE,
];

/// The annotation with the weight of an object, an integer: the wave in its scope. Lower waves come first.
pub const WEIGHT: &str = "sluice.dev/weight";

/// The annotation with the cap of a wave: how many of the wave's objects that carry the key may run at once.
pub const PARALLELISM: &str = "sluice.dev/parallelism";

/// The annotation with the groups that an object belongs to, comma separated.
pub const GROUP: &str = "sluice.dev/group";

/// The annotation with the groups that an object belongs to, as the Helm proposal for resource sequencing spells its key.
pub const RESOURCE_GROUP: &str = "helm.sh/resource-group";

/// The annotation that names the scope of an object by hand.
pub const SCOPE: &str = "sluice.dev/scope";

/// The annotation of a Namespace with the other namespaces that may depend on objects in it, comma separated, or `*`.
pub const ALLOW_DEPENDENTS_FROM: &str = "sluice.dev/allow-dependents-from";

/// The annotation of any object with the expressions that say when it is healthy. Also the beginning of the keys that do so for one path each,
/// such as `sluice.dev/health.status.replicas`.
pub const HEALTH: &str = "sluice.dev/health";

/// The annotation of HIP-0025 with expressions; the object is healthy once one of them is met. Without [`READINESS_FAILURE`] it means nothing.
pub const READINESS_SUCCESS: &str = "helm.sh/readiness-success";

/// The annotation of HIP-0025 with expressions; the object has failed once one of them is met, even if one of [`READINESS_SUCCESS`] is met too.
/// Without [`READINESS_SUCCESS`] it means nothing.
pub const READINESS_FAILURE: &str = "helm.sh/readiness-failure";

/// Helm's annotation with the events at which Helm runs an object as a hook, apart from its release; comma separated.
pub const HELM_HOOK: &str = "helm.sh/hook";

/// A label on a ConfigMap that holds a plan ([`crate::plan`]).
pub const PLAN: &str = "sluice.dev/plan";

/// The key in the data of a plan's ConfigMap under which the plan's text stands.
pub const ORDER: &str = "order";

/// The key in a plan's text whose list every pod of the plan's namespace waits for.
pub const EVERY_POD: &str = "everyPod";

/// The key of an entry that counts only what is on the pod's own node.
pub const SAME_NODE: &str = "sameNode";

/// The chart's value for pods that wait for a `DaemonSet` of their node, in every labelled namespace.
pub const NODE_RULES: &str = "nodeRules";

/// The longest value of an annotation of sluice or of a plan, in bytes. A longer one is refused, and only its beginning is kept.
pub const LONGEST_VALUE: usize = 8 * 1024;

/// A label on a Namespace whose pods are all gated, for plans. Its only value is [`INJECT_VALUE`].
pub const INJECT: &str = "sluice.dev/inject";

/// The only value of the label [`INJECT`].
pub const INJECT_VALUE: &str = "enabled";

/// The label of a ClusterRole whose rules the API server adds to sluice's read rights. Its value is `true`.
pub const AGGREGATE_TO_WATCH: &str = "sluice.dev/aggregate-to-watch";

/// The labels that count on objects of one kind alone: the label, that kind, and the only value that counts there.
pub const LABELS: [(&str, &str, &str); 4] = [
    (INJECT, "Namespace", INJECT_VALUE),
    (HOLD, "Namespace", INJECT_VALUE),
    (PLAN, "ConfigMap", "true"),
    (AGGREGATE_TO_WATCH, "ClusterRole", "true"),
];

/// The annotations in which the controllers of Deployments and of Argo Rollouts number their ReplicaSets. Each rollout has the
/// next number, and so does a rollback to an earlier ReplicaSet.
pub const ROLLOUT_NUMBERS: [&str; 2] = [
    "deployment.kubernetes.io/revision",
    "rollout.argoproj.io/revision",
];

/// The annotation of a DaemonSet in which the API server numbers its pod templates.
pub const TEMPLATE_OF_DAEMON_SET: &str = "deprecated.daemonset.template.generation";

/// The label of a DaemonSet's pod with the number of the pod template that it was made from.
pub const TEMPLATE_OF_POD: &str = "pod-template-generation";

/// The annotation with the earlier numbers of a ReplicaSet that a rollback has brought back.
pub const ROLLOUT_HISTORY: &str = "deployment.kubernetes.io/revision-history";

/// Helm's annotation with an integer that orders the hooks of one operation.
pub const HOOK_WEIGHT: &str = "helm.sh/hook-weight";

/// Helm's annotation that tells when Helm deletes a hook.
pub const HOOK_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";

/// Argo CD's annotation for the phase of a sync in which an object is made.
pub const SYNC_HOOK: &str = "argocd.argoproj.io/hook";

/// Argo CD's annotation for the order of objects within a phase of a sync.
pub const SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";

/// Argo CD's annotation that tells the application of an object: `application:group/Kind:namespace/name`.
pub const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";

/// Helm's annotation that tells which release an object belongs to.
pub const RELEASE_NAME: &str = "meta.helm.sh/release-name";

/// Helm's annotation for the namespace that keeps the record of the object's release.
pub const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// The annotation of a PersistentVolumeClaim with the node that the scheduler has chosen for its volume.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// The annotation of a PersistentVolumeClaim with its storage class: the older spelling, which wins over the field.
pub const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// The annotations that make a StorageClass the default for a PersistentVolumeClaim that names no class.
pub const DEFAULT_CLASS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

/// The prefix of every label and annotation of sluice.
pub const PREFIX: &str = "sluice.dev/";

/// The name of the gate's init container.
pub const GATE_CONTAINER: &str = "sluice-gate";

/// The audience of the gate's token; the status service accepts no other.
pub const AUDIENCE: &str = "sluice";

/// Flux's label with the name of the HelmRelease that an object belongs to.
pub const HELM_RELEASE: &str = "helm.toolkit.fluxcd.io/name";
