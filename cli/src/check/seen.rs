//! The inputs of `check`, read with the caller's own rights.

use super::admission::Tried;
use super::controller;
use super::creations::Creations;
use super::node_rules::{self, Agent};
use crate::held::Held;
use crate::installation::{CONFIGURATIONS, Installation, NAME, Settings, get, list};
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::keys;
use rules::lookup::Lookup;
use serde_json::Value;

/// The facts of the cluster that `check` judges.
#[derive(Debug)]
pub(super) struct Seen {
    /// The controller of sluice, its health rules and its rights.
    pub(super) installation: Installation,
    /// The pods of the controller; not found where all replicas are ready.
    pub(super) own: Lookup<Vec<Value>>,
    /// The MutatingWebhookConfiguration of sluice.
    pub(super) configuration: Lookup<Value>,
    /// The MutatingWebhookConfiguration of held creations.
    pub(super) creations: Creations,
    /// The namespaces that carry the label `sluice.dev/inject`.
    pub(super) namespaces: Lookup<Vec<Value>>,
    /// The DaemonSets that node rules name.
    pub(super) agents: Vec<Agent>,
    /// The pods with a gate that are pending.
    pub(super) pending: Lookup<Vec<Value>>,
    /// The `Stranded` Events: on pods whose gates cannot trust the status service.
    pub(super) stranded: Lookup<Vec<Value>>,
    /// The pods that are held, and the Jobs that sluice suspended.
    pub(super) held: Held,
    /// The result of a dry run with a gated pod.
    pub(super) tried: Tried,
}

impl Seen {
    pub(super) async fn read(client: &Client, namespace: &str) -> Result<Self> {
        let all = ListParams::default;
        let injected = all().labels("sluice.dev/inject");
        let pending = all()
            .labels(&format!("{}={}", keys::GATED, keys::GATED_VALUE))
            .fields("status.phase=Pending");
        let stranded = all().fields("reason=Stranded,involvedObject.kind=Pod");
        let mut installation = Installation::read(client, None).await?;
        let tried = Tried::of(client, namespace, &installation).await?;
        if let Some(home) = tried.home() {
            installation = installation.sought_in(client, home).await?;
        }
        let own = match &installation.deployments {
            Lookup::Found(found) if let [deployment] = found.as_slice() => {
                own_pods(client, deployment).await
            }
            Lookup::Found(_) | Lookup::NotFound | Lookup::Unavailable(_) => Lookup::NotFound,
        };
        let agents = match &installation.deployments {
            Lookup::Found(found) if let [deployment] = found.as_slice() => {
                node_rules::read(client, &Settings::of(deployment)).await?
            }
            Lookup::Found(_) | Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        };
        Ok(Self {
            own,
            agents,
            creations: Creations::read(client).await?,
            configuration: get(client, CONFIGURATIONS, NAME).await?,
            namespaces: list(client, "/api/v1/namespaces", &injected).await?,
            pending: list(client, "/api/v1/pods", &pending).await?,
            stranded: list(client, "/api/v1/events", &stranded).await?,
            held: Held::read(client, None).await?,
            tried,
            installation,
        })
    }

    /// Whether the caller may see that there is no controller.
    pub(super) fn is_not_installed(&self) -> bool {
        match &self.installation.deployments {
            Lookup::Found(found) => found.is_empty(),
            Lookup::NotFound => true,
            Lookup::Unavailable(_) => false,
        }
    }
}

/// The pods of a Deployment that lacks replicas, by its labels.
async fn own_pods(client: &Client, deployment: &Value) -> Lookup<Vec<Value>> {
    if !controller::lacks_replicas(deployment) {
        return Lookup::NotFound;
    }
    let namespace = controller::text(deployment, "/metadata/namespace");
    let labels = deployment["spec"]["selector"]["matchLabels"].as_object();
    let labels = labels.into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
    let labels: Vec<_> = labels.collect();
    // An empty selector would select every pod.
    if labels.is_empty() {
        return Lookup::NotFound;
    }
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let own = ListParams::default().labels(&labels.join(","));
    // Without the pods the check says less, and still says the rest.
    list(client, &path, &own).await.unwrap_or(Lookup::NotFound)
}
