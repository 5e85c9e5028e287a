//! The address of the API server and the credentials that the pod of a program measured beside ours would find.

use crate::cluster::Cluster;
use anyhow::{Context, Result};
use harness::unscheduled::create;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Config;
use kube::api::{Api, PostParams};
use serde_json::json;

/// The name of the service account of the program that is measured beside ours.
const PEER: &str = "peer";

/// The address of the API server, and the credentials of a service account (token and CA certificates), as a pod finds them.
pub(crate) struct Account {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) token: String,
    /// The authority that signed the API server's certificate, PEM.
    pub(crate) authority: String,
}

impl Account {
    /// Makes a service account in the namespace of the run, binds it to the ClusterRole `cluster-admin`, and returns a token for it, the cluster's
    /// CA, and the address of the API server from the kubeconfig, with port 443 where that names none.
    pub(crate) async fn make(cluster: &Cluster) -> Result<Self> {
        let config = Config::infer().await?;
        let (host, port) = (config.cluster_url.host(), config.cluster_url.port_u16());
        let namespaces = Api::<Namespace>::all(cluster.client.clone());
        let own = namespaces.get(&cluster.namespace).await?.metadata.uid;
        // It goes with the namespace.
        let owner =
            json!({"apiVersion": "v1", "kind": "Namespace", "name": cluster.namespace, "uid": own});
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"});
        let subject =
            json!({"kind": "ServiceAccount", "name": PEER, "namespace": cluster.namespace});
        let metadata = json!({"name": cluster.namespace, "ownerReferences": [owner]});
        let binding = json!({"metadata": metadata, "roleRef": role, "subjects": [subject]});
        cluster
            .make::<ServiceAccount>(json!({"metadata": {"name": PEER}}))
            .await?;
        create(
            &Api::<ClusterRoleBinding>::all(cluster.client.clone()),
            binding,
        )
        .await?;
        let request = serde_json::from_value(json!({"metadata": {}, "spec": {"audiences": []}}))?;
        let answer = cluster
            .api::<ServiceAccount>()
            .create_token_request(PEER, &PostParams::default(), &request)
            .await?;
        let roots = cluster
            .api::<ConfigMap>()
            .get("kube-root-ca.crt")
            .await?
            .data;
        let authority = roots.and_then(|mut data| data.remove("ca.crt"));
        Ok(Self {
            host: host.context("the API server has no address")?.to_owned(),
            port: port.unwrap_or(443),
            token: answer.status.context("no token in the answer")?.token,
            authority: authority.context("no ca.crt in the namespace")?,
        })
    }
}
