//! Caps: which objects of a wave hold one of its slots.
//!
//! The holders are written down in one place that every replica changes by compare-and-swap. An object starts only once
//! it is written there, and is struck out only once it is seen finished, or gone with all of its pods, in the API
//! server itself and not in a cache. So more than the cap can never run, whatever a replica has not seen yet, and no
//! slot is lost: who holds one and never finishes can be seen by everybody.
//!
//! The road not taken: to let every replica work the holders out from what it sees, with nothing written. Two that do not
//! see the same objects yet would let two different ones start.

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

/// So many revisions of one object are written down. One that is rolled out again and again and never gets ready would fill the
/// ConfigMap, and the revision that mends it would find no room.
const REVISIONS: usize = 8;

/// What is written down of a wave: a value of the ConfigMap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Which.
    #[serde(flatten)]
    pub wave: Wave,
    /// Who runs in it.
    pub holders: Vec<Holder>,
}

/// What a dependent asks for: a slot, in its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Where.
    pub wave: Wave,
    /// Whose turn it is: the first comes first.
    pub position: Position,
    /// Who.
    pub holder: Holder,
}

impl Claim {
    /// What a dependent claims, if it is capped. A pod of its own claims for itself, and a Job does, whoever made it: what made it may
    /// be ready before it runs, as a CronJob is.
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
            // Where nobody can tell one revision of an owner from another, all of them together hold one slot: a slot for each
            // pod would have the second wait for the first, which is not ready without it.
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

/// The holders after the finished ones are struck out and free slots are given away in turn.
///
/// What is `running` holds a slot whatever is written down: somebody may have struck it out by hand, or it was let through
/// by force. Another revision of what runs shares its slot, which is free only when the object is ready, and that takes both. `claims` are those whose turn it may be: everything else that they wait for is satisfied. `most` is the smallest cap
/// that anybody says who waits in the wave, whether or not it is his turn; where the objects of one wave say different
/// caps, the smallest counts, that of a holder too.
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

/// As many of the holders of a wave as go into this many bytes. Who held a slot `before` is never left out.
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

/// Whether the object of a holder, as the API server has it now, has done what it held the slot for. A Job that failed has, and a pod.
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
