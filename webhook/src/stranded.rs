//! Finds pods whose gates trust no certificate that is served any more, because a CA was lost or replaced for good.
//! No answer reaches such a gate, so an Event on its pod tells the user. A gate with our ClusterTrustBundle learns of
//! every CA, so it is never stranded.
//!
//! The pods are listed and not watched: only a new CA strands a pod, and only waiting pods count. The CA that a gate trusts is in the
//! environment of the gate, so the metadata of a pod is not enough. A page is bounded in bytes, one pod of it is read at a time, and
//! the page is dropped before the next one is asked for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use certs::Resolver;
use kube::Client;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use rules::gate::{Gate, is_pending};
use rules::keys;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};
use wire::env;

use crate::authority::Bundle;
use crate::clock::Clock;
use crate::digest::short;
use crate::event::{Note, Outbox, Regarding, Telling};
use crate::lists::{Selection, page};

/// The time between two searches for stranded pods while nothing changes.
const LOOK_AGAIN: Duration = Duration::from_secs(300);
/// The time between two searches while the outbox has no room for the Events about all stranded pods: a namespace's queue is empty again by then.
const GO_ON: Duration = Duration::from_mins(1);
/// The delay between a new CA bundle and the search, so that the served leaf has changed too.
const AFTER_A_CHANGE: Duration = Duration::from_secs(15);
/// The most pods that one page of the search has.
const PAGE: u32 = 50;
/// The time limit for one page of the search.
const PATIENCE: Duration = Duration::from_secs(30);

const NOTE: &str = "the gate of this pod trusts no certificate of sluice any more, because sluice has had to make a new CA since the pod was made; it cannot be told that it may open: delete the pod, and its owner makes another that trusts the new CA (a pod without an owner has to be made again by hand)";

/// The reason why a search ended early. The next search begins anew.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error("the API server took longer than {PATIENCE:?} to answer")]
    Slow,
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// Searches for stranded pods: their gates trust no certificate of sluice any more.
pub(crate) struct Lookout {
    pub(crate) client: Client,
    pub(crate) resolver: Arc<Resolver>,
    /// The name of the ClusterTrustBundle that sluice writes; gates that mount it are never stranded. `None` where sluice writes none.
    pub(crate) cluster_trust_bundle: Option<String>,
    pub(crate) outbox: Outbox,
    pub(crate) clock: Clock,
    pub(crate) count: Gauge,
}

/// Registers the gauge of stranded pods.
pub(crate) fn register(registry: &mut Registry) -> Gauge {
    let count = Gauge::default();
    registry.register(
        "stranded_pods",
        "Pods that wait and trust no certificate of ours any more",
        count.clone(),
    );
    count
}

/// The result of a search for stranded pods.
#[derive(Debug, Default, PartialEq, Eq)]
struct StrandedGates {
    count: i64,
    /// Whether an Event about each stranded pod is queued, now or by an earlier search.
    all_told: bool,
}

impl Lookout {
    /// Searches for stranded pods 15 s after each change of the CA bundle, and about every five minutes; about every minute while the outbox has no
    /// room for an Event. Sets the gauge. Never returns, and searches only while there is a bundle.
    pub(crate) async fn keep(self, mut bundle: watch::Receiver<Bundle>) {
        let mut told = HashSet::new();
        loop {
            let is_served = bundle.borrow_and_update().is_some();
            sleep(AFTER_A_CHANGE).await;
            let mut pause = LOOK_AGAIN;
            if is_served {
                match self.look(&mut told).await {
                    Ok(StrandedGates { count, all_told }) => {
                        self.count.set(count);
                        if !all_told {
                            pause = GO_ON;
                        }
                    }
                    Err(error) => {
                        warn!(%error, "Cannot look for pods whose gates trust nothing any more");
                    }
                }
            }
            // Cancel-safe: both arms only begin the next search. The sender lives as long as the process.
            let _ = timeout(pause, bundle.changed()).await;
        }
    }

    /// Counts the stranded pods, and queues an Event about each whose UID, as a digest, is not in `told`. `told` then holds the stranded pods with
    /// an Event, and no others. After an error it stays as it was.
    async fn look(&self, told: &mut HashSet<u64>) -> Result<StrandedGates, LookError> {
        let waiting = Selection {
            path: "/api/v1/pods".to_owned(),
            labels: Some(format!("{}={}", keys::GATED, keys::GATED_VALUE)),
            fields: Some("status.phase=Pending".to_owned()),
            metadata: false,
        };
        let mut accepted = HashMap::new();
        let (mut limit, mut begins) = (PAGE, None);
        let mut found = StrandedGates {
            count: 0,
            all_told: true,
        };
        let mut seen = HashSet::new();
        loop {
            let page = timeout(PATIENCE, page(&self.client, &waiting, limit, begins));
            let page = page.await.map_err(|_| LookError::Slow)??;
            for pod in page.objects() {
                let pod = pod?;
                if !self.is_stranded(&pod, &mut accepted) {
                    continue;
                }
                found.count += 1;
                let uid = short(pod["metadata"]["uid"].as_str().unwrap_or_default());
                if told.contains(&uid) || self.tell(&pod) {
                    seen.insert(uid);
                } else {
                    found.all_told = false;
                }
            }
            (limit, begins) = ((page.limit * 2).min(PAGE), page.next);
            if begins.is_none() {
                *told = seen;
                return Ok(found);
            }
        }
    }

    /// Returns whether a pod has a waiting gate that accepts no certificate of ours, and does not mount our ClusterTrustBundle. `accepted` keeps the
    /// result for each bundle, because many pods have the same one. Without a served certificate to try, no pod is stranded.
    fn is_stranded(&self, pod: &Value, accepted: &mut HashMap<u64, bool>) -> bool {
        let Some(GateTrust { bundle, name }) = waits_with(pod) else {
            return false;
        };
        let kept = self.cluster_trust_bundle.as_deref();
        if kept.is_some_and(|kept| is_handed(pod, kept)) {
            return false;
        }
        let now = self.clock.now();
        let key = short(format!("{name}\0{bundle}"));
        !*accepted.entry(key).or_insert_with(|| {
            let accepted = self.resolver.is_accepted(bundle.as_bytes(), name, now);
            accepted.unwrap_or(true)
        })
    }

    /// Queues the Event that the pod is stranded, and logs it. Returns `false` where too many Events of the namespace, or in all, are waiting.
    fn tell(&self, pod: &Value) -> bool {
        let text = |key: &str| pod["metadata"][key].as_str().map(ToOwned::to_owned);
        let (Some(namespace), Some(name)) = (text("namespace"), text("name")) else {
            return true;
        };
        let about = Regarding {
            api_version: Some("v1".to_owned()),
            kind: "Pod".to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
            uid: text("uid"),
        };
        let note = Note {
            severity: "Warning",
            action: "Trust",
            reason: "Stranded",
            text: NOTE.to_owned(),
            wait: None,
            telling: Telling::Once,
        };
        let told = self.outbox.add(about, note);
        if told {
            info!(
                namespace,
                name, "The gate of this pod trusts no certificate of ours any more"
            );
        }
        told
    }
}

/// The CA bundle (PEM) that a gate trusts, and the server name that it checks.
#[derive(Debug, PartialEq, Eq)]
struct GateTrust<'p> {
    bundle: &'p str,
    name: &'p str,
}

/// Returns the CA bundle (PEM) and the server name from the environment of a pod's gate. `None` where no gate of the pod waits, or
/// where the gate's environment lacks one of the two values. A gate that has not started counts as one that waits.
fn waits_with(pod: &Value) -> Option<GateTrust<'_>> {
    if !is_pending(pod) || matches!(Gate::of(pod), Gate::Passed { .. }) {
        return None;
    }
    let containers = pod["spec"]["initContainers"].as_array()?;
    let gate = containers
        .iter()
        .find(|container| container["name"] == keys::GATE_CONTAINER)?;
    let value = |name: &str| {
        let mut variables = gate["env"].as_array()?.iter();
        variables.find(|it| it["name"] == name)?["value"].as_str()
    };
    Some(GateTrust {
        bundle: value(env::CA_BUNDLE)?,
        name: value(env::SERVER_NAME)?,
    })
}

/// Returns whether a projected volume of the pod has the ClusterTrustBundle of this name. An API server without the feature removes such a source.
fn is_handed(pod: &Value, name: &str) -> bool {
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let volumes = items(&pod["spec"]["volumes"]).into_iter();
    let mut sources = volumes.flat_map(|volume| items(&volume["projected"]["sources"]));
    sources.any(|source| source["clusterTrustBundle"]["name"] == name)
}

#[cfg(test)]
mod tests;
