//! The place of trials: the cluster of this machine, the sluice that is installed in it, and a namespace.

use harness::cluster::{Look, Namespace, Node, sluice};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use std::path::PathBuf;

/// The cluster, the namespaces and the folders that a trial works with.
pub(crate) struct Site<'a> {
    pub(crate) client: Client,
    pub(crate) node: Node,
    /// The namespace of the trials.
    pub(crate) ns: &'a Namespace,
    /// The name of the trials' namespace.
    pub(crate) namespace: String,
    /// Reads the objects in the namespace of sluice.
    pub(crate) sluice: Look,
    /// The path of the gate's binary, which the image holds.
    pub(crate) gate: PathBuf,
    /// The folder for tokens, markers and logs.
    pub(crate) scratch: tempfile::TempDir,
}

impl Site<'_> {
    /// Returns the `caBundle` by which the API server trusts sluice: PEM in base64; empty where there is none.
    pub(crate) async fn trusted(&self) -> String {
        let configuration = self.sluice.get("mutatingwebhookconfiguration/sluice").await;
        let bundle = &configuration["webhooks"][0]["clientConfig"]["caBundle"];
        bundle.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the interface to the Secrets of sluice's namespace.
    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), sluice::NAMESPACE)
    }

    /// Returns the interface to the ConfigMaps of sluice's namespace.
    pub(crate) fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), sluice::NAMESPACE)
    }
}
