//! The ConfigMaps that sluice writes things down on, and how one of them is made anew that somebody has deleted.

use super::single::{self, ConfigMapRef, Notice};
use futures::stream::{self, Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Error};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use rules::sheets::{self, COUNT};
use serde::Serialize;
use serde_json::json;

/// What Helm knows its objects by.
const OF_HELM: &str = "meta.helm.sh/";

/// The sheets of one sort, in the API server.
pub(crate) struct Sheets {
    api: Api<ConfigMap>,
    services: Api<Service>,
    service: String,
    names: [String; COUNT],
}

impl Sheets {
    /// Those called `stored`, of the installation that `service` belongs to.
    pub(crate) fn new(client: Client, stored: &ConfigMapRef, service: &str) -> Self {
        Self {
            api: Api::namespaced(client.clone(), &stored.namespace),
            services: Api::namespaced(client, &stored.namespace),
            service: service.to_owned(),
            names: sheets::names(&stored.name),
        }
    }

    /// The name of one.
    pub(super) fn name(&self, sheet: usize) -> &str {
        &self.names[sheet]
    }

    /// What the API server says of each, without an end. To wait for the next is cancel-safe.
    pub(super) fn follow(&self) -> impl Stream<Item = (usize, Notice)> + Unpin + use<> {
        let names = self.names.iter().cloned().enumerate();
        stream::select_all(names.map(|(sheet, name)| {
            let notices = single::follow(self.api.clone(), name);
            notices.map(move |notice| (sheet, notice)).boxed()
        }))
    }

    pub(super) async fn get(&self, sheet: usize) -> Result<ConfigMap, Error> {
        self.api.get(self.name(sheet)).await
    }

    /// Changes these keys, and takes away those of which there is `None` (RFC 7396). With a version, the write is refused where
    /// another came first.
    pub(super) async fn patch(
        &self,
        sheet: usize,
        version: Option<&str>,
        data: &impl Serialize,
    ) -> Result<ConfigMap, Error> {
        let mut patch = json!({"data": data});
        if let Some(version) = version {
            patch["metadata"] = json!({"resourceVersion": version});
        }
        let params = PatchParams::default();
        let patch = Patch::Merge(&patch);
        self.api.patch(self.name(sheet), &params, &patch).await
    }

    /// Makes one that is not there, with nothing on it. It looks as the installer has made it, so that an upgrade finds nothing
    /// to change and an uninstallation takes it away: by the labels of our Service, which was made by the same.
    pub(super) async fn create(&self, sheet: usize) -> Result<ConfigMap, Error> {
        let service = self.services.get(&self.service).await?.metadata;
        let mut annotations = service.annotations.unwrap_or_default();
        annotations.retain(|key, _| key.starts_with(OF_HELM));
        let new = ConfigMap {
            metadata: ObjectMeta {
                name: Some(self.name(sheet).to_owned()),
                labels: service.labels,
                annotations: Some(annotations),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        };
        match self.api.create(&PostParams::default(), &new).await {
            // Another replica has.
            Err(Error::Api(status)) if status.code == 409 => self.get(sheet).await,
            made => made,
        }
    }
}

/// Counts what could not be written down, or not be kept. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Losses(Family<Loss, Counter>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Loss {
    of: &'static str,
    why: &'static str,
}

impl Losses {
    /// Makes the family and registers it.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let losses = Self::default();
        registry.register(
            "written_down_losses",
            "What could not be written down, or not be kept, in the ConfigMaps for memory and slots",
            losses.0.clone(),
        );
        losses
    }

    /// So many more, of "memory" or "slots".
    pub(super) fn count(&self, of: &'static str, why: &'static str, number: usize) {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.0.get_or_create(&Loss { of, why }).inc_by(number);
    }
}

#[cfg(test)]
pub(super) mod fake;
