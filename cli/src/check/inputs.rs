//! The inputs of `check`, read with the caller's own rights.

use super::admission::Tried;
use super::controller::{self, Replicas};
use super::creations::Creations;
use super::node_rules::{self, Agent};
use crate::held::Held;
use crate::installation::{CONFIGURATIONS, Installation, NAME, Settings, get, list};
use crate::stranded;
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::keys;
use rules::lookup::Lookup;
use rules::selector::Selector;
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
        let mut installation = Installation::read(client, None).await?;
        let tried = Tried::of(client, namespace, &installation).await?;
        if let Some(home) = tried.home() {
            installation = installation.sought_in(client, home).await?;
        }
        let (own, agents) = match controller::find(&installation.deployments) {
            Ok(deployment) => (
                own_pods(client, deployment).await,
                node_rules::read(client, &Settings::of(deployment)).await?,
            ),
            Err(_) => (Lookup::NotFound, Vec::new()),
        };
        Ok(Self {
            own,
            agents,
            creations: Creations::read(client).await?,
            configuration: get(client, CONFIGURATIONS, NAME).await?,
            namespaces: list(client, "/api/v1/namespaces", &injected).await?,
            pending: list(client, "/api/v1/pods", &pending).await?,
            stranded: stranded::events(client, None).await?,
            held: Held::read(client, None).await?,
            tried,
            installation,
        })
    }

    /// Whether it is certain that no controller is installed; false where the caller may not list Deployments.
    pub(super) fn is_not_installed(&self) -> bool {
        match &self.installation.deployments {
            Lookup::Found(found) => found.is_empty(),
            Lookup::NotFound => true,
            Lookup::Unavailable(_) => false,
        }
    }
}

/// The pods of the controller's Deployment, by the labels of its selector. `NotFound` where all replicas are ready, so that no request is made,
/// where the selector is empty, and where the request fails.
async fn own_pods(client: &Client, deployment: &Value) -> Lookup<Vec<Value>> {
    let selector = Selector::labels(&deployment["spec"]["selector"]["matchLabels"]);
    // An empty selector would select every pod.
    if selector.0.is_empty() || !Replicas::of(deployment).are_lacking() {
        return Lookup::NotFound;
    }
    let namespace = controller::text(deployment, "/metadata/namespace");
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let own = ListParams::default().labels(&selector.to_string());
    // Without the pods the check says less, and still says the rest.
    list(client, &path, &own).await.unwrap_or(Lookup::NotFound)
}
