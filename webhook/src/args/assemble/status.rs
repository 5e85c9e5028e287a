//! Assembles the status service and its Events and, where holds are on, the tasks that remove them.

use super::{HeldInputs, Parts};
use crate::args::Args;
use crate::container;
use crate::event::Outbox;
use crate::known::Known;
use crate::metrics::StatusMetrics;
use crate::status::{self, Authenticator, Conditions, Questions, Recorder, Rounds, Service, Turns};
use axum::Router;
use std::sync::Arc;
use tokio::time::Instant;

impl Args {
    /// Assembles the status service and its Events and, where holds are on, the tasks that remove them.
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
        let questions = Arc::<Questions>::default();
        let (pods, jobs) = (Arc::<Questions>::default(), Arc::<Questions>::default());
        let waits = status::Waits {
            questions: Arc::clone(&questions),
            held: Arc::clone(&pods),
            suspended: Arc::clone(&jobs),
            clock: parts.clock.clone(),
        };
        parts.registry.register_collector(Box::new(waits));
        let conditions = self.pod_conditions.then(|| {
            let (conditions, writer) = Conditions::new(client.clone());
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
            questions,
            rounds: Rounds::new(Arc::clone(&known)),
            turns: Turns::new(1),
            known,
            recorder,
            conditions,
            metrics,
            shutdown: parts.shutdown.clone(),
            clock: parts.clock.clone(),
            beat: status::Beat::from(Instant::now()),
        });
        if let Some(held) = held {
            let holds = status::Holds::new(Arc::clone(&service), client.clone(), pods);
            parts.tasks.keep("holds", holds.keep(held.pods));
            let suspended = status::Suspended::new(Arc::clone(&service), client.clone(), jobs);
            parts
                .tasks
                .keep("suspended Jobs", suspended.keep(held.jobs));
        }
        status::router(service)
    }
}
