//! The judge of one dependent: the dependent, the policy, the world and the time by which each of its edges is judged.

use super::consent::Policy;
use crate::dependent::Dependent;
use crate::judged::{Judged, unavailable};
use crate::kinds::{self, Kind};
use crate::world::World;
use jiff::Timestamp;
use std::cell::{Cell, RefCell};
use wire::probe::Probe;

/// One dependent, with the policy, the world and the time by which its edges are judged, and the notes taken while judging.
pub(in crate::verdict) struct Judge<'a> {
    pub(in crate::verdict) dependent: &'a Dependent,
    pub(in crate::verdict) policy: &'a Policy,
    pub(in crate::verdict) world: &'a dyn World,
    pub(in crate::verdict) now: Timestamp,
    /// Whether a satisfied object counts at once, without the waits for an upgrade that may replace it or for a status that may change in a
    /// moment.
    pub(super) at_once: bool,
    again: Cell<Option<Timestamp>>,
    reading: Cell<bool>,
    probes: RefCell<Vec<Probe>>,
}

impl<'a> Judge<'a> {
    pub(in crate::verdict) fn new(
        dependent: &'a Dependent,
        policy: &'a Policy,
        world: &'a dyn World,
        now: Timestamp,
    ) -> Self {
        Self {
            dependent,
            policy,
            world,
            now,
            at_once: false,
            again: Cell::new(None),
            reading: Cell::new(false),
            probes: RefCell::default(),
        }
    }

    /// A judge of another dependent, by the policy, world and time of this one, and with notes of its own.
    pub(in crate::verdict) fn of<'d>(&'d self, dependent: &'d Dependent) -> Judge<'d> {
        Judge::new(dependent, self.policy, self.world, self.now)
    }

    /// A judge of this dependent for which satisfied objects count at once, and with notes of its own.
    pub(in crate::verdict) fn at_once(&self) -> Judge<'_> {
        Judge {
            at_once: true,
            ..self.of(self.dependent)
        }
    }

    /// Whether `time` has come. If not, notes that the dependent must be judged again at that time.
    pub(in crate::verdict) fn reached(&self, time: Timestamp) -> bool {
        if self.now >= time {
            return true;
        }
        let earlier = self.again.get().map_or(time, |again| again.min(time));
        self.again.set(Some(earlier));
        false
    }

    /// The earliest time that [`Judge::reached`] has noted: time alone may change a finding then. `None` where time changes nothing.
    pub(in crate::verdict) fn again(&self) -> Option<Timestamp> {
        self.again.get()
    }

    /// Notes that the cause of a dependency's own wait is still being read, so that a better message follows in a moment.
    pub(in crate::verdict) fn note_reading(&self) {
        self.reading.set(true);
    }

    /// Whether [`Judge::note_reading`] was called: the cause of a dependency's own wait is still being read.
    pub(in crate::verdict) fn is_reading(&self) -> bool {
        self.reading.get()
    }

    /// Notes an address that the dependent's gate is to try, once however often it is noted.
    pub(super) fn note_probe(&self, probe: Probe) {
        let mut probes = self.probes.borrow_mut();
        if !probes.contains(&probe) {
            probes.push(probe);
        }
    }

    /// Removes and returns the noted addresses that the dependent's gate is to try.
    pub(in crate::verdict) fn take_probes(&self) -> Vec<Probe> {
        self.probes.take()
    }

    /// The kinds whose objects are looked for in a scope: workloads, and the custom kinds that sluice is meant to read.
    ///
    /// # Errors
    ///
    /// The finding about an edge that needs these kinds, while the ClusterRole that lists the custom ones cannot be read.
    pub(super) fn kinds(&self) -> Result<Vec<Kind>, Judged> {
        let roles = Kind::Builtin(kinds::CLUSTER_ROLE);
        let kinds = self.world.kinds();
        kinds.map_err(|why| unavailable(why, &roles, false))
    }
}
