//! Which resource a reference's kind is, and the watch that belongs to it.
//!
//! Built-in kinds are known. A custom kind is found in the definitions, which are watched like any other
//! kind: so a definition that comes later is seen the moment it is established, and costs nobody a poll. A group
//! without definitions may be an aggregated API, for which discovery is asked.

use super::served::{Served, among, defined, is_absence, resource};
use super::watch::{Observer, Target, follow};
use crate::known::{Freshness, Known, Named, Store, View, Wanted};
use crate::metrics::StatusMetrics;
use crate::tasks::Spawner;
use kube::Client;
use kube::discovery;
use rules::kept::{Detail, detail};
use rules::keys;
use rules::kinds::{self, Builtin, Kind};
use rules::lookup::Lookup;
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tracing::{debug, info, warn};

/// How often discovery is asked again for a kind that nobody has defined: aggregated APIs announce nothing.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// The same after no answer.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// How long an object is followed whole that nobody asks for; a gate asks again within half of it.
const UNASKED_FOR: Duration = Duration::from_mins(1);
/// An established definition may need a moment until it is served.
const SOON: Duration = Duration::from_millis(100);

/// Starts the watch of each kind as it is first asked for.
#[derive(Clone)]
pub(crate) struct Catalog {
    /// The connection to the API server.
    pub client: Client,
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

/// What is known of a custom kind.
enum Sought {
    Served(Served),
    NotServed,
    /// The API server was asked and did not say.
    Unanswered,
    /// The definitions have not arrived yet.
    Syncing,
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
        // From the beginning, because a Job may complete and be removed before the first gate asks for it.
        self.known.want(&Kind::Builtin(kinds::JOB));
        while let Some(wanted) = requests.recv().await {
            match wanted {
                Wanted::Kind(kind) => {
                    tasks.run(format!("watch of {kind}"), self.clone().serve(kind));
                }
                Wanted::Whole(named) => {
                    tasks.run(format!("watch of {named}"), self.clone().serve_whole(named));
                }
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
        };
        self.follow_for_ever(&target, store).await;
    }

    async fn serve(self, kind: Kind) {
        info!("Watch asked for");
        let store = self.known.want(&kind);
        match &kind {
            Kind::Builtin(builtin) => {
                let target = Target {
                    kind: kind.clone(),
                    resource: resource(builtin),
                    selector: None,
                    fields: None,
                    namespace: None,
                    detail: detail(&kind),
                    observer: self.observer(builtin),
                };
                self.follow_for_ever(&target, &store).await;
            }
            Kind::Custom { group, word } => self.serve_custom(&kind, group, word, &store).await,
        }
    }

    /// One object of a built-in kind, by its name, for as long as somebody asks for it.
    async fn serve_whole(self, named: Named) {
        let (Kind::Builtin(builtin), Some(store)) = (&named.kind, self.known.whole(&named)) else {
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
        };
        tokio::select! {
            () = self.follow_for_ever(&target, &store) => {}
            () = self.known.unasked_for(&named, UNASKED_FOR) => debug!("Nobody asks for it any more"),
        }
        // Whoever has come to it in between looks for it again.
        store.clear(Freshness::Syncing);
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

    async fn serve_custom(&self, kind: &Kind, group: &str, word: &str, store: &Store) {
        let mut pause = SOON;
        loop {
            let view = self.known.view();
            let found = match self.find(&view, group, word).await {
                Sought::Served(found) => found,
                Sought::NotServed => {
                    if store.condition() != Freshness::NotServed {
                        info!("Not served; waiting for its definition");
                        store.clear(Freshness::NotServed);
                    }
                    let _ = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
                    continue;
                }
                Sought::Unanswered => {
                    if store.condition() != Freshness::Undiscovered {
                        warn!("The API server cannot tell whether it serves this kind");
                        store.clear(Freshness::Undiscovered);
                    }
                    let _ = tokio::time::timeout(ASK_AGAIN, view.changed()).await;
                    continue;
                }
                Sought::Syncing => {
                    let _ = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
                    continue;
                }
            };
            let canonical = Kind::Custom {
                group: group.to_owned(),
                word: found.resource.kind.clone(),
            };
            if canonical != *kind && self.known.alias(kind, &canonical) {
                debug!(%canonical, "Another spelling is watched already");
                return;
            }
            store.describe(found.details);
            let target = Target {
                kind: canonical,
                resource: found.resource,
                selector: None,
                fields: None,
                namespace: None,
                detail: Detail::Object,
                observer: None,
            };
            let began = tokio::time::Instant::now();
            self.follow_once(&target, store).await;
            pause = if began.elapsed() > LOOK_AGAIN {
                SOON
            } else {
                (pause * 2).min(LOOK_AGAIN)
            };
            let _ = tokio::time::timeout(pause, view.changed()).await;
        }
    }

    async fn find(&self, view: &View, group: &str, word: &str) -> Sought {
        let sought = |found: Option<Served>| found.map_or(Sought::NotServed, Sought::Served);
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        match view.list(&definitions, None, &Selector::default()) {
            Lookup::Found(definitions) => {
                let mut of_group = definitions
                    .iter()
                    .filter(|definition| definition["spec"]["group"] == group)
                    .peekable();
                if of_group.peek().is_some() {
                    return sought(of_group.find_map(|definition| defined(definition, word)));
                }
            }
            // The definitions arrive in a moment and are the better source; only a ban on them leaves discovery alone.
            Lookup::Unavailable(rules::lookup::Unavailable::Syncing) => return Sought::Syncing,
            Lookup::NotFound | Lookup::Unavailable(_) => {}
        }
        match discovery::group(&self.client, group).await {
            Ok(served) => sought(among(&served, word)),
            Err(error) if is_absence(&error) => Sought::NotServed,
            Err(error) => {
                debug!(%error, "Discovery");
                Sought::Unanswered
            }
        }
    }
}

#[cfg(test)]
mod tests;
