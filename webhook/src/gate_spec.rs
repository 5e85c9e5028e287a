//! Keeps the parts of a gate up to date: the CA bundle and the addresses of our own Service.

use crate::authority::Bundle;
use crate::inject::{GateParts, GateSpec, Resources};
use crate::readiness::Condition;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use rules::version;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tracing::{info, warn};

/// The time between two reads of our Service, which keeps its ClusterIP until it is deleted and created again.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// The time between two reads of our Service while admission has no parts of a gate, since no pod can be admitted without them.
const LOOK_SOON: Duration = Duration::from_secs(1);

/// The port of the status service on our Service. The process itself may listen on another port.
const STATUS_PORT: u16 = 9764;

/// The parts of a gate that stay while the process runs: the name of our own Service, and the administrator's settings of the gate.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    /// The name of sluice's own Service, which gates ask.
    pub service: String,
    /// The namespace of sluice's own Service.
    pub namespace: String,
    /// The gate's image.
    pub image: String,
    /// The gate's `imagePullPolicy`.
    pub image_pull_policy: Option<String>,
    /// The names of the pull secrets that gated pods get for the gate's image.
    pub image_pull_secrets: Vec<String>,
    /// The gate's resources; `None` gives it those of the smallest container of its pod.
    pub resources: Option<Resources>,
    /// The gate's `runAsUser` in a pod that names no user but 0; `None` leaves the user to the image.
    pub run_as_user: Option<i64>,
    /// The ClusterTrustBundle that gates read beside the bundle in their environment; `None` where none is written.
    pub cluster_trust_bundle: Option<String>,
    /// The ConfigMap from which policies of the API server read the parts of a gate; `None` where the webhook
    /// injects.
    pub config_map: Option<String>,
}

impl Fixed {
    /// Returns the name that the certificate holds and that gates check: `sluice.sluice-system.svc`.
    pub(crate) fn server_name(&self) -> String {
        format!("{}.{}.svc", self.service, self.namespace)
    }

    fn spec(&self, ips: &[String], ca_bundle: String, image_volumes: bool) -> GateSpec {
        let at = |host: &String| {
            if host.contains(':') {
                format!("[{host}]:{STATUS_PORT}")
            } else {
                format!("{host}:{STATUS_PORT}")
            }
        };
        let server_name = self.server_name();
        GateSpec {
            image: self.image.clone(),
            image_pull_policy: self.image_pull_policy.clone(),
            image_pull_secrets: self.image_pull_secrets.clone(),
            ca_bundle,
            cluster_trust_bundle: self.cluster_trust_bundle.clone(),
            addresses: ips.iter().chain([&server_name]).map(at).collect(),
            server_name,
            run_as_user: self.run_as_user,
            resources: self.resources.clone(),
            image_volumes,
        }
    }
}

/// Sends the parts of a gate to admission, through `current`, whenever they change, and writes them into the ConfigMap that policies read, if one is
/// set; neither before there are a CA bundle and a cluster IP. Meets the condition `known` once admission has parts and the ConfigMap is right. Never
/// returns.
pub(crate) async fn maintain(
    client: Client,
    fixed: Fixed,
    mut bundle: watch::Receiver<Bundle>,
    current: watch::Sender<Option<Arc<GateParts>>>,
    known: Condition,
) {
    let services = Api::<Service>::namespaced(client.clone(), &fixed.namespace);
    let config_maps = Api::<ConfigMap>::namespaced(client.clone(), &fixed.namespace);
    let mut image_volumes = false;
    loop {
        let pem = bundle.borrow_and_update().clone();
        // The cluster may be upgraded while this process runs.
        image_volumes = has_image_volumes(&client).await.unwrap_or(image_volumes);
        let ips = cluster_ips(&services, &fixed.service).await;
        if let (Some(ips), Some(pem)) = (&ips, pem) {
            let spec = fixed.spec(ips, pem.to_string(), image_volumes);
            let said = current.borrow().as_ref().is_some_and(|it| it.spec == spec);
            if !said {
                let addresses = spec.addresses.join(", ");
                info!(addresses, image_volumes, "Gates ask here");
                current.send_replace(Some(Arc::new(spec.clone().into())));
            }
            let written = match &fixed.config_map {
                Some(name) => write(&config_maps, name, &spec).await,
                None => true,
            };
            if written {
                known.met();
            }
        }
        let pause = if current.borrow().is_some() {
            LOOK_AGAIN
        } else {
            LOOK_SOON
        };
        // Cancel-safe: both arms only begin the next round. The sender lives as long as the process.
        let _ = tokio::time::timeout(pause, bundle.changed()).await;
    }
}

/// Writes the parts of a gate into the ConfigMap that policies read, if it differs. Returns `false`, and logs the error, where it cannot be read or
/// written. Every replica does this, and all write the same text.
async fn write(config_maps: &Api<ConfigMap>, name: &str, spec: &GateSpec) -> bool {
    let parameters = spec.parameters();
    let written = async {
        let stored = config_maps.get(name).await?.data.unwrap_or_default();
        if parameters
            .iter()
            .all(|(key, value)| stored.get(key) == Some(value))
        {
            return Ok(());
        }
        let patch = Patch::Merge(json!({ "data": parameters }));
        config_maps
            .patch(name, &PatchParams::default(), &patch)
            .await
            .map(drop)
    };
    let written: Result<(), kube::Error> = written.await;
    written
        .inspect_err(|error| warn!(%error, name, "Cannot write what policies put into gates"))
        .is_ok()
}

/// Returns whether the API server takes pods with image volumes, by its version; `None` where it does not tell the version.
async fn has_image_volumes(client: &Client) -> Option<bool> {
    let told = client.apiserver_version().await;
    let told = told.inspect_err(|error| warn!(%error, "Cannot read the version of Kubernetes"));
    let told = told.ok()?;
    Some(version::has_image_volumes(&told.major, &told.minor))
}

/// Returns the cluster IPs of our own Service; `None` where it has none, as a headless one, or cannot be read.
async fn cluster_ips(services: &Api<Service>, name: &str) -> Option<Vec<String>> {
    let service = services
        .get(name)
        .await
        .map_err(|error| warn!(%error, name, "Cannot read our own Service; trying again. The chart's Role grants get of it"))
        .ok()?;
    let spec = service.spec?;
    let ips = spec.cluster_ips.unwrap_or_default().into_iter();
    let ips: Vec<String> = ips.filter(|ip| ip != "None" && !ip.is_empty()).collect();
    (!ips.is_empty()).then_some(ips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cluster_ip_comes_first_and_the_name_next() {
        let fixed = Fixed {
            service: "sluice".into(),
            namespace: "sluice-system".into(),
            image: "gate".into(),
            image_pull_policy: None,
            image_pull_secrets: Vec::new(),
            resources: None,
            run_as_user: None,
            cluster_trust_bundle: None,
            config_map: None,
        };
        let ips = ["10.96.0.7".into(), "fd00::7".into()];
        let spec = fixed.spec(&ips, "pem".into(), true);
        let expected = [
            "10.96.0.7:9764",
            "[fd00::7]:9764",
            "sluice.sluice-system.svc:9764",
        ];
        assert_eq!(spec.addresses, expected);
        assert_eq!(spec.server_name, "sluice.sluice-system.svc");
    }
}
