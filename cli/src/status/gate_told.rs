//! The answer that the gate of a pod gets: by the rules, with the settings of the installed sluice, or by the gate's own word.

use super::owner;
use crate::gate_findings::Unjudged;
use crate::installed::Installed;
use crate::stranded;
use anyhow::{Result, bail};
use jiff::Timestamp;
use rules::cause::RootCause;
use rules::dependent::Dependent;
use rules::judged::Reason;
use rules::kstatus::Status;
use rules::lookup::Lookup;
use rules::object;
use rules::verdict::{self, JudgedEdge, Verdict};
use serde_json::Value;
use wire::said::Said;
use wire::{Answer, Decision, Report};

/// Finds the workload above a pod, among the kinds that the installation takes for workloads, and so the dependent that the pod is. An owner that
/// does not exist or cannot be read is an error.
pub(crate) fn dependent(world: &Installed<'_>, pod: &Value) -> Result<Dependent> {
    let name = &pod["metadata"]["name"];
    match Dependent::resolve(pod, &world.basis.settings.workloads, world) {
        Lookup::Found(dependent) => Ok(dependent),
        Lookup::NotFound => bail!("the owner of pod {name} does not exist (any more)"),
        Lookup::Unavailable(why) => bail!(
            "cannot read the owner of pod {name}: {}",
            owner::unread(world, pod, why)
        ),
    }
}

/// The answer that the gate of a pod would get, and the root causes: the ends of the chains behind its unsatisfied dependencies.
#[derive(Debug, Clone)]
pub(crate) struct GateTold {
    pub(crate) answer: Answer,
    pub(crate) roots: Vec<RootCause>,
    /// The dependencies that the caller lacks a right to judge.
    pub(crate) unjudged: Vec<Unjudged>,
}

impl GateTold {
    /// The answer by the last line of a gate alone, where the rules cannot judge its pod: its decision and the unsatisfied dependencies that it names.
    pub(super) fn by_its_word(said: &Said) -> Self {
        let unmet = said.unmet.iter().map(|about| Report {
            dependency: about.dependency.clone(),
            name: about.dependency.clone(),
            satisfied: false,
            status: about.status.clone(),
            reason: about.reason.clone(),
            message: about.message.clone(),
            turns: Vec::new(),
        });
        Self {
            answer: Answer {
                verdict: said.decision,
                digest: String::new(),
                dependencies: unmet.collect(),
                note: None,
                probes: Vec::new(),
                for_good: false,
            },
            roots: Vec::new(),
            unjudged: Vec::new(),
        }
    }

    /// The answer for a stranded pod: it waits, for no dependency, and being stranded is its root cause.
    pub(super) fn stranded(pod: &Value) -> Self {
        let name = object::name(pod);
        Self {
            answer: Answer {
                verdict: Decision::Wait,
                digest: String::new(),
                dependencies: Vec::new(),
                note: None,
                probes: Vec::new(),
                for_good: false,
            },
            roots: vec![stranded::root(format!("Pod/{name}"), name)],
            unjudged: Vec::new(),
        }
    }
}

/// Judges a pod as the status service would answer its gate. To each dependency's message it adds the right that the caller lacks to judge it, and
/// the word on a pod of it that has crashed and has no readiness probe. An error where the workload above the pod cannot be found.
pub(crate) fn judge(world: &Installed<'_>, pod: &Value, now: Timestamp) -> Result<GateTold> {
    let dependent = dependent(world, pod)?;
    let policy = &world.basis.settings.policy;
    let Verdict {
        mut answer, edges, ..
    } = verdict::decide(&dependent, policy, world, now, false);
    let restarted = verdict::restarted(&dependent, &edges, policy, world, now);
    let told = edges.iter().zip(restarted);
    let mut unjudged = Vec::new();
    for ((edge, restarted), report) in told.zip(&mut answer.dependencies) {
        let map = hidden_map(edge, &dependent.namespace, world);
        let hint = map
            .as_ref()
            .map(|it| format!("that takes the right to {it}"));
        for hint in hint.into_iter().chain(restarted) {
            let message = report.message.get_or_insert_default();
            if !message.is_empty() {
                message.push_str("; ");
            }
            message.push_str(&hint);
        }
        let why = map.map(|it| format!("you may not {it}"));
        let why = why.or_else(|| edge.judged.hidden().map(ToOwned::to_owned));
        unjudged.extend(why.map(|why| Unjudged {
            dependency: report.dependency.clone(),
            why,
        }));
    }
    let unmet = edges.iter().filter(|it| !it.judged.satisfied);
    let roots = unmet.filter_map(|it| it.root.as_deref().cloned());
    Ok(GateTold {
        roots: roots.collect(),
        answer,
        unjudged,
    })
}

/// The ConfigMap of sluice that the caller may not read although the verdict on an edge rests on it, as `get ConfigMap NAME in namespace
/// NAMESPACE`; `None` where the verdict rests on none.
fn hidden_map(edge: &JudgedEdge, namespace: &str, world: &Installed<'_>) -> Option<String> {
    let settings = &world.basis.settings;
    let map = match (edge.judged.reason, edge.judged.status) {
        (Reason::NoSlot, Status::Unknown) => settings.slots_of(namespace),
        (Reason::NotFound, Status::Unknown) => settings.memory().join(", "),
        _ => return None,
    };
    let home = settings.namespace.as_deref()?;
    Some(format!("get ConfigMap {map} in namespace {home}"))
}
