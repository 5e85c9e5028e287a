//! Finds why a dependency is not ready: the pod that holds it up, and, where that pod waits at its gate, the dependency of the pod.
//!
//! The words stay within the dependent's namespace, since they quote the objects there.

use super::super::judge::{Judge, JudgedEdge, Policy, Typed, listed};
use super::basis::Explain;
use super::no_room::is_about_pods;
use crate::cause::{self, Behind, By, Cause, RootCause, Stuck};
use crate::dependency::{Edge, State};
use crate::dependent::Dependent;
use crate::holder;
use crate::job;
use crate::judged::Reason;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::object::name;
use crate::profile;
use crate::slots::Claim;
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;
use wire::said::clean;

/// The most objects of one edge that are judged in search of an unready one.
const ASKED: usize = 64;
/// The most unready objects of one edge whose pods are looked at.
const LOOKED: usize = 5;
/// The longest chain of gates that is followed, from one waiting pod to the next.
const GATES: usize = 3;
/// The longest shown message of the dependency at the end of a chain of gates, in characters.
const WORD: usize = 120;

/// Why an object of this namespace is not ready, from its pods or from the refusal to create them; `None` where no cause is found, or in a world
/// without hints.
pub fn cause_of(
    (kind, object): (&Kind, &Value),
    namespace: &str,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Option<String> {
    let dependent = Dependent::of_workload(kind.clone(), object, namespace);
    let judge = Judge::new(&dependent, policy, world, now);
    let told = Explain::new(&judge, world.hints()?).told(kind, object, GATES);
    told.map(|it| it.words)
}

/// The words about the pods behind an object, and the root cause: the end of the chain of gates that the words follow.
pub(super) struct BehindTold {
    pub(super) words: String,
    pub(super) root: RootCause,
}

impl BehindTold {
    /// Joins the words about an object's own pods with the words about the dependencies of these pods, where those are known.
    fn followed(words: String, root: RootCause, beyond: Option<Self>) -> Self {
        match beyond {
            Some(beyond) => Self {
                words: words + &beyond.words,
                root: beyond.root,
            },
            None => Self { words, root },
        }
    }
}

impl Explain<'_> {
    /// The words about the first unready object of an edge that has a cause. `None` for an edge to another namespace, for a reason that pods
    /// cannot explain, and without a cause. `without_node`: the message says already that a pod finds no node, so this cause is left out.
    pub(super) fn cause(&self, edge: &JudgedEdge, without_node: bool) -> Option<BehindTold> {
        self.cause_behind(edge, without_node, GATES)
    }

    fn cause_behind(
        &self,
        edge: &JudgedEdge,
        without_node: bool,
        gates: usize,
    ) -> Option<BehindTold> {
        let reason = edge.judged.reason;
        let of_a_job = reason.is_final_failure() || reason == Reason::JobHeld;
        if edge.foreign || !(is_about_pods(reason) || of_a_job) {
            return None;
        }
        let meant = self.meant(&edge.edge);
        let unready = |(kind, object): &&Typed| {
            !profile::judge(kind, object, State::Ready, self.judge.world, self.judge.now).satisfied
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
                }) if without_node => return None,
                found => self.told_of(kind, object, found, gates)?,
            };
            Some(match meant.len() {
                1 => told,
                _ => BehindTold {
                    words: format!("{kind}/{}: {}", name(object), told.words),
                    ..told
                },
            })
        })
    }

    fn told(&self, kind: &Kind, object: &Value, gates: usize) -> Option<BehindTold> {
        self.told_of(kind, object, self.stuck(kind, object), gates)
    }

    /// The pod, or other object, that keeps an object from being ready; `None` before the world has found it.
    fn stuck(&self, kind: &Kind, object: &Value) -> Option<Stuck> {
        let behind = Behind::of(kind, object, &self.dependent().namespace)?;
        self.hints.stuck(&behind, self.judge.now)
    }

    /// The words about an object that is not ready; `found` is the pod, or other object, that holds it up, if one is known. `None` without a
    /// cause.
    fn told_of(
        &self,
        kind: &Kind,
        object: &Value,
        found: Option<Stuck>,
        gates: usize,
    ) -> Option<BehindTold> {
        let of = format!("{kind}/{}", name(object));
        if kind.is_pod() {
            let cause = Cause::of(object, self.judge.now)?;
            let more = self.beyond(&cause, kind, object, gates);
            let root = RootCause::of_pod(of, name(object), &cause);
            return Some(BehindTold::followed(format!("it {cause}"), root, more));
        }
        if kind.is_job() && job::is_held(object) {
            let more = self.beyond(&Cause::Gate, kind, object, gates)?;
            return Some(BehindTold {
                words: format!("it waits{}", more.words),
                ..more
            });
        }
        let refused = |message: String| BehindTold {
            root: RootCause {
                object: of.clone(),
                pod: None,
                reason: "PodsRefused".to_owned(),
                broken: true,
                message: message.clone(),
            },
            words: message,
        };
        let Some(stuck) = found else {
            return self.refused(kind, object).map(refused);
        };
        if matches!(stuck.cause, Cause::NoPods { .. }) {
            let told = self.refused(kind, object).map(refused);
            return Some(told.unwrap_or_else(|| {
                let words = self.none_selected(object, &stuck);
                let root = RootCause::of_stuck(of.clone(), &stuck);
                let message = words.clone();
                BehindTold {
                    root: RootCause { message, ..root },
                    words,
                }
            }));
        }
        let more = match Behind::of(kind, object, &self.dependent().namespace) {
            Some(behind) if behind.by == By::Owners => self.beyond_pod(&behind, &stuck, gates),
            _ => self.beyond(&stuck.cause, kind, object, gates),
        };
        let root = RootCause::of_stuck(of, &stuck);
        Some(BehindTold::followed(stuck.to_string(), root, more))
    }

    /// The words about a Service that selects no pod. They name the workload whose pods it will select, where there is one.
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

    /// The words about a workload whose pods the API server refuses to create, or about a Service that selects the pods of such a workload;
    /// `None` for any other object.
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

    /// The words about the dependency for which the gate of an object's pods waits, where `cause` is the gate; `None` for any other cause.
    /// `gates` counts how many further gates may be followed.
    fn beyond(
        &self,
        cause: &Cause,
        kind: &Kind,
        object: &Value,
        gates: usize,
    ) -> Option<BehindTold> {
        if *cause != Cause::Gate || gates == 0 {
            return None;
        }
        let behind = kind.is_service().then(|| self.behind(object));
        let behind = behind.map(|links| links.into_iter().map(|link| link.to).collect());
        let workloads: Vec<Typed> = behind.unwrap_or_else(|| vec![(kind.clone(), object.clone())]);
        workloads.into_iter().find_map(|(kind, workload)| {
            let dependent = Dependent::of_workload(kind, &workload, &self.dependent().namespace);
            self.beyond_gate_of(&dependent, gates)
        })
    }

    /// The words about the dependency for which the gate of the stuck pod of a custom object waits; `None` where the cause is not its gate. The
    /// list is read from the pod, since a custom object may keep its template in any field.
    fn beyond_pod(&self, behind: &Behind, stuck: &Stuck, gates: usize) -> Option<BehindTold> {
        if stuck.cause != Cause::Gate || gates == 0 {
            return None;
        }
        let all = self.gated_by(&behind.selector);
        let pod = all.iter().find(|pod| name(pod) == stuck.name)?;
        match Dependent::resolve(pod, &[], self.judge.world) {
            Lookup::Found(dependent) => self.beyond_gate_of(&dependent, gates),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        }
    }

    fn beyond_gate_of(&self, dependent: &Dependent, gates: usize) -> Option<BehindTold> {
        let judge = self.judge.of(dependent);
        let told = Explain::new(&judge, self.hints).awaited(gates - 1);
        if judge.is_reading() {
            self.judge.note_reading();
        }
        told
    }

    /// The words about the first edge of the dependent that is not satisfied, and why. The words follow "waits". Where only a slot is missing,
    /// they name the holders of the slots. `None` where all edges are satisfied or unknown.
    fn awaited(&self, gates: usize) -> Option<BehindTold> {
        let judge = self.judge;
        let edges = self
            .dependent()
            .edges(judge.policy.config_depends_on, judge.world);
        // To judge a slot is to ask for it, so the slots are left out.
        let (slots, edges): (Vec<Edge>, Vec<Edge>) = edges
            .ok()?
            .into_iter()
            .partition(|edge| matches!(edge, Edge::Slot(_)));
        let mut judged = edges.into_iter().map(|edge| judge.edge(edge, false));
        let Some((mut unmet, lead)) = judged.find(|(edge, _)| !edge.judged.satisfied) else {
            return slots.iter().find_map(|edge| match edge {
                Edge::Slot(most) => self.held_slots(*most),
                Edge::Listed(_) | Edge::NodeRule(_) | Edge::Wave(_) => None,
            });
        };
        self.follow(lead, &mut unmet.judged);
        let (edge, reason) = (&unmet.edge, unmet.judged.reason);
        if reason == Reason::Syncing {
            judge.note_reading();
        }
        Some(match self.cause_behind(&unmet, false, gates) {
            Some(cause) => BehindTold {
                words: format!(" for {edge}; {}", cause.words),
                ..cause
            },
            None => BehindTold {
                root: RootCause::of_edge(&unmet),
                words: match unmet.judged.told(unmet.foreign) {
                    None if unmet.foreign => format!(" for {edge} ({reason})"),
                    message => {
                        let message = clean(message.unwrap_or_default(), WORD);
                        format!(" for {edge} ({reason}: {message})")
                    }
                },
            },
        })
    }

    /// The words, which follow "waits", about the holders of the slots of the dependent's wave. `None` where the world cannot tell them without
    /// asking for a slot, where there are none, and where the dependent is one of them.
    pub(super) fn held_slots(&self, most: usize) -> Option<BehindTold> {
        let claim = Claim::of(self.dependent())?;
        let holders = self.hints.slot_holders(&claim.wave)?;
        if holders.is_empty() || claim.holder.is_among(&holders) {
            return None;
        }
        let names = holder::objects(&holders).into_iter();
        let names = listed(&names.map(ToString::to_string).collect::<Vec<_>>());
        let slots = match most {
            1 => "the only slot".to_owned(),
            most => format!("one of {most} slots"),
        };
        Some(BehindTold {
            words: format!(" for {slots}, held by {names}"),
            root: RootCause {
                object: names,
                pod: None,
                reason: Reason::NoSlot.label().to_owned(),
                broken: false,
                message: match most {
                    1 => "holds the only slot".to_owned(),
                    most => format!("all {most} slots are taken"),
                },
            },
        })
    }
}
