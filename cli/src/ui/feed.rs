//! Builds the data of the page anew when an object has changed, once for all pages with one subject.

use super::sight::Sight;
use super::subject::PageSubject;
use crate::graph::{Drawing, NamespaceGraph};
use crate::installation;
use anyhow::{Result, bail};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;
use rules::lookup::Lookup;
use rules::object;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

/// The least time between two builds of a page's answer.
const REST: Duration = Duration::from_secs(1);

/// The most time between two builds, because verdicts change with time too. The API server is not asked for it.
const IDLE: Duration = Duration::from_secs(10);

/// The pause after a build of a page's answer that failed.
const RETRY: Duration = Duration::from_secs(3);

/// The longest time that one build of a page's answer may take: a slower API server counts as one that does not answer.
const LIMIT: Duration = Duration::from_secs(30);

/// The whole answer on a subject, at one moment.
#[derive(Debug, Clone)]
pub(super) struct PageUpdate {
    /// The text of the answer as JSON: a [`PageView`] or a [`Failure`].
    pub(super) json: Arc<str>,
    /// The graph for Mermaid; `None` of a failure.
    pub(super) mermaid: Option<Arc<str>>,
    pub(super) failed: bool,
}

/// The data of a page: the graph as in `graph -o json`, its time, its namespace and its releases.
#[derive(Serialize)]
struct PageView<'a> {
    /// The time of the answer, by the clock that counts the waits.
    at: Timestamp,
    namespace: &'a str,
    release: Option<&'a str>,
    releases: &'a BTreeSet<String>,
    warnings: &'a [String],
    #[serde(flatten)]
    drawing: &'a Drawing,
}

/// The reason why a page gets no answer, as JSON.
#[derive(Serialize)]
struct Failure<'a> {
    at: Timestamp,
    namespace: &'a str,
    release: Option<&'a str>,
    error: String,
}

type Sender = watch::Sender<Option<PageUpdate>>;

/// A subject that the first page begins to look at, and its listeners.
type Begun = (PageSubject, Arc<Sender>);

/// Gives every open page the answers on its subject; pages with one subject share them.
pub(super) struct Feeds {
    client: Client,
    /// Each sender belongs to the task that feeds it, and goes with that task.
    senders: Mutex<HashMap<PageSubject, Weak<Sender>>>,
    begin: mpsc::UnboundedSender<Begun>,
}

impl Feeds {
    /// The feeds, and the task that has to run so that they get answers.
    pub(super) fn new(client: Client) -> (Self, impl Future<Output = ()>) {
        let (begin, subjects) = mpsc::unbounded_channel();
        let running = run(client.clone(), subjects);
        let feeds = Self {
            client,
            senders: Mutex::default(),
            begin,
        };
        (feeds, running)
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The names of all namespaces; none where the caller may not list them.
    pub(super) async fn namespaces(&self) -> Result<Vec<String>> {
        let all = ListParams::default();
        Ok(
            match installation::list(&self.client, "/api/v1/namespaces", &all).await? {
                Lookup::Found(found) => {
                    found.iter().map(|it| object::name(it).to_owned()).collect()
                }
                Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
            },
        )
    }

    /// The receiver of the answers on a subject; its value is `None` until the first answer. It may close when another page does: then call again.
    pub(super) async fn follow(
        &self,
        subject: &PageSubject,
    ) -> watch::Receiver<Option<PageUpdate>> {
        let mut senders = self.senders.lock().await;
        senders.retain(|_, sender| sender.strong_count() > 0);
        let known = senders.get(subject).and_then(Weak::upgrade);
        if let Some(sender) = known {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(None);
        let sender = Arc::new(sender);
        senders.insert(subject.clone(), Arc::downgrade(&sender));
        // The channel only refuses while the process ends.
        let _ = self.begin.send((subject.clone(), sender));
        receiver
    }
}

/// Builds and sends the answers for the subjects of all open pages.
async fn run(client: Client, mut begun: mpsc::UnboundedReceiver<Begun>) {
    let mut running = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some((subject, listeners)) = begun.recv() => running.push(feed(client.clone(), subject, listeners)),
            Some(()) = running.next() => {}
            else => return,
        }
    }
}

/// Feeds a subject for as long as a page listens.
async fn feed(client: Client, subject: PageSubject, listeners: Arc<Sender>) {
    let mut sight = Sight::new(client.clone(), subject.clone());
    loop {
        let began = Instant::now();
        let told = within(LIMIT, &subject, sight.look()).await;
        listeners.send_replace(Some(PageUpdate::new(&subject, &told)));
        let again = async {
            if told.is_ok() {
                // A large namespace that takes long to judge is not judged all the time.
                let took = began.elapsed();
                let pause = took.max(REST.saturating_sub(took));
                sight.change(pause, IDLE).await;
            } else {
                // Nothing that was read before the failure counts.
                sight = Sight::new(client.clone(), subject.clone());
                sleep(RETRY).await;
            }
        };
        tokio::select! {
            () = listeners.closed() => return,
            () = again => {}
        }
    }
}

async fn within<T>(
    limit: Duration,
    PageSubject { namespace, .. }: &PageSubject,
    look: impl Future<Output = Result<T>>,
) -> Result<T> {
    match timeout(limit, look).await {
        Ok(told) => told,
        Err(_) => bail!(
            "the API server has not answered for {} s; see whether kubectl get pods -n {namespace} does better",
            limit.as_secs()
        ),
    }
}

impl PageUpdate {
    fn new(subject: &PageSubject, told: &Result<NamespaceGraph>) -> Self {
        let at = Timestamp::now();
        let (namespace, release) = (subject.namespace.as_str(), subject.release.as_deref());
        let json = match told {
            Ok(told) => serde_json::to_string(&PageView {
                at,
                namespace,
                release,
                releases: &told.releases,
                warnings: &told.warnings,
                drawing: &told.drawing,
            }),
            Err(error) => serde_json::to_string(&Failure {
                at,
                namespace,
                release,
                error: format!("{error:#}"),
            }),
        };
        Self {
            // Serialization fails only for a key that is no text, and there is none.
            json: json.unwrap_or_default().into(),
            mermaid: told.as_ref().ok().map(|told| told.drawing.mermaid().into()),
            failed: told.is_err(),
        }
    }
}
