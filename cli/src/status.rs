//! `status POD`: the last word of the pod's gate, and what the rules of the installed sluice say now.

mod told;

use crate::gate_log::{self, Word};
use crate::installation::{Basis, Installation};
use crate::installed::Installed;
use crate::output::Output;
use crate::reader::Reader;
use anyhow::{Result, bail};
use jiff::Timestamp;
use kube::Client;
use rules::dependent::Dependent;
use rules::gate::Gate;
use rules::judged::Reason;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::kstatus::Status;
use rules::lookup::Lookup;
use rules::verdict::{self, Decided, JudgedEdge};
use rules::world::Objects;
use serde_json::Value;
use std::process::ExitCode;
use told::Told;
use wire::{Answer, env};

/// The exit code for "something holds the pod back".
const WAITS: u8 = 3;

pub(crate) async fn run(
    client: Client,
    namespace: &str,
    name: &str,
    output: Output,
) -> Result<ExitCode> {
    let (mut reader, pod, basis) = begin(&client, namespace, name).await?;
    let now = Timestamp::now();
    let answer = reader.settle(|reader| judge(&Installed::of_pod(reader, &basis, &pod), &pod, now));
    let answer = answer.await?;
    let word = match Gate::of(&pod) {
        Gate::NotStarted => Word::Nothing,
        Gate::Waiting { .. } | Gate::Passed { .. } | Gate::Refused { .. } => {
            gate_log::last(&client, namespace, name).await
        }
    };
    let told = Told::new(
        &pod,
        answer,
        word,
        Installed::of_pod(&reader, &basis, &pod).unseen(),
    );
    told.print(output)?;
    Ok(if told.waits() {
        ExitCode::from(WAITS)
    } else {
        ExitCode::SUCCESS
    })
}

/// A pod, and what the sluice judges by whose gate is in it.
pub(crate) async fn begin(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<(Reader, Value, Basis)> {
    let mut reader = Reader::new(client.clone());
    let pod = reader.settle(|reader| pod(reader, namespace, name)).await?;
    let basis = Installation::basis(client, home(&pod).as_deref()).await?;
    Ok((reader, pod, basis))
}

fn pod(reader: &Reader, namespace: &str, name: &str) -> Result<Value> {
    let pods = Kind::Builtin(kinds::POD);
    match reader.object(&pods, Some(namespace), name) {
        Lookup::Found(pod) => Ok(pod),
        Lookup::NotFound => bail!("pod {name:?} not found in namespace {namespace:?}"),
        Lookup::Unavailable(why) => {
            bail!("cannot read pod {name:?} in namespace {namespace:?}: {why:?}")
        }
    }
}

/// The workload above a pod, with the kinds that the installation takes for workloads.
pub(crate) fn dependent(world: &Installed<'_>, pod: &Value) -> Result<Dependent> {
    let name = &pod["metadata"]["name"];
    match Dependent::resolve(pod, &world.basis.settings.workloads, world) {
        Lookup::Found(dependent) => Ok(dependent),
        Lookup::NotFound => bail!("the owner of pod {name} does not exist (any more)"),
        Lookup::Unavailable(why) => bail!("cannot read the owner of pod {name}: {why:?}"),
    }
}

/// What the gate would be told.
fn judge(world: &Installed<'_>, pod: &Value, now: Timestamp) -> Result<Answer> {
    let dependent = dependent(world, pod)?;
    let policy = &world.basis.settings.policy;
    let Decided {
        mut answer, edges, ..
    } = verdict::decide(&dependent, policy, world, now, false);
    for (edge, report) in edges.iter().zip(&mut answer.dependencies) {
        if let Some(hint) = missing_right(edge, &dependent.namespace, world) {
            report.message.get_or_insert_default().push_str(&hint);
        }
    }
    Ok(answer)
}

/// What to ask for where what sluice notes down could not be read.
fn missing_right(edge: &JudgedEdge, namespace: &str, world: &Installed<'_>) -> Option<String> {
    let settings = &world.basis.settings;
    let map = match (edge.judged.reason, edge.judged.status) {
        (Reason::NoSlot, Status::Unknown) => settings.slots_of(namespace),
        (Reason::NotFound, Status::Unknown) => settings.memory().join(", "),
        _ => return None,
    };
    let home = settings.namespace.as_deref()?;
    Some(format!(
        "; that takes the right to get ConfigMap {map} in namespace {home}"
    ))
}

/// The namespace of sluice, as the address says that the pod's gate asks at: `sluice.sluice-system.svc`.
pub(crate) fn home(pod: &Value) -> Option<String> {
    let by_name = |list: &Value, name: &str| {
        let found = list.as_array()?.iter().find(|it| it["name"] == name);
        found.cloned()
    };
    let gate = by_name(&pod["spec"]["initContainers"], keys::GATE_CONTAINER)?;
    let address = by_name(&gate["env"], env::SERVER_NAME)?;
    let mut labels = address["value"].as_str()?.split('.');
    labels.nth(1).map(ToOwned::to_owned)
}
