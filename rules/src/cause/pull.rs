//! The state of the images that a gated pod pulls as image volumes while it waits, from the kubelet's Events: no container's status tells it.

use super::registry::its_word;
use super::{IMAGE, SAYS, text};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use wire::said::clean;

/// The kubelet's reasons for a pull that has failed, each with a message that says why.
const FAILED: [&str; 2] = ["Failed", "InspectFailed"];
/// The kubelet's reason for a pull that has failed before, and pauses.
const PAUSES: &str = "BackOff";
const BEGUN: &str = "Pulling";
const DONE: &str = "Pulled";

/// An image of a pod that is not on the pod's node yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pull {
    /// The image reference, as the pod spells it.
    pub image: String,
    /// Why the image cannot be pulled, empty where the kubelet does not tell; `None` while it is being pulled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The time of the kubelet's newest word on the image, in its own spelling.
    pub at: String,
}

/// The images among `images` that are being pulled or cannot be pulled, by the newest Event about each. An image without an Event is left out.
/// `images` are those of a pod's image volumes ([`crate::gate::prefetched`]), `events` are about that pod.
pub fn pulls(images: &[String], events: &[Value]) -> Vec<Pull> {
    let images = images.iter();
    images.filter_map(|image| of_image(image, events)).collect()
}

/// Whether an Event is about an image volume. Events about a container's own image name the container.
pub fn is_of_pull(event: &Value) -> bool {
    let reason = text(&event["reason"]);
    let known = FAILED.contains(&reason) || [PAUSES, BEGUN, DONE].contains(&reason);
    known && text(&event["involvedObject"]["fieldPath"]).is_empty()
}

fn of_image(image: &str, events: &[Value]) -> Option<Pull> {
    let quoted = format!("\"{image}\"");
    let names_it = |event: &&Value| is_of_pull(event) && text(&event["message"]).contains(&quoted);
    let about = || events.iter().filter(names_it);
    // Kubernetes counts whole seconds, and a pull may fail within the second in which it began.
    let newest = about().max_by_key(|it| (at(it), it["reason"] != BEGUN))?;
    let failed = match text(&newest["reason"]) {
        DONE => return None,
        BEGUN => None,
        _ => {
            let says = about().filter(|it| FAILED.contains(&text(&it["reason"])));
            let says = says.max_by_key(|it| at(it)).map(|it| text(&it["message"]));
            Some(clean(its_word(says.unwrap_or_default()), SAYS))
        }
    };
    Some(Pull {
        image: clean(image, IMAGE),
        failed,
        at: at(newest).to_owned(),
    })
}

/// The time of the last occurrence of an Event, as the API server writes it; empty where it has none.
fn at(event: &Value) -> &str {
    let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"];
    let times = times.map(|it| text(event.pointer(it).unwrap_or(&Value::Null)));
    times.into_iter().max().unwrap_or_default()
}

/// Writes the pull in the words of [`super::Cause::Image`]: `pulling image app:1`, `cannot pull image app:1: not found`.
impl fmt::Display for Pull {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { image, failed, .. } = self;
        match failed.as_deref() {
            None => write!(out, "pulling image {image}"),
            Some("") => write!(out, "cannot pull image {image}"),
            Some(says) => write!(out, "cannot pull image {image}: {says}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(second: u32, reason: &str, message: &str) -> Value {
        let at = format!("2026-01-01T00:00:{second:02}Z");
        json!({"reason": reason, "message": message, "lastTimestamp": at, "involvedObject": {"kind": "Pod"}})
    }

    fn told(events: &[Value]) -> Vec<String> {
        let pulls = pulls(&["a:1".to_owned(), "b:1".to_owned()], events);
        pulls.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_newest_word_on_each_image_counts() {
        let [began, fails, pauses, done] = [
            event(5, "Pulling", "Pulling image \"a:1\""),
            event(
                5,
                "Failed",
                "Failed to pull image \"a:1\": rpc error: code = NotFound desc = failed to pull and unpack image \"a:1\": failed to resolve reference \"a:1\": r/a:1: not found",
            ),
            event(9, "BackOff", "Back-off pulling image \"a:1\""),
            event(
                30,
                "Pulled",
                "Successfully pulled image \"a:1\" in 1s (1s including waiting). Image size: 1 bytes.",
            ),
        ];
        let failed = "cannot pull image a:1: not found";
        assert_eq!(
            told(&[]),
            Vec::<String>::new(),
            "it is on the node, or nothing has begun"
        );
        assert_eq!(told(std::slice::from_ref(&began)), ["pulling image a:1"]);
        assert_eq!(told(&[fails.clone(), began.clone()]), [failed]);
        assert_eq!(
            told(std::slice::from_ref(&pauses)),
            ["cannot pull image a:1"],
            "the Event that says why is gone"
        );
        assert_eq!(
            told(&[pauses.clone(), began.clone(), fails.clone()]),
            [failed]
        );
        let again = event(20, "Pulling", "Pulling image \"a:1\"");
        assert_eq!(told(&[fails.clone(), again, began]), ["pulling image a:1"]);
        assert_eq!(told(&[done, fails, pauses]), Vec::<String>::new());
        let there = "Container image \"b:1\" already present on machine";
        assert_eq!(told(&[event(1, "Pulled", there)]), Vec::<String>::new());
        let bad = "Failed to apply default image tag \"b:1\": couldn't parse image name";
        assert_eq!(
            told(&[event(1, "InspectFailed", bad)]),
            ["cannot pull image b:1: couldn't parse image name"]
        );
    }

    #[test]
    fn an_event_of_a_container_is_no_early_pull() {
        let mut of_container = event(5, "Failed", "Failed to pull image \"a:1\": no");
        of_container["involvedObject"]["fieldPath"] = json!("spec.containers{app}");
        assert!(!is_of_pull(&of_container));
        assert!(!is_of_pull(&event(5, "FailedMount", "\"a:1\"")));
        assert!(told(&[of_container]).is_empty());
        assert!(told(&[event(5, "Pulling", "Pulling image \"aa:1\"")]).is_empty());
    }
}
