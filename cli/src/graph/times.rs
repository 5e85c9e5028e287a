//! Finds when each object of a graph started, passed its gate and became ready, from nothing but the times that pods and Jobs carry.

use super::cluster::Inventory;
use super::gate_wait::GateWait;
use super::model::{Model, WAITS};
use crate::gate_findings::{self, Unjudged};
use crate::gate_log::GateWord;
use crate::installed::Installed;
use crate::objects::{Graph, Object};
use crate::root_causes::{self, HeldUp, WaitingPod, held_up};
use crate::status::{self, GateTold};
use crate::stranded;
use jiff::Timestamp;
use rules::cause::{Cause, RootCause, Stuck};
use rules::gate::{self, Gate};
use rules::kinds::{self, Kind};
use rules::object;
use rules::selector::Selector;
use rules::verdict;
use rules::world::World;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use wire::{Decision, said};

/// The times of a graph: the waits of its pods and the spans of its nodes.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// The wait of each pod that waits or has waited at its gate, or is held: the longest wait first.
    pub(super) gates: Vec<GateWait>,
    /// The times of the graph's nodes, by their numbers.
    pub(super) spans: BTreeMap<usize, Span>,
    /// The nodes that have pods at their gates, and no other trouble.
    pub(super) at_gates: BTreeSet<usize>,
    /// The most telling trouble of the pods of a node, by the node's number; the wait at a gate is none.
    stuck: BTreeMap<usize, Stuck>,
}

/// The times of an object, from its start until its dependents could start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(super) struct Span {
    /// The start of a Job; else the creation of the pod that was ready last, or of the first pod of a StatefulSet that makes one after the other.
    /// `None` for an object without pods, such as a Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started: Option<Timestamp>,
    /// When the gate of the pod that `started` is about opened, of a Job the first gate; `None` without a gate, or before it opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opened: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ready: Option<Timestamp>,
}

impl Times {
    /// Whether any pod of the graph waits at this moment, at its gate or in its hold before.
    pub(super) fn any_waits(&self) -> bool {
        self.gates.iter().any(|gate| gate.until.is_none())
    }

    /// The answer that each of `gates` would get, in their order; `None` for a pod that waits no more, and where the answer is unknown.
    pub(super) fn answers(
        &self,
        seen: &Inventory,
        world: &Installed<'_>,
        now: Timestamp,
    ) -> Vec<Option<GateTold>> {
        let answer = |gate: &GateWait| {
            let named = |pod: &&Value| object::name(pod) == gate.pod;
            let pod = seen
                .pods
                .iter()
                .find(named)
                .filter(|_| gate.until.is_none())?;
            status::judge(world, pod, now).ok()
        };
        self.gates.iter().map(answer).collect()
    }

    pub(super) fn answered(&mut self, answers: Vec<Option<GateTold>>) {
        for (gate, told) in self.gates.iter_mut().zip(answers) {
            if let Some(told) = told {
                (gate.answer, gate.roots) = (Some(told.answer), told.roots);
                gate.unjudged = told.unjudged;
            }
        }
    }

    /// Whether a pod waits at its gate at this moment, so that it may be stranded.
    pub(super) fn any_at_gate(&self) -> bool {
        self.gates.iter().any(GateWait::is_at_gate)
    }

    /// Marks the waiting pods with these UIDs as stranded, and makes that the root cause of their waits: no change of a dependency opens their
    /// gates.
    pub(super) fn strand(&mut self, stranded: &BTreeSet<String>) {
        let waiting = self.gates.iter_mut().filter(|gate| gate.is_at_gate());
        for gate in waiting.filter(|gate| stranded.contains(&gate.uid)) {
            gate.stranded = true;
            gate.answer = None;
            gate.roots = vec![stranded::root(gate.of.clone(), &gate.pod)];
        }
    }

    /// The root causes of the pods of the graph that wait, all in this namespace; the cause of most pods comes first.
    pub(super) fn held_up(&self, namespace: &str) -> Vec<HeldUp> {
        let waiting = self.gates.iter().filter(|gate| gate.until.is_none());
        let waiting = waiting.map(|gate| WaitingPod {
            namespace,
            name: &gate.pod,
            since: Some(gate.since),
            roots: &gate.roots,
        });
        held_up(&waiting.collect::<Vec<_>>())
    }

    /// The names of the pods at their gates that have a dependency which only the gate can judge, so that its log has to be read.
    pub(super) fn unheard(&self) -> impl Iterator<Item = &str> {
        let begun = self.gates.iter().filter(|gate| gate.is_at_gate());
        let needs = |gate: &&GateWait| {
            let answer = gate.answer.as_ref();
            answer.is_some_and(|it| gate_findings::needs(it, &gate.unjudged))
        };
        let unheard = begun.filter(needs);
        unheard.map(|it| it.pod.as_str())
    }

    /// Puts the findings that only gates can tell into the answers of waiting pods, from the last lines of the gates by pod name. Returns the
    /// dependencies among them that the caller lacks a right to judge.
    pub(super) fn hear(&mut self, words: &BTreeMap<String, GateWord>) -> Vec<Unjudged> {
        let mut told = Vec::new();
        for gate in &mut self.gates {
            if let (Some(answer), Some(GateWord::Said(said))) =
                (&mut gate.answer, words.get(&gate.pod))
            {
                told.extend(gate_findings::fill(answer, &gate.unjudged, said));
                root_causes::hear(&mut gate.roots, answer);
            }
        }
        told
    }

    /// Writes into each node that is not ready the root cause of its pods' trouble, if its pods have one beside a gate.
    pub(super) fn explain(&self, model: &mut Model) {
        for (node, stuck) in &self.stuck {
            let node = &mut model.nodes[*node];
            if node.health.as_ref().is_some_and(|it| !it.ready) {
                node.root_cause = Some(RootCause::of_stuck(node.id.clone(), stuck));
            }
        }
    }

    /// Marks each object that is not ready and whose pods only wait at their gates as waiting, with its dependencies: its own status would say that
    /// it is late, or has failed. An object with a stranded pod gets that as its reason and root cause, and keeps its status.
    pub(super) fn mark_waits(&self, model: &mut Model) {
        for at in &self.at_gates {
            let node = &mut model.nodes[*at];
            let Some(health) = node.health.as_mut().filter(|it| !it.ready) else {
                continue;
            };
            let own = self.gates.iter().filter(|gate| gate.of == node.id);
            let waiting = own.filter(|gate| gate.until.is_none());
            if let Some(gate) = waiting.clone().find(|gate| gate.stranded) {
                let root = stranded::root(node.id.clone(), &gate.pod);
                health.reason.clone_from(&root.reason);
                health.message = format!("its pod {} {}", gate.pod, root.message);
                node.root_cause = Some(root);
                continue;
            }
            let mut answers = waiting.filter_map(|gate| gate.answer.as_ref());
            // Any other answer is that of a gate that opens at this moment.
            let answer = answers.find(|answer| answer.verdict == Decision::Wait);
            let told = answer.and_then(said::unsatisfied);
            let told = told.map(|told| format!("its gate waits for {told}"));
            WAITS.clone_into(&mut health.status);
            health.message = told.unwrap_or_else(|| "its pods wait at their gates".to_owned());
            if let Some(first) = answer.and_then(said::first) {
                health.reason.clone_from(&first.reason);
            }
        }
    }
}

/// The times of one object of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Lived {
    /// The id of the object's node.
    object: String,
    #[serde(flatten)]
    span: Span,
}

/// The times of the nodes, in the order of the nodes; a node without any time is left out.
pub(super) fn lived(model: &Model, spans: &BTreeMap<usize, Span>) -> Vec<Lived> {
    let lived = spans.iter().filter(|(_, span)| **span != Span::default());
    let lived = lived.map(|(node, span)| Lived {
        object: model.nodes[*node].id.clone(),
        span: *span,
    });
    lived.collect()
}

/// The times of a pod's creation, of its wait, and of its readiness or completion.
struct PodTimes<'a> {
    value: &'a Value,
    name: &'a str,
    made: Option<Timestamp>,
    /// The beginning and the end of the pod's wait: at its gate, or in its hold before. The end is `None` while the pod waits.
    gate: Option<(Timestamp, Option<Timestamp>)>,
    ready: Option<Timestamp>,
}

/// The times of a graph's pods and nodes. Only pods in the graph's namespace count, and none that is being deleted. From `world` only the claims
/// of pods that no node takes are read.
pub(super) fn of(
    seen: &Inventory,
    graph: &Graph<'_>,
    model: &Model,
    world: &dyn World,
    now: Timestamp,
) -> Times {
    let mut times = Times::default();
    let mut nodes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (at, node) in &model.at {
        let object = &graph.objects[*at];
        if object.namespace() == seen.namespace {
            nodes.insert((object.word(), &object.place.name), *node);
        }
    }
    let pods: Vec<PodTimes<'_>> = seen.pods.iter().filter_map(pod).collect();
    let mut of_node: BTreeMap<usize, Vec<&PodTimes<'_>>> = BTreeMap::new();
    for pod in &pods {
        let (kind, name) = seen.topmost("Pod", pod.name);
        let Some(node) = nodes.get(&(kind.as_str(), name.as_str())) else {
            continue;
        };
        of_node.entry(*node).or_default().push(pod);
        times.gates.extend(gate(pod, &model.nodes[*node].id, now));
    }
    times
        .gates
        .sort_by(|one, other| (other.seconds, &one.pod).cmp(&(one.seconds, &other.pod)));
    let claims = Kind::Builtin(kinds::PERSISTENT_VOLUME_CLAIM);
    let claim = |name: &str| world.object(&claims, Some(&seen.namespace), name);
    for (at, node) in &model.at {
        let object = &graph.objects[*at];
        let own = of_node.get(node).map_or(&[][..], Vec::as_slice);
        times.spans.insert(*node, span(object, own, &pods));
        let values: Vec<&Value> = own.iter().map(|pod| pod.value).collect();
        let stuck = verdict::stuck_pod(&values, claim, world, now);
        let waits = own.iter().any(|pod| matches!(pod.gate, Some((_, None))));
        match stuck {
            Some(stuck) if stuck.cause == Cause::Gate => {
                times.at_gates.extend(waits.then_some(*node));
            }
            Some(stuck) => {
                times.stuck.insert(*node, stuck);
            }
            None => {}
        }
    }
    times
}

fn pod(value: &Value) -> Option<PodTimes<'_>> {
    if value.pointer("/metadata/deletionTimestamp").is_some() {
        return None;
    }
    let made = time(value, "/metadata/creationTimestamp");
    let gate = match Gate::of(value) {
        _ if gate::is_held(value) => made.map(|made| (made, None)),
        Gate::Waiting { since } => since.parse().ok().map(|since| (since, None)),
        Gate::Passed { since, at } => {
            let until = at.parse().ok();
            let since = since.parse().ok().or(until);
            since.map(|since| (since, until))
        }
        Gate::NotStarted | Gate::Refused { .. } => None,
    };
    // A pod that was held has waited since its creation.
    let since = made.filter(|_| gate::was_held(value));
    Some(PodTimes {
        value,
        name: value["metadata"]["name"].as_str()?,
        made,
        gate: gate.map(|(began, until)| (since.unwrap_or(began), until)),
        ready: ready(value),
    })
}

/// The time at which the pod became ready, or at which the last container of a succeeded pod ended; `None` where it is neither.
fn ready(pod: &Value) -> Option<Timestamp> {
    if pod["status"]["phase"] == "Succeeded" {
        let ended = pod["status"]["containerStatuses"].as_array();
        let ended = ended.into_iter().flatten();
        return ended
            .filter_map(|it| time(it, "/state/terminated/finishedAt"))
            .max();
    }
    let conditions = pod["status"]["conditions"].as_array()?;
    let mut conditions = conditions.iter();
    let ready = conditions.find(|it| it["type"] == "Ready" && it["status"] == "True")?;
    time(ready, "/lastTransitionTime")
}

fn gate(pod: &PodTimes<'_>, of: &str, now: Timestamp) -> Option<GateWait> {
    let (since, until) = pod.gate?;
    Some(GateWait {
        pod: pod.name.to_owned(),
        of: of.to_owned(),
        seconds: seconds(since, until.unwrap_or(now)),
        since,
        held: gate::is_held(pod.value),
        stranded: false,
        until,
        answer: None,
        roots: Vec::new(),
        unjudged: Vec::new(),
        uid: pod.value["metadata"]["uid"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    })
}

/// The whole seconds from one time until another, because Kubernetes stores no fractions; 0 where `until` is the earlier one.
pub(super) fn seconds(from: Timestamp, until: Timestamp) -> i64 {
    until.duration_since(from).as_secs().max(0)
}

fn span(object: &Object, own: &[&PodTimes<'_>], all: &[PodTimes<'_>]) -> Span {
    if object.is_job() {
        return job(&object.value, own);
    }
    if !object.is_service() {
        return workload(object, own);
    }
    // One endpoint is enough.
    Span {
        ready: behind(&object.value, all).filter_map(|it| it.ready).min(),
        ..Span::default()
    }
}

fn behind<'p>(service: &Value, all: &'p [PodTimes<'p>]) -> impl Iterator<Item = &'p PodTimes<'p>> {
    let selector = Selector::labels(&service["spec"]["selector"]);
    let namespace = &service["metadata"]["namespace"];
    let selects = move |pod: &&PodTimes<'_>| {
        let is_near = pod.value["metadata"]["namespace"] == *namespace;
        is_near && !selector.0.is_empty() && selector.selects(pod.value)
    };
    all.iter().filter(selects)
}

fn job(job: &Value, pods: &[&PodTimes<'_>]) -> Span {
    let opened = pods.iter().filter_map(|pod| pod.gate?.1).min();
    Span {
        started: time(job, "/status/startTime").or(time(job, "/metadata/creationTimestamp")),
        opened,
        ready: time(job, "/status/completionTime"),
    }
}

/// The times of a workload. The pod that was ready last decides, and there is no time of readiness until all pods are ready. A StatefulSet makes
/// one pod after the other, so it began with the first.
fn workload(object: &Object, pods: &[&PodTimes<'_>]) -> Span {
    // An unready pod is not left out: the workload is not ready then.
    let Some(last) = pods.iter().max_by_key(|pod| (pod.ready, pod.made)) else {
        return Span::default();
    };
    let ordered =
        object.word() == "StatefulSet" && object.value["spec"]["podManagementPolicy"] != "Parallel";
    let first = pods.iter().min_by_key(|pod| pod.made).filter(|_| ordered);
    let first = first.unwrap_or(last);
    Span {
        started: first.made,
        opened: first.gate.and_then(|(_, until)| until),
        ready: last
            .ready
            .filter(|_| pods.iter().all(|it| it.ready.is_some())),
    }
}

fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    value.pointer(pointer)?.as_str()?.parse().ok()
}
