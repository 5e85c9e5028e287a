//! The decision: from the gated pods to who claims a slot of a wave.

use crate::known::{Settings, View};
use jiff::Timestamp;
use rules::dependency::Edge;
use rules::dependent::Dependent;
use rules::gate::{self, Gate};
use rules::holder::{Holder, Wave};
use rules::job;
use rules::lookup::Lookup;
use rules::object::{controller_of, group_kind};
use rules::slots::{Claim, is_done};
use rules::verdict;
use rules::world::Objects;
use serde_json::Value;

/// Who waits in a wave.
pub(super) struct Claims {
    /// Those whose turn it may be: their pod waits at its gate, and nothing but a slot is missing.
    pub(super) ready: Vec<Claim>,
    /// The smallest cap that anybody says whose gate has not opened yet.
    pub(super) most: usize,
    /// Jobs that run although no slot of theirs is written down.
    pub(super) running: Vec<Holder>,
}

/// A pod runs, and what it belongs to cannot be told.
pub(super) struct Unclear;

/// What a pod would claim that runs, where it needs a slot for that: its object is not done.
pub(super) fn running(
    pod: &Value,
    settings: &Settings,
    view: &View,
    now: Timestamp,
) -> Result<Option<Claim>, Unclear> {
    if !gate::has_started(pod) {
        return Ok(None);
    }
    let Lookup::Found(dependent) = Dependent::resolve(pod, &settings.workloads, view) else {
        return Err(Unclear);
    };
    Ok(Claim::of(&dependent).filter(|Claim { wave, holder, .. }| {
        let namespace = Some(&*wave.scope.namespace);
        let object = view.object(&holder.object_kind(), namespace, &holder.name);
        !matches!(object, Lookup::Found(object) if is_done(holder, &object, view, now))
    }))
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
        running: Vec::new(),
    };
    let Lookup::Found(pods) = view.gated_pods(Some(&wave.scope.namespace)) else {
        return claims;
    };
    // A Job that is suspended here asks as the pod that it is to make.
    let jobs = view.held_jobs(&wave.scope.namespace);
    let to_be: Vec<Value> = jobs.iter().map(job::pod_to_be).collect();
    for pod in pods
        .iter()
        .filter(|pod| gate::is_pending(pod))
        .chain(&to_be)
    {
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
    // Only a Job never goes back to work once it is done; anything else may have given its slot back in order.
    for pod in pods.iter().filter(|pod| is_of_a_job(pod)) {
        if let Ok(Some(Claim {
            wave: of, holder, ..
        })) = running(pod, settings, view, now)
            && of == *wave
            && holder.object_kind().is_job()
            && !holder.is_among(holders)
            && !holder.is_among(&claims.running)
        {
            claims.running.push(holder);
        }
    }
    claims
}

fn is_of_a_job(pod: &Value) -> bool {
    controller_of(pod).is_some_and(|owner| group_kind(owner) == ("batch", "Job"))
}

/// Whether the gate of a pod runs, or nothing but a hold keeps it from the scheduler: any other pod that has no node yet could hold a
/// slot for ever.
fn waits(pod: &Value) -> bool {
    matches!(Gate::of(pod), Gate::Waiting { .. }) || gate::is_only_held(pod)
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
    verdict::can_start(&judgement.edges, dependent.started, now)
}
