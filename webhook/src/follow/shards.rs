//! Reads and writes the shards, the ConfigMaps that store the memory and the slots. A shard that was deleted is made again.

use super::one_object::{self, ConfigMapRef, Notice};
use futures::stream::{self, Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Error};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use rules::shards::{self, COUNT};
use serde::Serialize;
use serde_json::json;

/// The prefix of the annotations by which Helm knows its objects.
const OF_HELM: &str = "meta.helm.sh/";

/// The shards (ConfigMaps) of one sort: those of the memory, or those of the slots.
pub(crate) struct Shards {
    api: Api<ConfigMap>,
    services: Api<Service>,
    service: String,
    names: [String; COUNT],
}

impl Shards {
    /// The shards named after `stored`, of the installation that `service` belongs to.
    pub(crate) fn new(client: Client, stored: &ConfigMapRef, service: &str) -> Self {
        Self {
            api: Api::namespaced(client.clone(), &stored.namespace),
            services: Api::namespaced(client, &stored.namespace),
            service: service.to_owned(),
            names: shards::names(&stored.name),
        }
    }

    /// The name of the ConfigMap with this number.
    pub(super) fn name(&self, shard: usize) -> &str {
        &self.names[shard]
    }

    /// Follows every ConfigMap of the sort, without an end. A caller may cancel the wait for the next notice.
    pub(super) fn follow(&self) -> impl Stream<Item = (usize, Notice)> + Unpin + use<> {
        let names = self.names.iter().cloned().enumerate();
        stream::select_all(names.map(|(shard, name)| {
            let notices = one_object::follow(self.api.clone(), name);
            notices.map(move |notice| (shard, notice)).boxed()
        }))
    }

    pub(super) async fn get(&self, shard: usize) -> Result<ConfigMap, Error> {
        self.api.get(self.name(shard)).await
    }

    /// Writes these keys to the ConfigMap with this number, and removes the keys whose value is null (RFC 7396). Other keys stay. With a
    /// `resourceVersion`, the API server refuses the patch if another write came first. Returns the ConfigMap as it is stored then.
    pub(super) async fn patch(
        &self,
        shard: usize,
        version: Option<&str>,
        data: &impl Serialize,
    ) -> Result<ConfigMap, Error> {
        let mut patch = json!({"data": data});
        if let Some(version) = version {
            patch["metadata"] = json!({"resourceVersion": version});
        }
        let params = PatchParams::default();
        let patch = Patch::Merge(&patch);
        self.api.patch(self.name(shard), &params, &patch).await
    }

    /// Makes the ConfigMap with this number, without entries, or reads it where another replica has made it. The ConfigMap looks as the
    /// installer makes it, by the labels of our Service, which the same installer made. So an upgrade finds nothing to change, and an
    /// uninstallation takes the ConfigMap away.
    pub(super) async fn create(&self, shard: usize) -> Result<ConfigMap, Error> {
        let service = self.services.get(&self.service).await?.metadata;
        let mut annotations = service.annotations.unwrap_or_default();
        annotations.retain(|key, _| key.starts_with(OF_HELM));
        let new = ConfigMap {
            metadata: ObjectMeta {
                name: Some(self.name(shard).to_owned()),
                labels: service.labels,
                annotations: Some(annotations),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        };
        match self.api.create(&PostParams::default(), &new).await {
            // Another replica has made the shard.
            Err(Error::Api(status)) if status.code == 409 => self.get(shard).await,
            made => made,
        }
    }
}

/// Counts the entries that could not be written to the ConfigMaps of memory and slots, or not be kept in them. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Losses(Family<LossLabel, Counter>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LossLabel {
    of: &'static str,
    why: &'static str,
}

impl Losses {
    /// Makes and registers the counters of the entries that the ConfigMaps have lost.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let losses = Self::default();
        registry.register(
            "written_down_losses",
            "What could not be written down, or not be kept, in the ConfigMaps for memory and slots",
            losses.0.clone(),
        );
        losses
    }

    /// Counts lost entries of the ConfigMaps of one sort. `of`: "memory" or "slots". `why`: "refused", "evicted" or "full".
    pub(super) fn count(&self, of: &'static str, why: &'static str, number: usize) {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.0.get_or_create(&LossLabel { of, why }).inc_by(number);
    }
}

#[cfg(test)]
pub(super) mod fake;
