//! Argo CD for the way by sync waves: the Application of a namespace, and the git repository that it syncs.

use anyhow::{Result, bail, ensure};
use harness::gitops::{ARGO_CD, REFRESH, application, commit, gitops};
use harness::unscheduled::create;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::sleep;

/// The words of the table where the way is left out.
pub(super) const MISSING: &str =
    "skipped, Argo CD is not installed (`tests/cluster/gitops/gitops up argocd`)";
/// The definition of Applications.
const DEFINITION: &str = "applications.argoproj.io";
/// The name of the git repository: each release is its next commit.
const REPOSITORY: &str = "bench-release";
/// The most looks, half a second apart, until Argo CD has compared a new Application or ended a sync.
const LOOKS: usize = 120;

/// An Application, named after its namespace.
pub(super) struct Application {
    applications: Api<DynamicObject>,
    name: String,
}

/// Whether Argo CD runs, in the cluster of this machine: its definitions are there, and so are the processes of its node.
pub(super) async fn is_up(client: &Client) -> Result<bool> {
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    let defined = definitions.get_opt(DEFINITION).await?.is_some();
    Ok(defined && gitops(&["status", "argocd"]).await.code == Some(0))
}

/// Commits a folder to the git repository, as its whole content, and returns the name of the commit.
async fn publish(folder: &Path) -> Result<String> {
    let made = commit(REPOSITORY, folder).await;
    ensure!(made.code == Some(0), "{made}");
    Ok(made.stdout.trim().to_owned())
}

impl Application {
    /// Creates the Application of a namespace, and commits an empty folder to its repository first.
    pub(super) async fn create(client: &Client, namespace: &str) -> Result<Self> {
        let kind = GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Application");
        let resource = ApiResource::from_gvk(&kind);
        let applications = Api::namespaced_with(client.clone(), ARGO_CD, &resource);
        publish(TempDir::new()?.path()).await?;
        let mut object = application(namespace, REPOSITORY, ".");
        // Argo CD would know the commit of an earlier round for three minutes.
        object["metadata"]["annotations"] = json!({REFRESH: "hard"});
        create(&applications, object).await?;
        Ok(Self {
            applications,
            name: namespace.to_owned(),
        })
    }

    /// Waits until Argo CD has nothing to do, then commits a folder to the git repository, as its whole content, and returns the name of the commit.
    /// Argo CD does not look for it by itself before its next poll.
    pub(super) async fn commit(&self, folder: &Path) -> Result<String> {
        self.until_idle().await?;
        publish(folder).await
    }

    /// Asks for a sync to a commit, and does not wait for the end of the sync.
    pub(super) async fn sync(&self, commit: &str) -> Result<()> {
        let by = json!({"username": "bench"});
        let operation = json!({"initiatedBy": by, "sync": {"revision": commit}});
        let patch = Patch::Merge(json!({"operation": operation}));
        let parameters = PatchParams::default();
        self.applications
            .patch(&self.name, &parameters, &patch)
            .await?;
        Ok(())
    }

    /// Waits until no refresh and no operation of the Application is pending and its status is `Synced`; an error after a minute.
    async fn until_idle(&self) -> Result<()> {
        let mut last = json!(null);
        for _ in 0..LOOKS {
            let own = self.applications.get(&self.name).await?;
            let is_asked =
                own.annotations().contains_key(REFRESH) || !own.data["operation"].is_null();
            if !is_asked && own.data["status"]["sync"]["status"] == "Synced" {
                return Ok(());
            }
            last = own.data;
            sleep(Duration::from_millis(500)).await;
        }
        bail!("Argo CD is not done with its Application: {last:#}")
    }

    /// Deletes the Application, and none of the objects that it has deployed: these go with their namespace.
    pub(super) async fn remove(&self) -> Result<()> {
        let parameters = DeleteParams::default();
        self.applications.delete(&self.name, &parameters).await?;
        Ok(())
    }
}
