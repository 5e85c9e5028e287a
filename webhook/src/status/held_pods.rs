//! Held pods: pods with our scheduling gate, which no scheduler takes until their gates would open.
//!
//! When the gate of a held pod would wait no longer, a patch removes the scheduling gate and nothing else. The gate then asks again,
//! and says why it refuses where it does. Every replica does so: the patch tests the scheduling gate that it removes, so the second
//! replica changes nothing.

use super::hold_writer::Written;
use super::release::{self, Held, Hold, HoldEnd, HoldState, Releaser, Show};
use super::service::Service;
use super::tell::GatedPod;
use super::wait::Look;
use super::wait_registry::{WaitRegistry, Waiter};
use crate::known::View;
use kube::Client;
use rules::gate;
use rules::hold;
use rules::lookup::Lookup;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// Removes our scheduling gate from held pods.
pub(crate) struct PodReleaser(Releaser);

/// A sender for every gated pod that a watch shows, and a receiver of the held pods among them.
pub(crate) fn held_pods() -> (Show, UnboundedReceiver<Waiter>) {
    release::shown(gate::is_held)
}

impl PodReleaser {
    /// Releases pods that `service` judges, and registers the held pods in `registry`.
    pub(crate) fn new(service: Arc<Service>, client: Client, registry: Arc<WaitRegistry>) -> Self {
        Self(Releaser::new(service, client, registry))
    }

    /// Looks after each held pod that is `seen`, for as long as the process runs.
    pub(crate) async fn keep(self, seen: UnboundedReceiver<Waiter>) {
        release::keep(seen, |pod| self.look_after(pod)).await;
    }

    /// Returns the UID of a pod when the pod is no longer held.
    async fn look_after(&self, pod: Waiter) -> String {
        self.0.until_released(&pod, self).await;
        self.0.service.tell.let_go(&pod);
        pod.uid
    }
}

impl Hold for PodReleaser {
    const ALL: &str = "the gated pods";

    fn stored(&self, pod: &Waiter, view: &View) -> Lookup<Value> {
        view.gated_pod(&pod.namespace, &pod.name)
    }

    fn state(&self, pod: Value) -> HoldState {
        if gate::is_held(&pod) {
            HoldState::Held(pod)
        } else {
            HoldState::Released
        }
    }

    fn tell(&self, look: &Look<'_>, held: &Held, is_news: bool) -> Option<Instant> {
        let (pod, tell) = (look.waiter, &look.service.tell);
        let answer = &held.verdict.answer;
        if is_news {
            let wait = held.wait();
            tell.waits(pod, wait.reason, answer, wait.since);
        }
        let above = held.round.as_ref().and_then(|round| round.above());
        let subject = GatedPod { pod, above };
        let event = || tell.waiting(&subject, answer, held.verdict.why.is_late());
        look.settled.then(event).flatten()
    }

    fn url(&self, pod: &Waiter) -> String {
        let (namespace, name) = (&pod.namespace, &pod.name);
        format!("/api/v1/namespaces/{namespace}/pods/{name}")
    }

    fn patch(&self, pod: &Value, _: HoldEnd) -> Option<Value> {
        hold::let_go(pod).map(Value::from)
    }

    fn log(&self, pod: &Waiter, end: HoldEnd, written: Written) {
        let (namespace, pod) = (&pod.namespace, &pod.name);
        match written {
            Written::Done => info!(namespace, pod, outcome = end.outcome, "Let go"),
            Written::TooLate(error) => debug!(%error, namespace, pod, "Not let go"),
            Written::Failed(error) => {
                warn!(%error, namespace, pod, "Cannot let go; trying again. The chart's value holds.enabled grants it; no policy may deny it");
            }
            Written::FailsStill(error) => debug!(%error, namespace, pod, "Cannot let go yet"),
        }
    }
}
