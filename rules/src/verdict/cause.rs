//! Why what is waited for is not ready: down to the pod that holds it up, and from a pod at its gate on to what that waits for.
//!
//! Nothing here decides; it finds the words. It stays within the dependent's namespace, since it quotes whoever speaks there.

use super::cycle::Found;
use super::edge::Judge;
use super::room::is_about_pods;
use super::{JudgedEdge, Policy};
use crate::cause::{self, Behind, By, Cause, Stuck};
use crate::dependency::{Edge, State};
use crate::dependent::Dependent;
use crate::job;
use crate::judged::Reason;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::object::name;
use crate::profile;
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use wire::said::clean;

/// So many objects of one edge are asked whether they are ready, at most.
const ASKED: usize = 64;
/// So many that are not are looked behind.
const LOOKED: usize = 5;
/// So many gates are followed, one behind the other.
const GATES: usize = 3;
/// Longest word of a dependency at the end of a chain, in characters.
const WORD: usize = 120;

/// Why an object is not ready that lives in this namespace: what its pods say. `None` where they say nothing.
pub fn cause_of(
    (kind, object): (&Kind, &Value),
    namespace: &str,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Option<String> {
    let dependent = Dependent::of_workload(kind.clone(), object, namespace);
    let judge = Judge {
        dependent: &dependent,
        policy,
        world,
        now,
        at_once: false,
        again: Cell::new(None),
        reading: Cell::default(),
        probes: RefCell::default(),
    };
    judge.told(kind, object, GATES)
}

impl Judge<'_> {
    /// Why what an edge means is not ready. Of `homeless` pods it is known already.
    pub(super) fn cause(&self, edge: &JudgedEdge, homeless: bool) -> Option<String> {
        self.cause_behind(edge, homeless, GATES)
    }

    fn cause_behind(&self, edge: &JudgedEdge, homeless: bool, gates: usize) -> Option<String> {
        let reason = edge.judged.reason;
        let of_a_job = reason.is_final_failure() || reason == Reason::JobHeld;
        if edge.foreign || !(is_about_pods(reason) || of_a_job) {
            return None;
        }
        let meant = self.meant(&edge.edge);
        let unready = |(kind, object): &&Found| {
            !profile::judge(kind, object, State::Ready, self.world, self.now).satisfied
        };
        let mut unready = meant
            .iter()
            .map(|link| &link.to)
            .take(ASKED)
            .filter(unready)
            .take(LOOKED);
        unready.find_map(|(kind, object)| {
            let told = match self.stuck(kind, object) {
                Some(Stuck {
                    cause: Cause::NoNode { .. },
                    ..
                }) if homeless => return None,
                found => self.told_of(kind, object, found, gates)?,
            };
            Some(match meant.len() {
                1 => told,
                _ => format!("{kind}/{}: {told}", name(object)),
            })
        })
    }

    fn told(&self, kind: &Kind, object: &Value, gates: usize) -> Option<String> {
        self.told_of(kind, object, self.stuck(kind, object), gates)
    }

    /// The pod that holds an object up.
    fn stuck(&self, kind: &Kind, object: &Value) -> Option<Stuck> {
        let behind = Behind::of(kind, object, &self.dependent.namespace)?;
        self.world.stuck(&behind, self.now)
    }

    /// What is told of an object, of whose pods this was found.
    fn told_of(
        &self,
        kind: &Kind,
        object: &Value,
        found: Option<Stuck>,
        gates: usize,
    ) -> Option<String> {
        if kind.is_pod() {
            let cause = Cause::of(object, self.now)?;
            let more = self.beyond(&cause, kind, object, gates);
            return Some(format!("it {cause}{more}"));
        }
        if kind.is_job() && job::is_held(object) {
            let more = self.beyond(&Cause::Gate, kind, object, gates);
            return (!more.is_empty()).then(|| format!("it waits{more}"));
        }
        let Some(stuck) = found else {
            return self.refused(kind, object);
        };
        if matches!(stuck.cause, Cause::NoPods { .. }) {
            let told = self.refused(kind, object);
            return Some(told.unwrap_or_else(|| self.none_selected(object, &stuck)));
        }
        let more = match Behind::of(kind, object, &self.dependent.namespace) {
            Some(behind) if behind.by == By::Owners => self.beyond_pod(&behind, &stuck, gates),
            _ => self.beyond(&stuck.cause, kind, object, gates),
        };
        Some(format!("{stuck}{more}"))
    }

    /// What is told of a Service that selects no pod: a workload may be there whose pods it will select.
    fn none_selected(&self, service: &Value, stuck: &Stuck) -> String {
        let behind = self.behind(service).into_iter().next();
        match behind.map(|link| link.to) {
            Some((kind, workload)) => {
                format!(
                    "{kind}/{}, whose pods it selects, has none",
                    name(&workload)
                )
            }
            None => stuck.to_string(),
        }
    }

    /// The controller of the object, or of what is behind it, may make no pods.
    fn refused(&self, kind: &Kind, object: &Value) -> Option<String> {
        if !kind.is_service() {
            let why = cause::refused(object)?;
            return Some(format!("its pods are refused: {why}"));
        }
        let behind = self.behind(object).into_iter();
        let mut behind = behind.map(|link| link.to);
        behind.find_map(|(kind, workload)| {
            let why = cause::refused(&workload)?;
            Some(format!(
                "the pods of {kind}/{} are refused: {why}",
                name(&workload)
            ))
        })
    }

    /// What the gate of a pod waits for.
    fn beyond(&self, cause: &Cause, kind: &Kind, object: &Value, gates: usize) -> String {
        if *cause != Cause::Gate || gates == 0 {
            return String::new();
        }
        let behind = kind.is_service().then(|| self.behind(object));
        let behind = behind.map(|links| links.into_iter().map(|link| link.to).collect());
        let workloads: Vec<Found> = behind.unwrap_or_else(|| vec![(kind.clone(), object.clone())]);
        let told = workloads.into_iter().find_map(|(kind, workload)| {
            let dependent = Dependent::of_workload(kind, &workload, &self.dependent.namespace);
            self.beyond_gate_of(&dependent, gates)
        });
        told.unwrap_or_default()
    }

    /// What the gate of a pod waits for that belongs to an object by its owners: the pod has its list, wherever the object keeps the template.
    fn beyond_pod(&self, behind: &Behind, stuck: &Stuck, gates: usize) -> String {
        if stuck.cause != Cause::Gate || gates == 0 {
            return String::new();
        }
        let all = self.gated_by(&behind.selector);
        let pod = all.iter().find(|pod| name(pod) == stuck.name);
        let Some(Lookup::Found(dependent)) =
            pod.map(|pod| Dependent::resolve(pod, &[], self.world))
        else {
            return String::new();
        };
        self.beyond_gate_of(&dependent, gates).unwrap_or_default()
    }

    fn beyond_gate_of(&self, dependent: &Dependent, gates: usize) -> Option<String> {
        let judge = self.of(dependent);
        let told = judge.awaited(gates - 1);
        self.reading.set(self.reading.get() || judge.reading.get());
        told
    }

    /// What the dependent waits for, as it declares, and why that is not ready.
    fn awaited(&self, gates: usize) -> Option<String> {
        let edges = self
            .dependent
            .edges(self.policy.config_depends_on, self.world);
        // To ask for a slot is to wish for one.
        let edges = edges
            .ok()?
            .into_iter()
            .filter(|edge| !matches!(edge, Edge::Slot(_)));
        let mut judged = edges.map(|edge| self.edge(edge, false));
        let unmet = judged.find(|edge| !edge.judged.satisfied)?;
        let (edge, reason) = (&unmet.edge, unmet.judged.reason);
        if reason == Reason::Syncing {
            self.reading.set(true);
        }
        Some(match self.cause_behind(&unmet, false, gates) {
            Some(cause) => format!(" for {edge}; {cause}"),
            None => match unmet.judged.told(unmet.foreign) {
                None if unmet.foreign => format!(" for {edge} ({reason})"),
                message => {
                    let message = clean(message.unwrap_or_default(), WORD);
                    format!(" for {edge} ({reason}: {message})")
                }
            },
        })
    }
}
