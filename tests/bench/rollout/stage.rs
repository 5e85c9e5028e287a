//! The namespace of one way, with the objects that exist before the first release: Services, and the right to wait by `kubectl`.

use super::application::APPLICATION;
use super::argo::Application;
use super::way::{PORT, Way};
use anyhow::{Context, Result, bail};
use harness::unscheduled::create;
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Client;
use kube::api::{Api, DeleteParams};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::sleep;

/// The name of Helm's release.
const NAME: &str = "application";

/// A namespace for the releases of one way.
pub(super) struct Stage {
    client: Client,
    namespace: String,
    /// The Application of Argo CD, where the way has one.
    application: Option<Application>,
}

/// A release that is ready to be deployed, in the form that its way takes.
pub(super) enum Prepared<'a> {
    /// A chart for Helm.
    Chart(TempDir),
    /// A commit, by its name, of the repository of an Application.
    Commit(&'a Application, String),
}

impl Stage {
    /// Creates the namespace with a Service for each workload, the right to read, and the Application where the way has one.
    pub(super) async fn create(client: &Client, name: &str, way: Way) -> Result<Self> {
        let namespace = format!("bench-release-{name}-{}", std::process::id());
        let namespaces = Api::<Namespace>::all(client.clone());
        let metadata = json!({"name": namespace, "labels": way.labels()});
        create(&namespaces, json!({"metadata": metadata})).await?;
        let services = Api::<Service>::namespaced(client.clone(), &namespace);
        for workload in &APPLICATION {
            let spec = json!({"selector": {"app": workload.name}, "ports": [{"port": PORT}]});
            create(
                &services,
                json!({"metadata": {"name": workload.name}, "spec": spec}),
            )
            .await?;
        }
        let bindings = Api::<RoleBinding>::namespaced(client.clone(), &namespace);
        let role =
            json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"});
        let subject = json!({"kind": "ServiceAccount", "name": "default", "namespace": namespace});
        let metadata = json!({"name": "waits"});
        create(
            &bindings,
            json!({"metadata": metadata, "roleRef": role, "subjects": [subject]}),
        )
        .await?;
        let application = match way {
            Way::Waves => Some(Application::create(client, &namespace).await?),
            _ => None,
        };
        Ok(Self {
            client: client.clone(),
            namespace,
            application,
        })
    }

    /// Returns the interface to the pods of the namespace.
    pub(super) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Writes a release as a chart, or where the way has an Application, as the next commit of its repository.
    pub(super) async fn prepare(&self, way: Way, number: u32) -> Result<Prepared<'_>> {
        let folder = tempfile::tempdir().context("failed to make a folder for a release")?;
        let (templates, version) = (folder.path().join("templates"), format!("{number}.0.0"));
        fs::create_dir(&templates)?;
        for (place, object) in way.objects(number).iter().enumerate() {
            fs::write(templates.join(format!("{place}.yaml")), object.to_string())?;
        }
        if let Some(application) = &self.application {
            let commit = application.commit(&templates).await?;
            return Ok(Prepared::Commit(application, commit));
        }
        let about = json!({"apiVersion": "v2", "name": NAME, "version": version});
        fs::write(folder.path().join("Chart.yaml"), about.to_string())?;
        Ok(Prepared::Chart(folder))
    }

    /// Releases what is prepared. Helm installs it, or upgrades to it: this returns when Helm does, after the hooks, but without waiting
    /// for pods. Argo CD is asked for a sync: this returns when the API server has stored the request.
    pub(super) async fn release(&self, prepared: &Prepared<'_>) -> Result<()> {
        match prepared {
            Prepared::Chart(folder) => self.helm(folder.path()).await,
            Prepared::Commit(application, commit) => application.sync(commit).await,
        }
    }

    async fn helm(&self, chart: &Path) -> Result<()> {
        let mut helm = Command::new("helm");
        helm.args(["upgrade", "--install", NAME])
            .arg(chart)
            .args(["--namespace", &self.namespace])
            .kill_on_drop(true);
        let output = helm.output().await.context("failed to start helm")?;
        if !output.status.success() {
            bail!("helm: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }

    /// Deletes the Application and the namespace, and returns when the namespace is gone.
    pub(super) async fn remove(self) -> Result<()> {
        if let Some(application) = &self.application {
            application.remove().await?;
        }
        let namespaces = Api::<Namespace>::all(self.client.clone());
        let name = &self.namespace;
        namespaces.delete(name, &DeleteParams::default()).await?;
        for _ in 0..300 {
            if namespaces.get_opt(name).await?.is_none() {
                return Ok(());
            }
            sleep(Duration::from_secs(1)).await;
        }
        bail!("the namespace {name} does not go")
    }
}
