//! Caps: which objects of a wave hold one of its slots.
//!
//! The holders are written down in one place that every replica changes by compare-and-swap. An object starts only once it is
//! written there. It is struck out only once the API server itself, and not a cache, shows it finished, or gone with all of its
//! pods. So no more objects than the cap can ever run, however old a replica's knowledge is, and no slot is lost: a holder that
//! never finishes is visible in the ConfigMap.
//!
//! The road not taken: to let every replica compute the holders from the objects that it sees, with nothing written. Two replicas
//! that do not see the same objects yet would let two different ones start.

use crate::dependency::State;
use crate::dependent::Dependent;
use crate::gate;
use crate::holder::{Holder, Wave, objects};
use crate::job;
use crate::profile;
use crate::scope::Position;
use crate::world::World;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most revisions of one object that are written down. An object that is rolled out again and again and never becomes ready
/// would fill the ConfigMap, and the revision that mends it would find no room.
const REVISIONS: usize = 8;

/// The entry of a wave in the ConfigMap of the slots, whose value it is as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The wave whose holders the entry names.
    #[serde(flatten)]
    pub wave: Wave,
    /// The objects that run in the wave and hold its slots. Each revision of an object is a holder of its own; all revisions of one object share one
    /// slot.
    pub holders: Vec<Holder>,
}

/// A dependent's claim to a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The wave of the slot.
    pub wave: Wave,
    /// The claim's place in the queue. The claim with the least position gets the next free slot.
    pub position: Position,
    /// The object that would hold the slot.
    pub holder: Holder,
}

impl Claim {
    /// The claim of a dependent with a cap; `None` without a cap or a scope. A pod of its own claims for itself, and a Job does so even where another
    /// object made it: that object may be ready before the Job runs, as a CronJob is.
    pub fn of(dependent: &Dependent) -> Option<Self> {
        let wave = Wave {
            scope: dependent.scope.clone()?,
            weight: dependent.weight().unwrap_or_default(),
        };
        let most = dependent.parallelism()?;
        let uid = || dependent.uid.clone();
        let nearest = dependent.owners.first();
        let pods_of = nearest.map_or_else(uid, |owner| owner.uid.clone());
        let runs = dependent.job().or(dependent.owners.last());
        let holder = Holder {
            group: runs.map_or_else(String::new, |owner| owner.kind.group().to_owned()),
            kind: runs.map_or("Pod", |owner| owner.kind.word()).to_owned(),
            name: runs.map_or(&dependent.pod, |owner| &owner.name).clone(),
            uid: runs.map_or_else(uid, |owner| owner.uid.clone()),
            // Where the revisions of an owner cannot be told apart, all of them together hold one slot: with a slot for each pod,
            // the second pod would wait for the first, which is not ready without the second.
            revision: dependent.revision().unwrap_or_else(|| pods_of.clone()),
            pods_of,
            most,
        };
        let position = Position {
            weight: wave.weight,
            created: runs.map_or(dependent.created, |owner| owner.created),
            kind: holder.kind.clone(),
            name: holder.name.clone(),
        };
        Some(Self {
            wave,
            position,
            holder,
        })
    }
}

/// Returns the objects that hold the slots of a wave: strikes out the finished holders, and gives the free slots to claims in their order.
///
/// An object in `running` holds a slot even if it is not written down: a user may have deleted its entry, or a skip has let it through. Another
/// revision of a running object shares its slot, which becomes free only when the object is ready, and for that the object needs both; beyond eight
/// revisions the oldest is dropped. `claims` are the claims of dependents that wait for nothing but a slot. `most` is the smallest cap among all
/// dependents that wait in the wave, also of those without a claim yet. Where the objects of one wave state different caps, the smallest counts,
/// including those of the holders.
pub fn allot(
    mut holders: Vec<Holder>,
    running: Vec<Holder>,
    is_finished: impl Fn(&Holder) -> bool,
    mut claims: Vec<Claim>,
    most: usize,
) -> Vec<Holder> {
    holders.retain(|holder| !is_finished(holder));
    for holder in running {
        if !holder.is_among(&holders) {
            holders.push(holder);
        }
    }
    claims.sort_by(|one, other| one.position.cmp(&other.position));
    let claimants = claims.into_iter().map(|claim| claim.holder);
    let claimants: Vec<Holder> = claimants.filter(|it| !it.is_among(&holders)).collect();
    let caps = holders.iter().chain(&claimants).map(|it| it.most);
    let most = caps.fold(most, usize::min);
    let mut free = most.saturating_sub(objects(&holders).len());
    for claimant in claimants {
        let is_of_it = |it: &Holder| it.uid == claimant.uid;
        let oldest = holders.iter().position(is_of_it);
        match holders.iter().filter(|it| is_of_it(it)).count() {
            0 if free == 0 => continue,
            0 => free -= 1,
            REVISIONS.. => drop(oldest.map(|oldest| holders.remove(oldest))),
            _ => {}
        }
        holders.push(claimant);
    }
    holders
}

/// Drops the new holders of a wave, from the first one on, with which the wave's entry would be longer than this many bytes as JSON. A holder that
/// was written down `before` is never dropped.
pub fn fit(wave: &Wave, before: &[Holder], mut holders: Vec<Holder>, bytes: usize) -> Vec<Holder> {
    let length = |it: &Holder| serde_json::to_string(it).map_or(0, |text| text.len() + 1);
    let empty = Entry {
        wave: wave.clone(),
        holders: Vec::new(),
    };
    let mut all = serde_json::to_string(&empty).map_or(0, |text| text.len());
    all += before.iter().map(length).sum::<usize>();
    holders.retain(|it| {
        let new = !it.is_among(before);
        all += if new { length(it) } else { 0 };
        !new || all <= bytes
    });
    holders
}

/// Whether the object of a holder, in the API server's current state, no longer needs the slot: a Job once it has ended, also by a failure, a pod
/// once it has ended or is ready, and any other object once it is ready.
pub fn is_done(holder: &Holder, object: &Value, world: &dyn World, now: Timestamp) -> bool {
    let kind = holder.object_kind();
    if kind.is_job() {
        return job::has_ended(object);
    }
    let ended = kind.is_pod() && gate::has_ended(object);
    ended || profile::judge(&kind, object, State::Ready, world, now).satisfied
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
