//! The tree of several pods: workloads, their pods, the waits of each.

use super::GateTold;
use super::creations::HeldCreation;
use super::events::{EventFacts, EventSubject};
use super::stage::Stage;
use crate::gate_findings::{self, Unjudged};
use crate::gate_log::GateWord;
use crate::installation::Unseen;
use crate::output::API_VERSION;
use crate::root_causes::{self, HeldUp, WaitingPod, held_up};
use crate::stranded;
use crate::style::Tone;
use jiff::Timestamp;
use rules::cause::{Pull, RootCause};
use rules::dependent::Dependent;
use rules::kinds::Kind;
use rules::object;
use rules::scope::Scope;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use wire::{Answer, Decision};

/// The whole answer of `status` for several pods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Tree {
    #[serde(rename = "apiVersion")]
    pub(super) api_version: &'static str,
    /// The subject of the question to `status`.
    pub(super) subject: String,
    /// How many pods of the subject have a gate.
    pub(super) pods: usize,
    /// How many of the pods wait.
    pub(super) waiting: usize,
    /// The root causes of the waits.
    #[serde(rename = "rootCauses", skip_serializing_if = "Vec::is_empty")]
    pub(super) held_up: Vec<HeldUp>,
    pub(super) workloads: Vec<Workload>,
    /// The objects of the namespace, or of all namespaces, whose creation is held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) creations: Vec<HeldCreation>,
    /// The workloads that lack pods and do not say why; an Event may.
    #[serde(skip)]
    pub(super) lacking: Vec<Lacking>,
    /// Whether the subject is one workload, and it has no pod.
    #[serde(skip)]
    pub(super) podless: bool,
    /// The parts that the caller may not see, with the assumption in their place.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) unseen: Vec<Unseen>,
}

/// The topmost workload above some pods, which the user wrote, and these pods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Workload {
    pub(super) namespace: String,
    /// Kind and name of the workload: `Deployment/api`.
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) release: Option<String>,
    /// Why its controller may make no pods, or no more of them, in the words of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
    pub(super) pods: Vec<Pod>,
}

/// A workload whose controller has made fewer pods than it is to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lacking {
    pub(super) uid: String,
    pub(super) workload: Workload,
}

/// One pod in the answer of `status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Pod {
    pub(super) name: String,
    #[serde(skip)]
    pub(super) namespace: String,
    #[serde(skip)]
    pub(super) uid: String,
    pub(super) stage: Stage,
    #[serde(skip)]
    pub(super) gated: bool,
    /// The time at which the gate began to ask; for a held pod, its creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Timestamp>,
    /// The time at which the pod's gate opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opened: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<String>,
    /// The answer that the pod's gate would get; `None` for a pod that does not wait, is stranded, or cannot be judged.
    #[serde(flatten)]
    pub(super) answer: Option<Answer>,
    /// The root causes of the pod's wait: the ends of the chains behind its unsatisfied dependencies.
    #[serde(rename = "rootCauses", skip_serializing_if = "Vec::is_empty")]
    pub(super) roots: Vec<RootCause>,
    /// The dependencies of the answer that the caller lacks a right to judge.
    #[serde(skip)]
    pub(super) unjudged: Vec<Unjudged>,
    /// Why this command cannot judge the pod. The answer is then the gate's own word, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<String>,
    /// Why the gate of a stranded pod never opens, and the way out; `None` for any other pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stranded: Option<&'static str>,
    /// Why the gate cannot start, for a pod whose gate has not started.
    #[serde(rename = "notStarted", skip_serializing_if = "Option::is_none")]
    pub(super) not_started: Option<String>,
    /// Why the containers of a pod whose gate has opened do not become ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trouble: Option<String>,
    /// The images that are pulled early, while the pod waits on its node.
    #[serde(skip)]
    pub(super) images: Vec<String>,
    /// The images that are being pulled early, or cannot be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pulls: Vec<Pull>,
    /// The last line of the pod's gate, or why its log cannot be read; `None` where the log was not read, or has no line yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gate: Option<String>,
}

impl Tree {
    pub(super) fn new(subject: String) -> Self {
        Self {
            api_version: API_VERSION,
            subject,
            pods: 0,
            waiting: 0,
            held_up: Vec::new(),
            workloads: Vec::new(),
            creations: Vec::new(),
            lacking: Vec::new(),
            podless: false,
            unseen: Vec::new(),
        }
    }

    pub(super) fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.workloads.iter().flat_map(|it| &it.pods)
    }

    /// Adds the last lines of the gates, by the pods' UIDs, with the findings that only they tell, and then finds the root causes of the waits. A
    /// gate that reports that it has opened is believed where this command's judgement differs or is missing.
    pub(super) fn hear(&mut self, words: &BTreeMap<String, GateWord>) {
        let mut unjudged = Vec::new();
        for pod in self.workloads.iter_mut().flat_map(|it| &mut it.pods) {
            pod.gate = match words.get(&pod.uid) {
                Some(word) if word.has_opened() && (pod.is_disputed() || pod.is_unknown()) => {
                    pod.stage = Stage::Starts;
                    (pod.answer, pod.unknown) = (None, None);
                    pod.roots.clear();
                    self.waiting -= 1;
                    None
                }
                Some(GateWord::Said(said)) => {
                    if let Some(answer) = &mut pod.answer {
                        unjudged.extend(gate_findings::fill(answer, &pod.unjudged, said));
                        root_causes::hear(&mut pod.roots, answer);
                    } else if pod.is_unknown() {
                        pod.answer = Some(GateTold::by_its_word(said).answer);
                    }
                    Some(said.line.clone())
                }
                Some(GateWord::Unheard(why)) => Some(format!("its log cannot be read: {why}")),
                Some(GateWord::Nothing) | None => None,
            };
        }
        self.unseen.extend(gate_findings::unseen(unjudged));
        let waiting = self.pods().filter(|pod| pod.stage.waits());
        let waiting = waiting.map(|pod| WaitingPod {
            namespace: &pod.namespace,
            name: &pod.name,
            since: pod.since,
            roots: &pod.roots,
        });
        self.held_up = held_up(&waiting.collect::<Vec<_>>());
    }
}

impl Tree {
    /// The objects whose Events may say more: the pods whose gates have not started, those whose images are pulled early, and the
    /// workloads that lack pods.
    pub(super) fn silent(&self) -> impl Iterator<Item = EventSubject<'_>> {
        let pods = self.pods();
        let pods = pods.filter(|pod| pod.is_to_start() || !pod.images.is_empty());
        let pods = pods.map(|pod| EventSubject {
            namespace: &pod.namespace,
            uid: &pod.uid,
            images: &pod.images,
        });
        let lacking = self.lacking.iter().map(|it| EventSubject {
            namespace: &it.workload.namespace,
            uid: &it.uid,
            images: &[],
        });
        pods.chain(lacking)
    }

    /// Adds the facts that Events tell, by the UID of the object that they are about: why a gate cannot start, images that are pulled early, and why
    /// pods of a workload are refused.
    pub(super) fn learn(&mut self, events: &BTreeMap<String, EventFacts>) {
        for pod in self.workloads.iter_mut().flat_map(|it| &mut it.pods) {
            let Some(EventFacts { trouble, pulls }) = events.get(&pod.uid) else {
                continue;
            };
            if let Some(trouble) = trouble.as_ref().filter(|_| pod.is_to_start()) {
                pod.not_started = Some(trouble.to_string());
            }
            pod.pulls.clone_from(pulls);
        }
        for Lacking { uid, workload } in std::mem::take(&mut self.lacking) {
            if let Some(trouble) = events.get(&uid).and_then(|it| it.trouble.as_ref()) {
                self.refuse(workload, trouble.refusal());
            }
        }
    }

    /// Marks the pods that wait at their gates and have one of these UIDs as stranded, and makes that the root cause of their waits: no change of a
    /// dependency opens their gates.
    pub(super) fn strand(&mut self, stranded: &BTreeSet<String>) {
        for workload in &mut self.workloads {
            let pods = workload.pods.iter_mut();
            for pod in pods.filter(|pod| pod.may_say() && pod.stage.waits()) {
                if stranded.contains(&pod.uid) {
                    (pod.answer, pod.unknown) = (None, None);
                    pod.roots = vec![stranded::root(workload.name.clone(), &pod.name)];
                    pod.stranded = Some(stranded::WHY);
                }
            }
        }
    }

    /// Notes that the pods of a workload are refused, and why; adds the workload if the tree does not have it.
    pub(super) fn refuse(&mut self, mut workload: Workload, why: String) {
        let is_it =
            |it: &&mut Workload| (&it.namespace, &it.name) == (&workload.namespace, &workload.name);
        if let Some(known) = self.workloads.iter_mut().find(is_it) {
            known.refused = Some(why);
        } else {
            workload.refused = Some(why);
            self.workloads.push(workload);
        }
    }

    /// How many workloads have pods that are refused.
    pub(super) fn refused(&self) -> usize {
        let workloads = self.workloads.iter();
        workloads.filter(|it| it.refused.is_some()).count()
    }
}

impl Workload {
    /// The entry of the tree for a workload of this namespace, with no pod in it.
    pub(super) fn without_pods(kind: &Kind, object: &Value, namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: format!("{kind}/{}", object::name(object)),
            release: Scope::of(object).map(|scope| scope.name),
            refused: None,
            pods: Vec::new(),
        }
    }

    /// The entry of the tree for the topmost workload above a pod, for the pod itself where that is unknown; with no pod in it yet.
    pub(super) fn above(pod: &Value, above: Option<&Dependent>) -> Self {
        let namespace = pod["metadata"]["namespace"].as_str();
        let scope = above.and_then(|above| above.scope.as_ref());
        Self {
            namespace: namespace.unwrap_or_default().to_owned(),
            name: above.map_or_else(|| format!("Pod/{}", object::name(pod)), Dependent::name),
            release: scope.map(|scope| scope.name.clone()),
            refused: None,
            pods: Vec::new(),
        }
    }
}

impl Pod {
    /// The tone of the pod's row: that of its stage, and a bad one for a stranded pod, which never starts by itself.
    pub(super) fn tone(&self) -> Tone {
        match self.stranded {
            Some(_) => Tone::Bad,
            None => self.stage.tone(),
        }
    }

    /// Whether its gate has yet to start on a node, and nothing but an Event may say why it does not.
    pub(super) fn is_to_start(&self) -> bool {
        let is_new = self.since.is_none() && self.stage == Stage::Waits;
        is_new && self.node.is_some() && self.not_started.is_none()
    }

    /// Whether the gate has begun, and may have written a line.
    pub(super) fn may_say(&self) -> bool {
        self.since.is_some() && self.stage != Stage::Held
    }

    /// Whether the log of the pod's gate is needed, because only the gate can judge one of its dependencies, or all of them.
    pub(super) fn is_heard(&self) -> bool {
        let needs = |answer: &Answer| gate_findings::needs(answer, &self.unjudged);
        self.is_unknown() || self.may_say() && self.answer.as_ref().is_some_and(needs)
    }

    /// Whether this command cannot judge the pod, whose gate may have written a line.
    fn is_unknown(&self) -> bool {
        self.may_say() && self.unknown.is_some()
    }

    /// Whether the gate waits although this command's own judgement says that it need not.
    pub(super) fn is_disputed(&self) -> bool {
        let open = |answer: &Answer| answer.verdict == Decision::Open;
        self.may_say() && self.stage.waits() && self.answer.as_ref().is_some_and(open)
    }
}
