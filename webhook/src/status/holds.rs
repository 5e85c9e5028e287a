//! Holds: pods that no scheduler takes until their gate would open.
//!
//! When the gate of a held pod would wait no longer, its hold is taken away, and nothing else; the gate asks again, and says why it
//! refuses where it does. Every replica does so: what it writes tests what it takes away, so whoever comes second changes nothing.

use super::answer::Waiting;
use super::events::GatedPod;
use super::keeper::{self, End, Held, Keeper, Kept, News, Show, Stands, Written};
use super::questions::Questions;
use super::{Identity, Service};
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

/// Who takes holds away.
pub(crate) struct Holds(Keeper);

/// Who is to be shown the gated pods, and those of them that are held.
pub(crate) fn held_pods() -> (Show, UnboundedReceiver<Identity>) {
    keeper::shown(gate::is_held)
}

impl Holds {
    /// Takes holds away for whom `service` judges; who is held is shown in `held`.
    pub(crate) fn new(service: Arc<Service>, client: Client, held: Arc<Questions>) -> Self {
        Self(Keeper::new(service, client, held))
    }

    /// Looks after each pod that is `seen` to be held, for as long as the process runs.
    pub(crate) async fn keep(self, seen: UnboundedReceiver<Identity>) {
        keeper::keep(seen, |pod| self.look_after(pod)).await;
    }

    /// Returns the UID of a pod when it is held no more.
    async fn look_after(&self, pod: Identity) -> String {
        self.0.until_over(&pod, self).await;
        if let Some(conditions) = &self.0.service.conditions {
            conditions.was_let_go(&pod);
        }
        pod.uid
    }
}

impl Kept for Holds {
    const ALL: &str = "the gated pods";

    fn stored(&self, pod: &Identity, view: &View) -> Lookup<Value> {
        view.gated_pod(&pod.namespace, &pod.pod)
    }

    fn stands(&self, pod: Value) -> Stands {
        if gate::is_held(&pod) {
            Stands::Held(pod)
        } else {
            Stands::Over
        }
    }

    fn tell(&self, pod: &Identity, held: &Held, news: News) -> Option<Instant> {
        let service = &self.0.service;
        let Waiting { answer, late, .. } = &held.waiting;
        if news.changed {
            let wait = held.told();
            service.waits(pod, wait.reason, answer, wait.since);
        }
        let above = held.round.as_ref().and_then(|round| round.above());
        let subject = GatedPod { pod, above };
        let tell = || service.recorder.waiting(&subject, answer, *late);
        news.settled.then(tell).flatten()
    }

    fn url(&self, pod: &Identity) -> String {
        let Identity { namespace, pod, .. } = pod;
        format!("/api/v1/namespaces/{namespace}/pods/{pod}")
    }

    fn change(&self, pod: &Value, _: End) -> Option<Value> {
        hold::let_go(pod).map(Value::from)
    }

    fn log(&self, pod: &Identity, end: End, written: Written) {
        let (namespace, pod) = (&pod.namespace, &pod.pod);
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
