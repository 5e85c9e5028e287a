//! The annotation and label keys that sluice reads and writes, a paragraph each.

/// The list of a dependent's dependencies. On the workload or on its pod template; the template wins.
pub const DEPENDS_ON: &str = "sluice.dev/depends-on";

/// The list in the grammar of cli-utils (`group/Kind/name`), honoured as written so that charts written for kpt work.
pub const CONFIG_DEPENDS_ON: &str = "config.kubernetes.io/depends-on";

/// The keys by which an object asks for a gate, on itself or on its pod template. The chart has the API server send only objects
/// that carry one of them to the webhook.
pub const ASKING: [&str; 4] = [DEPENDS_ON, CONFIG_DEPENDS_ON, WEIGHT, PARALLELISM];

/// The constant marker: an annotation on the pod template of a gated workload, a label on a gated pod.
/// Its only value is [`GATED_VALUE`], because a value that could change would roll pods.
pub const GATED: &str = "sluice.dev/gated";

/// The only value of the label [`GATED`].
pub const GATED_VALUE: &str = "true";

/// An opaque text, on a dependent and on its dependencies: one in the same scope that carries it counts only while both
/// are the same. The exact answer to "is that still the old release?".
pub const REVISION: &str = "sluice.dev/revision";

/// How long a gate may wait, counted from the pod's start, as a Go duration.
pub const TIMEOUT: &str = "sluice.dev/timeout";

/// The effect of the timeout: `wait`, `fail` or `proceed`.
pub const ON_TIMEOUT: &str = "sluice.dev/on-timeout";

/// The effect of a dependency that has failed for good: `wait` or `fail`.
pub const ON_FAILURE: &str = "sluice.dev/on-failure";

/// Whether later pods of a revision wait after one of its pods has passed its gate: `once` (they do not) or `always`.
pub const REGATE: &str = "sluice.dev/regate";

/// The annotation that opens the gate at once where it is `"true"`: break-glass.
pub const SKIP: &str = "sluice.dev/skip";

/// The reason for [`SKIP`], for people to read.
pub const SKIP_REASON: &str = "sluice.dev/skip-reason";

/// The gate's place among the init containers: `first`, `last` or `after=<init container>`. On the pod template, where admission
/// finds it when the pod is created.
pub const GATE_POSITION: &str = "sluice.dev/gate-position";

/// Whether a pod is held before it takes a node: `"true"` or `"false"`. On the pod template. Also the name of the scheduling gate
/// that holds it. On a Job itself `suspend`: it is created suspended, and has no pod before its list is satisfied. On any object itself
/// `create`: the API server answers its creation with "try again later" until its list is satisfied.
pub const HOLD: &str = "sluice.dev/hold";

/// Whether the images of a pod's later containers are pulled before its gate begins: `"true"` or `"false"`. On the pod template.
pub const PREFETCH: &str = "sluice.dev/prefetch";

/// On a pod that was made with a hold: its wait counts from its creation. Its only value is [`GATED_VALUE`].
pub const HELD: &str = "sluice.dev/held";

/// On a Job that was created suspended because of `sluice.dev/hold: suspend`: sluice resumes it. The value is [`GATED_VALUE`]
/// until then; after that it is gone, or [`TIMED_OUT`].
pub const SUSPENDED: &str = "sluice.dev/suspended";

/// The value of [`SUSPENDED`] on a Job that was resumed because its wait took too long: the gates of its pods count from its creation.
pub const TIMED_OUT: &str = "timed-out";

/// The keys beside a dependent's lists; see [`crate::terms::Terms`].
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

/// The wave of an object in its scope, an integer.
pub const WEIGHT: &str = "sluice.dev/weight";

/// The cap of a wave: how many of its objects that carry the key may run at once.
pub const PARALLELISM: &str = "sluice.dev/parallelism";

/// The groups that an object belongs to, comma separated.
pub const GROUP: &str = "sluice.dev/group";

/// The groups that an object belongs to, in the spelling of the Helm proposal for resource sequencing.
pub const RESOURCE_GROUP: &str = "helm.sh/resource-group";

/// The annotation that names the scope of an object by hand.
pub const SCOPE: &str = "sluice.dev/scope";

/// On a Namespace: the other namespaces that may depend on objects in it, comma separated, or `*`.
pub const ALLOW_DEPENDENTS_FROM: &str = "sluice.dev/allow-dependents-from";

/// On any object: the expressions that say when it is healthy. Also the stem of the keys that do so for one path each,
/// `sluice.dev/health.status.replicas`.
pub const HEALTH: &str = "sluice.dev/health";

/// HIP-0025: an object is healthy once one of these expressions is met. Without [`READINESS_FAILURE`] it means nothing.
pub const READINESS_SUCCESS: &str = "helm.sh/readiness-success";

/// HIP-0025: an object has failed once one of these expressions is met, even if others are met too.
pub const READINESS_FAILURE: &str = "helm.sh/readiness-failure";

/// The events of Helm that run an object as a hook, apart from its release; comma separated.
pub const HELM_HOOK: &str = "helm.sh/hook";

/// A label on a ConfigMap that holds a plan ([`crate::plan`]).
pub const PLAN: &str = "sluice.dev/plan";

/// The key of such a ConfigMap under which the plan's text stands.
pub const ORDER: &str = "order";

/// The step of a plan whose list every pod of the plan's namespace waits for.
pub const EVERY_POD: &str = "everyPod";

/// The key of an entry that counts only what is on the pod's own node.
pub const SAME_NODE: &str = "sameNode";

/// The chart's value for pods that wait for a `DaemonSet` of their node, in every labelled namespace.
pub const NODE_RULES: &str = "nodeRules";

/// The longest value of any key, in bytes; a longer one is refused, and not kept.
pub const LONGEST_VALUE: usize = 8 * 1024;

/// A label on a Namespace whose pods are all gated, for plans. Its only value is [`INJECT_VALUE`].
pub const INJECT: &str = "sluice.dev/inject";

/// The only value of the label [`INJECT`].
pub const INJECT_VALUE: &str = "enabled";

/// Label of a ClusterRole that gives sluice its read rights. Its value is `true`.
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

/// The number of the template that a pod of a DaemonSet was made from: a label of it.
pub const TEMPLATE_OF_POD: &str = "pod-template-generation";

/// The earlier numbers of a ReplicaSet that a rollback has brought back.
pub const ROLLOUT_HISTORY: &str = "deployment.kubernetes.io/revision-history";

/// Helm: the order of the hooks of one operation.
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

/// On a claim: the node that its volume is for.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// On a claim: its storage class, in the older spelling, which wins over the field.
pub const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// On a storage class: the default for a claim that names no class.
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

/// Flux: the HelmRelease that an object belongs to, a label.
pub const HELM_RELEASE: &str = "helm.toolkit.fluxcd.io/name";
