//! The decision: from the gated pods to who claims a slot of a wave.

use crate::known::{Settings, View};
use jiff::Timestamp;
use rules::dependency::Edge;
use rules::dependent::Dependent;
use rules::gate::{self, Gate};
use rules::holder::{Holder, Wave};
use rules::lookup::Lookup;
use rules::slots::Claim;
use rules::verdict;
use serde_json::Value;

/// Who waits in a wave.
pub(super) struct Claims {
    /// Those whose turn it may be: their pod waits at its gate, and nothing but a slot is missing.
    pub(super) ready: Vec<Claim>,
    /// The smallest cap that anybody says whose gate has not opened yet.
    pub(super) most: usize,
}

/// Who waits in a wave beside its holders.
pub(super) fn claims(
    wave: &Wave,
    holders: &[Holder],
    settings: &Settings,
    view: &View,
    now: Timestamp,
) -> Claims {
    let mut claims = Claims {
        ready: Vec::new(),
        most: usize::MAX,
    };
    let Lookup::Found(pods) = view.gated_pods(&wave.scope.namespace) else {
        return claims;
    };
    for pod in pods.iter().filter(|pod| gate::is_pending(pod)) {
        let Lookup::Found(dependent) = Dependent::resolve(pod, &settings.workloads, view) else {
            continue;
        };
        let Some(claim) = Claim::of(&dependent).filter(|claim| claim.wave == *wave) else {
            continue;
        };
        if claim.holder.is_among(holders) {
            continue;
        }
        claims.most = claims.most.min(claim.holder.most);
        let known = claims.ready.iter().any(|it| it.holder == claim.holder);
        if !known && waits(pod) && is_ready(&dependent, settings, view, now) {
            claims.ready.push(claim);
        }
    }
    claims
}

/// Whether the gate of a pod runs: a pod that has no node yet could hold a slot for ever.
fn waits(pod: &Value) -> bool {
    matches!(Gate::of(pod), Gate::Waiting { .. })
}

fn is_ready(dependent: &Dependent, settings: &Settings, view: &View, now: Timestamp) -> bool {
    let Ok(edges) = dependent.asked(settings.policy.config_depends_on, view) else {
        return false;
    };
    let (slots, others): (Vec<Edge>, Vec<Edge>) = edges
        .into_iter()
        .partition(|edge| matches!(edge, Edge::Slot(_)));
    if slots.is_empty() {
        return false;
    }
    let judgement = verdict::judge(dependent, others, &settings.policy, view, now);
    verdict::is_satisfied(&judgement.edges)
}
