//! What gates wait for, and how the bench makes it ready by one write.

use crate::cluster::Cluster;
use anyhow::Result;
use harness::unscheduled::pod;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;

/// The name of what gates wait for.
const NAME: &str = "dependency";

/// What gates wait for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dependency {
    /// Ready as soon as it exists.
    ConfigMap,
    /// Of no node, so that nobody else says whether it is ready.
    Pod,
}

impl Dependency {
    /// The list of who waits for it.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmap/dependency",
            Self::Pod => "pod/dependency",
        }
    }

    /// Makes what the gates wait for ready.
    pub(crate) async fn fulfil(self, cluster: &Cluster) -> Result<()> {
        match self {
            Self::ConfigMap => {
                // No `make`: a second try would be measured as one.
                let object = serde_json::from_value(json!({"metadata": {"name": NAME}}))?;
                let params = PostParams::default();
                cluster.api::<ConfigMap>().create(&params, &object).await?;
                Ok(())
            }
            Self::Pod => ready(cluster, "True").await,
        }
    }

    /// Takes that back.
    pub(crate) async fn withdraw(self, cluster: &Cluster) -> Result<()> {
        match self {
            Self::ConfigMap => {
                let params = DeleteParams::default();
                cluster.api::<ConfigMap>().delete(NAME, &params).await?;
                Ok(())
            }
            Self::Pod => ready(cluster, "False").await,
        }
    }
}

/// Makes the Pod that is not ready before it is said to be.
pub(crate) async fn unready(cluster: &Cluster) -> Result<()> {
    let mut object = pod(&json!({}), 0);
    object["metadata"] = json!({"name": NAME});
    cluster.make::<Pod>(object).await?;
    ready(cluster, "False").await
}

async fn ready(cluster: &Cluster, status: &str) -> Result<()> {
    let condition = json!({"type": "Ready", "status": status});
    let patch = json!({"status": {"phase": "Running", "conditions": [condition]}});
    let (params, patch) = (PatchParams::default(), Patch::Strategic(patch));
    cluster
        .api::<Pod>()
        .patch_status(NAME, &params, &patch)
        .await?;
    Ok(())
}
