//! Assembles the tasks that fill this replica's memory and write down what outlives the process.

use super::{FollowInputs, Parts};
use crate::args::Args;
use crate::event::Outbox;
use crate::follow::catalog::Catalog;
use crate::follow::shards::{Losses, Shards};
use crate::follow::{granted, health_rules, memory, plans, pod_causes, slots};
use crate::known::Known;
use crate::metrics::StatusMetrics;
use std::sync::Arc;

impl Args {
    /// Starts the tasks that fill `known`, those that write down memory and slots, and those that tell about plans and health rules. Adds a
    /// condition of readiness that is met after the first list of gated pods.
    pub(super) fn follow(
        &self,
        parts: &mut Parts,
        known: &Arc<Known>,
        FollowInputs {
            requests,
            pods,
            jobs,
        }: FollowInputs,
        metrics: &Arc<StatusMetrics>,
        outbox: Outbox,
    ) {
        let (client, tasks) = (|| parts.client.clone(), &parts.tasks);
        let known = || Arc::clone(known);
        let catalog = Catalog {
            client: client(),
            discovery: Arc::default(),
            known: known(),
            metrics: Arc::clone(metrics),
            tasks: tasks.clone(),
            shown: pods,
            jobs,
        };
        tasks.keep("catalog", catalog.run(requests));
        let looks = pod_causes::follow(client(), known(), parts.clock.clone());
        tasks.keep("looks at pods", looks);
        let losses = Losses::register(&mut parts.registry);
        let stored = self.config_map(&self.memory_config_map);
        let shards = Shards::new(client(), &stored, &self.service_name);
        tasks.keep("memory", memory::keep(shards, known(), losses.clone()));
        let stored = self.config_map(&self.slots_config_map);
        let shards = Shards::new(client(), &stored, &self.service_name);
        let keep = slots::keep(
            client(),
            shards,
            known(),
            parts.clock.clone(),
            losses,
            tasks.clone(),
        );
        tasks.keep("slots", keep);
        let errors = health_rules::register(&mut parts.registry);
        if let Some(name) = self.health_rules_configmap() {
            let stored = self.config_map(name);
            let follow = health_rules::follow(self.events(parts), stored, known(), errors);
            tasks.keep("health rules", follow);
        }
        if let Some(name) = self.watch_cluster_role.clone() {
            let keep = granted::keep(client(), name, known());
            tasks.keep("granted kinds", keep);
        }
        let plans = plans::follow(known(), outbox, parts.clock.clone());
        tasks.keep("plans", plans);
        let synced = parts
            .readiness
            .condition("watches", "the gated pods have not been listed yet");
        let gated = Arc::clone(known().gated());
        tasks.run("first list of gated pods", async move {
            gated.synced().await;
            synced.met();
        });
    }
}
