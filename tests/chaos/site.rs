//! Where trials take place: the cluster of this machine, the sluice that is installed in it, and a namespace.

use harness::cluster::{Look, Namespace, Node, sluice};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use std::path::PathBuf;

/// What a trial works with.
pub(crate) struct Site<'a> {
    pub(crate) client: Client,
    pub(crate) node: Node,
    /// The namespace of the trials.
    pub(crate) ns: &'a Namespace,
    /// Its name.
    pub(crate) namespace: String,
    /// That of sluice.
    pub(crate) sluice: Look,
    /// The gate of the image.
    pub(crate) gate: PathBuf,
    /// For tokens, markers and logs.
    pub(crate) scratch: tempfile::TempDir,
}

impl Site<'_> {
    /// The `caBundle` that the API server trusts sluice by: PEM in base64.
    pub(crate) async fn trusted(&self) -> String {
        let configuration = self.sluice.get("mutatingwebhookconfiguration/sluice").await;
        let bundle = &configuration["webhooks"][0]["clientConfig"]["caBundle"];
        bundle.as_str().unwrap_or_default().to_owned()
    }

    /// The Secrets of sluice's namespace.
    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), sluice::NAMESPACE)
    }

    /// Its ConfigMaps.
    pub(crate) fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), sluice::NAMESPACE)
    }
}
