//! Checks whether the cluster takes the image volumes by which images are pulled early, by a further dry run of the tried pod.

use super::Checked;
use super::trial::{TrialOutcome, pod, post};
use anyhow::Result;
use kube::Client;
use rules::keys::PREFETCH;
use rules::version::IMAGE_VOLUMES;

const CHECK: &str = "prefetch";

/// The result of the dry runs about early pulls: whether the API server takes a pod with image volumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PullTrial {
    /// The pod of the dry run came back with image volumes.
    Taken,
    /// sluice added no image volumes: this Kubernetes has none.
    Unsupported,
    /// A rule of the cluster refused the pod for its image volumes, in these words.
    Refused {
        why: String,
        /// Whether pods get image volumes by default, so that the rule refuses every gated pod.
        by_default: bool,
    },
    /// Nothing is known of image volumes: the pod got no gate or could not be tried, it was refused without them as well, or the installed
    /// sluice knows no early pulls.
    Untried,
}

impl PullTrial {
    /// Tries the pod again, with the annotation that asks for early pulls, or with one that declines them where `plain` is a refusal. `plain` is
    /// the answer to the pod without that annotation; where it has image volumes or no gate, nothing more is tried.
    pub(super) async fn of(client: &Client, namespace: &str, plain: &TrialOutcome) -> Result<Self> {
        let tried = async |word: &str| {
            let mut pod = pod();
            pod["metadata"]["annotations"][PREFETCH] = word.into();
            post(client, namespace, &pod).await
        };
        Ok(match plain {
            TrialOutcome::Gated { pulls: true, .. } => Self::Taken,
            TrialOutcome::Gated { pulls: false, .. } => match tried("true").await? {
                TrialOutcome::Gated { pulls: true, .. } => Self::Taken,
                TrialOutcome::Gated { pulls: false, .. } => Self::Unsupported,
                TrialOutcome::Refused(why) if !why.contains(PREFETCH) => Self::Refused {
                    why,
                    by_default: false,
                },
                _ => Self::Untried,
            },
            TrialOutcome::Refused(why) => match tried("false").await? {
                TrialOutcome::Gated { .. } => Self::Refused {
                    why: why.clone(),
                    by_default: true,
                },
                _ => Self::Untried,
            },
            _ => Self::Untried,
        })
    }
}

pub(super) fn judge(namespace: &str, pulls: &PullTrial) -> Option<Checked> {
    Some(match pulls {
        PullTrial::Taken => Checked::ok(
            CHECK,
            format!(
                "the API server takes a pod in namespace {namespace} whose images are pulled while its gate waits (a dry run)"
            ),
        ),
        PullTrial::Unsupported => Checked::ok(
            CHECK,
            format!(
                "no images are pulled while a gate waits: this Kubernetes has no image volumes, which come with 1.{IMAGE_VOLUMES}"
            ),
        ),
        PullTrial::Refused {
            why,
            by_default: true,
        } => Checked::problem(
            CHECK,
            format!(
                "a rule of the cluster refuses the image volumes that every gated pod gets, tried in namespace {namespace} (a dry run): {why}; have it admit volumes of the type image, or set the chart's value prefetch.default to false"
            ),
        ),
        PullTrial::Refused {
            why,
            by_default: false,
        } => Checked::warning(
            CHECK,
            format!(
                "a rule of the cluster refuses the image volumes of a pod with {PREFETCH}, tried in namespace {namespace} (a dry run): {why}; have it admit volumes of the type image before you use that annotation"
            ),
        ),
        PullTrial::Untried => return None,
    })
}
