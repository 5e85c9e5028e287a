//! Root causes: the reason why the pods behind an unready object do not become ready, from their own status. A cause is only
//! shown; it decides nothing.

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

/// The most pods that are looked at: those that come first by their names.
pub const MOST: u16 = 20;
/// A container that starts is no trouble for this long.
const STARTS: SignedDuration = SignedDuration::from_secs(5);
/// A pod may take this long to get its containers.
const MADE: SignedDuration = SignedDuration::from_secs(30);
/// The longest shown name of a container's image, in characters.
const IMAGE: usize = 120;
/// Longest shown text of a program other than sluice, in characters.
const SAYS: usize = 160;

/// A thing behind an object that is not ready, most often a pod, and why: the one of several that tells the most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The kind of the object that is stuck: `Pod`.
    pub kind: &'static str,
    /// `metadata.name` of the object that is stuck; empty where there is none.
    pub name: String,
    /// The cause why the object is stuck.
    pub cause: Cause,
    /// How many pods have the same cause, this one included.
    pub alike: usize,
    /// How many pods of the dependency were looked at.
    pub of: usize,
}

/// Why a pod is not ready; the most telling cause comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// An image of the pod cannot be pulled.
    Image {
        /// The image reference, as the pod spells it.
        image: String,
        /// The registry's word; empty where the kubelet does not pass it on.
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
    /// The pod has failed as a whole.
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
    /// The gate has not opened, or the pod is held before its gate.
    Gate,
    /// An init container of the pod runs.
    Init(String),
    /// The startup probe of a container has not succeeded.
    NotStarted(String),
    /// The readiness probe of a container of the pod fails.
    NotReady(String),
    /// A container has ended well, and others run on, so that the pod does not end.
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
        /// The labels of another workload's pods that differ only a little; `None` where there are none.
        near: Option<String>,
    },
}

impl Stuck {
    /// The pod with the most telling cause; the order of the pods does not matter.
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
    /// Why a pod is not ready; `None` for a pod that is ready or has succeeded, and while no trouble of it is known.
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
        // Where the gate cannot start, nothing behind it does.
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
        // Each of its containers was asked.
        let others = !matches!(unready.reason, "" | "ContainersNotReady" | "PodCompleted");
        others.then(|| Self::Unready(clean(unready.message, SAYS)))
    }

    /// The cause of a pod of which no probe asks a container: it counts as ready between two crashes.
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

    /// The cause of a pod that has been in the making for too long although no message says why.
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

/// The scheduler's message on a pod for which it has found no node.
pub(crate) fn without_a_node(pod: &Value) -> Option<String> {
    let conditions = Conditions::read(pod).ok()?;
    let condition = conditions.find("PodScheduled", "False")?;
    if condition.reason != "Unschedulable" {
        return None;
    }
    // Behind the first sentence it is about preemption.
    let says = condition.message.split(". ").next().unwrap_or_default();
    Some(says.trim_end_matches('.').replace(char::is_control, " "))
}

/// The PersistentVolumeClaims of a pod, by their names.
pub fn claims(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// The message of a workload's controller that gets no pods, because of a quota or of another webhook.
pub fn refused(workload: &Value) -> Option<String> {
    let conditions = Conditions::read(workload).ok()?;
    Some(refusal(conditions.find("ReplicaFailure", "True")?.message))
}

/// The reason in the message of a controller whose pod was refused: that of a condition `ReplicaFailure`, or of an Event `FailedCreate`.
pub fn refusal(says: &str) -> String {
    // The message begins with the name of a pod, a different one each time.
    let marks = [" is forbidden: ", " denied the request: "];
    let why = marks.iter().find_map(|mark| Some(says.split_once(mark)?.1));
    clean(why.unwrap_or(says), SAYS)
}

/// Whether a workload's controller has made fewer pods than it is to make. A kind whose status does not tell gives no.
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

/// The number of a workload's pods that are not ready, by its own status; `None` for a kind whose status does not tell.
pub fn unready_pods(workload: &Value) -> Option<u64> {
    let status = |key: &str| workload["status"][key].as_u64();
    let kind = text(&workload["kind"]);
    let (made, ready) = match kind {
        "DaemonSet" => ("currentNumberScheduled", "numberReady"),
        "Job" => ("active", "ready"),
        // The workloads of other projects have the words of a Deployment.
        _ => ("replicas", "readyReplicas"),
    };
    // A number that is zero may be left out.
    let unready = status(made)?.saturating_sub(status(ready).unwrap_or(0));
    // A pod of a Job that has failed is no longer active.
    let failed = status("failed").filter(|_| kind == "Job");
    Some(unready.saturating_add(failed.unwrap_or(0)))
}

/// The containers that run on for a while after another container of the pod has ended well, so that the pod does not end. Those
/// that began together with it and are about to end need no word.
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

/// How a pod has failed: by its own word, else by that of a container.
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

/// Whether a moment, in Kubernetes' spelling, is at least this long ago; a missing or unreadable one is.
fn older(moment: &str, than: SignedDuration, now: Timestamp) -> bool {
    let at = moment.parse::<Timestamp>();
    !at.is_ok_and(|at| now.duration_since(at) < than)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Writes the stuck object with its cause: `its pod db-0 cannot pull image docker.io/postgres:17.2: not found (2 of 3
/// pods)`
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

/// Writes the cause as it follows the name of the pod.
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
