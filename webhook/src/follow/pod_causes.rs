//! Looks at a few pods of each dependency that a gate waits for and that is not ready: by their labels, one dependency after the
//! other.
//!
//! No pod is followed for that, and no pod is kept: only the cause that the rules find. Pods that wait at their own gates are followed
//! anyway, so a dependency that is held up by its gate costs no request.

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
use rules::kept::Detail;
use rules::kinds::{self, Builtin, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::verdict::Search;
use rules::world::{Hints, has_made};
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
/// The most volume claims that are read, of pods without a node.
const CLAIMS: usize = 4;

/// Looks at pods for as long as the process runs.
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

/// The result of a look.
struct Seen {
    found: Option<Stuck>,
    /// Whether the look read whole lists for nothing ([`Search::is_in_vain`]).
    in_vain: bool,
    /// The time that reading the answers took.
    took: Duration,
}

/// Looks at the pods of one dependency.
async fn look(
    client: &Client,
    known: &Arc<Known>,
    behind: &Behind,
    clock: &Clock,
) -> Result<Seen, Error> {
    if let Some(gated) = at_its_gate(&known.view(), behind, clock.now()) {
        return Ok(Seen {
            found: Some(gated),
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
    Ok(Seen {
        in_vain: search.is_in_vain(),
        found: search.found(),
        took,
    })
}

/// The pod of a workload that waits at its gate, where nothing worse is known of the workload's pods with a gate.
fn at_its_gate(view: &View, behind: &Behind, now: Timestamp) -> Option<Stuck> {
    let workload = behind.owner.as_ref().filter(|_| behind.by == By::Labels)?;
    let Lookup::Found(gated) = view.peek_gated(&behind.namespace, &behind.selector) else {
        return None;
    };
    let own = gated.iter();
    let own = own.filter(|pod| has_made(view, &behind.namespace, workload, pod));
    Stuck::among(own, now).filter(|it| it.cause == Cause::Gate)
}

/// The volume claims of the pods without a node, by name.
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
