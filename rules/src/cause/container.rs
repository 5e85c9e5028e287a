//! The cause of one container of a pod, from the status that the kubelet writes.

use super::registry::its_word;
use super::{Cause, IMAGE, MADE, SAYS, STARTS, older, text};
use crate::keys;
use jiff::Timestamp;
use serde_json::Value;
use wire::said::clean;

/// The kubelet's reasons for an image that it cannot use.
const IMAGES: [&str; 6] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
];
/// The kubelet's reasons for a container that waits and has no trouble.
const ORDINARY: [&str; 3] = ["", "PodInitializing", "ContainerCreating"];
/// The reasons of a container that ended before it began: the message is then the runtime's and holds nothing of the
/// application's.
const NEVER_BEGAN: [&str; 2] = ["StartError", "ContainerCannotRun"];

/// The status of one container.
pub(super) struct Kept<'p> {
    pub(super) name: &'p str,
    status: &'p Value,
    /// Whether the container is an init container that must end before the next container starts.
    first: bool,
}

impl<'p> Kept<'p> {
    /// The status of the gate's container in a pod; `None` where the kubelet has not written it.
    pub(super) fn gate(pod: &'p Value) -> Option<Self> {
        let mut statuses = pod["status"]["initContainerStatuses"].as_array()?.iter();
        let status = statuses.find(|it| it["name"] == keys::GATE_CONTAINER)?;
        Some(Self {
            name: keys::GATE_CONTAINER,
            status,
            first: true,
        })
    }

    /// The statuses of a pod's containers except the gate: first the init containers, then the others.
    pub(super) fn all(pod: &'p Value) -> impl Iterator<Item = Self> {
        let of = |field: &str| pod["status"][field].as_array().into_iter().flatten();
        let init = of("initContainerStatuses").map(|status| (status, !goes_on(pod, status)));
        let all = init.chain(of("containerStatuses").map(|status| (status, false)));
        all.filter(|(status, _)| status["name"] != keys::GATE_CONTAINER)
            .map(|(status, first)| Self {
                name: text(&status["name"]),
                status,
                first,
            })
    }

    /// The cause why the container keeps its pod from being ready; `None` where it does not, or has only just started.
    pub(super) fn trouble(&self, now: Timestamp) -> Option<Cause> {
        let state = &self.status["state"];
        let name = || clean(self.name, SAYS);
        let waiting = &state["waiting"];
        let (reason, message) = (text(&waiting["reason"]), text(&waiting["message"]));
        if IMAGES.contains(&reason) {
            return Some(Cause::Image {
                image: clean(text(&self.status["image"]), IMAGE),
                says: clean(its_word(message), SAYS),
            });
        }
        if reason == "CrashLoopBackOff" {
            let end = self
                .last_end()
                .unwrap_or_else(|| "ends again and again".to_owned());
            return Some(Cause::Crash { name: name(), end });
        }
        if !ORDINARY.contains(&reason) {
            let says = if message.is_empty() { reason } else { message };
            let says = clean(says, SAYS);
            return Some(Cause::Container { name: name(), says });
        }
        if let Some(end) = self.failed() {
            return Some(Cause::Crash { name: name(), end });
        }
        self.running(now)
    }

    /// The cause of a running container: an init container that runs for longer than 30 seconds, a crash before this run, or a probe that has
    /// not succeeded. `None` for a container that is ready, or does not run.
    fn running(&self, now: Timestamp) -> Option<Cause> {
        let running = &self.status["state"]["running"];
        if !running.is_object() {
            return None;
        }
        let began = text(&running["startedAt"]);
        if self.first {
            let name = self.name.to_owned();
            return older(began, MADE, now).then_some(Cause::Init(name));
        }
        if self.status["ready"] == true {
            return None;
        }
        // A container that runs between two crashes has the crash as its cause.
        if let Some(end) = end(&self.status["lastState"]["terminated"]) {
            let name = self.name.to_owned();
            return Some(Cause::Crash { name, end });
        }
        let cause = match self.status["started"].as_bool() {
            Some(false) => Cause::NotStarted,
            _ => Cause::NotReady,
        };
        older(began, STARTS, now).then(|| cause(self.name.to_owned()))
    }

    /// Whether this is a running init container whose end the next container waits for.
    pub(super) fn is_at_work(&self) -> bool {
        self.first && self.status["state"]["running"].is_object()
    }

    /// The sentence on how the container failed; `None` unless it has ended with an exit code other than 0.
    pub(super) fn failed(&self) -> Option<String> {
        end(&self.status["state"]["terminated"])
    }

    /// The sentence on how the last run of the container ended, also with exit code 0; `None` for a container in its first run.
    fn last_end(&self) -> Option<String> {
        let last = &self.status["lastState"]["terminated"];
        last.is_object().then(|| ended(last))
    }
}

/// Whether the init container with this status is a sidecar (restartPolicy `Always`), which runs on beside the other containers.
fn goes_on(pod: &Value, status: &Value) -> bool {
    let containers = pod["spec"]["initContainers"].as_array();
    let own = containers
        .into_iter()
        .flatten()
        .find(|it| it["name"] == status["name"]);
    own.is_some_and(|it| it["restartPolicy"] == "Always")
}

/// The sentence on how a container failed; `None` for exit code 0, and for a container that has not ended.
fn end(terminated: &Value) -> Option<String> {
    let failed = terminated["exitCode"]
        .as_i64()
        .is_some_and(|code| code != 0);
    failed.then(|| ended(terminated))
}

/// Writes how a container has ended: `ended with exit code 137 (OOMKilled)`.
fn ended(terminated: &Value) -> String {
    let code = terminated["exitCode"].as_i64().unwrap_or_default();
    match (text(&terminated["reason"]), text(&terminated["message"])) {
        ("" | "Error" | "Completed", _) => format!("ended with exit code {code}"),
        (reason, says) if NEVER_BEGAN.contains(&reason) && !says.is_empty() => {
            format!("cannot be started: {}", clean(says, SAYS))
        }
        (reason, _) => format!("ended with exit code {code} ({})", clean(reason, SAYS)),
    }
}
