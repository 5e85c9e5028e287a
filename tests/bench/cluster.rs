//! A namespace with the objects that a controller outside of the cluster needs, and with pods that are never scheduled.

use crate::api_server::Sort;
use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use harness::cluster::sluice;
use harness::unscheduled::{AT_ONCE, Unscheduled, create, pod};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::TokenReview;
use k8s_openapi::api::core::v1::{Event, Namespace, Pod, Secret, Service};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use rules::keys::AUDIENCE;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

/// The name of the Secret with the CA.
const CA: &str = "sluice-ca";

/// The API server, and the namespace of this run in it.
pub(crate) struct Cluster {
    pub(crate) client: Client,
    /// The name of the namespace, which is also the name of the webhook configuration.
    pub(crate) namespace: String,
}

impl Cluster {
    /// Makes the namespace of this run with a Service, an empty webhook configuration and a copy of the installed sluice's CA.
    pub(crate) async fn create() -> Result<Self> {
        let client = Client::try_default()
            .await
            .context("failed to find the API server")?;
        let namespace = format!("sluice-bench-{}", std::process::id());
        let cluster = Self { client, namespace };
        let name = &cluster.namespace;
        let namespaces = Api::<Namespace>::all(cluster.client.clone());
        create(&namespaces, json!({"metadata": {"name": name}})).await?;
        // The controller takes its address from the Service, and watches the configuration, which names no webhook, so none is called.
        let ports = json!([{"name": "status", "port": 9764}]);
        cluster
            .make::<Service>(json!({"metadata": {"name": "sluice"}, "spec": {"ports": ports}}))
            .await?;
        let configurations = Api::<MutatingWebhookConfiguration>::all(cluster.client.clone());
        create(&configurations, json!({"metadata": {"name": name}})).await?;
        // The pods are made with the installed sluice's CA: with another one the controller would tell each that it is stranded.
        let installed = Api::<Secret>::namespaced(cluster.client.clone(), sluice::NAMESPACE);
        let data = installed.get(CA).await?.data;
        let metadata = json!({"name": CA});
        cluster
            .make::<Secret>(json!({"metadata": metadata, "data": data}))
            .await?;
        Ok(cluster)
    }

    /// Deletes the webhook configuration and the namespace with all its objects, and returns when the namespace is gone; an error after ten minutes.
    pub(crate) async fn remove(self) -> Result<()> {
        let (name, params) = (&self.namespace, DeleteParams::default());
        let configurations = Api::<MutatingWebhookConfiguration>::all(self.client.clone());
        configurations.delete(name, &params).await?;
        let namespaces = Api::<Namespace>::all(self.client.clone());
        namespaces.delete(name, &params).await?;
        for _ in 0..600 {
            if namespaces.get_opt(name).await?.is_none() {
                return Ok(());
            }
            sleep(Duration::from_secs(1)).await;
        }
        bail!("the namespace {name} does not go")
    }

    /// The version of the API server.
    pub(crate) async fn version(&self) -> Result<String> {
        Ok(self.client.apiserver_version().await?.git_version)
    }

    /// Returns the CA bundle in the Secret of this run, PEM.
    pub(crate) async fn bundle(&self) -> Result<String> {
        let secret = self.api::<Secret>().get(CA).await?;
        let pem = secret.data.and_then(|mut data| data.remove("ca.crt"));
        Ok(String::from_utf8(
            pem.context("the Secret has no ca.crt")?.0,
        )?)
    }

    /// Makes `count` pods that no scheduler takes and that depend on `list`, and a token for each.
    pub(crate) async fn pods(&self, count: usize, list: &str) -> Result<Vec<Unscheduled>> {
        Unscheduled::make(&self.client, &self.namespace, count, list).await
    }

    /// Sends a pod to the API server as a dry run, and returns the pod that would have been stored.
    pub(crate) async fn rehearse(&self, pod: &Pod) -> Result<Pod> {
        let params = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        Ok(self.api::<Pod>().create(&params, pod).await?)
    }

    /// The metrics of the API server, in Prometheus' text.
    pub(crate) async fn metrics(&self) -> Result<String> {
        let request = hyper::Request::get("/metrics").body(vec![])?;
        Ok(self.client.request_text(request).await?)
    }

    /// Sends the API server the request of this sort for this pod: a TokenReview or an Event, as a replica would, or a status of the pod, as a
    /// kubelet would.
    pub(crate) async fn ask(&self, sort: Sort, pod: &Unscheduled) -> Result<()> {
        let params = PostParams::default();
        match sort {
            Sort::Review => {
                let review =
                    json!({"metadata": {}, "spec": {"audiences": [AUDIENCE], "token": pod.token}});
                let reviews = Api::<TokenReview>::all(self.client.clone());
                reviews
                    .create(&params, &serde_json::from_value(review)?)
                    .await?;
            }
            Sort::Event => {
                let about = json!({"apiVersion": "v1", "kind": "Pod", "namespace": self.namespace, "name": pod.name});
                let event = json!({
                    "metadata": {"generateName": "of-the-bench-"}, "involvedObject": about, "type": "Normal",
                    "reason": "Bench", "message": "waiting for configmap/dependency: it does not exist",
                });
                self.api::<Event>()
                    .create(&params, &serde_json::from_value(event)?)
                    .await?;
            }
            Sort::Status => {
                let condition =
                    json!({"type": "Initialized", "status": "False", "message": pod.name});
                let patch = Patch::Strategic(json!({"status": {"conditions": [condition]}}));
                let params = PatchParams::default();
                self.api::<Pod>()
                    .patch_status(&pod.name, &params, &patch)
                    .await?;
            }
        }
        Ok(())
    }

    /// Makes a Deployment whose pod finds no node, and waits until the scheduler says so; an error after a minute. Returns the value of
    /// `sluice.dev/depends-on` for pods that wait for this Deployment.
    pub(crate) async fn unschedulable(&self) -> Result<&'static str> {
        let app = json!({"app": "too-large"});
        let requests = json!({"cpu": "10000"});
        let container = json!({"name": "app", "image": "localhost/pause:none", "resources": {"requests": requests}});
        let template = json!({"metadata": {"labels": app}, "spec": {"containers": [container]}});
        let spec = json!({"selector": {"matchLabels": app}, "template": template});
        self.make::<Deployment>(json!({"metadata": {"name": app["app"]}, "spec": spec}))
            .await?;
        let of_it = ListParams::default().labels("app=too-large");
        for _ in 0..60 {
            let pods = self.api::<Pod>().list(&of_it).await?;
            let statuses = pods.items.into_iter().filter_map(|pod| pod.status);
            let mut conditions = statuses.flat_map(|status| status.conditions.unwrap_or_default());
            if conditions.any(|it| it.reason.as_deref() == Some("Unschedulable")) {
                return Ok("deployment/too-large");
            }
            sleep(Duration::from_secs(1)).await;
        }
        bail!("no scheduler says that a pod is too large")
    }

    /// Makes a Deployment for each of these numbers. They are paused and have no replicas, so they make no pods.
    pub(crate) async fn deployments(&self, numbers: Range<usize>) -> Result<()> {
        let made = stream::iter(numbers).map(|number| async move {
            let app = json!({"app": format!("of-the-bench-{number}")});
            let template = json!({"metadata": {"labels": app}, "spec": pod(&json!({}), 2000)["spec"]});
            let spec = json!({"replicas": 0, "paused": true, "selector": {"matchLabels": app}, "template": template});
            let metadata = json!({"name": app["app"], "labels": app});
            self.make::<Deployment>(json!({"metadata": metadata, "spec": spec})).await.map(drop)
        });
        made.buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Asks the API server to delete every Deployment in the namespace of this run, and does not wait until they are gone.
    pub(crate) async fn without_deployments(&self) -> Result<()> {
        let (params, all) = (DeleteParams::background(), ListParams::default());
        self.api::<Deployment>()
            .delete_collection(&params, &all)
            .await?;
        Ok(())
    }

    /// Changes an annotation of one Deployment after the other, of the first `count`, over and over: at most `rate` changes a second, for `time`.
    /// Returns the number of changes.
    pub(crate) async fn change(&self, count: usize, rate: usize, time: Duration) -> Result<usize> {
        let mut ticks = interval(Duration::from_secs(1) / u32::try_from(rate)?);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = Instant::now() + time;
        let times = stream::unfold((ticks, 0), |(mut ticks, number)| async move {
            ticks.tick().await;
            (Instant::now() < end).then_some((number, (ticks, number + 1)))
        });
        let params = PatchParams::default();
        let changed = times.map(|number| {
            let patch =
                json!({"metadata": {"annotations": {"example.com/change": number.to_string()}}});
            let (api, params) = (self.api::<Deployment>(), &params);
            async move {
                let name = format!("of-the-bench-{}", number % count);
                api.patch_metadata(&name, params, &Patch::Merge(patch))
                    .await
                    .map(drop)
            }
        });
        let changed: Vec<()> = changed.buffer_unordered(AT_ONCE).try_collect().await?;
        Ok(changed.len())
    }

    /// Makes an object in the namespace of this run, and returns it as stored. A refusal is tried again for half a minute, then it is an error.
    pub(crate) async fn make<K>(&self, object: Value) -> Result<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Serialize
            + DeserializeOwned
            + Clone
            + Debug,
    {
        create(&self.api::<K>(), object).await
    }

    /// Returns the interface to the objects of a kind in the namespace of this run.
    pub(crate) fn api<K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>>(
        &self,
    ) -> Api<K> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
}
