//! The bundle as a ClusterTrustBundle: kubelets put it into every pod that mounts it, and keep it up to date there.
//!
//! The ClusterTrustBundle names no signer: a named signer needs the right to attest for it, and tells a gate nothing
//! more.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Api, Client, Error,
    api::{ApiResource, DynamicObject, GroupVersionKind, PostParams},
};
use serde_json::{Value, json};
use tracing::info;

use super::{
    FIELD_MANAGER,
    error::{AuthorityError, failed},
    secret,
};

const GROUP: &str = "certificates.k8s.io";
const KIND: &str = "ClusterTrustBundle";

/// The versions with ClusterTrustBundles, the best first: `v1` since Kubernetes 1.37, `v1beta1` since 1.33. We write
/// the same fields in both.
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// The ClusterTrustBundle into which the CA bundle is written.
pub(super) struct TrustBundle {
    client: Client,
    name: String,
    /// The API server's name of the kind; `None` before the first request and after an error.
    resource: Option<ApiResource>,
}

impl TrustBundle {
    pub(super) fn new(client: Client, name: String) -> Self {
        Self {
            client,
            name,
            resource: None,
        }
    }

    /// Creates the ClusterTrustBundle, or updates it where it differs; a conflict is left to the next round. Kubernetes removes it with `owner`.
    /// An error where the API server serves no ClusterTrustBundles.
    pub(super) async fn publish(
        &mut self,
        bundle: &str,
        owner: OwnerReference,
    ) -> Result<(), AuthorityError> {
        let resource = match self.resource.take() {
            Some(resource) => resource,
            None => self.served().await?,
        };
        self.write(&resource, bundle, owner).await?;
        self.resource = Some(resource);
        Ok(())
    }

    async fn served(&self) -> Result<ApiResource, AuthorityError> {
        for version in VERSIONS {
            let group = format!("{GROUP}/{version}");
            match self.client.list_api_group_resources(&group).await {
                Ok(served) if served.resources.iter().any(|it| it.kind == KIND) => {
                    let kind = GroupVersionKind::gvk(GROUP, version, KIND);
                    return Ok(ApiResource::from_gvk(&kind));
                }
                Ok(_) => {}
                Err(Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(failed(format!("look into {group}"), &error)),
            }
        }
        Err(AuthorityError::NoTrustBundles)
    }

    async fn write(
        &self,
        resource: &ApiResource,
        bundle: &str,
        owner: OwnerReference,
    ) -> Result<(), AuthorityError> {
        let name = &self.name;
        let api = Api::<DynamicObject>::all_with(self.client.clone(), resource);
        let found = api.get_opt(name).await;
        let doing = |what: &str| format!("{what} the ClusterTrustBundle {name:?}");
        let found = found.map_err(|error| failed(doing("read"), &error))?;
        let filled = |mut it: DynamicObject| {
            it.metadata.owner_references = Some(vec![owner]);
            it.data["spec"]["trustBundle"] = Value::from(bundle);
            it
        };
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let (what, written) = if let Some(found) = found {
            // The resourceVersion stays and guards the update.
            let wanted = filled(found.clone());
            if wanted == found {
                return Ok(());
            }
            ("update", api.replace(name, &params, &wanted).await)
        } else {
            let mut made = DynamicObject::new(name, resource).data(json!({}));
            made.metadata.labels = Some(secret::labels());
            ("create", api.create(&params, &filled(made)).await)
        };
        match written {
            Ok(_) => {
                info!(cluster_trust_bundle = name, "Wrote the ClusterTrustBundle");
                Ok(())
            }
            // Another replica wrote the same bundle first; the next round checks.
            Err(Error::Api(status)) if status.code == 409 => Ok(()),
            Err(error) => Err(failed(doing(what), &error)),
        }
    }
}
