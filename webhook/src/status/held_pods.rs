//! Held pods: pods with our scheduling gate, which no scheduler takes until their gates would open.
//!
//! When the gate of a held pod would wait no longer, a patch removes the scheduling gate and nothing else. The gate then asks again,
//! and says why it refuses where it does. Every replica does so: the patch tests the scheduling gate that it removes, so the second
//! replica changes nothing.

use super::held_places::{HeldPlace, HeldPlaces};
use super::hold_writer::Written;
use super::release::{self, Held, Hold, HoldEnd, HoldState, Releaser, Show, TurnEnd};
use super::service::Service;
use super::tell::GatedPod;
use super::wait::Look;
use super::wait_registry::Waiter;
use crate::event::Regarding;
use crate::known::{Known, Store, View};
use kube::Client;
use rules::gate;
use rules::hold;
use rules::lookup::Lookup;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// Releases held pods: removes our scheduling gate from each whose gate would wait no longer.
pub(crate) struct PodReleaser(Releaser);

/// Returns a function to call with each gated pod that a watch shows, and the channel on which that function passes on the held ones.
pub(crate) fn held_pods() -> (Show, UnboundedReceiver<Waiter>) {
    release::shown(gate::is_held)
}

impl PodReleaser {
    /// Makes a releaser of the pods that `service` judges, which take their turns in `places`.
    pub(crate) fn new(service: Arc<Service>, client: Client, places: Arc<HeldPlaces>) -> Self {
        Self(Releaser::new(service, client, places))
    }

    /// Looks after each held pod that `seen` brings, until it is released or gone. Never returns.
    pub(crate) async fn keep(self, seen: UnboundedReceiver<Waiter>) {
        release::keep(seen, &self.0, &self, |pod| self.look_after(pod)).await;
    }

    /// Looks after a held pod until it is no longer held, or until another pod of its namespace needs the place.
    async fn look_after(&self, place: HeldPlace) -> TurnEnd {
        let pod = place.held.waiter.clone();
        let end = self.0.until_released(place, self).await;
        if matches!(end, TurnEnd::Over(_)) {
            self.0.service.tell.let_go(&pod);
        }
        end
    }
}

impl Hold for PodReleaser {
    const ALL: &str = "the gated pods";

    fn store(&self, known: &Known) -> Option<Arc<Store>> {
        Some(Arc::clone(known.gated()))
    }

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

    fn object(&self, pod: &Waiter) -> Regarding {
        pod.regarding("v1", "Pod")
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
