//! Which resource a reference's kind is, and the watch that belongs to it. Built-in kinds are known.

mod custom;
mod search;

use super::discovery::{Discovery, LOOK_AGAIN};
use super::served::resource;
use super::watch::{Observer, Target, follow};
use crate::known::{Known, Named, Store, Wanted};
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

/// How often the next of the objects that are read whole have their turn.
const TURNS: Duration = Duration::from_secs(1);
/// How often custom kinds are looked for that nobody names any more.
const FORGET: Duration = Duration::from_secs(30);

/// Starts the watch of each kind as it is first asked for.
#[derive(Clone)]
pub(crate) struct Catalog {
    /// The connection to the API server.
    pub client: Client,
    /// What it serves that no definition defines.
    pub discovery: Arc<Discovery>,
    /// What is filled.
    pub known: Arc<Known>,
    /// What is counted.
    pub metrics: Arc<StatusMetrics>,
    /// Starts the watches.
    pub tasks: Spawner,
    /// Who is shown each gated pod as it arrives, beside its store.
    pub shown: Option<Observer>,
    /// The same of each Job.
    pub jobs: Option<Observer>,
}

impl Catalog {
    /// Serves requests for kinds as long as the process runs.
    pub(crate) async fn run(self, mut requests: mpsc::UnboundedReceiver<Wanted>) {
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
        // From the beginning, because a Job may complete and be removed before the first gate asks for it.
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

    fn begin(&self, wanted: Wanted) {
        let (tasks, catalog) = (&self.tasks, self.clone());
        match wanted {
            Wanted::Kind(kind) => tasks.run(format!("watch of {kind}"), catalog.serve(kind)),
            Wanted::Whole(named) => {
                tasks.run(format!("watch of {named}"), catalog.serve_whole(named));
            }
        }
    }

    async fn follow_gated(self) {
        let label = format!("{}={}", keys::GATED, keys::GATED_VALUE);
        let store = Arc::clone(self.known.gated());
        let shown = self.shown.clone();
        self.follow_some(kinds::POD, Some(label), None, &store, shown)
            .await;
    }

    /// Only pods without a node, so there are few, whatever the size of the cluster.
    async fn follow_unscheduled(self) {
        self.known.unscheduled_wanted().await;
        let store = Arc::clone(self.known.unscheduled());
        let fields = Some("spec.nodeName=,status.phase=Pending");
        self.follow_some(kinds::POD, None, fields, &store, None)
            .await;
    }

    async fn follow_plans(self) {
        let store = Arc::clone(self.known.plans());
        let label = Some(format!("{}=true", keys::PLAN));
        self.follow_some(kinds::CONFIG_MAP, label, None, &store, None)
            .await;
    }

    /// Some objects of a core kind, apart from the others of that kind: these are few.
    async fn follow_some(
        &self,
        builtin: &'static Builtin,
        selector: Option<String>,
        fields: Option<&str>,
        store: &Store,
        observer: Option<Observer>,
    ) {
        let target = Target {
            kind: Kind::Builtin(builtin),
            resource: resource(builtin),
            selector,
            fields: fields.map(str::to_owned),
            namespace: None,
            detail: Detail::Object,
            observer,
            wishes: Some(Arc::clone(self.known.wishes())),
        };
        self.follow_for_ever(&target, store).await;
    }

    async fn serve(self, kind: Kind) {
        let Some((store, forgotten)) = self.known.begin(&kind) else {
            return;
        };
        // Anybody may name custom kinds, and as many as they like.
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
                    wishes: Some(Arc::clone(self.known.wishes())),
                };
                self.follow_for_ever(&target, store).await;
            }
            Kind::Custom { group, word } => self.serve_custom(kind, group, word, store).await,
        }
    }

    /// One object of a built-in kind, by its name, until its turn is over. What was read is believed on for a while.
    async fn serve_whole(self, named: Named) {
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
            wishes: None,
        };
        tokio::select! {
            () = self.follow_for_ever(&target, &store) => {}
            _ = forgotten => debug!("Its turn is over"),
        }
    }

    /// Completed Jobs are remembered beyond their removal.
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

    /// The same of custom kinds that come to an end as a Job does.
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
