//! The objects that sluice holds back before they take a node: pods, and Jobs that it suspended. Read with the caller's own
//! rights.

use crate::installation::list_where;
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::lookup::Lookup;
use rules::{gate, job};
use serde_json::Value;

/// The pods and Jobs that sluice holds.
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

/// Whether a pod is held, and not on its way out.
fn is_held(pod: &Value) -> bool {
    gate::is_held(pod) && pod["metadata"]["deletionTimestamp"].is_null()
}
