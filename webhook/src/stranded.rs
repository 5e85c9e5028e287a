//! Pods whose gates trust nothing that is served any more: a CA was lost, or replaced for good. Nothing can reach such a
//! gate, so it is told beside its pod. One to which its kubelet hands on our ClusterTrustBundle is reached, and is none of them.
//!
//! Listed and not watched: it takes a new CA to strand a pod, and then only those count that wait.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use certs::Resolver;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::Client;
use kube::api::ListParams;
use kube::core::Request;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use rules::gate::{Gate, is_pending};
use rules::keys;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};
use wire::env;

use crate::authority::Bundle;
use crate::digest::short;
use crate::event::{Note, Regarding, Telling, Writer};

/// How often they are looked for while nothing changes.
const LOOK_AGAIN: Duration = Duration::from_secs(300);
/// How long after a new bundle, so that what is served follows from it.
const AFTER_A_CHANGE: Duration = Duration::from_secs(15);
/// How many pods are read at once.
const PAGE: u32 = 50;
/// The longest that one page may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two that are told: some hundred a second, so that etcd is not flooded where a CA is lost that thousands wait with, and so
/// that their list is read to its end before the API server forgets, after five minutes, where that was.
const PACE: Duration = Duration::from_millis(2);

const NOTE: &str = "the gate of this pod trusts no certificate of sluice any more, because sluice has had to make a new CA since the pod was made; it cannot be told that it may open: delete the pod, and whoever owns it makes another that trusts the new CA (a pod that nobody owns has to be made again by hand)";

/// Why a look came to no end; the next one begins anew.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error("the API server took longer than {PATIENCE:?} to answer")]
    Slow,
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// Who looks for them.
pub(crate) struct Lookout {
    pub(crate) client: Client,
    pub(crate) resolver: Arc<Resolver>,
    /// The ClusterTrustBundle that is kept up to date.
    pub(crate) cluster_trust_bundle: Option<String>,
    pub(crate) events: Writer,
    pub(crate) count: Gauge,
}

/// Registers how many there are.
pub(crate) fn register(registry: &mut Registry) -> Gauge {
    let count = Gauge::default();
    registry.register(
        "stranded_pods",
        "Pods that wait and trust no certificate of ours any more",
        count.clone(),
    );
    count
}

impl Lookout {
    /// Looks when the bundle has changed, and now and then.
    pub(crate) async fn keep(self, mut bundle: watch::Receiver<Bundle>) {
        loop {
            let is_served = bundle.borrow_and_update().is_some();
            sleep(AFTER_A_CHANGE).await;
            if is_served {
                match self.look().await {
                    Ok(count) => {
                        self.count.set(count);
                    }
                    Err(error) => {
                        warn!(%error, "Cannot look for pods whose gates trust nothing any more");
                    }
                }
            }
            // Cancel-safe: both arms only begin the next look. The sender lives as long as the process.
            let _ = timeout(LOOK_AGAIN, bundle.changed()).await;
        }
    }

    /// Tells of each, and counts them.
    async fn look(&self) -> Result<i64, LookError> {
        let pods = Request::new("/api/v1/pods");
        let mut params = ListParams::default()
            .labels(&format!("{}={}", keys::GATED, keys::GATED_VALUE))
            .fields("status.phase=Pending")
            .limit(PAGE);
        let mut accepted = HashMap::new();
        let mut count = 0;
        loop {
            let request = pods.list(&params).map_err(kube::Error::BuildRequest)?;
            let page = timeout(PATIENCE, self.client.request::<Page>(request));
            let page = page.await.map_err(|_| LookError::Slow)??;
            for pod in page.items {
                let Ok(pod) = serde_json::to_value(pod) else {
                    continue;
                };
                if self.is_stranded(&pod, &mut accepted) {
                    count += 1;
                    self.tell(&pod).await;
                    sleep(PACE).await;
                }
            }
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(count),
            }
        }
    }

    /// Many pods have the same bundle, so each is tried once.
    fn is_stranded(&self, pod: &Value, accepted: &mut HashMap<u64, bool>) -> bool {
        let Some(Trust { bundle, name }) = waits_with(pod) else {
            return false;
        };
        let kept = self.cluster_trust_bundle.as_deref();
        if kept.is_some_and(|kept| is_handed(pod, kept)) {
            return false;
        }
        let now = self.events.clock.now();
        let key = short(format!("{name}\0{bundle}"));
        !*accepted.entry(key).or_insert_with(|| {
            let accepted = self.resolver.is_accepted(bundle.as_bytes(), name, now);
            accepted.unwrap_or(true)
        })
    }

    async fn tell(&self, pod: &Value) {
        let text = |key: &str| pod["metadata"][key].as_str().map(ToOwned::to_owned);
        let (Some(namespace), Some(name)) = (text("namespace"), text("name")) else {
            return;
        };
        info!(
            namespace,
            name, "The gate of this pod trusts no certificate of ours any more"
        );
        let about = Regarding {
            api_version: Some("v1".to_owned()),
            kind: "Pod".to_owned(),
            namespace,
            name,
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
        self.events.write(about, note).await;
    }
}

/// A page of pods, without what is not looked at: of thousands that wait that is most of it.
#[derive(Debug, Deserialize)]
struct Page {
    metadata: ListMeta,
    items: Vec<Gated>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Gated {
    metadata: Metadata,
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    deletion_timestamp: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    init_containers: Vec<Container>,
    #[serde(default)]
    volumes: Vec<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Container {
    name: String,
    #[serde(default)]
    env: Vec<Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    phase: Option<String>,
    #[serde(default)]
    init_container_statuses: Vec<Value>,
}

/// What a gate trusts, and for which name.
#[derive(Debug, PartialEq, Eq)]
struct Trust<'p> {
    bundle: &'p str,
    name: &'p str,
}

/// What the gate of a pod trusts; `None` where none waits.
fn waits_with(pod: &Value) -> Option<Trust<'_>> {
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
    Some(Trust {
        bundle: value(env::CA_BUNDLE)?,
        name: value(env::SERVER_NAME)?,
    })
}

/// Whether the kubelet hands this ClusterTrustBundle on to a pod. An API server without the feature has struck out the source.
fn is_handed(pod: &Value, name: &str) -> bool {
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let volumes = items(&pod["spec"]["volumes"]).into_iter();
    let mut sources = volumes.flat_map(|volume| items(&volume["projected"]["sources"]));
    sources.any(|source| source["clusterTrustBundle"]["name"] == name)
}

#[cfg(test)]
mod tests;
