//! Assembles the status service and its Events and, where holds are on, the tasks that release held pods and suspended Jobs.

use super::{HeldInputs, Parts};
use crate::args::Args;
use crate::container;
use crate::event::Outbox;
use crate::known::Known;
use crate::metrics::StatusMetrics;
use crate::server::{Port, ServerLimits};
use crate::status::{
    self, Authenticator, Beat, CreationKeeper, HeldPlaces, JobResumer, PodConditions, PodReleaser,
    Recorder, Rounds, Service, Teller, Turns, WaitMetrics, WaitRegistry,
};
use axum::Router;
use std::sync::Arc;
use tokio::time::Instant;

impl Args {
    /// Returns the router of the status service, and starts the tasks that write Events and conditions, judge held creations and, where holds are
    /// on, release held pods and suspended Jobs.
    pub(super) fn status(
        &self,
        parts: &mut Parts,
        known: Arc<Known>,
        metrics: Arc<StatusMetrics>,
        outbox: Outbox,
        held: Option<HeldInputs>,
    ) -> Router {
        let client = &parts.client;
        let (recorder, forget) = Recorder::new(outbox);
        parts.tasks.keep("what was told", forget);
        let places = ServerLimits::of(Port::Status, parts.memory).waits();
        let requests = Arc::new(WaitRegistry::within(places));
        let [held_pods, suspended_jobs] =
            [(); 2].map(|()| HeldPlaces::within(Arc::clone(&known.budgets().holds)));
        let creations = Arc::<WaitRegistry>::default();
        let waits = WaitMetrics {
            gates: Arc::clone(&requests),
            held_pods: Arc::clone(&held_pods),
            suspended_jobs: Arc::clone(&suspended_jobs),
            creations: Arc::clone(&creations),
            clock: parts.clock.clone(),
        };
        parts.registry.register_collector(Box::new(waits));
        let conditions = self.pod_conditions.then(|| {
            let (conditions, writer) = PodConditions::new(client.clone());
            parts.tasks.keep("conditions", writer);
            conditions
        });
        let service = Arc::new(Service {
            authenticator: Authenticator::new(
                client.clone(),
                parts.clock.clone(),
                Arc::clone(&known),
                container::own_token().as_deref().and_then(status::issuer),
            ),
            requests,
            rounds: Rounds::new(Arc::clone(&known)),
            turns: Turns::new(1),
            tell: Teller {
                recorder,
                conditions,
                metrics,
                memory: Arc::clone(known.memory()),
                clock: parts.clock.clone(),
            },
            known,
            shutdown: parts.shutdown.clone(),
            clock: parts.clock.clone(),
            beat: Beat::from(Instant::now()),
        });
        if let Some(held) = held {
            let pods = PodReleaser::new(Arc::clone(&service), client.clone(), held_pods);
            parts.tasks.keep("holds", pods.keep(held.pods));
            let jobs = JobResumer::new(Arc::clone(&service), client.clone(), suspended_jobs);
            parts.tasks.keep("suspended Jobs", jobs.keep(held.jobs));
        }
        let creations = CreationKeeper::new(Arc::clone(&service), creations);
        parts.tasks.keep("held creations", creations.keep());
        status::router(service)
    }
}
