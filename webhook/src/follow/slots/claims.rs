//! Finds which gated pods and suspended Jobs of a namespace may get a slot, and which Jobs run without one.

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

/// The claims on the slots of one wave.
pub(super) struct WaveClaims {
    /// The claims that may get a slot, one for each object: its pod waits at its gate, is held, or is to be made by a suspended Job, and only a
    /// slot is missing.
    pub(super) ready: Vec<Claim>,
    /// The smallest cap among the pods of the wave that have neither started nor a slot, ready or not; `usize::MAX` without such a pod.
    pub(super) most: usize,
    /// The Jobs that run without an entry as holders of a slot.
    pub(super) running: Vec<Holder>,
}

/// The error about a running pod whose dependent cannot be resolved.
pub(super) struct Unclear;

/// The claim on a slot of a pod that has passed its gate; `None` if the pod has not, needs no slot, or belongs to an object that is done.
///
/// # Errors
///
/// The dependent of the pod cannot be resolved.
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

/// The gated pods of a namespace, by wave. Each pod is resolved once for a look, even for many waves.
#[derive(Default)]
pub(super) struct Pods(BTreeMap<Wave, Members>);

/// The pods of one wave that may ask for a slot, and its running Jobs.
#[derive(Default)]
struct Members {
    pending: Vec<Asker>,
    /// The Jobs that run. Only Jobs count here, because a Job never goes back to work once it is done; any other object may have given
    /// its slot back in order.
    running: Vec<Holder>,
}

/// A pod that may ask for a slot: one that has not started, or one that a suspended Job is to make.
struct Asker {
    claim: Claim,
    dependent: Dependent,
    /// Whether the gate of the pod waits, or nothing but sluice's hold keeps the pod from the scheduler.
    waits: bool,
}

impl Pods {
    /// Reads the gated pods and the suspended Jobs of a namespace, and sorts them by wave. A pod of another wave than these is left out, and so
    /// is one whose dependent cannot be resolved. Empty while the gated pods are unknown.
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
        // A suspended Job asks as the pod that it is to make.
        let jobs = view.suspended_jobs(namespace);
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

    /// The claims on the slots of a wave, without those of the objects that hold a slot already.
    pub(super) fn claims(
        &self,
        wave: &Wave,
        holders: &[Holder],
        settings: &Settings,
        view: &View,
        now: Timestamp,
    ) -> WaveClaims {
        let mut claims = WaveClaims {
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

/// Whether the gate of a pod runs, or only our hold keeps the pod from the scheduler. Any other pod without a node could hold a
/// slot for ever.
fn waits(pod: &Value) -> bool {
    matches!(Gate::of(pod), Gate::Waiting { .. }) || gate::is_only_held(pod)
}

fn is_ready(dependent: &Dependent, settings: &Settings, view: &View, now: Timestamp) -> bool {
    let policy = &settings.policy;
    let Ok(edges) = dependent.asked(policy.regate, policy.edge_sources(), view) else {
        return false;
    };
    let (slots, others): (Vec<Edge>, Vec<Edge>) = edges
        .into_iter()
        .partition(|edge| matches!(edge, Edge::Slot(_)));
    if slots.is_empty() {
        return false;
    }
    let judgement = verdict::judge(dependent, others, policy, view, now);
    verdict::can_start(&judgement.edges, dependent.started, now)
}
