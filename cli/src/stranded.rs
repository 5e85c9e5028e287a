//! The pods that the controller calls stranded in Events: their gates cannot trust the status service. The Events are read with the caller's
//! own rights.

use crate::installation::list;
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::cause::RootCause;
use rules::lookup::Lookup;
use serde_json::Value;
use std::collections::BTreeSet;

/// The reason of the Events in which the controller calls a pod stranded.
const REASON: &str = "Stranded";

/// Why a stranded pod never starts, and the way out, as they follow "stranded: ".
pub(crate) const WHY: &str = "its gate trusts no certificate of sluice any more and never opens; delete the pod, and its owner makes another";

/// Reads the Events in which the controller calls a pod stranded, of one namespace or of all. A caller without the right to read them gets
/// `Unavailable`; any other failure of the request is an error.
pub(crate) async fn events(client: &Client, namespace: Option<&str>) -> Result<Lookup<Vec<Value>>> {
    let place = namespace.map_or_else(String::new, |it| format!("/namespaces/{it}"));
    let about = ListParams::default().fields(&format!("reason={REASON},involvedObject.kind=Pod"));
    list(client, &format!("/api/v1{place}/events"), &about).await
}

/// The UIDs of the pods that Events of the controller call stranded, in one namespace or in all. Empty where the Events cannot be read, for
/// any reason.
pub(crate) async fn pods(client: &Client, namespace: Option<&str>) -> BTreeSet<String> {
    match events(client, namespace).await {
        Ok(Lookup::Found(events)) => {
            let told = events.iter().filter(|it| it["reason"] == REASON);
            let uids = told.map(|it| &it["involvedObject"]["uid"]);
            uids.filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// A stranded pod of an object as the root cause of waits.
pub(crate) fn root(object: String, pod: &str) -> RootCause {
    RootCause {
        object,
        pod: Some(pod.to_owned()),
        reason: REASON.to_owned(),
        broken: true,
        message: format!("is stranded: {WHY}"),
    }
}
