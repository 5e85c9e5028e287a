//! What `check` looks at, read with the caller's own rights.

use super::{NAME, health, installation};
use anyhow::{Context, Result};
use kube::api::{GetParams, ListParams};
use kube::core::request::Request;
use kube::{Client, Error};
use rules::lookup::{Lookup, Unavailable};
use serde_json::Value;

const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/// What was found in the cluster.
#[derive(Debug)]
pub(super) struct Seen {
    /// Those that carry the chart's labels, of every namespace.
    pub(super) deployments: Lookup<Vec<Value>>,
    /// The MutatingWebhookConfiguration.
    pub(super) configuration: Lookup<Value>,
    /// The ConfigMap of the administrator's health rules; not found where none is named.
    pub(super) health_rules: Lookup<Value>,
    /// The controller's ClusterRole.
    pub(super) role: Lookup<Value>,
    /// Those that carry `sluice.dev/inject`.
    pub(super) namespaces: Lookup<Vec<Value>>,
}

impl Seen {
    pub(super) async fn read(client: &Client) -> Result<Self> {
        let label = "app.kubernetes.io/name=sluice,app.kubernetes.io/component=controller";
        let deployments = list(client, "/apis/apps/v1/deployments", label).await?;
        let named = installation::find(&deployments)
            .ok()
            .and_then(health::config_map);
        let health_rules = match named {
            Some((namespace, name)) => {
                let path = format!("/api/v1/namespaces/{namespace}/configmaps");
                get(client, &path, &name).await?
            }
            None => Lookup::NotFound,
        };
        Ok(Self {
            deployments,
            configuration: get(client, CONFIGURATIONS, NAME).await?,
            health_rules,
            role: get(client, ROLES, NAME).await?,
            namespaces: list(client, "/api/v1/namespaces", "sluice.dev/inject").await?,
        })
    }
}

async fn get(client: &Client, path: &str, name: &str) -> Result<Lookup<Value>> {
    let request = Request::new(path).get(name, &GetParams::default())?;
    seen(client.request(request).await)
}

async fn list(client: &Client, path: &str, label: &str) -> Result<Lookup<Vec<Value>>> {
    let request = Request::new(path).list(&ListParams::default().labels(label))?;
    let page = seen(client.request::<Value>(request).await)?;
    Ok(match page {
        Lookup::Found(mut page) => match page["items"].take() {
            Value::Array(items) => Lookup::Found(items),
            _ => Lookup::Found(Vec::new()),
        },
        Lookup::NotFound => Lookup::NotFound,
        Lookup::Unavailable(why) => Lookup::Unavailable(why),
    })
}

fn seen(answer: kube::Result<Value>) -> Result<Lookup<Value>> {
    match answer {
        Ok(value) => Ok(Lookup::Found(value)),
        Err(Error::Api(status)) if status.code == 404 => Ok(Lookup::NotFound),
        Err(Error::Api(status)) if status.code == 403 => {
            Ok(Lookup::Unavailable(Unavailable::Forbidden))
        }
        Err(error) => Err(error).context("the API server did not answer"),
    }
}
