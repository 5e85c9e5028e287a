//! Room on the nodes: a pod at its gate holds the resources that it requests, and its dependency may need just those.

use harness::cluster::{Manifest, Namespace, deployment, finally, text, with_namespace};
use serde_json::{Value, json};

/// An extended resource with a known amount on one node, for which no other pod in the cluster asks.
pub(crate) struct Room {
    pub(crate) node: String,
    pub(crate) resource: String,
}

impl Room {
    pub(crate) async fn on_a_node(ns: &Namespace) -> Self {
        let nodes = ns.look.list("node", "").await;
        Self {
            node: text(&nodes[0], "/metadata/name").to_owned(),
            resource: format!("example.com/{}", ns.name),
        }
    }

    /// Sets the amount of the resource on the node; null removes it. A kubelet leaves alone a resource that it does not know.
    pub(crate) async fn is(&self, ns: &Namespace, amount: Value) {
        let amount = json!({self.resource.as_str(): amount});
        let status = json!({"capacity": amount, "allocatable": amount});
        ns.set_status(&format!("node/{}", self.node), &status).await;
    }

    /// Gives the application's container of a workload a limit of one unit of the resource.
    pub(crate) fn taken_by(&self, manifest: Manifest) -> Manifest {
        manifest.in_app("/resources/limits", json!({self.resource.as_str(): "1"}))
    }
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn waiting_pods_that_hold_what_their_dependency_lacks_are_named() {
    with_namespace("room", async |ns| {
        let room = Room::on_a_node(ns).await;
        let test = async || {
            room.is(ns, json!("1")).await;
            let api = deployment("api").depends_on("deployment/db");
            ns.apply([room.taken_by(api)]).await.ok();
            let api = ns.pod_of("api").await;
            api.waits_for("Deployment/db", "NotFound").await;

            ns.apply([room.taken_by(deployment("db"))]).await.ok();
            let line = api.waits_for("Deployment/db", "Unschedulable").await;
            let Room { resource, .. } = &room;
            let held = format!(
                "1 of {resource} is held by pods that wait for it: {}",
                api.name
            );
            assert!(line.contains(&held), "{line}");
            api.has_event("Waiting", &held).await;

            // A kubelet that has not seen the new amount rejects the pod, and the ReplicaSet makes another: so no pod of db is named here.
            room.is(ns, json!("2")).await;
            api.starts().await;
        };
        finally(test, async |_| room.is(ns, Value::Null).await).await;
    })
    .await;
}
