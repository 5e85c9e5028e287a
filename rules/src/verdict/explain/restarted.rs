//! Finds satisfied dependencies whose pods crash: without a readiness probe a pod counts as ready whenever it runs.

use super::super::judge::{Judge, JudgedEdge, Policy};
use super::basis::Explain;
use crate::cause::{self, Behind, By};
use crate::dependent::Dependent;
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::object::name;
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;

/// The most objects of one edge whose pods are searched for a crash.
const LOOKED: usize = 5;

/// For each edge the words about one of its pods that has crashed and has no readiness probe. `None` where there is no such pod, in a world without
/// hints, for a Job, for a custom object without a selector, for a dependency in another namespace, and for an unsatisfied edge, whose cause tells of
/// the crash.
pub fn restarted(
    dependent: &Dependent,
    edges: &[JudgedEdge],
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Vec<Option<String>> {
    let judge = Judge::new(dependent, policy, world, now);
    let explain = world.hints().map(|hints| Explain::new(&judge, hints));
    let told = edges.iter().map(|edge| explain?.restarted(edge));
    told.collect()
}

impl Explain<'_> {
    fn restarted(&self, edge: &JudgedEdge) -> Option<String> {
        if edge.foreign || !edge.judged.satisfied {
            return None;
        }
        let meant = self.meant(&edge.edge);
        let mut objects = meant.iter().map(|link| &link.to).take(LOOKED);
        objects.find_map(|(kind, object)| self.restarted_of(kind, object))
    }

    fn restarted_of(&self, kind: &Kind, object: &Value) -> Option<String> {
        let told = |pod: &Value| {
            let found = cause::unprobed(pod)?;
            Some(format!("pod {} {found}", name(pod)))
        };
        if kind.is_pod() {
            return told(object);
        }
        let behind = Behind::of(kind, object, &self.dependent().namespace)?;
        if behind.by != By::Labels || kind.is_job() {
            return None;
        }
        let pods = Kind::Builtin(kinds::POD);
        let home = Some(behind.namespace.as_str());
        let crashed = |pod: &Value| cause::unprobed(pod).is_some();
        let world = self.judge.world;
        let Lookup::Found(pods) = world.list_where(&pods, home, &behind.selector, &crashed) else {
            return None;
        };
        let is_own = |pod: &&Value| behind.owner.is_none() || self.is_of(pod, object);
        pods.iter().find(is_own).and_then(told)
    }
}
