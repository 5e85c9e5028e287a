//! The objects that sluice holds back before they take a node: pods, and Jobs that it suspended. Read with the caller's own
//! rights.

use crate::installation::list_where;
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::lookup::Lookup;
use rules::{gate, job};
use serde_json::Value;

/// The pods that sluice keeps from taking a node by a scheduling gate, and the Jobs that it keeps suspended. Pods that wait at their gate (an init
/// container) are not among them.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) pods: Lookup<Vec<Value>>,
    pub(crate) jobs: Lookup<Vec<Value>>,
}

impl Held {
    /// Reads the held pods and Jobs of one namespace, or without one of all namespaces. Kinds that the caller may not list are `Unavailable`.
    pub(crate) async fn read(client: &Client, namespace: Option<&str>) -> Result<Self> {
        let place = namespace.map_or_else(String::new, |it| format!("/namespaces/{it}"));
        let pods = format!("/api/v1{place}/pods");
        let jobs = format!("/apis/batch/v1{place}/jobs");
        // A pod without a node is pending.
        let pending = ListParams::default().fields("status.phase=Pending");
        Ok(Self {
            pods: list_where(client, &pods, pending, is_held).await?,
            jobs: list_where(client, &jobs, ListParams::default(), job::is_held).await?,
        })
    }
}

/// Whether a pod has sluice's scheduling gate and is not being deleted.
fn is_held(pod: &Value) -> bool {
    gate::is_held(pod) && pod["metadata"]["deletionTimestamp"].is_null()
}
