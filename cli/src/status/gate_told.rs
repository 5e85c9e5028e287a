//! The answer that the gate of a pod gets: by the rules, with the settings of the installed sluice, or by the gate's own word.

use super::owner;
use crate::installed::Installed;
use anyhow::{Result, bail};
use jiff::Timestamp;
use rules::cause::RootCause;
use rules::dependent::Dependent;
use rules::judged::Reason;
use rules::kstatus::Status;
use rules::lookup::Lookup;
use rules::verdict::{self, JudgedEdge, Verdict};
use serde_json::Value;
use wire::said::Said;
use wire::{Answer, Report};

/// The workload above a pod, with the kinds that the installation takes for workloads.
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

/// The answer that the gate of a pod would get, and the ends of the chains behind its unsatisfied dependencies.
#[derive(Debug, Clone)]
pub(crate) struct GateTold {
    pub(crate) answer: Answer,
    pub(crate) roots: Vec<RootCause>,
}

impl GateTold {
    /// The answer that a gate says it got, where the rules cannot judge its pod.
    pub(super) fn by_its_word(said: &Said) -> Self {
        let about = said.about.iter().map(|about| Report {
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
                dependencies: about.collect(),
                note: None,
                probes: Vec::new(),
                for_good: false,
            },
            roots: Vec::new(),
        }
    }
}

/// Judges a pod as its gate would be told.
pub(crate) fn judge(world: &Installed<'_>, pod: &Value, now: Timestamp) -> Result<GateTold> {
    let dependent = dependent(world, pod)?;
    let policy = &world.basis.settings.policy;
    let Verdict {
        mut answer, edges, ..
    } = verdict::decide(&dependent, policy, world, now, false);
    let restarted = verdict::restarted(&dependent, &edges, policy, world, now);
    let told = edges.iter().zip(restarted);
    for ((edge, restarted), report) in told.zip(&mut answer.dependencies) {
        let right = missing_right(edge, &dependent.namespace, world);
        for hint in right.into_iter().chain(restarted) {
            let message = report.message.get_or_insert_default();
            if !message.is_empty() {
                message.push_str("; ");
            }
            message.push_str(&hint);
        }
    }
    let unmet = edges.iter().filter(|it| !it.judged.satisfied);
    let roots = unmet.filter_map(|it| it.root.as_deref().cloned());
    Ok(GateTold {
        roots: roots.collect(),
        answer,
    })
}

/// The right to ask for, where a ConfigMap of sluice could not be read.
fn missing_right(edge: &JudgedEdge, namespace: &str, world: &Installed<'_>) -> Option<String> {
    let settings = &world.basis.settings;
    let map = match (edge.judged.reason, edge.judged.status) {
        (Reason::NoSlot, Status::Unknown) => settings.slots_of(namespace),
        (Reason::NotFound, Status::Unknown) => settings.memory().join(", "),
        _ => return None,
    };
    let home = settings.namespace.as_deref()?;
    Some(format!(
        "that takes the right to get ConfigMap {map} in namespace {home}"
    ))
}
