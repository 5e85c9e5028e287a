//! Why the pods behind an unready object do not become ready, read from the status of the pods. A cause is only shown; it decides nothing.

mod behind;
mod container;
mod pull;
mod registry;
mod root;
mod unprobed;

pub use behind::{Behind, By, Page};
pub use pull::{Pull, is_of_pull, pulls};
pub use root::RootCause;
pub use unprobed::{Unprobed, unprobed};

use crate::gate::{self, Gate};
use crate::kstatus::Conditions;
use crate::object::name;
use container::Kept;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::cmp::Reverse;
use std::fmt;
use wire::said::clean;

/// The most pods of one dependency that are looked at: the first by name.
pub const MOST: u16 = 20;
/// A running container that is not ready is no cause before it has run for this long.
const STARTS: SignedDuration = SignedDuration::from_secs(5);
/// The time that the kubelet may take to make a pod's containers, an init container to run, and the containers that remain to end.
const MADE: SignedDuration = SignedDuration::from_secs(30);
/// The longest shown name of a container's image, in characters.
const IMAGE: usize = 120;
/// Longest shown text of a program other than sluice, in characters.
const SAYS: usize = 160;

/// The object behind an unready object, most often one of its pods, that tells most of why it is not ready, and the cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The kind of the object that is stuck: `Pod`.
    pub kind: &'static str,
    /// `metadata.name` of the object that is stuck; empty for [`Cause::NoPods`].
    pub name: String,
    /// The cause why the object is stuck.
    pub cause: Cause,
    /// How many pods have the same cause, this one included.
    pub alike: usize,
    /// How many pods of the dependency were looked at.
    pub of: usize,
}

/// Why a pod is not ready. In the order of the variants: the first is the most telling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// An image of the pod cannot be pulled.
    Image {
        /// The image reference, as the pod spells it.
        image: String,
        /// The registry's message on why; empty where the kubelet does not pass it on.
        says: String,
    },
    /// A container of the pod cannot be started.
    Container {
        /// The name of the container that cannot be started.
        name: String,
        /// The kubelet's message about the container.
        says: String,
    },
    /// A container ends with a failure, or again and again.
    Crash {
        /// The name of the container that crashes.
        name: String,
        /// How the crashed container ended last.
        end: String,
    },
    /// The pod has failed as a whole, or its gate has refused it; with the words on how.
    Failed(String),
    /// No node takes the pod because a PersistentVolumeClaim of the pod is not bound.
    Claim {
        /// The name of the PersistentVolumeClaim.
        name: String,
        /// Why the PersistentVolumeClaim is not bound.
        says: String,
    },
    /// No node takes the pod, for a reason that the scheduler tells.
    NoNode {
        /// The scheduler's message about the pod.
        says: String,
    },
    /// The pod waits at its gate, or is held before it takes a node.
    Gate,
    /// The init container of this name has run for longer than 30 seconds.
    Init(String),
    /// The startup probe of the container of this name has not succeeded.
    NotStarted(String),
    /// The readiness probe of the container of this name fails.
    NotReady(String),
    /// A container has ended well, and other containers run on, so the pod of a Job does not end.
    Lingers {
        /// The name of the container that has ended.
        ended: String,
        /// The names of the containers that still run, in quotes, with commas between them.
        running: String,
    },
    /// No cause in the pod's containers: the pod runs and is not ready, or the object is no pod. The text is the object's own
    /// message.
    Unready(String),
    /// The kubelet has not made the pod's containers.
    NotMade,
    /// No pod has the labels of a Service.
    NoPods {
        /// The labels of the Service's selector, as `kubectl get -l` takes them.
        labels: String,
        /// A workload whose pods have almost these labels, and its labels, in words; `None` where there is no such workload.
        near: Option<String>,
    },
}

impl Stuck {
    /// The pod with the most telling cause, of several the youngest; `None` where no pod has a cause. Pods that are being deleted do not count.
    pub fn among<'p>(pods: impl IntoIterator<Item = &'p Value>, now: Timestamp) -> Option<Self> {
        let (mut of, mut found) = (0, Vec::new());
        for pod in pods.into_iter().filter(|pod| !is_leaving(pod)) {
            of += 1;
            found.extend(Cause::of(pod, now).map(|cause| (cause, pod)));
        }
        let made = |pod: &Value| Reverse(text(&pod["metadata"]["creationTimestamp"]).to_owned());
        let rank =
            |(cause, pod): &(Cause, &Value)| (cause.clone(), made(pod), name(pod).to_owned());
        let (cause, pod) = found.iter().min_by_key(|it| rank(it))?;
        Some(Self {
            kind: "Pod",
            name: name(pod).to_owned(),
            cause: cause.clone(),
            alike: found.iter().filter(|(it, _)| it == cause).count(),
            of,
        })
    }
}

impl Cause {
    /// Why a pod is not ready; `None` for a pod that is ready or has succeeded, and for one whose status shows no cause yet.
    pub fn of(pod: &Value, now: Timestamp) -> Option<Self> {
        let conditions = Conditions::read(pod).unwrap_or_default();
        let phase = text(&pod["status"]["phase"]);
        if conditions.is_true("Ready") || phase == "Succeeded" {
            return None;
        }
        match Gate::of(pod) {
            Gate::Refused { .. } => return Some(Self::Failed("its gate refused it".to_owned())),
            _ if phase == "Failed" => return Some(Self::Failed(failure(pod))),
            Gate::Waiting { .. } => return Some(Self::Gate),
            _ if gate::is_held(pod) => return Some(Self::Gate),
            Gate::NotStarted | Gate::Passed { .. } => {}
        }
        if let Some(says) = without_a_node(pod) {
            return Some(Self::NoNode { says });
        }
        // Where the gate cannot start, no container after it does.
        let all = Kept::gate(pod).into_iter().chain(Kept::all(pod));
        let mut containers = all.filter_map(|it| it.trouble(now));
        if let Some(trouble) = containers.next() {
            return Some(trouble.beside(unprobed(pod)));
        }
        if let Some(lingers) = lingering(pod, now) {
            return Some(lingers);
        }
        if phase == "Pending" {
            return Self::of_one_to_be_made(pod, conditions, now);
        }
        let unready = conditions.find("Ready", "False")?;
        // The containers were looked at above, so only another reason of the condition is a cause.
        let others = !matches!(unready.reason, "" | "ContainersNotReady" | "PodCompleted");
        others.then(|| Self::Unready(clean(unready.message, SAYS)))
    }

    /// Adds to the crash of a container without a readiness probe that the container counts as ready between two crashes. Any other cause is
    /// returned unchanged.
    fn beside(self, unprobed: Option<Unprobed>) -> Self {
        match (self, unprobed) {
            (Self::Crash { name, end }, Some(it)) if it.container == name => Self::Crash {
                end: format!(
                    "{end}, and counts as ready whenever it runs, since it has no readiness probe"
                ),
                name,
            },
            (other, _) => other,
        }
    }

    /// The cause of a pending pod whose status has no message: after 30 seconds, that its containers are not made, or that the scheduler has not
    /// said why it has no node. `None` before that.
    fn of_one_to_be_made(pod: &Value, conditions: Conditions<'_>, now: Timestamp) -> Option<Self> {
        let created = text(&pod["metadata"]["creationTimestamp"]);
        if pod["spec"]["nodeName"].is_string() {
            // A pod has no start before its kubelet has taken it up, which may be a moment after its creation.
            let since = match Gate::of(pod) {
                Gate::Passed { at, .. } => at,
                _ => pod["status"]["startTime"].as_str().unwrap_or(created),
            };
            let idle = !Kept::all(pod).any(|it| it.is_at_work());
            return (idle && older(since, MADE, now)).then_some(Self::NotMade);
        }
        // A pod with a scheduling gate is no trouble of the scheduler: the gate's owner removes it.
        if conditions.find("PodScheduled", "False").is_some() {
            return None;
        }
        let says = "the scheduler has not said why".to_owned();
        older(created, MADE, now).then_some(Self::NoNode { says })
    }
}

/// The first sentence of the scheduler's message on a pod that fits on no node; `None` for a pod that the scheduler does not call
/// `Unschedulable`.
pub(crate) fn without_a_node(pod: &Value) -> Option<String> {
    let conditions = Conditions::read(pod).ok()?;
    let condition = conditions.find("PodScheduled", "False")?;
    if condition.reason != "Unschedulable" {
        return None;
    }
    // The further sentences are about preemption.
    let says = condition.message.split(". ").next().unwrap_or_default();
    Some(says.trim_end_matches('.').replace(char::is_control, " "))
}

/// The names of the PersistentVolumeClaims that a pod mounts.
pub fn claims(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// The reason why a workload's controller cannot create pods, such as a quota or another webhook, from the condition `ReplicaFailure`; `None`
/// where that condition is not True.
pub fn refused(workload: &Value) -> Option<String> {
    let conditions = Conditions::read(workload).ok()?;
    Some(refusal(conditions.find("ReplicaFailure", "True")?.message))
}

/// The reason out of the message of a controller whose pod was refused, which is that of a condition `ReplicaFailure` or of an Event
/// `FailedCreate`: the text behind the name of the pod.
pub fn refusal(says: &str) -> String {
    // The message begins with the name of a pod, a different one each time.
    let marks = [" is forbidden: ", " denied the request: "];
    let why = marks.iter().find_map(|mark| Some(says.split_once(mark)?.1));
    clean(why.unwrap_or(says), SAYS)
}

/// Whether a workload's controller has made fewer pods than it is to make, by the workload's status. A Job lacks pods only before its first one,
/// unless it is suspended. `false` for a kind whose status does not tell.
pub fn lacks_pods(workload: &Value) -> bool {
    let status = |key: &str| workload["status"][key].as_u64().unwrap_or(0);
    let is_suspended = workload["spec"]["suspend"] == true;
    let has_conditions = workload["status"]["conditions"]
        .as_array()
        .is_some_and(|it| !it.is_empty());
    match text(&workload["kind"]) {
        "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController" => {
            status("replicas") < workload["spec"]["replicas"].as_u64().unwrap_or(1)
        }
        "DaemonSet" => status("currentNumberScheduled") < status("desiredNumberScheduled"),
        "Job" => {
            let made = ["active", "succeeded", "failed"].map(status);
            !is_suspended && !has_conditions && made == [0, 0, 0]
        }
        _ => false,
    }
}

/// The number of a workload's pods that are not ready, by its own status; of a Job, those that have failed count too. `None` where the status has no
/// number of pods.
pub fn unready_pods(workload: &Value) -> Option<u64> {
    let status = |key: &str| workload["status"][key].as_u64();
    let kind = text(&workload["kind"]);
    let (made, ready) = match kind {
        "DaemonSet" => ("currentNumberScheduled", "numberReady"),
        "Job" => ("active", "ready"),
        // Custom workloads have the fields of a Deployment.
        _ => ("replicas", "readyReplicas"),
    };
    // A number that is zero may be left out.
    let unready = status(made)?.saturating_sub(status(ready).unwrap_or(0));
    // A pod of a Job that has failed is no longer active.
    let failed = status("failed").filter(|_| kind == "Job");
    Some(unready.saturating_add(failed.unwrap_or(0)))
}

/// The containers that still run 30 seconds after another container of the pod has ended well, so that a pod that is to end does not. `None` for
/// a pod whose containers are always restarted.
fn lingering(pod: &Value, now: Timestamp) -> Option<Cause> {
    if !matches!(
        pod["spec"]["restartPolicy"].as_str(),
        Some("Never" | "OnFailure")
    ) {
        return None;
    }
    let containers = pod["status"]["containerStatuses"].as_array()?;
    let has_ended = |it: &&Value| {
        let end = &it["state"]["terminated"];
        end["exitCode"] == 0 && older(text(&end["finishedAt"]), MADE, now)
    };
    let ended = containers.iter().find(has_ended)?;
    let running = containers
        .iter()
        .filter(|it| it["state"]["running"].is_object())
        .map(|it| format!("{:?}", clean(text(&it["name"]), SAYS)));
    let running = running.collect::<Vec<_>>().join(", ");
    (!running.is_empty()).then(|| Cause::Lingers {
        ended: clean(text(&ended["name"]), SAYS),
        running,
    })
}

fn is_leaving(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_string()
}

/// How a pod has failed: by the reason and message of its own status, else by the end of the first container that failed.
fn failure(pod: &Value) -> String {
    let status = &pod["status"];
    let container =
        || Kept::all(pod).find_map(|it| Some(format!("container {:?} {}", it.name, it.failed()?)));
    match (text(&status["reason"]), text(&status["message"])) {
        ("", _) => container().unwrap_or_else(|| "no container says why".to_owned()),
        (reason, "") => clean(reason, SAYS),
        (reason, says) => clean(&format!("{reason}: {says}"), SAYS),
    }
}

/// Whether a time, as Kubernetes writes it, is at least this long ago. `true` for a text that is no time.
fn older(moment: &str, than: SignedDuration, now: Timestamp) -> bool {
    let at = moment.parse::<Timestamp>();
    !at.is_ok_and(|at| now.duration_since(at) < than)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Writes the stuck object with its cause: `its pod db-0 cannot pull image docker.io/postgres:17.2: not found (2 of 3 pods)`.
impl fmt::Display for Stuck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            name,
            cause,
            alike,
            of,
        } = self;
        match (cause, *kind) {
            (Cause::NoPods { .. }, _) => write!(out, "{cause}")?,
            (_, "Pod") => write!(out, "its pod {name} {cause}")?,
            _ => write!(out, "its {kind} {name} {cause}")?,
        }
        match (of, cause) {
            (0 | 1, _) | (_, Cause::Gate) => Ok(()),
            _ => write!(out, " ({alike} of {of} pods)"),
        }
    }
}

/// Writes the cause in words that follow the name of the pod: `finds no node (...)`. [`Cause::NoPods`] is a sentence of its own.
impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image { image, says } if says.is_empty() => write!(out, "cannot pull image {image}"),
            Self::Image { image, says } => write!(out, "cannot pull image {image}: {says}"),
            Self::Container { name, says } => write!(out, "cannot start container {name:?}: {says}"),
            Self::Crash { name, end } => write!(out, "crashes: container {name:?} {end}"),
            Self::Failed(how) => write!(out, "has failed: {how}"),
            Self::Claim { name, says } => write!(out, "waits for its claim {name}: {says}"),
            Self::NoNode { says } => write!(out, "finds no node ({says})"),
            Self::Gate => out.write_str("waits at its gate"),
            Self::Init(name) => write!(out, "has come no further than its init container {name:?}"),
            Self::NotStarted(name) => write!(
                out,
                "is not ready: the startup probe of container {name:?} has not succeeded: \"kubectl describe pod\" says why"
            ),
            Self::NotReady(name) => {
                write!(out, "is not ready: the readiness probe of container {name:?} fails: \"kubectl describe pod\" says why")
            }
            Self::Lingers { ended, running } => write!(
                out,
                "does not end: its container {ended:?} has ended, and {running} still runs; make that an init container with restartPolicy \
                 Always, which ends with the others"
            ),
            Self::Unready(says) => write!(out, "is not ready: {says}"),
            Self::NotMade => out.write_str("is still being made: \"kubectl describe pod\" says what it lacks, such as a volume"),
            Self::NoPods { labels, near: None } => write!(out, "no pod has the labels that it selects ({labels})"),
            Self::NoPods { labels, near: Some(near) } => {
                write!(out, "no pod has the labels that it selects ({labels}); {near}")
            }
        }
    }
}

#[cfg(test)]
mod tests;
