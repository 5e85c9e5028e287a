//! Pods that no scheduler takes, each with a token. Their gates run as processes of this machine, because a node has
//! no room for so many pods.

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::Client;
use kube::api::{Api, PostParams};
use rules::keys::{AUDIENCE, DEPENDS_ON};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::sleep;

/// The requests that run at the same time while objects are created.
pub const AT_ONCE: usize = 16;

/// A waiting pod, as the API server sees it.
#[derive(Debug, Clone)]
pub struct Unscheduled {
    /// The pod's name.
    pub name: String,
    /// A token that is bound to the pod.
    pub token: String,
    /// The environment that the webhook has written for the pod's gate.
    pub environment: Vec<(String, String)>,
}

impl Unscheduled {
    /// Creates `count` pods that no scheduler takes and that depend on `list`.
    ///
    /// # Errors
    ///
    /// The API server refuses a pod, or a pod gets no gate.
    pub async fn make(
        client: &Client,
        namespace: &str,
        count: usize,
        list: &str,
    ) -> Result<Vec<Self>> {
        Self::copies(
            client,
            namespace,
            count,
            &pod(&json!({DEPENDS_ON: list}), 0),
        )
        .await
    }

    /// Creates `count` copies of a pod, 16 at a time. The API server completes their names, from `generateName`.
    ///
    /// # Errors
    ///
    /// The API server refuses a pod, or a pod gets no gate.
    pub async fn copies(
        client: &Client,
        namespace: &str,
        count: usize,
        pod: &Value,
    ) -> Result<Vec<Self>> {
        let made = stream::iter(0..count).map(|_| Self::one(client, namespace, pod.clone()));
        made.buffer_unordered(AT_ONCE).try_collect().await
    }

    async fn one(client: &Client, namespace: &str, pod: Value) -> Result<Self> {
        let pods = Api::<Pod>::namespaced(client.clone(), namespace);
        let pod = create(&pods, pod).await?;
        let (name, uid) = (pod.metadata.name.unwrap_or_default(), pod.metadata.uid);
        let gates = pod.spec.and_then(|spec| spec.init_containers);
        let Some(gate) = gates.into_iter().flatten().next() else {
            bail!("the pod {name} got no gate; is sluice installed?");
        };
        let variables = gate.env.into_iter().flatten();
        let variables = variables.map(|it| (it.name, it.value.unwrap_or_default()));
        let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid});
        let spec =
            json!({"audiences": [AUDIENCE], "expirationSeconds": 3600, "boundObjectRef": bound});
        let request: TokenRequest = serde_json::from_value(json!({"metadata": {}, "spec": spec}))?;
        let answer = Api::<ServiceAccount>::namespaced(client.clone(), namespace)
            .create_token_request("default", &PostParams::default(), &request)
            .await?;
        Ok(Self {
            name,
            token: answer.status.context("no token in the answer")?.token,
            environment: variables.collect(),
        })
    }
}

/// Creates an object, and tries again up to thirty times, once a second: the account of a new namespace is late, and sluice may be rolling.
///
/// # Errors
///
/// The last try fails, or `object` is no `K`.
pub async fn create<K>(api: &Api<K>, object: Value) -> Result<K>
where
    K: Serialize + DeserializeOwned + Clone + Debug,
{
    let object: K = serde_json::from_value(object)?;
    let mut tries = 0;
    loop {
        match api.create(&PostParams::default(), &object).await {
            Err(error) if tries == 30 => return Err(error).context("failed to create an object"),
            Err(_) => tries += 1,
            Ok(made) => return Ok(made),
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// Returns a pod that no scheduler takes, with these annotations and about `bytes` bytes of environment.
pub fn pod(annotations: &Value, bytes: usize) -> Value {
    let variable = |number: usize| {
        let value = format!("postgres://shop:5432/orders?pool={number}&application_name=api");
        json!({"name": format!("SHOP_SETTING_{number}"), "value": value})
    };
    let env: Vec<Value> = (0..bytes / 107).map(variable).collect();
    let container = json!({"name": "app", "image": "localhost/pause:none", "env": env});
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "gated-", "annotations": annotations},
        "spec": {"schedulerName": "nobody", "containers": [container]},
    })
}
