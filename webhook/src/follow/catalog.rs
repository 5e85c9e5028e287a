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
mod tests {
    use super::*;
    use crate::known::Settings;
    use crate::tasks::Tasks;
    use axum::body::Body as Answer;
    use axum::http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use std::convert::Infallible;
    use tower::service_fn;

    /// What is known of a custom kind some time after it was asked for, where the API server answers everything with this
    /// status, or has not said anything yet.
    async fn known(answers: Option<u16>) -> Freshness {
        let api_server = service_fn(move |_: Request<Body>| async move {
            let Some(code) = answers else {
                return std::future::pending().await;
            };
            let nothing = json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": code});
            let answer = Response::builder()
                .status(code)
                .body(Answer::from(nothing.to_string()));
            Ok::<_, Infallible>(answer.unwrap())
        });
        let (known, requests) = Known::new(Settings::of_the_chart());
        let (spawner, mut tasks) = Tasks::new();
        let catalog = Catalog {
            client: Client::new(api_server, "default"),
            known: Arc::clone(&known),
            metrics: Arc::default(),
            tasks: spawner.clone(),
            shown: None,
            jobs: None,
        };
        spawner.keep("catalog", catalog.run(requests));
        let kinds = [
            Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION),
            Kind::Custom {
                group: "example.com".into(),
                word: "Widget".into(),
            },
        ];
        let [definitions, widgets] = kinds.map(|kind| known.want(&kind));
        if answers.is_some() {
            definitions.clear(Freshness::Forbidden);
        }
        let ended = tokio::time::timeout(Duration::from_secs(20), tasks.ended()).await;
        assert!(ended.is_err(), "{ended:?}");
        widgets.condition()
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_is_not_called_unknown_before_the_definitions_have_arrived() {
        assert_eq!(known(None).await, Freshness::Syncing);
        assert_eq!(known(Some(404)).await, Freshness::NotServed);
    }

    /// As while the server behind an aggregated API is down.
    #[tokio::test(start_paused = true)]
    async fn that_discovery_fails_does_not_mean_that_a_kind_is_not_served() {
        for code in [500, 503, 403] {
            assert_eq!(known(Some(code)).await, Freshness::Undiscovered, "{code}");
        }
    }

    /// Only it, in its namespace, and for as long as somebody asks.
    #[tokio::test(start_paused = true)]
    async fn one_object_is_followed_whole_until_nobody_asks_for_it() {
        let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let api_server = service_fn(move |request: Request<Body>| {
            let uri = request.uri().to_string();
            let ours = uri.contains("phase");
            let watch = uri.contains("watch=");
            if ours {
                seen.lock().unwrap().push(uri);
            }
            async move {
                if !ours || watch {
                    return std::future::pending().await;
                }
                let list = json!({"metadata": {"resourceVersion": "1"}, "items": [{
                    "metadata": {"namespace": "shop", "name": "phase", "annotations": {"a": "b"}},
                    "data": {"phase": "done"},
                }]});
                Ok::<_, Infallible>(Response::new(Answer::from(list.to_string())))
            }
        });
        let (known, requests) = Known::new(Settings::of_the_chart());
        let (spawner, mut tasks) = Tasks::new();
        let catalog = Catalog {
            client: Client::new(api_server, "default"),
            known: Arc::clone(&known),
            metrics: Arc::default(),
            tasks: spawner.clone(),
            shown: None,
            jobs: None,
        };
        spawner.keep("catalog", catalog.run(requests));
        let mut pass = async |seconds| {
            let ended = tokio::time::timeout(Duration::from_secs(seconds), tasks.ended()).await;
            assert!(ended.is_err(), "{ended:?}");
        };
        let named = Named {
            kind: kinds::by_word("configmap").map(Kind::Builtin).unwrap(),
            namespace: "shop".into(),
            name: "phase".into(),
        };
        let seen = json!({"metadata": {"namespace": "shop", "name": "phase"}});
        let look = |view: &View| match view.whole(&named.kind, &seen) {
            Lookup::Found(found) => found["data"]["phase"].clone(),
            Lookup::NotFound | Lookup::Unavailable(_) => Value::Null,
        };
        let view = known.view();
        assert_eq!(look(&view), Value::Null, "not read yet");
        pass(1).await;
        assert_eq!(look(&view), "done");
        let first = asked.lock().unwrap()[0].clone();
        assert!(
            first.starts_with("/api/v1/namespaces/shop/configmaps?")
                && first.contains("fieldSelector=metadata.name%3Dphase"),
            "{first}"
        );
        drop(view);
        pass(200).await;
        let before = asked.lock().unwrap().len();
        pass(200).await;
        assert_eq!(asked.lock().unwrap().len(), before, "nobody asks any more");
        assert_eq!(look(&known.view()), Value::Null, "it is read again");
        pass(1).await;
        assert_eq!(look(&known.view()), "done");
    }
}
