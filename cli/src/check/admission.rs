//! Checks that a pod which asks for a gate gets one from the API server, by a dry run: nothing is stored.

use super::Checked;
use super::namespaces::EXCLUDED;
use super::prefetch::PullTrial;
use super::trial::{TrialOutcome, pod, post};
use crate::access;
use crate::installation::Installation;
use anyhow::Result;
use kube::Client;

const CHECK: &str = "admission";

/// The result of the dry run that creates a pod which asks for a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tried {
    pub(super) namespace: String,
    pub(super) answer: TrialOutcome,
    /// Whether the API server takes image volumes, by a further dry run of the pod where that is needed.
    pub(super) pulls: PullTrial,
}

impl Tried {
    /// The namespace of sluice, as the gate of the tried pod has it; `None` where the pod got no gate.
    pub(super) fn home(&self) -> Option<&str> {
        match &self.answer {
            TrialOutcome::Gated { home, .. } => home.as_deref(),
            _ => None,
        }
    }

    pub(super) async fn of(
        client: &Client,
        namespace: &str,
        installation: &Installation,
    ) -> Result<Self> {
        let (answer, pulls) = if EXCLUDED.contains(&namespace) || installation.is_in(namespace) {
            (TrialOutcome::Excluded, PullTrial::Untried)
        } else {
            let answer = post(client, namespace, &pod()).await?;
            let pulls = PullTrial::of(client, namespace, &answer).await?;
            (answer, pulls)
        };
        Ok(Self {
            namespace: namespace.to_owned(),
            answer,
            pulls,
        })
    }
}

pub(super) fn judge(tried: &Tried) -> Checked {
    let Tried {
        namespace, answer, ..
    } = tried;
    match answer {
        TrialOutcome::Gated { .. } => Checked::ok(
            CHECK,
            format!("the API server gives a pod in namespace {namespace} its gate (a dry run)"),
        ),
        TrialOutcome::Ungated => Checked::problem(
            CHECK,
            format!(
                "the API server admits a pod in namespace {namespace} that asks for a gate without one (a dry run): it does not ask sluice, or goes on without its answer; look at the chart's values admission.excludeNamespaces, admission.namespaceSelector and admission.failurePolicy, and at the controller's log"
            ),
        ),
        TrialOutcome::Refused(why) if why.contains("sluice.dev") => Checked::problem(
            CHECK,
            format!(
                "the API server does not get an answer of sluice for a pod in namespace {namespace} (a dry run): {why}; look at the controller's pods and log, and whether the control plane reaches port 10250 of them"
            ),
        ),
        TrialOutcome::Refused(why) => Checked::warning(
            CHECK,
            format!(
                "another rule of the cluster refuses the pod that is tried in namespace {namespace}: {why}; {}",
                way_out(why)
            ),
        ),
        TrialOutcome::Excluded => Checked::warning(
            CHECK,
            format!(
                "nothing is gated in namespace {namespace}; name another one with -n to try it"
            ),
        ),
        TrialOutcome::Forbidden => Checked::warning(
            CHECK,
            format!(
                "not tried: {}; or name another namespace with -n",
                access::missing("create", "pods", Some(namespace))
            ),
        ),
        TrialOutcome::NoNamespace => Checked::warning(
            CHECK,
            format!("not tried: namespace {namespace} does not exist; name another one with -n"),
        ),
    }
}

/// Words of the API server by which a refusal is known to come from a LimitRange or a quota.
const OF_ROOM: [&str; 5] = [
    "usage per Container",
    "usage per Pod",
    "limit to request ratio",
    "exceeded quota",
    "failed quota",
];

/// The way out where a rule of the cluster refuses the tried pod; `why` is the refusal in the API server's words, which tell the rule.
fn way_out(why: &str) -> &'static str {
    if OF_ROOM.iter().any(|words| why.contains(words)) {
        return "the tried pod asks for 10m and 16Mi, and a gate for what its pod's smallest container asks for: pods that fit are admitted with \
                their gates, unless gate.resources of sluice's chart is set and does not fit; then leave it empty";
    }
    if why.contains("PodSecurity") {
        return "the tried pod keeps to the level restricted, so look at the field that is named: the gate's user is \
                gate.runAsUser of sluice's chart";
    }
    "where it is about an image, let it admit that of the gate (gate.image of sluice's chart); or name another namespace with -n"
}
