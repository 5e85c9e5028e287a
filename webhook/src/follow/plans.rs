//! Tells who wrote a plan what is wrong with it: an Event on its ConfigMap, and a line in the log.

use crate::event::{Note, Regarding, Telling, Writer};
use crate::known::{Known, View};
use jiff::{SignedDuration, Timestamp};
use rules::lookup::Lookup;
use rules::plan;
use rules::scope::Scope;
use rules::world::World;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::warn;

/// A release may still be installed; what is missing then is no news.
const QUIET: SignedDuration = SignedDuration::from_secs(30);
/// How often plans are looked at again although nothing has changed: a release becomes quiet by itself.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Changes of this long are looked at together.
const GATHER: Duration = Duration::from_secs(1);

/// Looks at every plan for as long as the process runs.
pub(crate) async fn follow(known: Arc<Known>, events: Writer) {
    let mut told = HashMap::new();
    known.plans().synced().await;
    loop {
        let view = known.view();
        let problems = problems(&view, events.clock.now());
        for (plan, problem) in &problems {
            if told.get(&key(plan)) != Some(problem) {
                tell(&events, plan, problem).await;
            }
        }
        told = problems
            .iter()
            .map(|(plan, problem)| (key(plan), problem.clone()))
            .collect();
        let _ = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
        tokio::time::sleep(GATHER).await;
    }
}

fn problems(view: &View, now: Timestamp) -> Vec<(Value, String)> {
    let Lookup::Found(plans) = view.all_plans() else {
        return Vec::new();
    };
    let quiet = |scope: &Scope| {
        let active = view.active(scope);
        active.is_ok_and(|active| active.is_none_or(|active| now > active + QUIET))
    };
    let of = |plan: Value| {
        let flaw = plan::flaw_in(&plan, view, quiet)?;
        Some((plan, flaw.to_string()))
    };
    plans.into_iter().filter_map(of).collect()
}

/// A plan that was written again is told of again.
fn key(plan: &Value) -> String {
    let metadata = &plan["metadata"];
    format!("{} {}", metadata["uid"], plan["data"])
}

async fn tell(events: &Writer, plan: &Value, problem: &str) {
    let metadata = &plan["metadata"];
    let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    warn!(namespace, name, problem, "A plan cannot be followed");
    let target = Regarding {
        api_version: Some("v1".to_owned()),
        kind: "ConfigMap".to_owned(),
        namespace,
        name,
        uid: metadata["uid"].as_str().map(ToOwned::to_owned),
    };
    let note = Note {
        severity: "Warning",
        action: "ReadPlan",
        reason: "BadPlan",
        text: problem.to_owned(),
        wait: None,
        telling: Telling::Anew,
    };
    events.write(target, note).await;
}
