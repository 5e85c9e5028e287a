//! The memory of an ordinary gate while it waits: where the controller may read no custom kind, and where it may read every kind of
//! all presets, each of them defined.

use crate::Paths;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::gates::Gates;
use crate::measure::{Measure, Unit, as_number};
use crate::step;
use crate::table::Table;
use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use harness::unscheduled::{AT_ONCE, Unscheduled, create, pod};
use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, PostParams};
use rules::keys::DEPENDS_ON;
use serde_json::json;

/// Measures the controller's memory of a waiting gate, without any custom kind and then with all kinds of the presets. The `count` gates wait for a
/// Job of their release, which does not exist.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    let mut ordinary = pod(&json!({DEPENDS_ON: "job/migrate"}), 0);
    ordinary["metadata"]["annotations"]["meta.helm.sh/release-name"] = json!("bench");
    let (client, namespace) = (&cluster.client, &cluster.namespace);
    let pods = Unscheduled::copies(client, namespace, count, &ordinary).await?;
    let each = of_a_gate(paths, cluster, &pods, &[]).await?;
    tell(each, "no custom kind granted", count, table);

    let granted = Granted::make(cluster).await?;
    let role = format!("--watch-cluster-role={namespace}");
    let each = of_a_gate(paths, cluster, &pods, &[role]).await;
    let kinds = granted.definitions.len();
    granted.remove(cluster).await?;
    tell(
        each?,
        &format!("all presets on, {kinds} kinds defined"),
        count,
        table,
    );
    Ok(())
}

/// Starts a controller with these arguments, and returns the bytes by which it grows for each of these pods whose gates begin to wait. The first gate
/// does not count.
async fn of_a_gate(
    paths: &Paths,
    cluster: &Cluster,
    pods: &[Unscheduled],
    arguments: &[String],
) -> Result<f64> {
    step(&format!(
        "{} gates of a release wait, {arguments:?}",
        pods.len()
    ));
    let mut controller = Controller::start_with(paths, cluster, arguments).await?;
    controller.strands(pods.len()).await?;
    let gates = Gates::new(paths, &controller, pods);
    // The first gate makes the controller follow its dependency, which is no part of the other gates' cost.
    let first = gates.start(1)?;
    controller.asked_by(1).await?;
    controller.quiet().await?;
    let alone = controller.memory()?;
    first.stop().await;
    let asking = gates.start(pods.len())?;
    controller.asked_by(pods.len()).await?;
    controller.quiet().await?;
    let crowd = controller.memory()?;
    asking.stop().await;
    controller.stop().await?;
    Ok(as_number(crowd.saturating_sub(alone)) / as_number(pods.len() as u64 - 1))
}

fn tell(each: f64, granted: &str, count: usize, table: &mut Table) {
    let value = Measure::once(format!("{:.1} KiB", each / 1024.0), Unit::Bytes, each);
    let what = format!("controller, memory of a waiting gate of a release, {granted}");
    let how = format!("VmRSS, {count} gates with job/migrate beside one, Events written");
    table.row(&what, value, &how).at_most(25.0 * 1024.0);
}

/// Every custom kind of all presets: a ClusterRole with the name of the bench's namespace, and the definitions.
struct Granted {
    definitions: Vec<String>,
}

impl Granted {
    async fn make(cluster: &Cluster) -> Result<Self> {
        step("definitions of every kind of all presets");
        let role = harness::presets::role()?;
        let metadata = json!({"name": cluster.namespace});
        let own = json!({"metadata": metadata, "rules": role["rules"]});
        create(&Api::<ClusterRole>::all(cluster.client.clone()), own).await?;
        let api = Api::<CustomResourceDefinition>::all(cluster.client.clone());
        let make = async |definition: CustomResourceDefinition| {
            let made = api.create(&PostParams::default(), &definition).await;
            // A group of Kubernetes' own is refused, and what is defined already stays as it is.
            anyhow::Ok(made.ok().and_then(|it| it.metadata.name))
        };
        let all = stream::iter(harness::presets::definitions(&role)).map(make);
        let names: Vec<Option<String>> = all.buffer_unordered(AT_ONCE).try_collect().await?;
        let definitions: Vec<String> = names.into_iter().flatten().collect();
        ensure!(
            !definitions.is_empty(),
            "no kind of the presets was defined"
        );
        Ok(Self { definitions })
    }

    async fn remove(&self, cluster: &Cluster) -> Result<()> {
        let params = DeleteParams::default();
        let roles = Api::<ClusterRole>::all(cluster.client.clone());
        roles.delete(&cluster.namespace, &params).await?;
        let api = Api::<CustomResourceDefinition>::all(cluster.client.clone());
        for name in &self.definitions {
            api.delete(name, &params).await?;
        }
        Ok(())
    }
}
