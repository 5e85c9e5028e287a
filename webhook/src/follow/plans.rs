//! Tells who wrote a plan what is wrong with it, or that its release is not there: an Event on its ConfigMap, and of what is
//! wrong a line in the log.

use crate::event::{Note, Regarding, Telling, Writer};
use crate::known::{Known, View};
use jiff::{SignedDuration, Timestamp};
use rules::lookup::Lookup;
use rules::object::created;
use rules::plan::{self, PlanFlaw};
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
        let flaws = flaws(&view, events.clock.now());
        for (plan, flaw) in &flaws {
            if told.get(&key(plan)) != Some(flaw) {
                tell(&events, plan, flaw).await;
            }
        }
        told = flaws
            .into_iter()
            .map(|(plan, flaw)| (key(&plan), flaw))
            .collect();
        let _ = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
        tokio::time::sleep(GATHER).await;
    }
}

fn flaws(view: &View, now: Timestamp) -> Vec<(Value, PlanFlaw)> {
    let Lookup::Found(plans) = view.all_plans() else {
        return Vec::new();
    };
    let of = |plan: Value| {
        let quiet = |scope: &Scope| match view.active(scope) {
            // A plan may come before its release.
            Ok(active) => active
                .or_else(|| created(&plan))
                .is_none_or(|it| now.duration_since(it) > QUIET),
            Err(_) => false,
        };
        let flaw = plan::flaw_in(&plan, view, quiet)?;
        Some((plan, flaw))
    };
    plans.into_iter().filter_map(of).collect()
}

/// A plan that was written again is told of again.
fn key(plan: &Value) -> String {
    let metadata = &plan["metadata"];
    format!("{} {}", metadata["uid"], plan["data"])
}

async fn tell(events: &Writer, plan: &Value, flaw: &PlanFlaw) {
    let metadata = &plan["metadata"];
    let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let bad = Note {
        severity: "Warning",
        action: "ReadPlan",
        reason: "BadPlan",
        text: flaw.to_string(),
        wait: None,
        telling: Telling::Anew,
    };
    let note = if matches!(flaw, PlanFlaw::NothingYet { .. }) {
        Note {
            severity: "Normal",
            reason: "EarlyPlan",
            ..bad
        }
    } else {
        warn!(
            namespace,
            name,
            problem = bad.text,
            "A plan cannot be followed"
        );
        bad
    };
    let target = Regarding {
        api_version: Some("v1".to_owned()),
        kind: "ConfigMap".to_owned(),
        namespace,
        name,
        uid: metadata["uid"].as_str().map(ToOwned::to_owned),
    };
    events.write(target, note).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Settings;
    use rules::kinds::{self, Kind};
    use serde_json::json;

    fn known(job: &Value) -> Arc<Known> {
        let (known, _) = Known::new(Settings::of_the_chart());
        known.plans().replace([&json!({
            "metadata": {"namespace": "shop", "name": "order", "uid": "1", "labels": {"app.kubernetes.io/instance": "shop"},
                "creationTimestamp": "2026-01-01T00:00:00Z"},
            "data": {"order": "api: [ghost]"},
        })]);
        for kind in rules::scope::workloads().chain([Kind::Builtin(kinds::NAMESPACE)]) {
            known.want(&kind).replace::<&Value>([]);
        }
        known.want(&Kind::Builtin(kinds::JOB)).replace([job]);
        known.grant(Vec::new());
        known
    }

    /// `managedFields` are whatever the writer of an object says.
    #[test]
    fn a_job_that_claims_any_time_does_not_end_the_process() {
        for (written, told) in [
            ("2026-01-01T00:00:00Z", true),
            ("9998-12-31T23:59:59Z", false),
            ("9999-12-30T22:00:00Z", true),
        ] {
            let known = known(&json!({
                "metadata": {"namespace": "shop", "name": "seed", "labels": {"app.kubernetes.io/instance": "shop"},
                    "managedFields": [{"time": written}]},
            }));
            let now = "2026-01-02T00:00:00Z".parse().unwrap();
            assert_eq!(!flaws(&known.view(), now).is_empty(), told, "{written}");
        }
    }
}
