//! The dependency of the gates, which the bench makes ready by one write.

use crate::cluster::Cluster;
use anyhow::Result;
use harness::unscheduled::pod;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;

/// The name of the dependency.
const NAME: &str = "dependency";

/// The kind of the dependency of the gates.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dependency {
    /// A ConfigMap, which is ready as soon as it exists.
    ConfigMap,
    /// A pod without a node, so that only the bench writes its status.
    Pod,
}

impl Dependency {
    /// Returns the value of `sluice.dev/depends-on` of a pod that waits for the dependency.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmap/dependency",
            Self::Pod => "pod/dependency",
        }
    }

    /// Makes the dependency ready: creates the ConfigMap, or sets the condition `Ready` of the pod to `True`.
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

    /// Makes the dependency unready again: deletes the ConfigMap, or sets the condition `Ready` of the pod to `False`.
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

/// Creates the pod `dependency`, with a status that is not ready.
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
