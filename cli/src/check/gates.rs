//! Finds stranded pods: their gates trust no certificate that the controller serves, so they never get an answer.

use super::Checked;
use super::controller::text;
use crate::output::listed;
use rules::gate::{Gate, is_held, is_pending};
use rules::lookup::Lookup;
use serde_json::Value;

const CHECK: &str = "gates";

/// A problem that names those of the waiting pods that these Events of the controller call stranded, since only the controller knows the CAs
/// that it serves; a warning where Events or pods cannot be read; else a good line.
pub(super) fn stranded(events: &Lookup<Vec<Value>>, pods: &Lookup<Vec<Value>>) -> Checked {
    let (events, pods) = match (events, pods) {
        (Lookup::Found(events), Lookup::Found(pods)) => (events, pods),
        (Lookup::Unavailable(why), _) => return Checked::unseen(CHECK, "events", *why),
        (_, Lookup::Unavailable(why)) => return Checked::unseen(CHECK, "pods that wait", *why),
        (Lookup::NotFound, _) | (_, Lookup::NotFound) => return fine(),
    };
    let told = |pod: &&Value| {
        let uid = text(pod, "/metadata/uid");
        events
            .iter()
            .any(|event| text(event, "/involvedObject/uid") == uid)
    };
    let names: Vec<_> = pods
        .iter()
        .filter(|pod| waits(pod))
        .filter(told)
        .map(name)
        .collect();
    if names.is_empty() {
        return fine();
    }
    let told = format!(
        "trusting no certificate of sluice any more, these pods wait for ever: {}; delete them, and their owners make others (a pod that nobody owns has to be made again by hand)",
        listed(names)
    );
    Checked::problem(CHECK, told)
}

/// A problem that names the pods that wait at their gates although no controller is installed; a warning where pods cannot be read; `None` where
/// no pod waits.
pub(super) fn left_behind(pods: &Lookup<Vec<Value>>) -> Option<Checked> {
    let pods = match pods {
        Lookup::Found(pods) => pods,
        Lookup::NotFound => return None,
        Lookup::Unavailable(why) => return Some(Checked::unseen(CHECK, "pods that wait", *why)),
    };
    let names: Vec<_> = pods.iter().filter(|pod| waits(pod)).map(name).collect();
    (!names.is_empty()).then(|| {
        let told = format!(
            "without sluice these pods wait for ever: {}; if it was uninstalled, delete them, and their owners make others without a gate (a pod that nobody owns has to be made again by hand)",
            listed(names)
        );
        Checked::problem(CHECK, told)
    })
}

/// Whether a gated pod is pending and has not passed its gate, even if its gate has not started yet. False for a pod with the scheduling gate of a
/// hold: check `holds` names it.
fn waits(pod: &Value) -> bool {
    is_pending(pod) && !is_held(pod) && !matches!(Gate::of(pod), Gate::Passed { .. })
}

fn name(pod: &Value) -> String {
    let [namespace, name] = ["/metadata/namespace", "/metadata/name"].map(|at| text(pod, at));
    format!("{namespace}/{name}")
}

fn fine() -> Checked {
    Checked::ok(CHECK, "every gate that waits trusts the controller")
}
