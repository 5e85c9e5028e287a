//! One pod: its gate, its application, and when which of them did what.

use super::object::{Look, items, text};
use super::{LIMIT, await_until};
use jiff::Timestamp;
use rules::gate;
use rules::keys::{GATE_CONTAINER, GATED, GATED_VALUE};
use serde_json::Value;
use std::time::Duration;

/// How long a gate is watched that has to stay shut. Long enough for a verdict to travel, which takes well below a second.
const WATCHED: Duration = Duration::from_secs(3);

/// Set where sluice is installed with `holds.default` and `podConditions.enabled`. A pod that waits is held there, so its gate says
/// nothing yet: its condition does.
const ALL_HELD: &str = "SLUICE_TEST_ALL_HELD";
const RELEASED: &str = "sluice.dev/Released";

/// A pod of a test.
#[derive(Clone)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Its UID: another pod of the same name has another.
    pub uid: String,
    look: Look,
}

/// A line of a log.
#[derive(Debug, Clone)]
pub struct Line {
    /// When the container runtime read it, by the node's clock.
    pub at: Timestamp,
    /// What it says.
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

    /// The pod as it is now. The same one: another pod in its place fails the test.
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

    /// What the pod says of its gate: state, restarts.
    pub async fn gate(&self) -> Value {
        let pod = self.now().await;
        status(&pod, "/status/initContainerStatuses", GATE_CONTAINER)
    }

    /// The gate's log.
    pub async fn gate_log(&self) -> Vec<Line> {
        lines(&self.look.log(&self.name, GATE_CONTAINER).await)
    }

    /// The application's log.
    pub async fn app_log(&self) -> Vec<Line> {
        lines(&self.look.log(&self.name, "app").await)
    }

    /// Fails where the pod is not held: no scheduler takes it, and the kubelet knows nothing of it.
    pub async fn is_held(&self) {
        self.is_gated().await;
        let pod = self.now().await;
        assert!(gate::is_held(&pod), "{pod:#}");
        assert!(pod["spec"]["nodeName"].is_null(), "{pod:#}");
        assert!(pod["status"]["initContainerStatuses"].is_null(), "{pod:#}");
    }

    /// When a condition of the pod came to be `True`; in whole seconds, rounded down.
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

    /// Fails where the pod has no gate, or the gate is not the first, or the label is missing.
    pub async fn is_gated(&self) {
        let pod = self.now().await;
        let first = text(&pod, "/spec/initContainers/0/name");
        assert_eq!(first, GATE_CONTAINER, "the first of {}", self.name);
        assert_eq!(pod["metadata"]["labels"][GATED], GATED_VALUE, "{pod:#}");
    }

    /// Waits until the gate says that it waits for this dependency and why, e.g. `Job/migrate` and `JobNotComplete`.
    /// Returns the line. Where all pods are held, the pod says so, and is held.
    pub async fn waits_for(&self, dependency: &str, reason: &str) -> String {
        self.is_gated().await;
        let (names, gives) = (format!("for {dependency}: "), format!("({reason}"));
        let what = format!("waits for {dependency} ({reason})");
        let is_it = |line: &str| line.contains(&names) && line.contains(&gives);
        let line = self.last_line(&what, is_it).await;
        self.is_shut().await;
        line
    }

    /// Waits until the last line of the gate's log contains this, or what is said of the pod while it is held. Returns the line.
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

    /// Fails where the gate opens in the next three seconds.
    pub async fn stays_shut(&self) {
        tokio::time::sleep(WATCHED).await;
        self.is_shut().await;
    }

    /// Fails where the gate has ended, has been started again, or the application is not held back.
    pub async fn is_shut(&self) {
        let pod = self.now().await;
        let gate = status(&pod, "/status/initContainerStatuses", GATE_CONTAINER);
        // Not that it runs: the kubelet says so after the first line of the log, on a busy node seconds after.
        assert!(gate["state"]["terminated"].is_null(), "{gate:#}");
        assert_eq!(gate["restartCount"].as_u64().unwrap_or(0), 0, "{gate:#}");
        let app = status(&pod, "/status/containerStatuses", "app");
        assert!(app["state"]["running"].is_null(), "{app:#}");
        assert!(app["state"]["terminated"].is_null(), "{app:#}");
        assert!(!all_are_held() || gate::is_held(&pod), "{pod:#}");
    }

    /// Waits until the gate has opened and the application has started. Returns when it did.
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

    /// Waits until the gate has ended because it was refused, and returns its termination message. Where its pod restarts
    /// what ends, it may be running again.
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

    /// Waits until the application says something, alone on a line, and returns when it did first.
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

    /// Waits until the application is ready.
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

    /// Waits for an event on the pod whose reason is this and whose message contains that.
    pub async fn has_event(&self, reason: &str, message: &str, limit: Duration) {
        let what = format!("{} has an event {reason} with {message:?}", self.name);
        await_until(&what, limit, async || {
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

/// The status of a container by its name; null where there is none.
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
