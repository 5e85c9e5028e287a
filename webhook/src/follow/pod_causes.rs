//! Looks at a few pods of each dependency that a gate waits for and that is not ready: by their labels, one dependency after the
//! other.
//!
//! No pod is followed for that, and no pod is kept: only the cause that the rules find. Pods that wait at their own gates are followed
//! anyway, so a workload costs no request while all its pods that are not ready have yet to pass their gates.

use super::served::resource;
use super::watch::{Target, path, selection};
use crate::clock::Clock;
use crate::known::{Known, View};
use crate::lists::page;
use jiff::Timestamp;
use kube::api::GetParams;
use kube::core::request::Request;
use kube::{Client, Error};
use rules::cause::{self, Behind, By, Cause, Stuck};
use rules::gate;
use rules::kept::Detail;
use rules::kinds::{self, Builtin, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::object::controller_of;
use rules::verdict::Search;
use rules::world::{Hints, has_made, owner_behind};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::debug;

/// The shortest pause between two looks at the pods behind dependencies.
const PACE: Duration = Duration::from_millis(250);
/// The pause after a look, in multiples of the time that reading the answers took. So all looks together take at most a hundredth
/// of a core.
const PAUSE: u32 = 100;
/// The most PersistentVolumeClaims that one look reads, of pods without a node.
const CLAIMS: usize = 4;

/// Looks at the pods of dependencies that gates wait for, one dependency after the other as they are due, for as long as the process runs. Notes
/// the causes in `known`.
pub(crate) async fn follow(client: Client, known: Arc<Known>, clock: Clock) {
    loop {
        let behind = known.pod_causes().due().await;
        let took = match look(&client, &known, &behind, &clock).await {
            Ok(seen) => {
                if seen.in_vain {
                    known.pod_causes().tire(&behind);
                }
                known.pod_causes().saw(&behind, seen.found);
                seen.took
            }
            Err(error) => {
                debug!(%error, namespace = behind.namespace, "Look at pods");
                known.pod_causes().put_off(&behind);
                Duration::ZERO
            }
        };
        tokio::time::sleep(PACE.max(took * PAUSE)).await;
    }
}

/// The result of a look at the pods of one dependency.
struct Seen {
    found: Option<Stuck>,
    /// Whether the look read whole lists for nothing ([`Search::is_in_vain`]).
    in_vain: bool,
    /// The time that reading the answers took.
    took: Duration,
}

/// Looks at the pods of one dependency that is not ready, for the cause. Makes no request where the known gated pods explain it. An error
/// if the API server does not answer.
async fn look(
    client: &Client,
    known: &Arc<Known>,
    behind: &Behind,
    clock: &Clock,
) -> Result<Seen, Error> {
    let gated = at_its_gate(&known.view(), behind, clock.now());
    if let Some(gated) = gated.as_ref().filter(|it| !it.is_beside_others) {
        return Ok(Seen {
            found: Some(gated.stuck.clone()),
            in_vain: false,
            took: Duration::ZERO,
        });
    }
    let (mut search, mut took) = (Search::new(behind), Duration::ZERO);
    while let Some(asked) = search.asks() {
        let selector = Some(behind.selector.to_string()).filter(|it| !it.is_empty());
        let target = Target {
            kind: asked.kind(),
            fields: asked.fields.map(str::to_owned),
            ..target(asked.kind, behind, selector)
        };
        let read = page(client, &selection(&target), asked.most.into(), None).await?;
        let began = Instant::now();
        let things: Vec<Value> = read.objects().collect::<Result<_, _>>()?;
        drop(read);
        took += began.elapsed();
        let claims = claims(client, behind, &things).await;
        let claim = |name: &str| {
            let unread = Lookup::Unavailable(Unavailable::Syncing);
            claims.get(name).cloned().unwrap_or(unread)
        };
        let began = Instant::now();
        search.saw(asked, &things, claim, &known.view(), clock.now());
        took += began.elapsed();
    }
    let in_vain = search.is_in_vain();
    // The list is cut, and may lack the pod at its gate.
    let both = search.found().into_iter().chain(gated.map(|it| it.stuck));
    Ok(Seen {
        in_vain,
        found: both.min_by(|one, other| one.cause.cmp(&other.cause)),
        took,
    })
}

/// A pod that waits at its gate, as the likely cause why its workload is not ready.
struct AtItsGate {
    /// The pod, with the cause [`Cause::Gate`].
    stuck: Stuck,
    /// Whether another pod of the workload may be in trouble: one that has passed its gate, or one without a gate. The status of such a
    /// pod is not kept, so only a request tells whether the pod crashes.
    is_beside_others: bool,
}

/// A pod of the workload that waits at its gate. `None` where something worse is known of a gated pod of the workload, where no pod waits or the
/// gated pods are not believed, and where the dependency is no workload with a selector (such as a Service).
fn at_its_gate(view: &View, behind: &Behind, now: Timestamp) -> Option<AtItsGate> {
    let workload = behind.owner.as_ref().filter(|_| behind.by == By::Labels)?;
    let Lookup::Found(gated) = view.peek_gated(&behind.namespace, &behind.selector) else {
        return None;
    };
    let own = gated.iter();
    let own = own.filter(|pod| has_made(view, &behind.namespace, workload, pod));
    let own: Vec<&Value> = own.collect();
    let stuck = Stuck::among(own.iter().copied(), now).filter(|it| it.cause == Cause::Gate)?;
    let stays =
        |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null() && !gate::has_ended(pod);
    let stay = own.into_iter().filter(stays);
    let (passed, before): (Vec<&Value>, Vec<&Value>) = stay.partition(|pod| gate::has_started(pod));
    let made_by = before.first().and_then(|pod| maker(view, behind, pod));
    let is_beside_others = match made_by.as_ref().and_then(cause::unready_pods) {
        Some(unready) => usize::try_from(unready).is_ok_and(|it| it > before.len()),
        None => !passed.is_empty(),
    };
    Some(AtItsGate {
        stuck,
        is_beside_others,
    })
}

/// The workload that `behind` names as the owner, if it has made the pod: directly or through a ReplicaSet or a Job. `None` if it has not,
/// or if sluice may not read an owner.
fn maker(view: &View, behind: &Behind, pod: &Value) -> Option<Value> {
    let owner = |thing: &Value| owner_behind(controller_of(thing)?, &behind.namespace, view);
    let is_sought = |it: &Value| it["metadata"]["uid"].as_str() == behind.owner.as_deref();
    let first = owner(pod)?;
    if is_sought(&first) {
        return Some(first);
    }
    owner(&first).filter(is_sought)
}

/// The PersistentVolumeClaims of those of `pods` that have no node, by name: [`CLAIMS`] at most. A claim that could not be read is left out.
async fn claims(
    client: &Client,
    behind: &Behind,
    pods: &[Value],
) -> BTreeMap<String, Lookup<Value>> {
    let homeless = pods.iter().filter(|pod| pod["spec"]["nodeName"].is_null());
    let names = homeless.flat_map(cause::claims).take(CLAIMS);
    let place = path(&target(kinds::PERSISTENT_VOLUME_CLAIM, behind, None));
    let mut found = BTreeMap::new();
    for name in names {
        let request = Request::new(&place).get(name, &GetParams::default());
        let claim = match request.map_err(Error::BuildRequest) {
            Ok(request) => client.request(request).await,
            Err(error) => Err(error),
        };
        match claim {
            Ok(claim) => found.insert(name.to_owned(), Lookup::Found(claim)),
            Err(Error::Api(status)) if status.code == 404 => {
                found.insert(name.to_owned(), Lookup::NotFound)
            }
            Err(_) => None,
        };
    }
    found
}

fn target(builtin: &'static Builtin, behind: &Behind, selector: Option<String>) -> Target {
    Target {
        kind: Kind::Builtin(builtin),
        resource: resource(builtin),
        selector,
        fields: None,
        namespace: Some(behind.namespace.as_str().into()),
        detail: Detail::Object,
        observer: None,
        whole_budget: None,
        large_budget: None,
    }
}

#[cfg(test)]
mod tests;
