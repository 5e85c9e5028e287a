//! One pod: its gate, its application, and the times of their actions.

use super::object::{Look, items, text};
use super::{LIMIT, await_until};
use jiff::Timestamp;
use rules::gate;
use rules::keys::{GATE_CONTAINER, GATED, GATED_VALUE};
use serde_json::Value;
use std::time::Duration;

/// The time for which a gate has to stay shut. A verdict travels in well under a second.
const WATCHED: Duration = Duration::from_secs(3);

/// The environment variable that is set where sluice is installed with `holds.default` and `podConditions.enabled`. A waiting pod is then held, so
/// its condition speaks in place of its gate.
const ALL_HELD: &str = "SLUICE_TEST_ALL_HELD";
const RELEASED: &str = "sluice.dev/Released";

/// A pod of a test.
#[derive(Clone)]
pub struct Pod {
    /// The pod's name.
    pub name: String,
    /// The pod's UID: another pod of the same name has another UID.
    pub uid: String,
    look: Look,
}

/// A line of a log.
#[derive(Debug, Clone)]
pub struct Line {
    /// The time at which the container runtime read the line, by the node's clock.
    pub at: Timestamp,
    /// The text of the line.
    pub text: String,
}

impl Pod {
    pub(super) fn new(look: &Look, object: &Value) -> Self {
        Self {
            name: text(object, "/metadata/name").to_owned(),
            uid: text(object, "/metadata/uid").to_owned(),
            look: look.clone(),
        }
    }

    /// Returns the pod as it is now. Fails when another pod has taken its place.
    pub async fn now(&self) -> Value {
        let object = self.look.get(&format!("pod/{}", self.name)).await;
        assert_eq!(
            text(&object, "/metadata/uid"),
            self.uid,
            "{} is another pod",
            self.name
        );
        object
    }

    /// Returns the container status of the pod's gate, with its state and its number of restarts; null where the kubelet has reported none.
    pub async fn gate(&self) -> Value {
        let pod = self.now().await;
        status(&pod, "/status/initContainerStatuses", GATE_CONTAINER)
    }

    /// Returns the lines of the gate's log so far; none while there is no log.
    pub async fn gate_log(&self) -> Vec<Line> {
        lines(&self.look.log(&self.name, GATE_CONTAINER).await)
    }

    /// Returns the lines of the application's log so far; none while there is no log.
    pub async fn app_log(&self) -> Vec<Line> {
        lines(&self.look.log(&self.name, "app").await)
    }

    /// Fails unless the pod is held: it has the gate, the label and the scheduling gate of sluice, it has no node, and the kubelet has reported no
    /// init container.
    pub async fn is_held(&self) {
        self.is_gated().await;
        let pod = self.now().await;
        assert!(gate::is_held(&pod), "{pod:#}");
        assert!(pod["spec"]["nodeName"].is_null(), "{pod:#}");
        assert!(pod["status"]["initContainerStatuses"].is_null(), "{pod:#}");
    }

    /// Waits until a condition of the pod, such as `Ready`, is `True`. Returns the time of its last change, in whole seconds, rounded down.
    pub async fn since(&self, condition: &str) -> Timestamp {
        let what = format!("{} is {condition}", self.name);
        await_until(&what, LIMIT, async || {
            let pod = self.now().await;
            let conditions = items(&pod, "/status/conditions").iter();
            let found = conditions
                .filter(|it| it["type"] == condition && it["status"] == "True")
                .find_map(|it| text(it, "/lastTransitionTime").parse().ok());
            found.ok_or_else(|| format!("{:#}", pod["status"]))
        })
        .await
    }

    /// Fails unless the pod has the label `sluice.dev/gated: "true"` and a gate as its first init container.
    pub async fn is_gated(&self) {
        let pod = self.now().await;
        let first = text(&pod, "/spec/initContainers/0/name");
        assert_eq!(first, GATE_CONTAINER, "the first of {}", self.name);
        assert_eq!(pod["metadata"]["labels"][GATED], GATED_VALUE, "{pod:#}");
    }

    /// Waits until the gate's last line says that it waits for this dependency and why, e.g. `Job/migrate` and `JobNotComplete`. Returns the line.
    /// Fails unless the pod has a gate, and is shut afterwards. Where all pods are held, the pod's condition has to say so.
    pub async fn waits_for(&self, dependency: &str, reason: &str) -> String {
        self.is_gated().await;
        let (names, gives) = (format!("for {dependency}: "), format!("({reason}"));
        let what = format!("waits for {dependency} ({reason})");
        let is_it = |line: &str| line.contains(&names) && line.contains(&gives);
        let line = self.last_line(&what, is_it).await;
        self.is_shut().await;
        line
    }

    /// Waits until the last line of the gate's log contains `part`, or the condition of a held pod does. Returns the
    /// line.
    pub async fn gate_says(&self, part: &str) -> String {
        let what = format!("says {part:?}");
        self.last_line(&what, |line| line.contains(part)).await
    }

    async fn last_line(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let what = format!("the gate of {} {what}", self.name);
        await_until(&what, LIMIT, async || {
            let last = self.last_word().await;
            if is_it(&last) { Ok(last) } else { Err(last) }
        })
        .await
    }

    async fn last_word(&self) -> String {
        if all_are_held() {
            let pod = self.now().await;
            if gate::is_held(&pod) {
                let mut conditions = items(&pod, "/status/conditions").iter();
                let ours = conditions.find(|it| it["type"] == RELEASED);
                let message = ours.map_or("nothing", |it| text(it, "/message"));
                return format!("held for {message}");
            }
        }
        let last = self.gate_log().await.pop();
        last.map_or_else(|| "no log".to_owned(), |line| line.text)
    }

    /// Waits for three seconds, and then fails if the gate has ended or was restarted, if the application has started, or where sluice holds all
    /// pods, if the pod is not held.
    pub async fn stays_shut(&self) {
        tokio::time::sleep(WATCHED).await;
        self.is_shut().await;
    }

    /// Fails if the gate has ended or was restarted, or if the application has started. Where sluice holds all pods, fails also if the pod is not
    /// held.
    pub async fn is_shut(&self) {
        let pod = self.now().await;
        let gate = status(&pod, "/status/initContainerStatuses", GATE_CONTAINER);
        // Do not check that the gate runs: the kubelet reports that after the log's first line, on a busy node
        // seconds later.
        assert!(gate["state"]["terminated"].is_null(), "{gate:#}");
        assert_eq!(gate["restartCount"].as_u64().unwrap_or(0), 0, "{gate:#}");
        let app = status(&pod, "/status/containerStatuses", "app");
        assert!(app["state"]["running"].is_null(), "{app:#}");
        assert!(app["state"]["terminated"].is_null(), "{app:#}");
        assert!(!all_are_held() || gate::is_held(&pod), "{pod:#}");
    }

    /// Waits until the application has printed `started` and the gate has ended with exit code 0. Returns the time of that line.
    pub async fn starts(&self) -> Timestamp {
        let started = self.says("started").await;
        let what = format!("the gate of {} has ended well", self.name);
        await_until(&what, LIMIT, async || {
            let gate = self.gate().await;
            if gate["state"]["terminated"]["exitCode"] == 0 {
                Ok(())
            } else {
                Err(format!("{gate:#}"))
            }
        })
        .await;
        started
    }

    /// Waits until the application has started, and returns the time at which the gate said that it opens. On a busy node the kubelet
    /// starts the application half a minute later.
    pub async fn opens(&self) -> Timestamp {
        self.starts().await;
        self.gate_log().await.pop().expect("it has opened").at
    }

    /// Waits until the gate has ended with exit code 1, and returns its termination message. The gate may be running again where its pod restarts
    /// containers.
    pub async fn is_refused(&self) -> String {
        let what = format!("the gate of {} is refused", self.name);
        await_until(&what, LIMIT, async || {
            let gate = self.gate().await;
            let ended = ["state", "lastState"].map(|state| gate[state]["terminated"].clone());
            match ended.iter().find(|it| it["exitCode"] == 1) {
                Some(ended) => Ok(text(ended, "/message").to_owned()),
                None => Err(format!("{gate:#}")),
            }
        })
        .await
    }

    /// Waits until the application prints `word` on a line of its own, and returns the time of the first such line.
    pub async fn says(&self, word: &str) -> Timestamp {
        let what = format!("the application of {} says {word:?}", self.name);
        await_until(&what, LIMIT, async || {
            let log = self.app_log().await;
            if let Some(line) = log.iter().find(|line| line.text == word) {
                return Ok(line.at);
            }
            let gate = self.gate_log().await;
            let last = gate.last().map_or("", |line| &line.text);
            Err(format!("{log:?}; its gate says {last:?}"))
        })
        .await
    }

    /// Waits until the pod's condition `Ready` is `True`.
    pub async fn is_ready(&self) {
        await_until(&format!("{} is ready", self.name), LIMIT, async || {
            let pod = self.now().await;
            let ready = items(&pod, "/status/conditions")
                .iter()
                .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
            if ready {
                Ok(())
            } else {
                Err(format!("{:#}", pod["status"]))
            }
        })
        .await;
    }

    /// Waits for an Event on the pod with this reason, whose message contains `message`.
    pub async fn has_event(&self, reason: &str, message: &str) {
        let what = format!("{} has an event {reason} with {message:?}", self.name);
        await_until(&what, LIMIT, async || {
            let events = self.events().await;
            let wanted = |(its, note): &&(String, String)| its == reason && note.contains(message);
            if events.iter().any(|event| wanted(&event)) {
                Ok(())
            } else {
                Err(format!("{events:?}"))
            }
        })
        .await;
    }

    async fn events(&self) -> Vec<(String, String)> {
        let events = self.look.list("event", "").await;
        let ours = |event: &&Value| event["involvedObject"]["uid"] == self.uid.as_str();
        let told = |event: &Value| {
            let (reason, message) = (text(event, "/reason"), text(event, "/message"));
            (reason.to_owned(), message.to_owned())
        };
        events.iter().filter(ours).map(told).collect()
    }
}

fn all_are_held() -> bool {
    std::env::var_os(ALL_HELD).is_some()
}

/// Returns the status of a container by its name from the list of statuses at the JSON pointer `list`; null where there is none.
fn status(pod: &Value, list: &str, name: &str) -> Value {
    let found = items(pod, list)
        .iter()
        .find(|status| status["name"] == name);
    found.cloned().unwrap_or_default()
}

fn lines(log: &str) -> Vec<Line> {
    let parse = |line: &str| {
        let (at, text) = line.split_once(' ')?;
        let at = at.parse().ok()?;
        let text = text.to_owned();
        Some(Line { at, text })
    };
    log.lines().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_line_has_its_time_in_front() {
        let lines = lines("2026-11-21T03:30:00.123456789Z started now\nnonsense\n");
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].text, "started now");
        assert_eq!(lines[0].at.subsec_nanosecond(), 123_456_789);
    }
}
