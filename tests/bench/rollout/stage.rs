//! The namespace of one way, with what the application has before its first release: Services, and the right to wait by `kubectl`.

use super::application::APPLICATION;
use super::way::{PORT, Way};
use anyhow::{Context, Result, bail};
use harness::unscheduled::create;
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Client;
use kube::api::{Api, DeleteParams};
use serde_json::json;
use std::fs;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::sleep;

/// The name of Helm's release.
const NAME: &str = "application";

/// A namespace for the releases of one way.
pub(super) struct Stage {
    client: Client,
    namespace: String,
}

impl Stage {
    /// Creates the namespace and what is in it from the start.
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
        Ok(Self {
            client: client.clone(),
            namespace,
        })
    }

    /// The pods of the namespace.
    pub(super) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Installs a release, or upgrades to it, with Helm, and returns when Helm does: after the hooks, but without waiting for pods.
    pub(super) async fn release(&self, way: Way, number: u32) -> Result<()> {
        let chart = tempfile::tempdir().context("failed to make a folder for a chart")?;
        let (templates, version) = (chart.path().join("templates"), format!("{number}.0.0"));
        let about = json!({"apiVersion": "v2", "name": NAME, "version": version});
        fs::create_dir(&templates)?;
        fs::write(chart.path().join("Chart.yaml"), about.to_string())?;
        for (place, object) in way.objects(number).iter().enumerate() {
            fs::write(templates.join(format!("{place}.yaml")), object.to_string())?;
        }
        let mut helm = Command::new("helm");
        helm.args(["upgrade", "--install", NAME])
            .arg(chart.path())
            .args(["--namespace", &self.namespace])
            .kill_on_drop(true);
        let output = helm.output().await.context("failed to start helm")?;
        if !output.status.success() {
            bail!("helm: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }

    /// Deletes the namespace, and returns when it is gone.
    pub(super) async fn remove(self) -> Result<()> {
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
