//! Whether anything of a holder whose object is gone still runs.
//!
//! What is known answers first, as far as it may be believed: a pod that is seen to live keeps the slot. That none is seen to live says
//! nothing, since what is known may lag behind; then the API server is asked. A namespace of Jobs holds thousands of pods that have
//! ended, so the API server leaves those out, and tells of the others the metadata alone.

use crate::known::View;
use crate::lists::{Selection, page};
use kube::{Client, Error};
use rules::holder::Holder;
use rules::keys;
use rules::lookup::Lookup;
use rules::selector::Selector;
use rules::world::World;
use serde_json::Value;

/// The pods that have not ended, as the API server finds them.
const LIVING: &str = "status.phase!=Succeeded,status.phase!=Failed";
/// The label by which the pods of a Job say the UID of that Job.
const MADE_BY: &str = "batch.kubernetes.io/controller-uid";
/// As many pods are asked for at once.
const PAGE: u32 = 250;

/// Whether no pod of a holder lives any more.
///
/// # Errors
///
/// Of the API server: nobody can say.
pub(super) async fn has_no_pods(
    client: &Client,
    view: &View,
    namespace: &str,
    holder: &Holder,
) -> Result<bool, Error> {
    if is_seen(view, namespace, holder) {
        return Ok(false);
    }
    for labels in labels(holder) {
        let living = Selection {
            path: format!("/api/v1/namespaces/{namespace}/pods"),
            labels: Some(labels),
            fields: Some(LIVING.to_owned()),
            metadata: true,
        };
        let mut begins = None;
        loop {
            let read = page(client, &living, PAGE, begins).await?;
            for pod in read.objects() {
                if is_of(holder, &pod?) {
                    return Ok(false);
                }
            }
            begins = read.next;
            if begins.is_none() {
                break;
            }
        }
    }
    Ok(true)
}

/// The labels of the pods among which those of a holder are. The pods of a Job say which Job made them, unless its user chose their
/// labels: so they are looked for by that label, and among the pods without it, which are none of another Job's.
fn labels(holder: &Holder) -> Vec<String> {
    let gated = format!("{}={}", keys::GATED, keys::GATED_VALUE);
    if !holder.object_kind().is_job() {
        return vec![gated];
    }
    let of_it = format!("{gated},{MADE_BY}={}", holder.pods_of);
    vec![of_it, format!("{gated},!{MADE_BY}")]
}

/// Whether a pod of the holder is known to live. Only those with its label are looked at: the others of the namespace may be thousands.
fn is_seen(view: &View, namespace: &str, holder: &Holder) -> bool {
    let made_by = Selector::label(MADE_BY, &holder.pods_of);
    let Lookup::Found(pods) = view.peek_gated(namespace, &made_by) else {
        return false;
    };
    let ended = |pod: &Value| {
        matches!(
            pod["status"]["phase"].as_str(),
            Some("Succeeded" | "Failed")
        )
    };
    pods.iter().any(|pod| is_of(holder, pod) && !ended(pod))
}

/// Whether it is a pod of the holder, or the holder itself.
fn is_of(holder: &Holder, pod: &Value) -> bool {
    let metadata = &pod["metadata"];
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let mut uids = owners.map(|owner| &owner["uid"]).chain([&metadata["uid"]]);
    uids.any(|uid| *uid == holder.pods_of.as_str())
}

#[cfg(test)]
mod tests;
