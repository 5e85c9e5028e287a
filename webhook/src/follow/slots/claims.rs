//! The decision: from the gated pods of a namespace to who claims a slot of which wave.

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
use std::collections::{BTreeMap, BTreeSet};

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

/// The gated pods of a namespace, each resolved once for a look, whatever the number of its waves.
#[derive(Default)]
pub(super) struct Pods(BTreeMap<Wave, Members>);

/// The pods of one wave.
#[derive(Default)]
struct Members {
    pending: Vec<Asker>,
    /// Jobs that run. Only a Job never goes back to work once it is done; anything else may have given its slot back in order.
    running: Vec<Holder>,
}

/// A pod that has not started, or is still to be made.
struct Asker {
    claim: Claim,
    dependent: Dependent,
    /// Whether its gate waits.
    waits: bool,
}

impl Pods {
    /// Sorts the pods of a namespace into these waves.
    pub(super) fn read(
        namespace: &str,
        waves: &BTreeSet<Wave>,
        settings: &Settings,
        view: &View,
        now: Timestamp,
    ) -> Self {
        let mut sorted = Self::default();
        let Lookup::Found(pods) = view.gated_pods(Some(namespace)) else {
            return sorted;
        };
        // A Job that is suspended here asks as the pod that it is to make.
        let jobs = view.held_jobs(namespace);
        let to_be: Vec<Value> = jobs.iter().map(job::pod_to_be).collect();
        let pending = pods.iter().filter(|pod| gate::is_pending(pod));
        for pod in pending.chain(&to_be) {
            let Lookup::Found(dependent) = Dependent::resolve(pod, &settings.workloads, view)
            else {
                continue;
            };
            let Some(claim) = Claim::of(&dependent).filter(|it| waves.contains(&it.wave)) else {
                continue;
            };
            let members = sorted.0.entry(claim.wave.clone()).or_default();
            members.pending.push(Asker {
                claim,
                dependent,
                waits: waits(pod),
            });
        }
        for pod in pods.iter().filter(|pod| is_of_a_job(pod)) {
            if let Ok(Some(Claim { wave, holder, .. })) = running(pod, settings, view, now)
                && waves.contains(&wave)
                && holder.object_kind().is_job()
            {
                let members = sorted.0.entry(wave).or_default();
                if !holder.is_among(&members.running) {
                    members.running.push(holder);
                }
            }
        }
        sorted
    }

    /// Who waits in a wave beside its holders.
    pub(super) fn claims(
        &self,
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
        let Some(members) = self.0.get(wave) else {
            return claims;
        };
        let others = members.pending.iter();
        for asker in others.filter(|it| !it.claim.holder.is_among(holders)) {
            let holder = &asker.claim.holder;
            claims.most = claims.most.min(holder.most);
            let known = claims.ready.iter().any(|it| it.holder == *holder);
            if !known && asker.waits && is_ready(&asker.dependent, settings, view, now) {
                claims.ready.push(asker.claim.clone());
            }
        }
        let running = members.running.iter().filter(|it| !it.is_among(holders));
        claims.running = running.cloned().collect();
        claims
    }
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
