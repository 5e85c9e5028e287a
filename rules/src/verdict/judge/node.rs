//! Judges entries with `sameNode`, for which only pods on the dependent's node count.

use super::basis::Judge;
use super::home::Home;
use super::several::{self, Member};
use crate::dependency::Dependency;
use crate::judged::{Judged, not_found};
use crate::kept::is_too_large;
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::object::{controller_of, group_kind, name};
use crate::profile;
use crate::selector::Selector;
use serde_json::Value;

impl Judge<'_> {
    /// Whether a pod is on the dependent's node, or may be because it is too large to be read. While the dependent has no node, only a pod that
    /// is too large counts.
    pub(super) fn is_on_same_node(&self, pod: &Value) -> bool {
        let node = self.dependent.node.as_deref();
        // The node of a pod that is too large is unknown, so the pod may be here.
        is_too_large(pod) || node.is_some() && pod["spec"]["nodeName"].as_str() == node
    }

    /// Judges the pod of a `DaemonSet` on the dependent's node in the state that the entry asks for. While one pod replaces another there are
    /// two, and the better one counts. Without a pod there, or while the dependent has no node, the entry is not found, or, if optional,
    /// absent.
    pub(super) fn on_same_node(
        &self,
        daemon_set: &Value,
        home: Home<'_>,
        entry: &Dependency,
    ) -> Judged {
        let kind = Kind::Builtin(kinds::POD);
        // The labels only narrow the search: the owner reference decides.
        let selector = Selector::labels(&daemon_set["spec"]["selector"]["matchLabels"]);
        let Some(node) = self.dependent.node.as_deref() else {
            return self.no_pod_here(entry);
        };
        let pods = match self.world.pods_on(node, home.namespace, &selector) {
            Lookup::Found(pods) => pods,
            Lookup::NotFound => Vec::new(),
            Lookup::Unavailable(why) => return self.unread(why, &kind, entry.optional),
        };
        let parts: Vec<Member> = pods
            .iter()
            .filter(|pod| belongs_to(pod, daemon_set))
            .map(|pod| {
                let judged = profile::judge(&kind, pod, entry.state, self.world, self.now);
                let judged = self.since_boot(judged, &kind, pod, entry.state);
                Member::of(format!("Pod/{}", name(pod)), judged)
            })
            .collect();
        if parts.is_empty() {
            return self.no_pod_here(entry);
        }
        several::some(parts, 1).judged
    }

    fn no_pod_here(&self, entry: &Dependency) -> Judged {
        let what = "it has no pod on this node yet";
        if entry.optional {
            self.absent(true, what).judged
        } else {
            not_found(false, what)
        }
    }
}

/// Whether this `DaemonSet`, and not an earlier one of the same name, controls the pod.
fn belongs_to(pod: &Value, daemon_set: &Value) -> bool {
    controller_of(pod).is_some_and(|owner| {
        group_kind(owner) == ("apps", "DaemonSet")
            && owner["name"] == daemon_set["metadata"]["name"]
            && owner["uid"] == daemon_set["metadata"]["uid"]
    })
}
