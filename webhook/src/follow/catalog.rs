//! Starts a watch for each kind that a list names. Finds the resource that a kind stands for; the resources of built-in kinds are
//! known.

mod custom;

use super::LOOK_AGAIN;
use super::discovery::Discovery;
use super::served::resource;
use super::watch::{Observer, Target, follow};
use crate::known::{Known, ObjectName, Store, WatchRequest};
use crate::metrics::StatusMetrics;
use crate::tasks::Spawner;
use kube::Client;
use rules::kept::{Detail, detail};
use rules::keys;
use rules::kinds::{self, Builtin, Kind};
use rules::memory::{Completing, ended};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tracing::{debug, info};

/// The pause between two calls that give other objects their turn to be followed by name, with all of their fields.
const TURNS: Duration = Duration::from_secs(1);
/// The pause between two calls that forget the custom kinds that no list names any more.
const FORGET: Duration = Duration::from_secs(30);

/// Starts the watch of each kind when a dependency list first names the kind.
#[derive(Clone)]
pub(crate) struct Catalog {
    /// The connection to the API server.
    pub client: Client,
    /// The resources that the API server serves without a definition.
    pub discovery: Arc<Discovery>,
    /// The objects of the cluster that this replica knows, which the watches fill.
    pub known: Arc<Known>,
    /// The metrics that count the watches.
    pub metrics: Arc<StatusMetrics>,
    /// Starts and ends the tasks of the watches.
    pub tasks: Spawner,
    /// Receives each gated pod as the watch shows it, beside the store of these pods.
    pub shown: Option<Observer>,
    /// Receives each Job as the watch shows it, beside the store of Jobs.
    pub jobs: Option<Observer>,
}

impl Catalog {
    /// Starts the watches of gated pods, of plans and of Jobs, that of pods without a node once a view asks for such pods, and then each watch
    /// that `requests` asks for. Also gives objects their turns to be read whole, and forgets custom kinds that no list names any more. Returns
    /// when `requests` is closed.
    pub(crate) async fn run(self, mut requests: mpsc::UnboundedReceiver<WatchRequest>) {
        let tasks = &self.tasks;
        tasks.keep("watch of gated pods", self.clone().follow_gated());
        tasks.keep(
            "watch of unscheduled pods",
            self.clone().follow_unscheduled(),
        );
        tasks.keep("watch of plans", self.clone().follow_plans());
        tasks.keep(
            "search for kinds that are not served",
            self.clone().seek_absent(),
        );
        // Jobs are watched from the beginning: a Job may complete and be removed before the first gate asks for it.
        self.known.want(&Kind::Builtin(kinds::JOB));
        let mut forget = tokio::time::interval(FORGET);
        let mut turns = tokio::time::interval(TURNS);
        loop {
            tokio::select! {
                biased;
                // Each arm is cancel-safe: requests and ticks that are not taken come again.
                wanted = requests.recv() => match wanted {
                    Some(wanted) => self.begin(wanted),
                    None => return,
                },
                _ = forget.tick() => self.known.forget_unnamed(),
                _ = turns.tick() => self.known.take_turns(),
            }
        }
    }

    fn begin(&self, wanted: WatchRequest) {
        let (tasks, catalog) = (&self.tasks, self.clone());
        match wanted {
            WatchRequest::Kind(kind) => tasks.run(format!("watch of {kind}"), catalog.serve(kind)),
            WatchRequest::Whole(named) => {
                tasks.run(format!("watch of {named}"), catalog.serve_whole(named));
            }
        }
    }

    async fn follow_gated(self) {
        let label = format!("{}={}", keys::GATED, keys::GATED_VALUE);
        let store = Arc::clone(self.known.gated());
        let shown = self.shown.clone();
        let target = Target {
            detail: Detail::Gated,
            ..self.some(kinds::POD, Some(label), None, shown)
        };
        self.follow_for_ever(&target, &store).await;
    }

    /// Follows the pending pods without a node, once a view has asked for them. There are few, even in a large cluster.
    async fn follow_unscheduled(self) {
        self.known.unscheduled_wanted().await;
        let store = Arc::clone(self.known.unscheduled());
        let fields = Some("spec.nodeName=,status.phase=Pending");
        let target = self.some(kinds::POD, None, fields, None);
        self.follow_for_ever(&target, &store).await;
    }

    async fn follow_plans(self) {
        let store = Arc::clone(self.known.plans());
        let label = Some(format!("{}=true", keys::PLAN));
        let target = self.some(kinds::CONFIG_MAP, label, None, None);
        self.follow_for_ever(&target, &store).await;
    }

    /// The target of a watch of some objects of a built-in kind: those that `selector` and `fields` select.
    fn some(
        &self,
        builtin: &'static Builtin,
        selector: Option<String>,
        fields: Option<&str>,
        observer: Option<Observer>,
    ) -> Target {
        Target {
            kind: Kind::Builtin(builtin),
            resource: resource(builtin),
            selector,
            fields: fields.map(str::to_owned),
            namespace: None,
            detail: Detail::Object,
            observer,
            whole_budget: Some(Arc::clone(&self.known.budgets().wishes)),
            large_budget: Some(Arc::clone(&self.known.budgets().large)),
        }
    }

    async fn serve(self, kind: Kind) {
        let Some((store, forgotten)) = self.known.begin(&kind) else {
            return;
        };
        // A tenant may name as many custom kinds as it likes.
        match &kind {
            Kind::Builtin(_) => info!("Watch asked for"),
            Kind::Custom { .. } => debug!("Watch asked for"),
        }
        tokio::select! {
            () = self.serve_into(&kind, &store) => {}
            _ = forgotten => debug!("Nobody names it any more"),
        }
    }

    async fn serve_into(&self, kind: &Kind, store: &Store) {
        match kind {
            Kind::Builtin(builtin) => {
                let target = Target {
                    kind: kind.clone(),
                    resource: resource(builtin),
                    selector: None,
                    fields: None,
                    namespace: None,
                    detail: detail(kind),
                    observer: self.observer(builtin),
                    whole_budget: Some(Arc::clone(&self.known.budgets().wishes)),
                    large_budget: Some(Arc::clone(&self.known.budgets().large)),
                };
                self.follow_for_ever(&target, store).await;
            }
            Kind::Custom { group, word } => self.serve_custom(kind, group, word, store).await,
        }
    }

    /// Follows one object of a built-in kind by its name, with all of its fields, until its turn is over. The reading is believed for a while
    /// afterwards. Does nothing for a custom kind, or where a task follows the object already.
    async fn serve_whole(self, named: ObjectName) {
        let begun = self.known.begin_whole(&named);
        let (Kind::Builtin(builtin), Some((store, forgotten))) = (&named.kind, begun) else {
            return;
        };
        let namespace = Some(named.namespace.clone()).filter(|it| !it.is_empty());
        let target = Target {
            kind: named.kind.clone(),
            resource: resource(builtin),
            selector: None,
            fields: Some(format!("metadata.name={}", named.name)),
            namespace,
            detail: Detail::Whole,
            observer: None,
            whole_budget: Some(Arc::clone(&self.known.budgets().readings)),
            large_budget: None,
        };
        tokio::select! {
            () = self.follow_for_ever(&target, &store) => {}
            _ = forgotten => debug!("Its turn is over"),
        }
    }

    /// The receiver of the objects of a built-in kind as they arrive; `None` for every kind but Job. It remembers completed Jobs beyond
    /// their removal, and passes each Job on to [`Catalog::jobs`].
    fn observer(&self, builtin: &Builtin) -> Option<Observer> {
        if builtin.kind != "Job" {
            return None;
        }
        let (memory, shown) = (Arc::clone(self.known.memory()), self.jobs.clone());
        Some(Arc::new(move |job: &Value| {
            memory.saw_job(job);
            if let Some(show) = &shown {
                show(job);
            }
        }))
    }

    /// The receiver of the objects of a custom kind that comes to an end as a Job does; `None` for every other kind. It remembers completed
    /// objects beyond their removal; an object has completed when its health rule is satisfied.
    fn observer_of_ends(&self, kind: &Kind) -> Option<Observer> {
        let what = Completing::of(kind)?;
        let known = Arc::clone(&self.known);
        Some(Arc::new(move |object: &Value| {
            let judged = known.health_rules().judge(object, false);
            let completed = judged.is_some_and(|it| it.satisfied);
            let completed = completed.then(|| ended(object)).flatten();
            known.memory().saw(what, object, completed);
        }))
    }

    async fn follow_for_ever(&self, target: &Target, store: &Store) {
        loop {
            self.follow_once(target, store).await;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn follow_once(&self, target: &Target, store: &Store) {
        let granted = self.known.granted();
        follow(&self.client, target, store, &self.metrics, granted).await;
    }
}

#[cfg(test)]
mod tests;
