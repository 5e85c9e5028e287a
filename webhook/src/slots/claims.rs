//! The decision: from the gated pods to who claims a slot of a wave.

use crate::cache::View;
use crate::status::{Settings, has_passed};
use jiff::Timestamp;
use rules::dependency::Reference;
use rules::dependent::Dependent;
use rules::keys;
use rules::slots::{Claim, Holder, Wave};
use rules::verdict;
use rules::world::Lookup;
use serde_json::Value;

/// Those whose turn it may be: their pod waits at its gate, and nothing but a slot is missing.
pub(super) fn claims(
    wave: &Wave,
    holders: &[Holder],
    settings: &Settings,
    view: &View,
    now: Timestamp,
) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let Lookup::Found(pods) = view.gated_pods(&wave.scope.namespace) else {
        return claims;
    };
    for pod in pods {
        if !waits(&pod) {
            continue;
        }
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &settings.workloads, view) else {
            continue;
        };
        let Some(claim) = Claim::of(&dependent).filter(|claim| claim.wave == *wave) else {
            continue;
        };
        let known = claims.iter().any(|it| it.holder == claim.holder);
        if !known && !claim.holder.is_among(holders) && is_ready(&dependent, settings, view, now) {
            claims.push(claim);
        }
    }
    claims
}

/// Whether the gate of a pod runs: a pod that has no node yet could hold a slot for ever.
fn waits(pod: &Value) -> bool {
    let statuses = pod["status"]["initContainerStatuses"].as_array();
    let gate = statuses
        .into_iter()
        .flatten()
        .find(|status| status["name"] == keys::GATE_CONTAINER);
    pod["metadata"]["deletionTimestamp"].is_null()
        && gate.is_some_and(|gate| gate["state"]["running"].is_object())
}

fn is_ready(dependent: &Dependent, settings: &Settings, view: &View, now: Timestamp) -> bool {
    let passed = has_passed(dependent, &dependent.terms(), view);
    let Ok(mut dependencies) = dependent.dependencies(settings.honor_config_depends_on, view)
    else {
        return false;
    };
    dependencies.retain(|it| !passed || dependent.asks_again(it));
    let claims = |it: &rules::dependency::Dependency| matches!(it.reference, Reference::Slot(_));
    if !dependencies.iter().any(claims) {
        return false;
    }
    dependencies.retain(|it| !claims(it));
    let allowed = &settings.cross_namespace;
    let judgement = verdict::judge(dependent, dependencies, allowed, view, now);
    judgement.edges.iter().all(|edge| edge.judged.satisfied)
}
