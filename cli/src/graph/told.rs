//! The verdict of each dependent on its dependencies, with the consent, memory, rights and terms that its gate would be judged
//! by.

use super::cluster::{self, Inventory, Judges};
use crate::gate_findings;
use crate::gate_log::GateWord;
use crate::objects::{Graph, Object};
use rules::dependency::{Dependency, Edge, Reference};
use rules::dependent::{Dependent, Wait};
use rules::gate::Gate;
use rules::judged::{Judged, Reason};
use rules::lookup::Lookup;
use rules::object::name;
use rules::verdict::{self, JudgedEdge};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The verdicts in a cluster, by the indexes of the objects; empty for manifests.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The verdict on each object by itself, by the object's index.
    pub(super) own: BTreeMap<usize, Judged>,
    /// The verdicts of each dependent on its dependencies, by the dependent's index.
    pub(super) told: BTreeMap<usize, DependentTold>,
}

/// The verdicts of one dependent on its dependencies.
#[derive(Debug)]
pub(super) struct DependentTold {
    /// The name of the pod by which the dependent is judged; `None` where it has no pod.
    pod: Option<String>,
    waits: Vec<JudgedEdge>,
    /// The alternatives of the dependent's entries, each judged as if it were an entry by itself.
    alternatives: Vec<JudgedEdge>,
}

impl Findings {
    /// The verdicts on the objects that are `shown`, each by itself, and the verdicts of each on its dependencies. A dependent in the graph's
    /// namespace is judged by one of its pods, if it has one.
    pub(super) fn of(
        graph: &Graph<'_>,
        shown: &BTreeSet<usize>,
        seen: &Inventory,
        by: &Judges<'_>,
    ) -> Self {
        let pods = seen.pods_by_owner();
        let own = |at: &usize| Some((*at, cluster::judge(&graph.objects[*at], by)?));
        let told = |at: &usize| {
            let object = &graph.objects[*at];
            let here = object.namespace() == seen.namespace;
            let name = (object.word().to_owned(), object.place.name.clone());
            let pod = pods.get(&name).copied().filter(|_| here);
            Some((*at, DependentTold::of(object, &graph.lists[*at], pod, by)?))
        };
        Self {
            own: shown.iter().filter_map(own).collect(),
            told: shown.iter().filter_map(told).collect(),
        }
    }
}

impl Findings {
    /// Replaces the findings that only gates can tell by those in the last lines of the gates' logs, which `words` has by pod name. A dependent
    /// whose pod has no line there keeps its findings.
    pub(super) fn hear(&mut self, words: &BTreeMap<String, GateWord>) {
        for told in self.told.values_mut() {
            let word = told.pod.as_ref().and_then(|pod| words.get(pod));
            let Some(GateWord::Said(said)) = word else {
                continue;
            };
            for wait in told.waits.iter_mut().chain(&mut told.alternatives) {
                let heard = gate_findings::judged(&wait.judged, &wait.edge.to_string(), said);
                wait.judged = heard.unwrap_or_else(|| wait.judged.clone());
            }
        }
    }
}

impl DependentTold {
    /// Judges each wait of a dependent. `pod` is a pod of it, if there is one, with whether that pod waits: the node, the start and the revision of
    /// the pod then count too. `None` for an object that has no such pod and waits for nothing.
    fn of(
        object: &Object,
        waits: &[Wait],
        pod: Option<(&Value, bool)>,
        by: &Judges<'_>,
    ) -> Option<Self> {
        let Judges {
            world, policy, now, ..
        } = *by;
        let resolved = pod.map(|(pod, _)| Dependent::resolve(pod, by.workloads, world));
        let of_pod = match resolved {
            Some(Lookup::Found(dependent)) => Some(dependent),
            Some(Lookup::NotFound | Lookup::Unavailable(_)) | None => None,
        };
        let at_its_gate = of_pod.as_ref().filter(|_| pod.is_some_and(|it| it.1));
        let decided = at_its_gate.map(|it| verdict::decide(it, policy, world, now, false).edges);
        let dependent = match of_pod {
            Some(dependent) => dependent,
            None => object.dependent().filter(|_| !waits.is_empty())?,
        };
        let has_opened = pod.is_some_and(|(pod, _)| matches!(Gate::of(pod), Gate::Passed { .. }));
        let judge = |edges| {
            let judged = if has_opened {
                verdict::judge_opened(&dependent, edges, policy, world, now)
            } else {
                verdict::judge(&dependent, edges, policy, world, now)
            };
            let mut judged = judged.edges;
            // Everything was read that can be read, so only a dependent without pods is still syncing.
            judged.retain(|it| it.judged.reason != Reason::Syncing);
            judged
        };
        // A gate that opens without asking is told of nothing.
        let decided = decided.filter(|edges| !edges.is_empty());
        let declared = waits.iter().map(|wait| wait.edge.clone());
        // To judge a slot is to ask for one, so a slot counts only among the pod's own edges.
        let declared = declared.filter(|edge| !matches!(edge, Edge::Slot(_)));
        let entries = waits.iter().filter_map(|wait| wait.edge.entry());
        let alternatives = entries
            .filter(|entry| matches!(entry.reference, Reference::Any(_)))
            .flat_map(leaves)
            .map(|entry| Edge::Listed(entry.clone()));
        Some(Self {
            pod: pod.map(|(pod, _)| name(pod).to_owned()),
            alternatives: judge(alternatives.collect()),
            waits: decided.unwrap_or_else(|| judge(declared.collect())),
        })
    }

    /// The dependent's verdict on one of its waits; `None` where there is none.
    pub(super) fn of_wait(&self, edge: &Edge) -> Option<&JudgedEdge> {
        self.waits.iter().find(|it| it.edge == *edge)
    }

    /// The dependent's verdict on one alternative of an entry, judged by itself; `None` where there is none.
    pub(super) fn of_alternative(&self, entry: &Dependency) -> Option<&JudgedEdge> {
        let mut all = self.alternatives.iter();
        all.find(|it| it.edge.entry() == Some(entry))
    }
}

/// The leaves of an entry of a list: the entry itself, or its alternatives and those inside of them.
pub(super) fn leaves(entry: &Dependency) -> Vec<&Dependency> {
    match &entry.reference {
        Reference::Any(alternatives) => alternatives.of.iter().flat_map(leaves).collect(),
        _ => vec![entry],
    }
}
