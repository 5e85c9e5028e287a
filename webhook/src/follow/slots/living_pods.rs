//! Whether a holder of a slot whose object is gone still has a running pod.
//!
//! The known pods are asked first, as far as they are believed: a known living pod keeps the slot. Without such a pod the API server is
//! asked, because the known pods may lag behind. A namespace of Jobs has thousands of pods that have ended; the API server leaves those
//! out, and sends only the metadata of the others.

use crate::known::View;
use crate::lists::{Selection, page};
use kube::{Client, Error};
use rules::holder::Holder;
use rules::keys;
use rules::lookup::Lookup;
use rules::selector::Selector;
use rules::world::Hints;
use serde_json::Value;

/// The field selector of pods that have not ended.
const LIVING: &str = "status.phase!=Succeeded,status.phase!=Failed";
/// The label by which the pods of a Job tell the UID of the Job.
const MADE_BY: &str = "batch.kubernetes.io/controller-uid";
/// The most pods that one list request asks for.
const PAGE: u32 = 250;

/// Whether no pod of a holder of a slot lives any more: each has ended or is gone.
///
/// # Errors
///
/// The API server does not answer.
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

/// The label selectors that find the pods of a holder. The pods of a Job carry the UID of the Job, unless the user has chosen their
/// labels. So one selector finds that UID, and one finds the pods without such a label, of which none belongs to another Job.
fn labels(holder: &Holder) -> Vec<String> {
    let gated = format!("{}={}", keys::GATED, keys::GATED_VALUE);
    if !holder.object_kind().is_job() {
        return vec![gated];
    }
    let of_it = format!("{gated},{MADE_BY}={}", holder.pods_of);
    vec![of_it, format!("{gated},!{MADE_BY}")]
}

/// Whether a known pod of the holder lives. Only the pods that are labelled as made by this Job are read: a namespace may have thousands of
/// others. `false` where the known pods are not believed.
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

/// Whether a pod belongs to the holder, by the UID of one of its owners, or is the holder itself.
fn is_of(holder: &Holder, pod: &Value) -> bool {
    let metadata = &pod["metadata"];
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let mut uids = owners.map(|owner| &owner["uid"]).chain([&metadata["uid"]]);
    uids.any(|uid| *uid == holder.pods_of.as_str())
}

#[cfg(test)]
mod tests;
