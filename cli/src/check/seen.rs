//! What `check` looks at, read with the caller's own rights.

use crate::installation::{Installation, NAME, get, list};
use anyhow::Result;
use kube::Client;
use rules::lookup::Lookup;
use serde_json::Value;

const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// What was found in the cluster.
#[derive(Debug)]
pub(super) struct Seen {
    /// The controller, its health rules and its rights.
    pub(super) installation: Installation,
    /// The MutatingWebhookConfiguration.
    pub(super) configuration: Lookup<Value>,
    /// Those that carry `sluice.dev/inject`.
    pub(super) namespaces: Lookup<Vec<Value>>,
}

impl Seen {
    pub(super) async fn read(client: &Client) -> Result<Self> {
        Ok(Self {
            installation: Installation::read(client, None).await?,
            configuration: get(client, CONFIGURATIONS, NAME).await?,
            namespaces: list(client, "/api/v1/namespaces", Some("sluice.dev/inject")).await?,
        })
    }
}
