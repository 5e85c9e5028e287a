//! The Events by which the controller calls pods stranded: their gates cannot trust the status service. They are read with the caller's own
//! rights.

use crate::installation::list;
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::lookup::Lookup;
use serde_json::Value;

/// The reason of the Events.
pub(crate) const REASON: &str = "Stranded";

/// The Events about pods of one namespace, or of all.
pub(crate) async fn events(client: &Client, namespace: Option<&str>) -> Result<Lookup<Vec<Value>>> {
    let place = namespace.map_or_else(String::new, |it| format!("/namespaces/{it}"));
    let about = ListParams::default().fields(&format!("reason={REASON},involvedObject.kind=Pod"));
    list(client, &format!("/api/v1{place}/events"), &about).await
}
